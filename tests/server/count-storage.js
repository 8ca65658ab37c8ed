// Counts an app's storage calls independently of vfscope: the server puts this before each of the
// app's scripts if a test needs it. The counts are sent to the server. If a worker is terminated,
// its last counts are lost.
(function countStorage() {
  if (globalThis.isCountingStorage) return;
  Object.defineProperty(globalThis, 'isCountingStorage', { value: true });
  const { fetch, queueMicrotask } = globalThis;
  /**
   * Maximum number of pending requests: a worker that waits in Atomics.wait receives no response,
   * and browsers refuse pending requests beyond 64 KiB.
   */
  const MOST = 64;
  let counts = {};
  let planned = false;
  let sending = 0;
  const send = async () => {
    const body = JSON.stringify(counts);
    [counts, planned] = [{}, false];
    sending++;
    const to = `${location.origin}/counted`;
    await fetch.call(globalThis, to, { method: 'POST', body, keepalive: true });
    sending--;
    plan();
  };
  /** Sends the counts at the end of the task. */
  const plan = () => {
    if (planned || sending >= MOST || Object.keys(counts).length === 0) return;
    planned = true;
    queueMicrotask(() => void send());
  };
  const count = (name, by = 1) => {
    counts[name] = (counts[name] ?? 0) + by;
    plan();
  };
  // for workers whose script the app has as text
  globalThis.Blob = new Proxy(Blob, {
    construct(target, [parts = [], options = {}], made) {
      const script = /javascript/.test(options.type ?? '');
      const given = script ? [`(${String(countStorage)})();`, ...parts] : parts;
      return Reflect.construct(target, [given, options], made);
    },
  });
  /** @param counted called after the method returned, with its arguments */
  const wrap = (type, method, counted) => {
    const prototype = globalThis[type]?.prototype;
    const original = prototype?.[method];
    if (!original) return;
    prototype[method] = function (...given) {
      const result = original.apply(this, given);
      counted(...given);
      return result;
    };
  };
  const requests = [
    'get',
    'getKey',
    'getAll',
    'getAllKeys',
    'count',
    'openCursor',
    'openKeyCursor',
  ];
  for (const method of requests)
    for (const type of ['IDBObjectStore', 'IDBIndex']) wrap(type, method, () => count(method));
  for (const method of ['put', 'add', 'delete', 'clear'])
    wrap('IDBObjectStore', method, () => count(method));
  for (const method of ['update', 'delete'])
    wrap('IDBCursor', method, () => count(`cursor.${method}`));
  for (const method of ['continue', 'advance', 'continuePrimaryKey'])
    wrap('IDBCursor', method, () => count('cursor.continue')); // one operation in a recording
  wrap('IDBDatabase', 'transaction', () => count('transactions'));
  const handle = 'FileSystemSyncAccessHandle';
  wrap(handle, 'read', (buffer) => (count('reads'), count('readBytesAsked', buffer.byteLength)));
  wrap(handle, 'write', (buffer) => (count('writes'), count('writeBytes', buffer.byteLength)));
  wrap(handle, 'flush', () => count('flushes'));
  wrap(handle, 'truncate', () => count('truncates'));
})();
