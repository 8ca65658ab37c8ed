// Answers every message, counts them, says when the last came.
performance.mark('case');
let n = 0;
self.onmessage = ({ data, ports }) => {
  n++;
  if (data === 'last') {
    self.postMessage({ n, ports: ports.length, done: true });
  } else self.postMessage({ echo: data instanceof ArrayBuffer ? data.byteLength : data });
};
