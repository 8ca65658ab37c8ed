// Imports a name that doesn't exist.
import { missing } from './sub/inner-module.js';
self.postMessage({ missing, done: true });
