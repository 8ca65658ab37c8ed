// The database's worker: handles the page's calls one at a time, in order, and answers with the
// result and its duration in ms. Messages: {id, call, args} -> {id, result, ms} or {id, error}.
import { openNotes } from './notes.js';

let notes = null;
let queue = Promise.resolve();

const calls = {
  async open(config) {
    notes = await openNotes(config);
    return notes.about;
  },
};

self.onmessage = ({ data: { id, call, args } }) => {
  queue = queue.then(async () => {
    const start = performance.now();
    try {
      const result = await (calls[call] ?? notes[call])(...args);
      self.postMessage({ id, result, ms: performance.now() - start });
    } catch (error) {
      self.postMessage({ id, error: String(error?.message ?? error) });
    }
  });
};
