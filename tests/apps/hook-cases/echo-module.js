// The same as a module, with its own static import.
import { inner } from './sub/inner-module.js';
performance.mark('case');
let n = 0;
self.onmessage = ({ data }) => {
  n++;
  if (data === 'last') self.postMessage({ n, inner, url: import.meta.url, done: true });
  else self.postMessage({ echo: data });
};
