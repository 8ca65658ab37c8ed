'use strict';
performance.mark('case');
self.postMessage({
  strict: (function () {
    return this === undefined;
  })(),
  done: true,
});
