// A SharedWorker that first replaces the platform's functions. It sets the requested marks, and
// reports which of its own functions ran.
importScripts('patch-platform.js');
patchPlatform();
addEventListener('connect', ({ ports: [port] }) => {
  port.onmessage = ({ data }) => {
    performance.mark(data);
    port.postMessage({ said: data, calls });
  };
});
