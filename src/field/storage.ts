/**
 * Syncs, lock waits, and failures of the storage under SQLite, by patching the platform's methods.
 */
import { Flag, Op } from '../event/event.ts';
import { failureOf } from '../event/exceptions.ts';
import { Patches, type Callable } from '../record/patches.ts';
import { apply } from '../record/reflect.ts';
import { UNSEEN_HOLDER_US } from '../sqlite/rule-limits.ts';
import { clock } from './ring.ts';
import type { Sink } from './sql.ts';

/** Errors of the platform. */
const nameOf = (error: unknown): string =>
  error instanceof Error || error instanceof DOMException ? error.name : 'threw';
const proto = (name: string): object | undefined =>
  (globalThis as unknown as Record<string, { prototype?: object } | undefined>)[name]?.prototype;

/** A request for a lock, until it is granted or ends without being granted. */
interface LockRequest {
  /** Milliseconds. */
  readonly at: number;
  /** SQLite waits for it inside a call. */
  readonly isInCall: boolean;
  /** Other calls of this thread in the meantime. */
  readonly calls: number;
  hangs: boolean;
}

export interface StorageHooks {
  /** Reports hanging lock requests that haven't ended to the tally, each once. */
  countHangs(): void;
  /** The call of each operation. */
  readonly names: ReadonlyMap<number, string>;
  /** Restore everything. */
  restore(): void;
}

/** Hook the storage APIs and the Web Locks of this thread. */
export function hookStorage(sink: Sink): StorageHooks {
  const { ring, watch, hangMs } = sink;
  const patches = new Patches();
  const names = new Map([[Op.idbTransaction as number, 'IDBTransaction']]);

  /** @param ended receives the duration, microseconds */
  const timed = (
    owner: string,
    method: string,
    op: number,
    on: string,
    ended: (us: number) => void,
  ): void => {
    const name = `${owner}.${method}`;
    names.set(op, name);
    patches.method(proto(owner), method, (native: Callable, self, args) => {
      const at = clock.now();
      const token = ring.begin(op, 0, at);
      sink.tally.stores(on);
      const settle = (error: unknown, flags: number): void => {
        const now = clock.now();
        const threw = error !== undefined;
        ring.end(token, now, threw ? failureOf(error) : 0, flags | (threw ? Flag.threw : 0));
        if (threw) sink.tally.error(nameOf(error), name);
        else ended((now - at) * 1000);
        if (now - at > hangMs) sink.tally.tookLong(name);
      };
      let result: unknown;
      try {
        result = apply(native, self, args);
      } catch (error) {
        settle(error ?? null, 0);
        throw error;
      }
      if (result instanceof Promise)
        watch.watch(result, (ok, value) => settle(ok ? undefined : (value ?? null), Flag.async));
      else settle(undefined, 0);
      return result;
    });
  };
  const synced = (us: number): void => sink.tally.syncs.add(us);
  const nothing = (): void => {};
  timed('FileSystemSyncAccessHandle', 'flush', Op.opfsFlush, 'opfs', synced);
  timed('FileSystemSyncAccessHandle', 'write', Op.opfsWrite, 'opfs', nothing);
  timed('FileSystemWritableFileStream', 'close', Op.opfsStreamClose, 'opfs', synced);
  timed(
    'FileSystemFileHandle',
    'createSyncAccessHandle',
    Op.opfsOpenSyncAccessHandle,
    'opfs',
    nothing,
  );

  patches.method(proto('IDBDatabase'), 'transaction', (native: Callable, self, args) => {
    const transaction = apply(native, self, args) as IDBTransaction;
    sink.tally.stores('idb');
    const at = clock.now();
    const token = ring.begin(Op.idbTransaction, 0, at);
    const writes = args[1] === 'readwrite';
    const settle = (failed: boolean): void => {
      const now = clock.now();
      ring.end(token, now, failed ? failureOf(transaction.error) : 0, Flag.async);
      if (failed) sink.tally.error(transaction.error?.name ?? 'AbortError', 'IDBTransaction');
      else if (writes) sink.tally.syncs.add((now - at) * 1000);
    };
    transaction.addEventListener('complete', () => settle(false));
    transaction.addEventListener('abort', () => settle(true));
    return transaction;
  });

  const waiting = new Set<LockRequest>();
  let requests = 0;
  const countHang = (request: LockRequest, now: number): void => {
    if (request.hangs || now - request.at <= hangMs) return;
    // such as a lock that elects a leader: this thread keeps working
    if (!request.isInCall && request.calls < ring.calls - requests) return;
    request.hangs = true;
    sink.tally.hang('LockManager.request');
  };
  patches.method(proto('LockManager'), 'request', (native: Callable, self, args) => {
    const place = args.length > 2 ? 2 : 1;
    const callback = args[place];
    if (typeof callback !== 'function') return apply(native, self, args);
    const at = clock.now();
    const token = ring.begin(Op.lockRequest, 0, at);
    const isInCall = ring.current !== 0;
    const request: LockRequest = { at, isInCall, calls: ring.calls - ++requests, hangs: false };
    waiting.add(request);
    const ended = (result: number, flags: number): void => {
      if (!waiting.delete(request)) return; // it was granted, and its callback has finished
      const now = clock.now();
      ring.end(token, now, result, flags | Flag.async);
      const us = (now - at) * 1000;
      if (us >= UNSEEN_HOLDER_US) sink.tally.locks.add(us);
      countHang(request, now);
    };
    args[place] = function (this: unknown, ...granted: unknown[]): unknown {
      ended(granted[0] ? 0 : 1, 0);
      return apply(callback as Callable, this, granted);
    };
    let result: unknown;
    try {
      result = apply(native, self, args);
    } catch (error) {
      ended(failureOf(error), Flag.threw);
      throw error;
    }
    // it rejects where the app aborts it or the browser refuses it
    if (result instanceof Promise)
      watch.watch(result, (ok, error) => ended(ok ? 0 : failureOf(error), ok ? 0 : Flag.threw));
    return result;
  });
  return {
    countHangs() {
      const now = clock.now();
      for (const request of waiting) countHang(request, now);
    },
    names,
    restore: () => void patches.restore(),
  };
}
