/**
 * Faults of IndexedDB. A slow flush delays the complete event of strict transactions: others aren't flushed before they complete. Storage
 * that is full aborts the transaction with a QuotaExceededError, as browsers do at the commit.
 */
import { inlineKey, valueBytes } from '../../../probes/value-size.ts';
import type { Faults } from './faults.ts';
import { patcher, type Patch } from './patch-method.ts';
import { quotaError, type Quota } from './quota.ts';

/** @returns put the methods back, first to last */
export function faultyIdb(faults: Faults): (() => void)[] {
  const { active, slowFlushMs, quota, tally } = faults;
  if (typeof IDBDatabase === 'undefined') return [];
  const { patch, puts } = patcher(active);
  if (slowFlushMs)
    patch(
      IDBDatabase.prototype,
      'transaction',
      (native) =>
        function (...args) {
          const transaction = native.apply(this, args) as IDBTransaction;
          if (transaction.mode === 'readwrite' && transaction.durability === 'strict')
            completeLate(transaction, slowFlushMs, () => tally.flushes++);
          return transaction;
        },
    );
  if (quota) limitStores(quota, patch, () => tally.overQuota++);
  return puts;
}

/** Ours is its first listener, so that no other hears of it sooner. */
function completeLate(transaction: IDBTransaction, ms: number, onFlush: () => void): void {
  let over = false;
  transaction.addEventListener('complete', (event) => {
    if (over) return;
    event.stopImmediatePropagation();
    onFlush();
    setTimeout(() => {
      over = true;
      transaction.dispatchEvent(new Event('complete'));
    }, ms);
  });
}

type Undo = () => void;

/** Methods of stores and indexes that make a request. */
const REQUESTS = [
  'get',
  'getKey',
  'getAll',
  'getAllKeys',
  'count',
  'openCursor',
  'openKeyCursor',
  'put',
  'add',
  'delete',
  'clear',
];

function limitStores(quota: Quota, patch: Patch, onFull: () => void): void {
  const count = IDBObjectStore.prototype.count as (this: IDBObjectStore) => IDBRequest<number>;
  /** Keys of each store. */
  const stores = new Map<string, Map<string, IDBValidKey>>();
  const undos = new WeakMap<IDBTransaction, Undo[]>();
  const full = new WeakSet<IDBTransaction>();

  const storeName = ({ name, transaction }: IDBObjectStore): string =>
    `${transaction.db.name}\n${name}`;
  const keysOf = (store: IDBObjectStore): Map<string, IDBValidKey> => {
    const name = storeName(store);
    const keys = stores.get(name) ?? new Map<string, IDBValidKey>();
    stores.set(name, keys);
    return keys;
  };
  /** An aborted transaction has stored nothing. */
  const undoWith = ({ transaction }: IDBObjectStore, undo: Undo): void => {
    const known = undos.get(transaction);
    if (known) return void known.push(undo);
    const all = [undo];
    undos.set(transaction, all);
    transaction.addEventListener('abort', () => all.reverse().forEach((one) => one()));
  };
  const put = (store: IDBObjectStore, key: IDBValidKey, bytes: number): boolean => {
    const [keys, text] = [keysOf(store), keyText(key)];
    const place = `${storeName(store)}\n${text}`;
    const before = quota.sizeOf(place);
    if (!quota.resize(place, bytes)) return false;
    keys.set(text, key);
    undoWith(store, () => {
      quota.put(place, before);
      if (before === undefined) keys.delete(text);
    });
    return true;
  };
  const remove = (store: IDBObjectStore, gone: (key: IDBValidKey) => boolean): void => {
    const keys = keysOf(store);
    for (const [text, key] of [...keys].filter(([, key]) => gone(key))) {
      const back = quota.remove(`${storeName(store)}\n${text}`);
      keys.delete(text);
      undoWith(store, () => {
        back();
        keys.set(text, key);
      });
    }
  };
  /** Requests that a transaction made so far. */
  const made = new WeakMap<IDBTransaction, number>();
  /** Requests succeed and the commit fails: the transaction is aborted once none of its requests is pending. */
  const abortAtEnd = (store: IDBObjectStore): void => {
    const { transaction } = store;
    const before = made.get(transaction);
    count.call(store).addEventListener('success', () => {
      if (made.get(transaction) !== before) return abortAtEnd(store);
      Object.defineProperty(transaction, 'error', { value: quotaError(), configurable: true });
      transaction.abort();
    });
  };

  for (const prototype of [IDBObjectStore.prototype, IDBIndex.prototype])
    for (const method of REQUESTS)
      patch(
        prototype,
        method,
        (native) =>
          function (...args) {
            const request = native.apply(this, args) as IDBRequest;
            const { transaction } = request;
            if (transaction) made.set(transaction, (made.get(transaction) ?? 0) + 1);
            return request;
          },
      );
  for (const method of ['put', 'add'])
    patch(
      IDBObjectStore.prototype,
      method,
      (native) =>
        function (value, key) {
          const store = this as IDBObjectStore;
          const args = key === undefined ? [value] : [value, key];
          const request = native.apply(store, args) as IDBRequest;
          const at = key ?? inlineKey(value, store.keyPath);
          // a key that the browser makes up is not known yet: such a record is not counted
          if (at === undefined || put(store, at as IDBValidKey, valueBytes(value))) return request;
          onFull();
          const { transaction } = store;
          if (!full.has(transaction)) {
            full.add(transaction);
            abortAtEnd(store);
          }
          return request;
        },
    );
  patch(
    IDBObjectStore.prototype,
    'delete',
    (native) =>
      function (query) {
        const request = native.call(this, query);
        const range = query instanceof IDBKeyRange ? query : IDBKeyRange.only(query);
        remove(this as IDBObjectStore, (key) => range.includes(key));
        return request;
      },
  );
  patch(
    IDBObjectStore.prototype,
    'clear',
    (native) =>
      function () {
        const request = native.call(this);
        remove(this as IDBObjectStore, () => true);
        return request;
      },
  );
  patch(
    IDBTransaction.prototype,
    'commit',
    (native) =>
      function () {
        const transaction = this as IDBTransaction;
        return full.has(transaction) ? undefined : native.call(this); // it is aborted then
      },
  );
}

/** The same text for the same key, and for no other. */
function keyText(key: IDBValidKey): string {
  if (Array.isArray(key)) return `[${key.map(keyText).join()}]`;
  if (typeof key === 'string') return JSON.stringify(key);
  if (typeof key === 'number') return String(key);
  if (key instanceof Date) return `d${key.getTime()}`;
  const bytes = ArrayBuffer.isView(key)
    ? new Uint8Array(key.buffer, key.byteOffset, key.byteLength)
    : new Uint8Array(key);
  return `b${bytes.join()}`;
}
