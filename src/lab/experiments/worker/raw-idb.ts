/**
 * The same rows in plain IndexedDB, without SQLite: the reference for a database over IndexedDB.
 */
import type { Counters, RawStep } from '../model/types.ts';
import { settled } from '../../../vfs-instrumented/block-idb/storage.ts';
import { LAB } from './storage.ts';

const NAME = `${LAB}-raw`;
const STORE = 'rows';

async function open(): Promise<IDBDatabase> {
  const request = indexedDB.open(NAME, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(STORE);
  return settled(request);
}

/**
 * Runs one step. `rows` is how many it put or read, and the `sum` of their values proves that they
 * were the right ones. Requests and transactions have the same names as a VFS's in count mode. Here
 * they are counted where they are made, in both modes.
 */
export async function rawIdb(step: RawStep): Promise<Counters> {
  const db = await open();
  try {
    const start = performance.now();
    const counts = await work(db, step);
    return { ms: performance.now() - start, ...counts };
  } finally {
    db.close();
  }
}

type Counted = Counters & { readonly rows: number; readonly sum: number };

async function work(db: IDBDatabase, step: RawStep): Promise<Counted> {
  if (step.action === 'put-rows') return put(db, step);
  const store = db.transaction(STORE, 'readonly').objectStore(STORE);
  let rows = 0;
  let sum = 0;
  if (step.action === 'get-all-sum') {
    for (const value of (await settled(store.getAll())) as number[]) {
      rows++;
      sum += value;
    }
    return { rows, sum, 'idb.transactions': 1, 'idb.getAll': 1 };
  }
  await new Promise<void>((resolve, reject) => {
    const request = store.openCursor();
    request.onerror = () => reject(request.error ?? new Error('a cursor failed'));
    request.onsuccess = () => {
      const cursor = request.result;
      if (!cursor) return resolve();
      rows++;
      sum += cursor.value as number;
      cursor.continue();
    };
  });
  return { rows, sum, 'idb.transactions': 1, 'idb.cursor': 1, 'idb.cursorContinue': rows };
}

async function put(db: IDBDatabase, { count, row }: RawStep): Promise<Counted> {
  const transaction = db.transaction(STORE, 'readwrite');
  const done = new Promise<void>((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () =>
      reject(transaction.error ?? new Error('the transaction was aborted'));
  });
  const store = transaction.objectStore(STORE);
  let sum = 0;
  for (let i = 0; i < count; i++) {
    const { key, value } = row(i);
    sum += value;
    store.put(value, key);
  }
  await done;
  return {
    rows: count,
    sum,
    'idb.transactions': 1,
    'idb.readwriteTransactions': 1,
    'idb.put': count,
  };
}
