// Closes itself after its last word.
performance.mark('case');
self.postMessage({ done: true });
self.close();
