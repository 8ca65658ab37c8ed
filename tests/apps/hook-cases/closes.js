// Closes itself, and goes on to the end of its task and of the promises behind it.
performance.mark('case');
(async () => {
  await null;
  self.postMessage({ done: true });
  self.close();
  for (let i = 0; i < 20; i++) performance.mark('closed');
  for (let i = 0; i < 10; i++) {
    await null;
    performance.mark('closed');
  }
})();
