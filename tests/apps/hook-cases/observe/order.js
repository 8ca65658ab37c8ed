// The order of microtasks, events, and callbacks.
async function orders(put) {
  const idb = [];
  await new Promise((done) => {
    const request = indexedDB.open('order', 1);
    request.onupgradeneeded = (e) => {
      idb.push(['upgradeneeded', e.oldVersion, e.target === request, request.readyState]);
      request.result.createObjectStore('s').put(1, 'k');
      request.transaction.addEventListener('complete', () => idb.push('upgrade complete'));
    };
    request.onsuccess = () => {
      const db = request.result;
      const tx = db.transaction('s', 'readwrite');
      const store = tx.objectStore('s');
      const put = store.put(2, 'k');
      put.addEventListener('success', () => idb.push('listener 1'));
      put.onsuccess = (e) => {
        idb.push([
          'onsuccess',
          e.eventPhase,
          e.currentTarget === put,
          e.bubbles,
          e.cancelable,
          e.isTrusted,
          String(put.result),
        ]);
        Promise.resolve().then(() => idb.push('microtask in onsuccess'));
        store.get('k').onsuccess = ({ target }) => idb.push(['get', target.result]);
      };
      put.addEventListener('success', () => idb.push('listener 2'));
      const failing = store.add(3, 'k');
      failing.onerror = (e) => (
        e.preventDefault(),
        e.stopPropagation(),
        idb.push(['onerror', failing.error.name])
      );
      store.openCursor().onsuccess = ({ target }) => {
        idb.push(['cursor', target.result?.key ?? null]);
        target.result?.continue();
      };
      Promise.resolve().then(() => idb.push('microtask after put'));
      tx.addEventListener('complete', () => idb.push('tx listener'));
      tx.oncomplete = () => (idb.push('oncomplete'), db.close(), setTimeout(done));
      idb.push([
        'own keys',
        Object.getOwnPropertyNames(put).length,
        put instanceof IDBRequest,
        tx instanceof IDBTransaction,
      ]);
    };
  });
  put('order/IndexedDB', idb);

  const locks = [];
  const ticks = async (count) => {
    for (let i = 0; i < count; i++) await null;
    locks.push(`${count} ticks`);
  };
  const request = navigator.locks.request('order', async (lock) => {
    locks.push(['granted', lock.name, lock.mode, lock instanceof Lock]);
    const chain = [1, 2, 3, 4, 5].map(ticks);
    await null;
    locks.push('in the callback');
    await Promise.all(chain);
    return 'value';
  });
  request.then((v) => locks.push(['then 1', v]));
  request.finally(() => locks.push('finally'));
  locks.push([request instanceof Promise, request.constructor === Promise]);
  await request;
  locks.push('awaited');
  await ticks(6);
  put('order/Web Locks', locks);

  const opfs = [];
  const root = await navigator.storage.getDirectory();
  const handle = root.getFileHandle('order.txt', { create: true });
  put('promise-constructor/own names before the first touch', Object.getOwnPropertyNames(handle));
  handle.then(() => opfs.push('then 1')).then(() => opfs.push('then 1.1'));
  handle.then(
    () => (opfs.push('then 2'), Promise.resolve().then(() => opfs.push('inner microtask'))),
  );
  const awaiting = (async () => (
    await handle,
    opfs.push('awaited'),
    await null,
    opfs.push('one tick after')
  ))();
  await Promise.all([handle, awaiting]);
  put('shape/promise afterwards', [
    Object.getOwnPropertyNames(handle),
    handle.constructor === Promise,
  ]);
  const stream = await (await handle).createWritable();
  await stream.write('hello');
  await stream.close();
  const file = await (await handle).getFile();
  put('order/OPFS', [...opfs, file.name, await file.text(), await file.slice(1, 3).text()]);
  const names = [];
  for await (const [name, { kind }] of root.entries()) names.push([name, kind]);
  put('order/OPFS listing', names);

  const marks = [];
  const mark = performance.mark('observed', { detail: { a: 1 }, startTime: 5 });
  marks.push(mark.name, mark.startTime, mark.detail, mark instanceof PerformanceMark);
  put('order/marks', [marks, performance.getEntriesByName('observed').length]);

  const window1 = [];
  const heard = ({ data }) => window1.push(data);
  addEventListener('message', heard);
  window.onmessage = ({ data }) => window1.push(['onmessage', data]);
  postMessage({ mark: 'mine' });
  await new Promise((done) => setTimeout(done, 0));
  await new Promise((done) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = done;
    port2.postMessage(0);
  });
  removeEventListener('message', heard);
  window.onmessage = null;
  put('order/messages to the window', window1);
  localStorage.setItem('named', 'a');
  put('order/localStorage', [
    localStorage.named,
    localStorage.length > 0,
    delete localStorage.named,
    localStorage.getItem('named'),
    Object.keys(localStorage),
  ]);
}
