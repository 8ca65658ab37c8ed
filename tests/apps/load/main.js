// window.load(kind, {rate, seconds}) -> {calls, ms, ...}: calls, as the app itself counts them.
// window.halt() ends it early. body[data-state]: loading, ready, busy, done. Kinds `storage` and
// `notify` run in the page, without SQLite; the others in a worker.
import { keepPace } from './pace.js';

const worker = new Worker('worker.js', { type: 'module' });
const answer = () =>
  new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) =>
      data.error ? reject(new Error(data.error)) : resolve(data.result);
    worker.onerror = (event) => reject(new Error(event.message));
  });
const inWorker = (kind, options) => {
  const result = answer();
  worker.postMessage({ kind, options });
  return result;
};

let going = true;
const kinds = {
  storage: (options) =>
    keepPace({ ...options, going: () => going }, (n) => {
      for (let i = 0; i < n; i++) localStorage.getItem('load');
      return n;
    }),
  notify(options) {
    const words = new Int32Array(4);
    return keepPace({ ...options, going: () => going }, (n) => {
      for (let i = 0; i < n; i++) Atomics.notify(words, 0);
      return n;
    });
  },
  scan: (options) => inWorker('scan', options),
  commits: (options) => inWorker('commits', options),
  conflict: () => inWorker('conflict', {}),
};

window.halt = () => {
  going = false;
  worker.postMessage({ kind: 'stop' });
};
window.load = async (kind, options = {}) => {
  going = true;
  document.body.dataset.state = 'busy';
  try {
    return await kinds[kind](options);
  } finally {
    document.body.dataset.state = 'done';
  }
};

for (const button of document.querySelectorAll('button'))
  button.onclick = async () => {
    const value = (id) => Number(document.getElementById(id).value);
    const result = await window.load(button.dataset.kind, {
      rate: value('rate'),
      seconds: value('seconds'),
    });
    document.getElementById('result').textContent = JSON.stringify(result, null, 2);
  };

await answer();
document.body.dataset.state = 'ready';
