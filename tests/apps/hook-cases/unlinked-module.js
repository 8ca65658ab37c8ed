// Imports what is not there.
import { missing } from './sub/inner-module.js';
self.postMessage({ missing, done: true });
