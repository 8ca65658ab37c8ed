// What every thread of these cases does: a mark with its name, one IndexedDB request, one message.
// Also runs as a page's script.
(() => {
  const label = self.threadLabel ?? self.name;
  performance.mark(`own ${label}`);
  const say = (text) =>
    self.document ? parent.postMessage({ label, text }, '*') : self.postMessage({ label, text });
  try {
    const request = indexedDB.open(`of ${label}`, 1);
    request.onsuccess = () => (request.result.close(), say('done'));
    request.onerror = () => say(`failed: ${request.error.name}`);
  } catch (e) {
    say(`threw: ${e.name}`); // an opaque origin has no storage
  }
})();
