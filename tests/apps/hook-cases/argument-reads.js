// Counts how often storage calls run the app's own code in their arguments: getters, valueOf,
// toString. Runs in the page and, as a separate script, in a worker, which has sync access handles.
const counts = {};
const ran = (what) => (counts[what] = (counts[what] ?? 0) + 1);
/** A number or text that records its conversions. */
const converted = (what, value) => ({
  valueOf: () => (ran(`${what} valueOf`), value),
  toString: () => (ran(`${what} toString`), String(value)),
});
/** An object whose properties record when they are read. */
const read = (what, values) =>
  Object.defineProperties(
    {},
    Object.fromEntries(
      Object.entries(values).map(([key, value]) => [
        key,
        { enumerable: true, get: () => (ran(`${what}.${key}`), value) },
      ]),
    ),
  );
const settled = (request) => new Promise((done) => (request.onsuccess = request.onerror = done));

async function countReads() {
  await navigator.locks.request(
    converted('lock name', 'a'),
    read('lock', { mode: 'shared', ifAvailable: true, steal: false }),
    () => {},
  );
  await navigator.locks.request(
    'b',
    read('lock b', { mode: converted('mode', 'shared') }),
    () => {},
  );
  const name = () => {};
  name.toString = () => (ran('database name'), 'argument-reads');
  const opening = indexedDB.open(name, converted('version', 1));
  opening.onupgradeneeded = () => opening.result.createObjectStore('s');
  await settled(opening);
  const store = opening.result.transaction('s', 'readwrite').objectStore('s');
  const list = [1, 2, 3];
  Object.defineProperty(list, 1, { enumerable: true, get: () => (ran('element'), 2) });
  const key = ['a', 1];
  Object.defineProperty(key, 1, { enumerable: true, get: () => (ran('key element'), 1) });
  await settled(store.put({ list, nested: read('value', { x: 1 }) }, key));
  Atomics.notify(new Int32Array(new ArrayBuffer(8)), converted('index', 0), converted('count', 1));
  const parts = ['a', 'b'];
  Object.defineProperty(parts, 1, { enumerable: true, get: () => (ran('part'), 'b') });
  parts[Symbol.iterator] = function () {
    ran('iterator');
    return Array.prototype[Symbol.iterator].call(this);
  };
  counts['blob'] = new Blob(parts).size;
  for (const type of ['classic', 'module'])
    new Worker(
      converted('worker', 'echo.js'),
      read('worker', { name: converted('worker name', 'a'), type: converted('worker type', type) }),
    ).terminate();
  const worker = new Worker('echo.js');
  try {
    worker.postMessage({
      get text() {
        ran('message');
        return '';
      },
      refused() {},
    }); // before it runs
  } catch (e) {
    counts['refused message'] = [e.name, e.message, e.constructor === DOMException].join();
  }
  const transfers = (what, next) => ({
    [Symbol.iterator]() {
      ran(`${what} iterator`);
      return { next: () => (ran(`${what} item`), next()) };
    },
  });
  const failing = () => {
    throw new TypeError('of the app');
  };
  for (const [what, options] of Object.entries({
    none: transfers('no transfers', () => ({ done: true })),
    failing: transfers('failing transfers', failing),
    'failing list': read('options', { transfer: transfers('failing list', failing) }),
    'failing getter': {
      get transfer() {
        ran('transfer');
        return failing();
      },
    },
    'no list': { transfer: 5 },
    null: { transfer: null },
    'no object': 5,
    'no objects': [5],
  }))
    try {
      worker.postMessage(read('transferred', { x: 1 }), options);
    } catch (e) {
      counts[`transfer ${what}`] = `${e.name}: ${e.message}`;
    }
  worker.terminate();
  const asked = new Request('echo.js');
  await fetch(asked, read('init', { method: 'POST', referrerPolicy: 'origin', signal: null }));
  await fetch(
    new Request('echo.js'),
    read('no change', { referrerPolicy: undefined, signal: undefined }),
  );
  try {
    new Worker({
      toString() {
        ran('refused address');
        throw new Error('of the app');
      },
    });
  } catch (e) {
    counts['refusal'] = e.message;
  }
  if (typeof SharedWorker === 'function') {
    new SharedWorker(converted('shared worker', 'shared.js'));
    await navigator.serviceWorker
      .register(converted('service worker', 'echo.js'))
      .then((registration) => registration.unregister());
  }
  if (typeof localStorage === 'object') {
    localStorage.setItem(converted('item', 'k'), converted('item value', 'v'));
    localStorage.key(converted('nth', 0));
  }
  if (typeof FileSystemSyncAccessHandle === 'function') {
    const root = await navigator.storage.getDirectory();
    const handle = await (
      await root.getFileHandle('argument-reads', { create: true })
    ).createSyncAccessHandle();
    handle.write(new Uint8Array(8), read('write', { at: converted('at', 4) }));
    handle.read(new Uint8Array(4), read('read', { at: 4 }));
    handle.read(new Uint8Array(4), Object.create({ at: 4 }));
    const measured = new Uint8Array(4);
    Object.defineProperty(measured, 'byteLength', { get: () => ran('byteLength') });
    handle.read(measured, { at: 4 });
    const failure = new Error('of the app');
    try {
      handle.read(new Uint8Array(4), {
        get at() {
          ran('failing');
          throw failure;
        },
      });
    } catch (e) {
      counts['the same error'] = e === failure;
    }
    handle.truncate(converted('truncate', 6));
    counts['size'] = handle.getSize();
    handle.close();
  }
  return counts;
}
if (typeof document === 'undefined') countReads().then(postMessage);
