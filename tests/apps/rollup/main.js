// Groceries as Rollup builds them for production: two classic scripts.
import { groceries } from '../common/groceries.js';

groceries(new Worker('worker.js'));
