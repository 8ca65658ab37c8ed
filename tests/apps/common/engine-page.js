// The page side of every engine app: window.prepare, window.run, window.shutdown and the page's
// state in body[data-state]. States: loading (scripts), ready (accepts calls), busy, done (a run
// has ended), error (see #error).

const $ = (id) => document.getElementById(id);

/**
 * @param {object} app
 * @param {() => Promise<{ call(name: string, ...args: unknown[]): Promise<unknown>, end(): void }>} app.connect
 *   returns the engine's session: in a worker (`workerSession`) or in this page (`pageSession`)
 */
export async function startPage({ connect }) {
  const config = Object.fromEntries(new URLSearchParams(location.search));
  let databases = 0;
  let prepared = null;
  $('config').textContent = new URLSearchParams(location.search).toString() || 'defaults';

  const session = await connect().catch(fail);

  async function prepare({ name = `test-${++databases}.db` } = {}) {
    return busy('ready', async () => {
      const about = await session.call('prepare', config, name);
      prepared = name;
      return about;
    });
  }

  async function run(workload = 'standard', options = {}) {
    return busy('done', async () => {
      const name = options.name ?? prepared ?? `test-${++databases}.db`;
      prepared = null;
      const result = await session.call('run', config, name, workload, options);
      show(result);
      return result;
    });
  }

  /** Ends the worker, which releases every file and lock. */
  function shutdown() {
    session.end();
    document.body.dataset.state = 'ended';
  }

  Object.assign(window, { prepare, run, shutdown });
  for (const button of document.querySelectorAll('button[data-workload]'))
    button.onclick = () =>
      run(button.dataset.workload, {
        n: Number($('rows').value),
        name: `click-${Date.now()}.db`,
      }).catch(console.error);
  document.body.dataset.state = 'ready';
  // ?run=<workload>&n=<rows> runs immediately, for recorders that only load a page and wait for
  // data-state="done"
  if (config.run) {
    const pragmas = config.pragmas?.split(';').filter(Boolean) ?? [];
    const autocommits = Number(config.autocommits ?? 20);
    await run(config.run, {
      n: Number(config.n ?? 1000),
      pragmas,
      oneTransaction: config.oneTransaction === '1',
      autocommits,
    });
  }
}

async function busy(after, work) {
  document.body.dataset.state = 'busy';
  try {
    const result = await work();
    document.body.dataset.state = after;
    return result;
  } catch (error) {
    return fail(error);
  }
}

function fail(error) {
  document.body.dataset.state = 'error';
  $('error').textContent = String(error?.message ?? error);
  $('error').hidden = false;
  throw error;
}

function show(result) {
  const { rows, ...rest } = result;
  $('result').textContent = [...rows, rest].map((part) => JSON.stringify(part)).join('\n');
  $('result').hidden = false;
}

/**
 * Starts a dedicated worker and waits until it accepts calls. Rejects if its script doesn't load.
 * @param {(worker: Worker) => void} [started] for packages that need the worker itself; messages
 * that answer no call are theirs
 */
export async function workerSession(url, options, started) {
  const worker = new Worker(url, options);
  started?.(worker);
  const calls = new Map();
  let next = 0;
  await new Promise((resolve, reject) => {
    worker.onerror = (event) =>
      reject(new Error(`worker ${url}: ${event.message ?? 'did not load'}`));
    worker.onmessage = ({ data }) => {
      if (data.loaded) return resolve();
      const call = calls.get(data.id);
      if (!call) return;
      const { resolve: done, reject: failed } = call;
      calls.delete(data.id);
      if ('error' in data) failed(new Error(data.error));
      else done(data.result);
    };
  });
  worker.onerror = (event) => {
    for (const { reject } of calls.values()) reject(new Error(`worker ${url}: ${event.message}`));
    calls.clear();
  };
  return {
    call: (call, ...args) =>
      new Promise((resolve, reject) => {
        calls.set(++next, { resolve, reject });
        worker.postMessage({ id: next, call, args });
      }),
    end: () => worker.terminate(),
  };
}

/**
 * The same with a session in this page, for engines on the main thread.
 * @param {() => void} [end] ends the workers that the engine started itself
 */
export async function pageSession(session, end = () => {}) {
  return { call: (call, ...args) => session[call](...args), end };
}
