/**
 * Events as text: a call's target, its aux number, its result, its flags, and the statement that it
 * serves.
 */
import { Flag, instructionsOf, MessageSize, Op, PortMove, WebLock } from '../event/event.ts';
import {
  isStatementOp,
  isVfsOp,
  isWebOp,
  opName,
  opSet,
  OPS,
  opTable,
} from '../event/operations.ts';
import { IDB_DURABILITIES, IDB_MODES, idbDurability, idbMode } from '../event/idb-modes.ts';
import type { Definition } from '../event/definitions.ts';
import { exceptionName } from '../event/exceptions.ts';
import { VERSION_AT, VERSION_BYTES } from '../sqlite/page-size.ts';
import { isErrorResult, resultName } from '../sqlite/result-codes.ts';
import { ownersOf } from './owners.ts';
import type { ThreadStore } from './store.ts';
import {
  bitNames,
  DEVICE_CHARACTERISTICS,
  FILE_CONTROLS,
  LOCK_LEVELS,
  lockLevelText,
  OPEN_FLAGS,
  Rc,
  statusName,
} from '../sqlite/constants.ts';
import { countOf, formatBytes, formatDuration } from '../text/numbers.ts';
import type { EventColumns } from './columns.ts';

/** What comes before the text of a note with the topic `late-start`. */
export const LATE_START = 'The page was running already';

/** By `aux` of a navigation. */
const NAVIGATIONS = [
  'within the page',
  'left',
  'back from the back/forward cache',
  'into the back/forward cache',
] as const;

/**
 * Calls whose `offset` is a position in a file or store. For other calls it is something else,
 * which `detailText` formats.
 */
const HAS_PLACE = opTable(
  ({ layer, api, code }) =>
    layer === 'vfs' ||
    (layer === 'web' &&
      api !== 'atomics' &&
      api !== 'locks' &&
      code !== Op.idbBlocked &&
      code !== Op.idbVersionChange),
);
/** Operations whose `length` isn't a number of bytes. */
const NO_BYTES = opSet(
  ...[
    Op.sqlCounters,
    Op.sqlStmtStatus,
    Op.sqlStmtStatusMore,
    Op.sqlMemory,
    Op.sqlMemoryGrew,
    Op.sqlInstructions,
    Op.measure,
    Op.longTask,
    Op.interaction,
    Op.messageHandle,
    Op.messagePort,
    Op.idbBlocked,
    Op.idbVersionChange,
    Op.tracer,
    Op.dropped,
  ],
);

/** Byte offset, numeric key, or new size; null = none, or not numeric. */
export function offsetOf({ op, offset }: EventColumns, row: number): number | null {
  const value = offset[row]!;
  // -0 is a key in some VFSs
  return HAS_PLACE[op[row]!] && Number.isFinite(value) ? value + 0 : null;
}
/** Bytes that a call requested or carried; 0 = none. */
export const lengthOf = ({ op, length }: EventColumns, row: number): number =>
  NO_BYTES[op[row]!] ? 0 : length[row]!;
/** Whether `offsetOf` is a key of an IndexedDB store, not a byte offset. */
export const hasKey = ({ op }: EventColumns, row: number): boolean => OPS[op[row]!]?.api === 'idb';

/**
 * An event's `aux` as text: `RESERVED`, `READWRITE | CREATE | MAIN_DB`, `readwrite, relaxed`; '' if
 * it has no meaning.
 */
export function auxText(op: number, aux: number): string {
  switch (op) {
    case Op.xLock:
    case Op.xUnlock:
      return lockLevelText(aux);
    case Op.xOpen:
      return bitNames(aux, OPEN_FLAGS);
    case Op.xFileControl:
      return FILE_CONTROLS[aux] || `opcode ${aux}`;
    case Op.xSync:
      return [
        (aux & 15) === 3 ? 'FULL' : (aux & 15) === 2 ? 'NORMAL' : '',
        aux & 16 ? 'DATAONLY' : '',
      ]
        .filter(Boolean)
        .join(' | ');
    case Op.xAccess:
      return (['EXISTS', 'READWRITE', 'READ'] as const)[aux] ?? `flags ${aux}`;
    case Op.xDelete:
      return aux ? 'sync directory' : '';
    case Op.idbTransaction:
      return [IDB_MODES[idbMode(aux)], idbDurability(aux) && IDB_DURABILITIES[idbDurability(aux)]]
        .filter(Boolean)
        .join(', ');
    case Op.visibility:
      return aux ? 'hidden' : 'visible';
    case Op.navigation:
      return NAVIGATIONS[aux] ?? '';
    case Op.error:
      return aux ? 'unhandled rejection' : '';
    case Op.lockRequest:
    case Op.lockHeld:
      return [
        aux & WebLock.shared ? 'shared' : 'exclusive',
        aux & WebLock.ifAvailable ? 'ifAvailable' : '',
        aux & WebLock.steal ? 'steal' : '',
      ]
        .filter(Boolean)
        .join(', ');
    default:
      return '';
  }
}

/**
 * What an event has beyond its other columns: the engine's counters, the header of a database that
 * it carried, or its `aux` as text.
 */
export function detailText({ events, definitions }: ThreadStore, row: number): string {
  const op = events.op[row]!;
  const aux = events.aux[row]!;
  const offset = events.offset[row]!;
  if (op === Op.xRead || op === Op.xWrite) return headerText(events, definitions, row);
  const aux2 = events.aux2[row] ?? 0;
  const length = events.length[row]!;
  switch (op) {
    case Op.sqlCounters:
      return `hits ${offset}, misses ${length}, writes ${aux}, spills ${aux2}`;
    case Op.sqlStmtStatus:
      return `${countOf(length, 'step')}, ${countOf(offset, 'row')} scanned, ${countOf(aux2, 'sort')}`;
    case Op.sqlStmtStatusMore:
      return `${statusName(aux2)} ${length}`;
    case Op.sqlMemory:
      return `WebAssembly ${formatBytes(offset)}, page cache ${formatBytes(length)}, schema ${formatBytes(aux)}, statements ${formatBytes(aux2)}`;
    case Op.sqlMemoryGrew:
      return `WebAssembly ${formatBytes(length)}, then ${formatBytes(offset)}`;
    case Op.sqlInstructions:
      return countOf(instructionsOf(length, aux2), 'instruction');
    case Op.idbBlocked:
    case Op.idbVersionChange:
      return `version ${length} open, ${Number.isNaN(offset) ? 'to be deleted' : `version ${offset} requested`}`;
    case Op.atomicsWait:
    case Op.atomicsWaitAsync:
    case Op.atomicsNotify:
      return Number.isNaN(offset) ? '' : `at byte ${offset} of the buffer`;
    case Op.measure:
    case Op.longTask:
    case Op.interaction:
      return formatDuration(length);
    case Op.messagePost:
      return `message ${aux}${aux2 === MessageSize.transferred ? ', object besides' : ''}`;
    case Op.messageHandle:
      return `message ${aux}`;
    case Op.messagePort:
      return `${length === PortMove.received ? 'came' : 'went'} with message ${aux}`;
    case Op.wasmFetch:
      return `took ${formatDuration(aux)}`;
    case Op.dropped:
      return countOf(length, 'event');
    default:
      return auxText(op, aux);
  }
}
/** What a database's header reports, for a read or write that carried it. */
function headerText(
  { object, offset, length, aux, aux2 }: EventColumns,
  definitions: ThreadStore['definitions'],
  row: number,
): string {
  const [at, counter] = [offset[row]!, aux[row]!];
  if (counter === 0 || (at !== 0 && at !== VERSION_AT)) return '';
  const d = definitions.get(object[row]!);
  if (d?.kind !== 'file' || d.fileKind !== 'main-db') return '';
  const second = aux2[row] ?? 0;
  if (at === 0) return second ? `change counter ${counter}` : '';
  return length[row] === VERSION_BYTES
    ? `change counter ${counter}, ${second} free page${second === 1 ? '' : 's'}`
    : '';
}

/**
 * An event's result as text: `SQLITE_BUSY`, `NotFoundError`, `threw`, `failed`, `SAFE_APPEND |
 * BATCH_ATOMIC`; '' for plain success.
 */
export function resultText(op: number, result: number, flags: number): string {
  const info = OPS[op];
  if (flags & Flag.threw) return (info?.layer === 'web' && exceptionName(result)) || 'threw';
  switch (info?.result) {
    case 'code':
      return result === 0 ? '' : resultName(result);
    case 'failure':
      return result ? (exceptionName(result) ?? 'failed') : '';
    case 'answer':
      if (op === Op.xDeviceCharacteristics)
        return bitNames(result, DEVICE_CHARACTERISTICS) || 'none';
      return op === Op.xAccess ? '' : String(result);
    default:
      return '';
  }
}

/** Operations that may have no duration: something happened, or was counted. */
export const isInstant = (op: number): boolean =>
  (OPS[op]?.layer ?? 'host') === 'host' || (OPS[op]!.layer === 'sql' && OPS[op]!.aside);

/** Whether an event's call failed. Short reads, ROW, and DONE aren't failures. */
export function isFailure(op: number, result: number, flags: number): boolean {
  if (flags & Flag.threw) return true;
  if (result === 0) return false; // fast path, as this runs for a million events
  const kind = OPS[op]?.result;
  if (kind !== 'code' && kind !== 'failure') return false;
  // how a VFS reports that it doesn't know the opcode
  if (op === Op.xFileControl && result === Rc.notFound) return false;
  return OPS[op]?.layer === 'web' || isErrorResult(result);
}

export function flagTexts(flags: number): string[] {
  return [
    ...(flags & Flag.untimed ? ['not timed'] : []),
    ...(flags & Flag.memoryJournal ? ['in-memory journal'] : []),
    ...(flags & Flag.threw ? ['threw'] : []),
    ...(flags & Flag.async ? ['asynchronous'] : []),
  ];
}

function nameOfDefinition(d: Definition): string {
  switch (d.kind) {
    case 'file':
    case 'opfs-file':
      return d.path;
    case 'idb-store':
      return `${d.db}/${d.store}`;
    case 'idb-database':
      return d.db;
    case 'engine':
      return d.name;
    case 'lock':
    case 'storage-key':
    case 'name':
    case 'message':
    case 'sql':
    case 'note':
      return d.text;
    case 'channel':
      return d.channel === 'broadcast' ? d.key : d.channel;
    default:
      return '';
  }
}

/** What a thread's id stands for; '' for 0 and for ids without a definition. */
export function objectName(thread: ThreadStore, id: number): string {
  const definition = id ? thread.definitions.get(id) : undefined;
  return definition ? nameOfDefinition(definition) : '';
}

/** Text of the statement that an event serves (literals folded); '' = not known. */
export function statementText(thread: ThreadStore, row: number): string {
  const at = ownersOf(thread).statement(row);
  return at < 0 ? '' : objectName(thread, thread.events.object[at]!);
}

/**
 * The same for calls below SQLite's API; '' for calls of the API itself and those that serve no
 * statement.
 */
export function servedStatement(thread: ThreadStore, row: number): string {
  const op = thread.events.op[row]!;
  return isVfsOp(op) || isWebOp(op) ? statementText(thread, row) : '';
}

/** A VFS call's target in a word. '' for the database, because its path would be on every slice. */
function onWhat({ events, definitions }: ThreadStore, row: number, object: string): string {
  if (!isVfsOp(events.op[row]!)) return object;
  const file = definitions.get(events.object[row]!);
  if (file?.kind !== 'file' || file.fileKind === 'main-db') return '';
  return file.fileKind === 'other' ? (object.split('/').at(-1) ?? '') : file.fileKind;
}

/**
 * Short text for a slice: the statement, or operation and object.
 * @param level lock lanes: the level held
 */
export function labelOf(thread: ThreadStore, row: number, level?: number): string {
  const { events } = thread;
  const object = objectName(thread, events.object[row]!);
  if (level !== undefined) return LOCK_LEVELS[level] ?? '';
  const op = events.op[row]!;
  const text =
    isStatementOp(op) && object ? object : `${opName(op)} ${onWhat(thread, row, object)}`.trimEnd();
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}
