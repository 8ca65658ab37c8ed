// A worker that starts a worker.
performance.mark(`own ${self.name}`);
new Worker('thread.js', { name: `${self.name} inner` }).onmessage = ({ data }) =>
  self.postMessage(data);
