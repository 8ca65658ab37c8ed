/**
 * Calls whose result the connection already had, because nothing in between could change it.
 *
 *   xFileSize            the same file, SHARED or more held all the while, no write or truncation between
 *   xLock, xUnlock       a level that is held already, or not held any more
 *   xCheckReservedLock   asked again at the same level of the lock
 *   xAccess              the same file and question, no open or delete of it by this thread between. Another thread may have made
 *                        or deleted the file: SQLite must ask unless locking_mode=exclusive tells it that it is alone
 *   xSectorSize, xDeviceCharacteristics   of an open file they do not change
 */
import { getOrMake } from '../core/maps.ts';
import { Op } from '../../event/event.ts';
import { isVfsOp, opName } from '../../event/operations.ts';
import { LockLevels, SETS_LEVEL, tookEffect } from '../../trace/lock-levels.ts';
import type { ThreadStore, TraceStore } from '../../trace/store.ts';
import { fact } from '../core/graph.ts';

export interface RepeatedCalls {
  op: number;
  name: string;
  path: string;
  calls: number;
  /** Of these, calls that repeat an earlier one. */
  repeated: number;
  /** Time of the repeated ones, microseconds. */
  repeatedUs: number;
}

/** What is known about one file on one connection. */
class Known {
  /** Known answers, as bits. */
  answers = 0;
}
const SIZE = 1;
const RESERVED = 2;
const SECTOR = 4;
const CHARACTERISTICS = 8;
/** xAccess by flags: EXISTS, READWRITE, READ. */
const ACCESS = 16;

/**
 * By operation and file, the most repeated time first. Operations that were never repeated are
 * included.
 */
export const repeatedCalls = fact('repeatedCalls', 'how files are used', {}, (store) =>
  repeatedCallsOf(store),
);

/** The same; calls back for each call that repeats an earlier one. */
export function repeatedCallsOf(
  store: TraceStore,
  eachRepeated?: (thread: ThreadStore, row: number, path: string) => void,
): RepeatedCalls[] {
  const found = new Map<string, RepeatedCalls>();
  for (const thread of store.threads) {
    const { events, definitions } = thread;
    const levels = new LockLevels(events);
    const byFile = new Map<number, Map<number, Known>>();
    const counts = new Map<number, RepeatedCalls | null>();
    const countOf = (op: number, id: number): RepeatedCalls | null => {
      return getOrMake(counts, id * 64 + op, () => {
        const d = definitions.get(id);
        if (d?.kind !== 'file') return null;
        const none = { op, name: opName(op), path: d.path, calls: 0, repeated: 0, repeatedUs: 0 };
        return getOrMake(found, `${op}\0${d.path}`, () => none);
      });
    };
    let connections: Map<number, Known> = new Map();
    let known = new Known();
    let lastId = -1;
    let lastContext = -1;
    for (let row = 0; row < events.count; row++) {
      const op = events.op[row]!;
      // a read changes nothing
      if (!isVfsOp(op) || op === Op.xRead || events.endSeq[row] === 0) continue;
      const id = events.object[row]!;
      // xAccess and xDelete take a file name, not a handle
      const context = op === Op.xAccess ? 0 : events.context[row]!;
      if (id !== lastId || context !== lastContext) {
        connections = getOrMake(byFile, id, () => new Map<number, Known>());
        known = getOrMake(connections, context, () => new Known());
        lastId = id;
        lastContext = context;
      }
      const before = levels.of(row);
      const level = SETS_LEVEL[op] ? levels.take(row) : before;
      const bit = questionOf(op, events.aux[row]!);
      if (bit === 0 && op !== Op.xLock && op !== Op.xUnlock) {
        if (op === Op.xWrite || op === Op.xTruncate)
          for (const k of connections.values()) k.answers &= ~SIZE;
        else if (SETS_LEVEL[op] || op === Op.xDelete)
          for (const k of connections.values()) k.answers = 0;
        continue;
      }
      const repeats =
        tookEffect(events, row) || op === Op.xSectorSize || op === Op.xDeviceCharacteristics
          ? ask(known, op, bit, events.aux[row]!, before, level)
          : false;
      const count = countOf(op, id);
      if (!count) continue;
      count.calls++;
      if (!repeats) continue;
      count.repeated++;
      count.repeatedUs += events.dur[row]!;
      eachRepeated?.(thread, row, count.path);
    }
  }
  return [...found.values()].sort(
    (a, b) => b.repeatedUs - a.repeatedUs || b.repeated - a.repeated || b.calls - a.calls,
  );
}

function questionOf(op: number, aux: number): number {
  switch (op) {
    case Op.xFileSize:
      return SIZE;
    case Op.xCheckReservedLock:
      return RESERVED;
    case Op.xSectorSize:
      return SECTOR;
    case Op.xDeviceCharacteristics:
      return CHARACTERISTICS;
    case Op.xAccess:
      return ACCESS << (aux & 3);
    default:
      return 0;
  }
}

/**
 * @param before level of the lock @param level the one after
 * @returns whether the result was known
 */
function ask(
  known: Known,
  op: number,
  bit: number,
  aux: number,
  before: number,
  level: number,
): boolean {
  if (op === Op.xLock) {
    const held = before >= aux;
    if (!held) known.answers &= ~RESERVED;
    return held;
  }
  if (op === Op.xUnlock) {
    const released = before <= aux;
    if (!released) known.answers &= ~RESERVED;
    if (level === 0) known.answers &= ~SIZE;
    return released;
  }
  const had = (known.answers & bit) !== 0;
  // without a lock another connection may change the file's size
  if (op !== Op.xFileSize || level > 0) known.answers |= bit;
  return had;
}
