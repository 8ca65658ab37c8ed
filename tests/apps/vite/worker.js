// SQLite inside the script: minified, its wasm a data: URL, loaded by an await at the top.
import wasm from '@journeyapps/wa-sqlite/dist/wa-sqlite.wasm?url&inline';
import { serveGroceries } from '../common/groceries-worker.js';

await serveGroceries(wasm);
