/**
 * IndexedDB: an event per request, from the call to its success or error event; transactions from
 * transaction() (or upgradeneeded) to complete or abort. Our listeners are the first of each
 * request, so the order of the app's listeners doesn't change.
 * Not seen: createObjectStore and the other calls that change a schema.
 *
 * We listen to `versionchange` only while the app's own `onversionchange` is set. Chromium keeps a
 * connection open that has a listener even if the app doesn't refer to it any more, and such a
 * connection would block others.
 */
import { Flag, Op } from '../event/event.ts';
import { idbAux } from '../event/idb-modes.ts';
import { failureOf } from '../event/exceptions.ts';
import { Recorder, type Token } from '../record/recorder.ts';
import type { ProbeContext } from './context.ts';
import { inlineKey, numericKey, valueBytes } from './value-size.ts';
import { apply, textOf } from '../record/reflect.ts';

const { addEventListener, removeEventListener } = EventTarget.prototype;
const listen = (target: EventTarget, type: string, run: (event: Event) => void): void =>
  void apply(addEventListener, target, [type, run]);

const REQUESTS: Record<string, number> = {
  get: Op.idbGet,
  getKey: Op.idbGetKey,
  getAll: Op.idbGetAll,
  getAllKeys: Op.idbGetAllKeys,
  getAllRecords: Op.idbGetAll,
  count: Op.idbCount,
  openCursor: Op.idbOpenCursor,
  openKeyCursor: Op.idbOpenKeyCursor,
  delete: Op.idbDelete,
  clear: Op.idbClear,
};

/** Record IndexedDB calls of this thread until the context's patches are restored. */
export function installIndexedDb(context: ProbeContext): void {
  const { recorder } = context;
  const storeIds = new WeakMap<object, number>();
  const transactionIds = new WeakMap<IDBTransaction, number>();
  const running = new WeakMap<IDBRequest, Token>();
  let lastTransaction = 0;

  const databaseId = (name: unknown): number => {
    const db = ownName(name);
    return context.id('idb-database', db, () => recorder.define({ kind: 'idb-database', db }));
  };
  const transactionId = (transaction: IDBTransaction): number => {
    let id = transactionIds.get(transaction);
    if (id === undefined) transactionIds.set(transaction, (id = ++lastTransaction));
    return id;
  };
  const storeId = (store: IDBObjectStore): number => {
    let id = storeIds.get(store);
    if (id === undefined) {
      const db = ownName(store.transaction.db.name);
      const name = ownName(store.name);
      id = context.id('idb-store', `${db}\0${name}`, () =>
        recorder.define({ kind: 'idb-store', db, store: name }),
      );
      storeIds.set(store, id);
    }
    return id;
  };
  const storeOf = (source: IDBObjectStore | IDBIndex): IDBObjectStore =>
    'objectStore' in source ? source.objectStore : source;

  const ender =
    (carriesResult: boolean) =>
    (event: Event): void => {
      const request = event.currentTarget as IDBRequest;
      const token = running.get(request);
      if (token === undefined) return;
      running.delete(request);
      try {
        const failed = event.type === 'error';
        recorder.end(
          token,
          failed ? failureOf(request.error) : 0,
          Flag.async,
          !failed && carriesResult ? bytesOf(request.result) : undefined,
        );
      } catch (e) {
        recorder.fault('IDBRequest', e);
      }
    };
  const endingWith =
    (onEnd: (event: Event) => void) =>
    (token: Token, result: unknown): void => {
      const request = result as IDBRequest;
      running.set(request, token);
      listen(request, 'success', onEnd);
      listen(request, 'error', onEnd);
    };
  const endRead = endingWith(ender(true));
  /** A write's result is only a key, so the length stays that of the written value. */
  const endWritten = endingWith(ender(false));

  for (const type of ['IDBObjectStore', 'IDBIndex'])
    for (const [name, op] of Object.entries(REQUESTS))
      context.record<IDBObjectStore | IDBIndex>(context.proto(type), name, {
        begin(self, args) {
          const store = storeOf(self);
          return recorder.begin(
            op,
            storeId(store),
            numericKey(args[0]),
            0,
            0,
            transactionId(store.transaction),
          );
        },
        end: op === Op.idbDelete || op === Op.idbClear ? endWritten : endRead,
      });
  for (const name of ['put', 'add'])
    context.record<IDBObjectStore>(context.proto('IDBObjectStore'), name, {
      begin(self, args) {
        const key = args[1] === undefined ? inlineKey(args[0], self.keyPath) : args[1];
        const op = name === 'put' ? Op.idbPut : Op.idbAdd;
        return recorder.begin(
          op,
          storeId(self),
          numericKey(key),
          valueBytes(args[0]),
          0,
          transactionId(self.transaction),
        );
      },
      end: endWritten,
    });

  const cursor = context.proto('IDBCursor');
  for (const name of ['continue', 'advance', 'continuePrimaryKey'])
    context.record<IDBCursor>(cursor, name, {
      begin(self, args) {
        const store = storeOf(self.source);
        const key =
          name === 'continue'
            ? numericKey(args[0])
            : name === 'advance'
              ? NaN
              : numericKey(args[1]);
        return recorder.begin(
          Op.idbCursorContinue,
          storeId(store),
          key,
          0,
          0,
          transactionId(store.transaction),
        );
      },
      // the request has its listeners since openCursor
      end: (token, _result, self) => running.set(self.request, token),
    });
  for (const name of ['update', 'delete'])
    context.record<IDBCursor>(cursor, name, {
      begin(self, args) {
        const store = storeOf(self.source);
        const op = name === 'update' ? Op.idbCursorUpdate : Op.idbCursorDelete;
        const bytes = name === 'update' ? valueBytes(args[0]) : 0;
        return recorder.begin(
          op,
          storeId(store),
          numericKey(self.primaryKey),
          bytes,
          0,
          transactionId(store.transaction),
        );
      },
      end: endWritten,
    });

  const follow = (transaction: IDBTransaction, token: Token): void => {
    recorder.amend(token, 'aux', idbAux(transaction.mode, transaction.durability));
    recorder.amend(token, 'context', transactionId(transaction));
    listen(transaction, 'complete', () => recorder.end(token, 0, Flag.async));
    listen(transaction, 'abort', () =>
      recorder.end(token, failureOf(transaction.error), Flag.async),
    );
  };
  context.record<IDBDatabase>(context.proto('IDBDatabase'), 'transaction', {
    begin: (self) => recorder.begin(Op.idbTransaction, databaseId(self.name), NaN, 0),
    end: (token, result) => follow(result as IDBTransaction, token),
  });
  for (const name of ['commit', 'abort'])
    context.record<IDBTransaction>(context.proto('IDBTransaction'), name, {
      begin: (self) =>
        recorder.begin(
          name === 'commit' ? Op.idbCommit : Op.idbAbort,
          databaseId(self.db.name),
          NaN,
          0,
          0,
          transactionId(self),
        ),
      end: (token) => recorder.end(token, 0),
    });

  const versions = (op: number, name: string, event: Event, of = 0): void => {
    const { newVersion, oldVersion } = event as IDBVersionChangeEvent;
    recorder.instant(op, databaseId(name), newVersion ?? NaN, oldVersion, of);
  };
  const guarded =
    <T>(run: (value: T) => void) =>
    (value: T): void => {
      try {
        run(value);
      } catch (e) {
        recorder.fault('versions of IndexedDB', e);
      }
    };
  const told = guarded((event: Event) =>
    versions(Op.idbVersionChange, (event.currentTarget as IDBDatabase).name, event),
  );
  const listening = guarded((db: unknown) =>
    apply((db as IDBDatabase).onversionchange ? addEventListener : removeEventListener, db, [
      'versionchange',
      told,
    ]),
  );
  context.patches.setter(context.proto('IDBDatabase'), 'onversionchange', listening);
  /** For an open or a delete. */
  const waits = (token: Token, request: unknown, name: unknown): void =>
    listen(
      request as EventTarget,
      'blocked',
      guarded((event) => versions(Op.idbBlocked, textOf(name), event, Recorder.seqOf(token))),
    );
  const factory = context.proto('IDBFactory');
  context.record<IDBFactory>(factory, 'open', {
    begin: (_self, args) => recorder.begin(Op.idbOpen, databaseId(textOf(args[0])), NaN, 0),
    end(token, result, _self, args) {
      endWritten(token, result);
      waits(token, result, args[0]);
      listen(result as EventTarget, 'upgradeneeded', (event) => {
        try {
          const { transaction, result: db } = event.currentTarget as IDBOpenDBRequest;
          if (transaction && recorder.enabled)
            follow(transaction, recorder.begin(Op.idbTransaction, databaseId(db.name), NaN, 0));
        } catch (e) {
          recorder.fault('upgradeneeded', e);
        }
      });
    },
  });
  context.record<IDBFactory>(factory, 'deleteDatabase', {
    begin: (_self, args) =>
      recorder.begin(Op.idbDeleteDatabase, databaseId(textOf(args[0])), NaN, 0),
    end(token, result, _self, args) {
      endWritten(token, result);
      waits(token, result, args[0]);
    },
  });
}

/**
 * Bytes that a request returned: a cursor's value, or the result itself. The browser caches the
 * value for the app after this read.
 */
function bytesOf(result: unknown): number {
  if (result instanceof IDBCursor)
    return result instanceof IDBCursorWithValue ? valueBytes(result.value) : 0;
  return valueBytes(result);
}

/**
 * An object's name. An object that isn't IndexedDB's may return anything; the platform is about to
 * reject that call.
 */
const ownName = (name: unknown): string => (typeof name === 'string' ? name : '?');
