// The page: runs the commits of the crash test in a worker that stops after a storage call,
// terminates the worker, and examines what is left.
//   window.commitUntil({ config, commits, stopAfter, end }) -> { acknowledged, calls, died }; end: false leaves the worker suspended
//   window.lookAfter({ config }) -> { commits, fault }; commits: null if the database is damaged

/** A terminated worker's handles are released a moment later. */
const HANDLES_MS = 10_000;
const PAUSE_MS = 50;

/** @returns the worker's last message; `heard` receives the earlier ones */
function ask(message, heard = () => {}, end = true) {
  const worker = new Worker('worker.js?bundle', { type: 'module' });
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => {
      if (!data.last) return heard(data);
      if (end) worker.terminate();
      if (data.error) reject(new Error(data.error));
      else resolve(data);
    };
    worker.onerror = ({ message: text }) => reject(new Error(text));
    worker.postMessage(message);
  });
}

window.commitUntil = async ({ end = true, ...work }) => {
  let acknowledged = 0;
  const { calls, died } = await ask({ ...work, kind: 'commit' }, () => acknowledged++, end);
  return { acknowledged, calls, died };
};

window.lookAfter = async ({ config }) => {
  const last = performance.now() + HANDLES_MS;
  for (;;) {
    const { found, failure } = await ask({ config, kind: 'look' });
    if (found) return found;
    if (performance.now() > last) return { commits: null, fault: failure };
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
};
document.body.dataset.state = 'ready';
