// The same as a module.
import './counter.js';
