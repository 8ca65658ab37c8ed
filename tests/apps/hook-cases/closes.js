// Closes itself, and continues to the end of its task and of the promises after it: immediately, or
// with ?asked on request.
performance.mark('case');
async function closes() {
  await null;
  self.postMessage({ done: true });
  self.close();
  for (let i = 0; i < 20; i++) performance.mark('closed');
  for (let i = 0; i < 10; i++) {
    await null;
    performance.mark('closed');
  }
}
if (self.location.search === '?asked')
  self.onmessage = ({ data }) => (data === 'close' ? closes() : self.postMessage(data));
else closes();
