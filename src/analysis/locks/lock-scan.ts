/**
 * Finds every hold and wait of a trace, thread by thread:
 *
 *   lockRequest  |~~wait~~|            xLock BUSY  |x|  |x|    |x|
 *   lockHeld              |==hold==|   xLock ok                  ||==== RESERVED ====|
 *                                      wait        |~~~~~~~~~~~~~~|  (one chain of retries, see busy.ts)
 *
 * An IndexedDB transaction holds its stores from its call to its completion. locks.ts decides which
 * waits for which.
 */
import { ById } from '../core/by-id.ts';
import { getOrMake } from '../core/maps.ts';
import { plainPath } from '../../event/file-names.ts';
import { idbMode, READONLY } from '../../event/idb-modes.ts';
import { Flag, Op, WebLock } from '../../event/event.ts';
import { IDB_REQUEST, opTable } from '../../event/operations.ts';
import type { ThreadStore, TraceStore } from '../../trace/store.ts';
import { threadEndUs } from '../../trace/thread-end.ts';
import {
  IntervalColumns,
  Mode,
  Outcome,
  type LockResource,
  type ResourceKind,
} from './lock-columns.ts';
import type { ByThread } from '../core/graph.ts';
import type { RowsByOperation } from '../core/rows-by-operation.ts';
import { originOfThread } from '../core/thread-origin.ts';
import { LockLevel } from '../../sqlite/constants.ts';
import { connectionKey, levelAfter, SETS_LEVEL, tookEffect } from '../../trace/lock-levels.ts';

type ResourceOf = (kind: ResourceKind, name: string, origin: string) => number;

export interface LockScan {
  resources: LockResource[];
  holds: IntervalColumns;
  waits: IntervalColumns;
  /**
   * By index in `holds`, for IndexedDB transactions: ids of the stores that requests used, within
   * the resource; null = none seen.
   */
  stores: Map<number, ReadonlySet<string>>;
  /**
   * Index of a resource, added if it is new. A file is one resource however it is spelled, with the
   * first spelling as its name.
   */
  resource: ResourceOf;
}

export function scanLocks(store: TraceStore, rows: ByThread<RowsByOperation>): LockScan {
  const resources: LockResource[] = [];
  const known = new Map<string, number>();
  const resource = (kind: ResourceKind, name: string, origin: string): number => {
    const isPath = kind === 'sqlite' || kind === 'access-handle';
    const key = `${kind}\0${origin}\0${isPath ? plainPath(name) : name}`;
    return getOrMake(known, key, () => resources.push({ kind, name, origin }) - 1);
  };
  const scan: LockScan = {
    resources,
    holds: new IntervalColumns(),
    waits: new IntervalColumns(),
    stores: new Map(),
    resource,
  };
  let traceEnd: number | null = null; // a pass over all events, only for the few that haven't ended
  for (const thread of store.threads)
    scanThread(
      thread,
      rows.of(thread).together(MATTERS),
      () => threadEndUs(thread, (traceEnd ??= store.extent()[1])),
      scan,
    );
  return scan;
}

interface OpenHandle {
  from: number;
  row: number;
}
interface SqliteLock {
  level: number;
  since: number;
  row: number;
}

/** Operations that are examined. */
const MATTERS = opTable(
  ({ code, request, api, synchronous }) =>
    request !== null ||
    (api === 'opfs' && synchronous) ||
    code === Op.lockRequest ||
    code === Op.lockHeld ||
    code === Op.opfsOpenSyncAccessHandle ||
    code === Op.idbTransaction ||
    SETS_LEVEL[code] !== 0,
);

/** @param rows of the examined operations @param threadEnd when the thread ended */
function scanThread(
  thread: ThreadStore,
  rows: Uint32Array,
  threadEnd: () => number,
  scan: LockScan,
): void {
  const { events, definitions, index } = thread;
  const { holds, waits, resource } = scan;
  let endUs: number | null = null;
  const end = (): number => (endUs ??= threadEnd());
  const origin = originOfThread(thread);
  const handles = new Map<number, OpenHandle[]>();
  const locks = new Map<number, SqliteLock>();
  const idb = new Map<number, { hold: number; stores: Set<string> }>();
  const places = new ById<number>();
  /** Resource of an object id, by the kind of lock. */
  const placeOf = (object: number, kind: ResourceKind): number => {
    let place = places.get(object);
    if (place !== undefined) return place;
    const d = definitions.get(object);
    const name =
      d?.kind === 'file' || d?.kind === 'opfs-file'
        ? d.path
        : d?.kind === 'lock'
          ? d.text
          : d?.kind === 'idb-database'
            ? d.db
            : '';
    places.set(object, (place = resource(kind, name, origin)));
    return place;
  };
  const hold = (
    [kind, object]: readonly [ResourceKind, number],
    context: number,
    mode: number,
    outcome: number,
    [from, to]: readonly [number, number],
    row: number,
  ): number => holds.push(index, context, placeOf(object, kind), mode, outcome, from, to, row);
  /** A lock of SQLite since its level was reached. */
  const holdLevel = (lock: SqliteLock, outcome: number, to: number): void => {
    const context = events.context[lock.row]!;
    const place = placeOf(events.object[lock.row]!, 'sqlite');
    holds.push(index, context, place, lock.level, outcome, lock.since, to, lock.row);
  };
  const databases = new ById<boolean>();
  const isDatabase = (object: number): boolean => {
    const known = databases.get(object);
    if (known !== undefined) return known;
    const d = definitions.get(object);
    return databases.set(object, d?.kind === 'file' && d.fileKind === 'main-db');
  };
  const handleOf = (object: number, at: number, row: number): void => {
    // opened before the recording
    if (!handles.has(object)) handles.set(object, [{ from: at, row }]);
  };

  for (let r = 0; r < rows.length; r++) {
    const row = rows[r]!;
    const op = events.op[row]!;
    const object = events.object[row]!;
    const context = events.context[row]!;
    const from = events.t0[row]!;
    const open = events.endSeq[row] === 0;
    const to = open ? end() : from + events.dur[row]!;
    const failed = !open && (events.result[row] !== 0 || (events.flags[row]! & Flag.threw) !== 0);
    switch (op) {
      case Op.lockRequest:
      case Op.lockHeld: {
        const mode = events.aux[row]! & WebLock.shared ? Mode.shared : Mode.exclusive;
        const outcome = open
          ? Outcome.open
          : op === Op.lockRequest && failed
            ? Outcome.refused
            : Outcome.done;
        const place = placeOf(object, 'web-lock');
        const list = op === Op.lockRequest ? waits : holds;
        list.push(index, 0, place, mode, outcome, from, to, row);
        break;
      }
      case Op.opfsOpenSyncAccessHandle: {
        const place = placeOf(object, 'access-handle');
        const outcome = open ? Outcome.open : Outcome.refused;
        if (open || failed) waits.push(index, 0, place, Mode.exclusive, outcome, from, to, row);
        else getOrMake(handles, object, (): OpenHandle[] => []).push({ from: to, row });
        break;
      }
      case Op.opfsClose: {
        handleOf(object, from, row);
        const handle = handles.get(object)!.shift();
        const what = ['access-handle', object] as const;
        if (handle)
          hold(what, context, Mode.exclusive, Outcome.done, [handle.from, to], handle.row);
        break;
      }
      case Op.opfsRead:
      case Op.opfsWrite:
      case Op.opfsFlush:
      case Op.opfsTruncate:
        handleOf(object, from, row);
        break;
      case Op.idbTransaction: {
        if (events.flags[row]! & Flag.threw) break; // there isn't a transaction
        const mode = idbMode(events.aux[row]!) === READONLY ? Mode.shared : Mode.exclusive;
        const outcome = open ? Outcome.open : Outcome.done;
        const made = hold(['idb', object], context, mode, outcome, [from, to], row);
        idb.set(context, { hold: made, stores: new Set() });
        break;
      }
      case Op.xLock:
      case Op.xUnlock:
      case Op.xOpen:
      case Op.xClose: {
        if (!isDatabase(object) || !tookEffect(events, row)) break;
        const key = connectionKey(object, context);
        const lock = locks.get(key);
        const before = lock?.level ?? LockLevel.none;
        const level = levelAfter(op, before, events.aux[row]!);
        if (level === before) break;
        if (lock) holdLevel(lock, Outcome.done, to);
        if (level > LockLevel.none) locks.set(key, { level, since: to, row });
        else locks.delete(key);
        break;
      }
      default:
        if (IDB_REQUEST[op]) {
          const transaction = idb.get(events.context[row]!);
          const d = definitions.get(object);
          if (transaction && d?.kind === 'idb-store' && !transaction.stores.has(d.store)) {
            transaction.stores.add(d.store);
            scan.stores.set(transaction.hold, transaction.stores);
          }
        }
    }
  }
  for (const [object, list] of handles)
    for (const { from, row } of list)
      hold(['access-handle', object], 0, Mode.exclusive, Outcome.open, [from, end()], row);
  for (const lock of locks.values()) holdLevel(lock, Outcome.open, end());
}
