// The groceries app as esbuild builds it for production: a classic script, and a module in its
// worker.
import { groceries } from '../common/groceries.js';

groceries(new Worker('worker.js', { type: 'module' }));
