// A SharedWorker whose script throws, but which still runs, and reports how often.
performance.mark('ran');
const runs = new BroadcastChannel('runs');
addEventListener('connect', ({ ports: [port] }) => {
  port.onmessage = () => {
    runs.postMessage('ran');
    setTimeout(() => port.postMessage('here'), 50);
  };
});
throw new Error('on purpose');
