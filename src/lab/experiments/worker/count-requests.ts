/**
 * In a worker that absurd-sql stores in: counts its IndexedDB requests where the worker that
 * started it can read them.
 */
import { patcher, type Method } from './patch-method.ts';
import { requestsOf, RequestCounts, type RequestCell } from './request-counts.ts';

self.addEventListener('message', (event: MessageEvent) => {
  const buffer = requestsOf(event.data);
  if (!buffer) return;
  event.stopImmediatePropagation();
  countInto(new RequestCounts(buffer));
});

function countInto(counts: RequestCounts): void {
  const { patch } = patcher(() => true);
  const count = (prototype: object, method: string, cell: RequestCell): void =>
    patch(
      prototype,
      method,
      (native: Method) =>
        function (this: object, ...args: unknown[]): unknown {
          counts.add(cell);
          return native.apply(this, args);
        },
    );
  count(IDBObjectStore.prototype, 'get', 'idb.get');
  count(IDBObjectStore.prototype, 'put', 'idb.put');
  count(IDBObjectStore.prototype, 'openCursor', 'idb.cursor');
  count(IDBCursor.prototype, 'advance', 'idb.cursorContinue');
  patch(
    IDBDatabase.prototype,
    'transaction',
    (native) =>
      function (this: object, ...args: unknown[]): unknown {
        const made = native.apply(this, args);
        counts.add('idb.transactions'); // one that throws doesn't count
        if (args[1] === 'readwrite') counts.add('idb.readwriteTransactions');
        return made;
      },
  );
}
