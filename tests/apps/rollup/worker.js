// SQLite inside a classic worker, in a function. Its wasm is a data: URL.
import wasm from '@journeyapps/wa-sqlite/dist/wa-sqlite.wasm';
import { serveGroceries } from '../common/groceries-worker.js';

void serveGroceries(wasm);
