// Groceries as webpack builds them for production: a classic worker, its script and its wasm by addresses that the bundle works out.
import { groceries } from '../common/groceries.js';

groceries(new Worker(new URL('./worker.js', import.meta.url)));
