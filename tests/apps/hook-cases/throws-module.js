// Throws at load, once: a second run would be seen.
performance.mark('case');
self.postMessage('runs');
throw new RangeError('thrown at load');
