// A SharedWorker that makes 200 calls just before it replies. On request it then closes itself, and
// continues to the end of its task and of the promises after it.
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
