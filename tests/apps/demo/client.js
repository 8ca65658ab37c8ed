// The page's end of the database's worker: a call is a promise of {result, ms}, and its error is an
// Error.

export function startDatabase() {
  const worker = new Worker('worker.js', { type: 'module' });
  const waiting = new Map();
  let next = 0;

  worker.onmessage = ({ data }) => {
    const { resolve, reject } = waiting.get(data.id);
    waiting.delete(data.id);
    if ('error' in data) reject(new Error(data.error));
    else resolve(data);
  };
  worker.onerror = (event) => {
    for (const { reject } of waiting.values())
      reject(new Error(event.message || 'The database worker did not start.'));
    waiting.clear();
  };

  return (call, ...args) =>
    new Promise((resolve, reject) => {
      waiting.set(++next, { resolve, reject });
      worker.postMessage({ id: next, call, args });
    });
}
