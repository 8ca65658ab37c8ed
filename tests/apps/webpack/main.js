// The groceries app as webpack builds it for production: a classic worker, whose script and wasm
// have URLs that the bundle computes.
import { groceries } from '../common/groceries.js';

groceries(new Worker(new URL('./worker.js', import.meta.url)));
