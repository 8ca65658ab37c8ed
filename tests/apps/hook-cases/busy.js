// A SharedWorker that does 200 things just before it replies; asked to, it closes itself then.
addEventListener('connect', ({ ports: [port] }) => {
  port.onmessage = ({ data }) => {
    if (data === 'warm') performance.mark(data);
    else for (let i = 0; i < 200; i++) performance.mark(String(i));
    port.postMessage(data);
    if (data === 'close') close();
  };
});
