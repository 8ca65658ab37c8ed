// Answers and counts every message, and reports when the last one arrived.
performance.mark('case');
let n = 0;
self.onmessage = ({ data, ports }) => {
  n++;
  if (data === 'last') {
    self.postMessage({ n, ports: ports.length, done: true });
  } else self.postMessage({ echo: data instanceof ArrayBuffer ? data.byteLength : data });
};
