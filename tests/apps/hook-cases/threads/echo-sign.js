// Reports whether a hook runs in this worker.
self.postMessage(Symbol.for('vfscope.thread') in self);
