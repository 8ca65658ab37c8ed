// SQLite inside the script: minified, with its wasm as a data: URL, loaded by a top-level await.
import wasm from '@journeyapps/wa-sqlite/dist/wa-sqlite.wasm?url&inline';
import { serveGroceries } from '../common/groceries-worker.js';

await serveGroceries(wasm);
