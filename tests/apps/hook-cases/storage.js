// Storage calls whose number the script itself knows: the answer reports what each did, and the
// test compares that with the recording. Runs in a worker (classic) or a page: `storageCalls()`.
const request = (r) =>
  new Promise((resolve, reject) => {
    r.onsuccess = () => resolve(r.result);
    r.onerror = () => reject(r.error);
  });
const settled = (t) =>
  new Promise((resolve) => {
    t.oncomplete = () => resolve('complete');
    t.onabort = () => resolve(`abort ${t.error?.name}`);
  });

async function indexedDbCalls() {
  const order = [];
  const open = indexedDB.open('hook-cases', 1);
  open.onupgradeneeded = () => {
    open.result.createObjectStore('blocks', { keyPath: ['path', 'index'] });
    open.result.createObjectStore('plain');
  };
  const db = await request(open);
  const write = db.transaction(['blocks', 'plain'], 'readwrite', { durability: 'relaxed' });
  const blocks = write.objectStore('blocks');
  const plain = write.objectStore('plain');
  for (let i = 0; i < 5; i++) blocks.put({ path: '/a', index: i, data: new Uint8Array(4096) });
  plain.put('text', 7);
  plain.add(new ArrayBuffer(100), 8);
  const twice = plain.add('again', 8);
  twice.onerror = (e) => {
    order.push('request');
    e.preventDefault(); // otherwise the transaction aborts
  };
  write.onerror = (e) => order.push(`transaction ${e.defaultPrevented}`);
  plain.delete(7);
  order.push(await settled(write));
  const short = db.transaction('plain', 'readwrite');
  short.objectStore('plain').put(1, 'text key');
  short.commit();
  order.push(await settled(short));

  const read = db.transaction('blocks');
  const store = read.objectStore('blocks');
  const got = await request(store.get(['/a', 3]));
  order.push(got.data.length, got === undefined);
  const walk = store.openCursor();
  let steps = 0;
  await new Promise((resolve) => {
    walk.onsuccess = () => {
      if (!walk.result) return resolve();
      steps++;
      walk.result.continue();
    };
  });
  order.push(steps, (await request(store.getAll())).length, await request(store.count()));
  order.push(await settled(read));

  const bad = db.transaction('plain', 'readwrite');
  const done = settled(bad);
  let thrown = '';
  try {
    bad.objectStore('plain').put(() => 1, 1);
  } catch (e) {
    thrown = `${e.name}: ${e.message}`;
  }
  bad.abort();
  order.push(thrown, await done);
  // an error without preventDefault aborts the transaction
  const failing = db.transaction('plain', 'readwrite');
  const failed = settled(failing);
  failing.objectStore('plain').add('again', 8);
  order.push(await failed);
  db.close();
  await request(indexedDB.deleteDatabase('hook-cases'));
  return order;
}

async function opfsCalls() {
  const seen = [];
  const root = await navigator.storage.getDirectory();
  const directory = await root.getDirectoryHandle('hooks', { create: true });
  const file = await directory.getFileHandle('a.db', { create: true });
  const missing = await directory.getFileHandle('no.db').catch((e) => e.name);
  seen.push(missing);
  if (typeof document === 'undefined') {
    const handle = await file.createSyncAccessHandle();
    seen.push(await file.createSyncAccessHandle().catch((e) => e.name));
    const page = new Uint8Array(4096);
    for (let i = 0; i < 4; i++) handle.write(page, { at: i * 4096 });
    seen.push(
      handle.read(page, { at: 0 }),
      handle.read(page),
      handle.read(page, { at: 3 * 4096 + 4000 }),
      handle.read(page),
    );
    handle.truncate(8192);
    handle.flush();
    seen.push(handle.getSize());
    handle.close();
    try {
      handle.read(page);
    } catch (e) {
      seen.push(e.name);
    }
  }
  const stream = await file.createWritable({ keepExistingData: true });
  await stream.write({ type: 'write', position: 100, data: new Uint8Array(50) });
  await stream.write('text');
  await stream.truncate(4096);
  await stream.close();
  const blob = await file.getFile();
  seen.push((await blob.arrayBuffer()).byteLength, (await blob.slice(1000, 1100).text()).length);
  for await (const [name, child] of directory) seen.push(name, (await child.getFile()).size);
  for await (const name of directory.keys()) seen.push(name);
  const [listed] = await Array.fromAsync(directory.values());
  await listed.move('b.db');
  await directory.removeEntry('b.db');
  await root.removeEntry('hooks');
  seen.push(directory.entries === directory[Symbol.asyncIterator]);
  return seen;
}

async function lockCalls() {
  const seen = [];
  const { locks } = navigator;
  seen.push(await locks.request('a', async (lock) => `${lock.name} ${lock.mode}`));
  seen.push(
    await locks.request('a', { mode: 'shared' }, () =>
      locks.request('a', { ifAvailable: true }, (lock) => lock),
    ),
  );
  seen.push(
    await locks
      .request('b', () => Promise.reject(new RangeError('rejected')))
      .catch((e) => e.message),
  );
  seen.push(await locks.request('b', () => { throw new RangeError('thrown'); }).catch((e) => e.message)); // prettier-ignore
  seen.push(await locks.request('-b', () => 1).catch((e) => e.name));
  let release;
  const held = locks.request('c', () => new Promise((resolve) => (release = resolve)));
  while (!release) await new Promise((resolve) => setTimeout(resolve));
  const abort = new AbortController();
  const waiting = locks.request('c', { signal: abort.signal }, () => 'never').catch((e) => e.name);
  abort.abort();
  seen.push(await waiting);
  const stolen = held.catch((e) => e.name);
  seen.push(await locks.request('c', { steal: true }, () => 'stole'), await stolen);
  release();
  seen.push((await locks.query()).held.length);
  // the order of microtasks around a lock
  const order = [];
  const both = locks.request('d', async () => void order.push('held'));
  both.then(() => order.push('after'));
  await both.then(() => order.push('second'));
  seen.push(order.join());
  return seen;
}

async function atomicsCalls() {
  if (typeof SharedArrayBuffer === 'undefined') return [];
  const words = new Int32Array(new SharedArrayBuffer(64));
  const seen = [];
  if (typeof document === 'undefined')
    seen.push(Atomics.wait(words, 2, 1), Atomics.wait(words, 2, 0, 5));
  const asynchronous = Atomics.waitAsync(words, 3, 0);
  seen.push(
    Atomics.notify(words, 3),
    await asynchronous.value,
    Atomics.waitAsync(words, 3, 1).value,
    Atomics.notify(words, 0),
  );
  return seen;
}

function localStorageCalls() {
  if (typeof document === 'undefined') return [];
  localStorage.setItem('k', 'value');
  const seen = [localStorage.getItem('k'), localStorage.getItem('none'), localStorage.key(0)];
  sessionStorage.setItem('other', '1');
  localStorage.removeItem('k');
  localStorage.clear();
  return [...seen, localStorage.length];
}

async function storageCalls() {
  return [
    await indexedDbCalls(),
    await opfsCalls(),
    await lockCalls(),
    await atomicsCalls(),
    localStorageCalls(),
  ];
}
if (typeof document === 'undefined')
  self.onmessage = () =>
    storageCalls().then(
      (results) => self.postMessage({ results, done: true }),
      (e) => self.postMessage({ failed: `${e.name}: ${e.message}`, done: true }),
    );
