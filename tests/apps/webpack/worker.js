// SQLite's wasm next to the script, at a URL that webpack computes, loaded by a top-level await in
// a classic worker.
import { serveGroceries } from '../common/groceries-worker.js';

await serveGroceries(new URL('@journeyapps/wa-sqlite/dist/wa-sqlite.wasm', import.meta.url).href);
