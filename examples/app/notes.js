// The database's worker, called from the page: one message a call, answered in order.
const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
const waiting = [];
worker.onmessage = ({ data }) => waiting.shift()(data);
const call = (sql, values = []) =>
  new Promise((done) => {
    waiting.push(done);
    worker.postMessage({ sql, values });
  });

export const saveNote = (text) => call('INSERT INTO notes(text) VALUES (?)', [text]);
export const readNotes = async () =>
  (await call('SELECT text FROM notes ORDER BY id')).map(([text]) => text);
