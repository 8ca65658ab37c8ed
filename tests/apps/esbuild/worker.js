// SQLite's wasm beside the script, by its name with a hash; loaded by an await at the top, in a module worker.
import wasm from '@journeyapps/wa-sqlite/dist/wa-sqlite.wasm';
import { serveGroceries } from '../common/groceries-worker.js';

await serveGroceries(new URL(wasm, import.meta.url).href);
