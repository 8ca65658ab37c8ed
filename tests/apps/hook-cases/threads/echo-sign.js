// Says whether a hook lives in this worker.
self.postMessage(Symbol.for('vfscope.thread') in self);
