/**
 * Faults of IndexedDB. A slow flush delays the complete event of strict transactions: others aren't flushed before they complete. Storage
 * that is full aborts the transaction with a QuotaExceededError, as browsers do at the commit.
 */
import { inlineKey, valueBytes } from '../../../probes/value-size.ts';
import { quotaError } from './fault-state.ts';
import type { Faults } from './faults.ts';
import { patcher, type Patch } from './patch-method.ts';

/** @returns put the methods back, first to last */
export function faultyIdb(faults: Faults): (() => void)[] {
  const { active, slowFlushMs, quota, state } = faults;
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
            completeLate(transaction, slowFlushMs, () => void state.add('flushes'));
          return transaction;
        },
    );
  if (quota) limitStores(faults, patch);
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

/**
 * What a record takes is read from its store, in the same transaction and before it is written or deleted: another connection may have
 * stored it. A transaction that is aborted has stored nothing.
 */
function limitStores({ state, quota, active }: Faults, patch: Patch): void {
  const { get, getAll, count } = IDBObjectStore.prototype;
  /** Bytes by which each transaction grew what is stored. */
  const grown = new WeakMap<IDBTransaction, number>();
  const full = new WeakSet<IDBTransaction>();
  /** Requests that a transaction made so far. */
  const made = new WeakMap<IDBTransaction, number>();

  const watch = (transaction: IDBTransaction): void => {
    if (grown.has(transaction)) return;
    grown.set(transaction, 0);
    transaction.addEventListener(
      'abort',
      () => void state.store(-(grown.get(transaction) ?? 0), quota),
    );
  };
  const store = (transaction: IDBTransaction, bytes: number): boolean => {
    if (!state.store(bytes, quota)) return false;
    grown.set(transaction, (grown.get(transaction) ?? 0) + bytes);
    return true;
  };
  /** Requests succeed and the commit fails: the transaction is aborted once none of its requests is pending. */
  const abortAtEnd = (objects: IDBObjectStore): void => {
    const { transaction } = objects;
    const before = made.get(transaction);
    count.call(objects).addEventListener('success', () => {
      if (made.get(transaction) !== before) return abortAtEnd(objects);
      Object.defineProperty(transaction, 'error', { value: quotaError(), configurable: true });
      transaction.abort();
    });
  };
  const put = (objects: IDBObjectStore, bytes: number): void => {
    const { transaction } = objects;
    if (!active() || store(transaction, bytes)) return;
    state.add('overQuota');
    if (full.has(transaction)) return;
    full.add(transaction);
    abortAtEnd(objects);
  };
  const remove = (objects: IDBObjectStore, query?: IDBKeyRange): void => {
    const { transaction } = objects;
    watch(transaction);
    const gone = getAll.call(objects, query) as IDBRequest<unknown[]>;
    gone.addEventListener('success', () => void store(transaction, -valueBytes(gone.result)));
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
          const objects = this as IDBObjectStore;
          const args = key === undefined ? [value] : [value, key];
          const at = (key ?? inlineKey(value, objects.keyPath)) as IDBValidKey | undefined;
          watch(objects.transaction);
          // a key that the browser makes up is a new one
          const before = at === undefined ? null : (get.call(objects, at) as IDBRequest<unknown>);
          const request = native.apply(objects, args) as IDBRequest;
          const bytes = valueBytes(value);
          (before ?? request).addEventListener('success', () =>
            put(objects, bytes - valueBytes(before?.result)),
          );
          return request;
        },
    );
  patch(
    IDBObjectStore.prototype,
    'delete',
    (native) =>
      function (query) {
        const range = query instanceof IDBKeyRange ? query : IDBKeyRange.only(query);
        remove(this as IDBObjectStore, range);
        return native.call(this, query);
      },
  );
  patch(
    IDBObjectStore.prototype,
    'clear',
    (native) =>
      function () {
        remove(this as IDBObjectStore);
        return native.call(this);
      },
  );
  patch(
    IDBTransaction.prototype,
    'commit',
    (native) =>
      function () {
        // it commits by itself once what we ask is answered; one that is full is aborted then
        return grown.has(this as IDBTransaction) ? undefined : native.call(this);
      },
  );
}
