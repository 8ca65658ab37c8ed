// Functions and objects of the platform: names, lengths, flags, texts, and what they throw.
const METHODS = [
  [IDBFactory, 'open', 'deleteDatabase'],
  [IDBDatabase, 'transaction'],
  [IDBTransaction, 'commit', 'abort'],
  [IDBObjectStore, 'put', 'add', 'get', 'getAll', 'openCursor', 'delete', 'clear', 'count'],
  [IDBIndex, 'get', 'openCursor'],
  [IDBCursor, 'continue', 'advance', 'update', 'delete'],
  [StorageManager, 'getDirectory'],
  [
    FileSystemDirectoryHandle,
    'getFileHandle',
    'getDirectoryHandle',
    'removeEntry',
    'values',
    'entries',
  ],
  [FileSystemFileHandle, 'getFile', 'createWritable'],
  [LockManager, 'request', 'query'],
  [Storage, 'getItem', 'setItem', 'removeItem', 'key', 'clear'],
  [Blob, 'slice', 'arrayBuffer', 'text', 'stream'],
  [FileReader, 'readAsArrayBuffer'],
  [WritableStream, 'close', 'getWriter'],
  [Worker, 'postMessage', 'terminate'],
  [Performance, 'mark', 'measure'],
  [ServiceWorkerContainer, 'register'],
];
const FUNCTIONS = [
  [Atomics, 'wait', 'notify'],
  [WebAssembly, 'instantiate', 'instantiateStreaming', 'compile', 'Instance', 'Module'],
  [WebAssembly.Table.prototype, 'get', 'set'],
  [URL, 'createObjectURL', 'revokeObjectURL'],
  [globalThis, 'Worker', 'SharedWorker'],
];
const caught = (run) => {
  try {
    return ['returned', typeof run()];
  } catch (e) {
    return [e.constructor === globalThis[e.name], e.name, e.message, e.code ?? null];
  }
};

function shapes(put) {
  const owners = [
    ...METHODS.map(([type, ...names]) => [type.prototype, type.name, names]),
    ...FUNCTIONS.map(([o, ...names]) => [o, String(o?.name ?? ''), names]),
  ];
  for (const [owner, type, names] of owners)
    for (const name of names) {
      const d = Object.getOwnPropertyDescriptor(owner, name);
      const f = d.value;
      const label = `${type}.${name}`;
      put(`shape/${label}`, [
        f.name,
        f.length,
        typeof f,
        d.writable,
        d.enumerable,
        d.configurable,
        Object.getOwnPropertyNames(f).sort(),
        'prototype' in f,
      ]);
      put(`function-text/${label}`, String(f));
      put(`illegal/${label}`, [
        caught(() => f()),
        caught(() => f.call({})),
        caught(() => new f()),
        caught(() => Reflect.construct(Object, [], f) && 0),
      ]);
    }
  for (const type of ['Worker', 'SharedWorker', 'IDBObjectStore', 'Storage', 'Blob'])
    put(`shape/keys of ${type}.prototype`, Object.getOwnPropertyNames(globalThis[type].prototype));
  // a driven browser has its driver's globals, which appear at varying times
  put(
    'shape/names of window',
    Object.getOwnPropertyNames(window)
      .filter((name) => !/ariaQuerySelector/.test(name))
      .sort(),
  );
  put('shape/constructors', [
    Worker.prototype.constructor === Worker,
    SharedWorker.prototype.constructor === SharedWorker,
    new Worker('data:,') instanceof Worker,
  ]);
  put('sign-symbol/window', Object.getOwnPropertySymbols(window).map(String));
  put('object-prototype/names', Object.getOwnPropertyNames(Object.prototype).sort());
  put(
    'shape/for-in over an object',
    (() => {
      const all = [];
      for (const key in { own: 1 }) all.push(key);
      return all;
    })(),
  );
}

async function errors(put) {
  const failed = (promise) =>
    promise.then(
      (v) => ['resolved', typeof v],
      (e) => [e.constructor.name, e.name, e.message],
    );
  const db = await new Promise((done) => {
    const request = indexedDB.open('errors', 1);
    request.onupgradeneeded = () => request.result.createObjectStore('s', { keyPath: 'k' });
    request.onsuccess = () => done(request.result);
  });
  const read = () => db.transaction('s').objectStore('s');
  put(
    'error/readonly',
    caught(() => read().put({ k: 1 })),
  );
  put(
    'error/clone',
    caught(() =>
      db
        .transaction('s', 'readwrite')
        .objectStore('s')
        .put({ k: 1, f() {} }),
    ),
  );
  put(
    'error/no key',
    caught(() => db.transaction('s', 'readwrite').objectStore('s').put({})),
  );
  put(
    'error/bad key',
    caught(() => read().get({})),
  );
  put(
    'error/no store',
    caught(() => db.transaction('none')),
  );
  put(
    'error/no argument',
    caught(() => read().get()),
  );
  put(
    'error/open version',
    caught(() => indexedDB.open('x', -1)),
  );
  put(
    'error/a key that throws',
    caught(() =>
      db
        .transaction('s', 'readwrite')
        .objectStore('s')
        .put({
          get k() {
            throw new RangeError('mine');
          },
        }),
    ),
  );
  db.close();
  put(
    'error/closed',
    caught(() => db.transaction('s')),
  );
  put('error/locks', [
    await failed(navigator.locks.request('l')),
    await failed(navigator.locks.request('-l', () => 0)),
    await failed(navigator.locks.request('l', { mode: 'x' }, () => 0)),
    await failed(
      navigator.locks.request('l', () => {
        throw new RangeError('mine');
      }),
    ),
  ]);
  const root = await navigator.storage.getDirectory();
  put('error/opfs', [
    await failed(root.getFileHandle('missing')),
    await failed(root.getFileHandle('a/b')),
    await failed(root.getFileHandle()),
    await failed(root.removeEntry('missing')),
  ]);
  put('error/localStorage', [
    caught(() => localStorage.setItem('k')),
    caught(() => localStorage.getItem()),
    caught(() => localStorage.setItem('big', 'x'.repeat(2 ** 24))),
  ]);
  put(
    'error/measure',
    caught(() => performance.measure('m', 'no such mark')),
  );
  put('error/wasm', [
    caught(() => new WebAssembly.Module(new Uint8Array(3))),
    await failed(WebAssembly.instantiate(new Uint8Array(3))),
  ]);
  // the stack of an error that the platform throws, as lines in scripts
  const stack = (() => {
    try {
      read.call(null);
      indexedDB.open('x', -1);
    } catch (e) {
      return e.stack;
    }
  })();
  put('error-stack/lines of the platform', stack.split('\n').length);
}
