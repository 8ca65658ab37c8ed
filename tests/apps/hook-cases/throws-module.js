// Throws at load, once. A second run would be visible.
performance.mark('case');
self.postMessage('runs');
throw new RangeError('thrown at load');
