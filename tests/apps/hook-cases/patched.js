// A SharedWorker that replaces the platform's functions first: marks what it is asked to, and says which of its own functions ran meanwhile.
importScripts('patch-platform.js');
patchPlatform();
addEventListener('connect', ({ ports: [port] }) => {
  port.onmessage = ({ data }) => {
    performance.mark(data);
    port.postMessage({ said: data, calls });
  };
});
