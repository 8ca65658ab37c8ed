// The groceries app as Vite builds it for production, with the worker inlined (a Blob of its text).
import { groceries } from '../common/groceries.js';
import GroceryWorker from './worker.js?worker&inline';

groceries(new GroceryWorker());
