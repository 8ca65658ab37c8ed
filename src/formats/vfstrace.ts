/**
 * VFS calls as text, one a line, in the format of SQLite's own ext/misc/vfstrace.c, for scripts
 * that read it. Values that a trace doesn't have are `?`. Calls of all threads in the order of
 * their begin.
 */
import { plain } from '../text/clean.ts';
import { LOCK_LEVELS } from '../sqlite/constants.ts';
import { auxText, objectName } from '../trace/describe.ts';
import { Flag, Op } from '../event/event.ts';
import { OPS, opName } from '../event/operations.ts';
import { resultName } from '../sqlite/result-codes.ts';
import type { ThreadStore, TraceStore } from '../trace/store.ts';
import { isInMemory } from '../trace/in-memory.ts';
import { inPieces } from './pieces.ts';

/** Result codes as vfstrace.c prints them: the name, or the primary code's name plus the rest. */
function errcode(rc: number): string {
  const name = resultName(rc);
  if (/^SQLITE_\w+$/.test(name)) return name;
  const primary = resultName(rc & 255);
  return rc >= 0 && primary.startsWith('SQLITE_')
    ? `${primary} | 0x${(rc & 0xffff00).toString(16)}`
    : `${rc} (0x${(rc >>> 0).toString(16)})`;
}

/**
 * Last part of a path; a file without a name is temporary. Line ends would break the format, and
 * other control characters could command the terminal.
 */
function fileTail(path: string): string {
  return plain(path.slice(path.lastIndexOf('/', path.length - 2) + 1) || '<temp>');
}

function syncFlags(flags: number): string {
  const words = [
    ...(flags & 1 ? ['FULL'] : flags & 2 ? ['NORMAL'] : []),
    ...(flags & 16 ? ['DATAONLY'] : []),
    ...(flags & ~19 ? [`0x${flags.toString(16)}`] : []),
  ];
  return words.join('|') || '0';
}

function vfsOf(thread: ThreadStore, object: number): string {
  const definition = thread.definitions.get(object);
  return definition?.kind === 'file' && definition.vfs ? plain(definition.vfs) : 'vfs';
}

/**
 * One call without its line end. A call whose end wasn't recorded has no `->` part, as when
 * vfstrace.c is cut off.
 */
export function vfstraceLine(thread: ThreadStore, row: number): string {
  const { events } = thread;
  const [op, aux, object, length] = [
    events.op[row]!,
    events.aux[row]!,
    events.object[row]!,
    events.length[row]!,
  ];
  const offset = Number.isNaN(events.offset[row]!) ? '?' : String(events.offset[row]);
  const path = objectName(thread, object);
  const file = fileTail(path);
  const quoted = `"${plain(path)}"`;
  const rc = events.flags[row]! & Flag.threw ? 'threw' : errcode(events.result[row]!);
  const answer = (args: string, text: string): string =>
    `${vfsOf(thread, object)}.${opName(op)}(${args})${events.endSeq[row] === 0 ? '' : ` -> ${text}`}`;
  switch (op) {
    case Op.xRead:
    case Op.xWrite:
      return answer(`${file},n=${length},ofst=${offset}`, rc);
    case Op.xTruncate:
      return answer(`${file},${offset}`, String(events.result[row]));
    case Op.xSync:
      return answer(`${file},${syncFlags(aux)}`, String(events.result[row]));
    case Op.xFileSize:
      return answer(file, `${rc}, size=?`);
    case Op.xLock:
    case Op.xUnlock:
      return answer(`${file},${LOCK_LEVELS[aux] ?? '???'}`, rc);
    case Op.xCheckReservedLock:
      return answer(`${file},?`, `${rc}, out=?`);
    case Op.xFileControl:
      return answer(`${file},${/^opcode /.test(auxText(op, aux)) ? aux : auxText(op, aux)}`, rc);
    case Op.xSectorSize:
      return answer(file, String(events.result[row]));
    case Op.xDeviceCharacteristics:
      return answer(file, `0x${(events.result[row]! >>> 0).toString(16).padStart(8, '0')}`);
    case Op.xOpen:
      return answer(`${file},flags=0x${aux.toString(16)}`, rc);
    case Op.xDelete:
      return answer(`${quoted},${aux}`, rc);
    case Op.xAccess:
      return answer(`${quoted},${aux}`, `${rc}, out=?`);
    default: // xClose; of shared memory and memory maps a trace has no arguments
      return answer(file, rc);
  }
}

/**
 * The VFS calls of the whole trace, merged by their begin. Calls on SQLite's in-memory journal
 * aren't VFS calls, so they are left out.
 */
export const vfstrace = (store: TraceStore): AsyncGenerator<string> => inPieces(lines(store));

function* lines(store: TraceStore): Generator<string> {
  const next = store.threads.map(({ events }) => skip(events, 0));
  for (;;) {
    let first = -1;
    for (let t = 0; t < next.length; t++) {
      const { events } = store.threads[t]!;
      if (
        next[t]! < events.count &&
        (first < 0 || events.t0[next[t]!]! < store.threads[first]!.events.t0[next[first]!]!)
      )
        first = t;
    }
    if (first < 0) break;
    const thread = store.threads[first]!;
    yield `${vfstraceLine(thread, next[first]!)}\n`;
    next[first] = skip(thread.events, next[first]! + 1);
  }
}

/** The first row from `row` on that vfstrace.c would print. */
function skip(events: ThreadStore['events'], row: number): number {
  while (row < events.count && (OPS[events.op[row]!]?.layer !== 'vfs' || isInMemory(events, row)))
    row++;
  return row;
}
