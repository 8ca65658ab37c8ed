// Loaded by importScripts.
self.inner = 'inner';
self.innerLoads = (self.innerLoads ?? 0) + 1;
