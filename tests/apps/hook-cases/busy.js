// A SharedWorker that does 200 things just before it replies; asked to, it closes itself then, and goes on to the end of its task and of
// the promises behind it.
addEventListener('connect', ({ ports: [port] }) => {
  port.onmessage = async ({ data }) => {
    if (data === 'warm') performance.mark(data);
    else for (let i = 0; i < 200; i++) performance.mark(String(i));
    port.postMessage(data);
    if (data !== 'close') return;
    close();
    performance.mark('closed');
    for (let i = 0; i < 10; i++) {
      await null;
      performance.mark('closed');
    }
  };
});
