// SQLite's wasm next to the script, with a hash in its name, loaded by a top-level await in a
// module worker.
import wasm from '@journeyapps/wa-sqlite/dist/wa-sqlite.wasm';
import { serveGroceries } from '../common/groceries-worker.js';

await serveGroceries(new URL(wasm, import.meta.url).href);
