// The groceries app as Rollup builds it for production: two classic scripts.
import { groceries } from '../common/groceries.js';

groceries(new Worker('worker.js'));
