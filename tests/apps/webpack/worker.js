// SQLite's wasm beside the script, by an address that webpack works out; loaded by an await at the top, in a classic worker.
import { serveGroceries } from '../common/groceries-worker.js';

await serveGroceries(new URL('@journeyapps/wa-sqlite/dist/wa-sqlite.wasm', import.meta.url).href);
