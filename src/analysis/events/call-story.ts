/**
 * Describes one call in sentences: what it was, what happened inside it, and how it compares with
 * others of its kind. It only uses facts of the recording.
 *
 *   SQLite asked for a SHARED lock on the database. It took 3.62 ms.
 *   Inside it: 1 atomics.wait (2.81 ms). 810 µs passed outside these calls.
 *   Median of 224 such calls: 660 µs. 3 took longer than this one.
 */
import { Op } from '../../event/event.ts';
import type { FileKind } from '../../event/definitions.ts';
import { isStatementOp, isVfsOp, opName, OPS, type OpInfo } from '../../event/operations.ts';
import { FILE_CONTROLS, lockLevelText } from '../../sqlite/constants.ts';
import { countOf, formatBytes, formatCount, formatMeasured } from '../../text/numbers.ts';
import { definedAs, targetOf } from '../../trace/in-memory.ts';
import { lengthOf, offsetOf, resultText, isFailure, isInstant } from '../../trace/describe.ts';
import type { ThreadStore, TraceStore } from '../../trace/store.ts';
import { firstPlace } from '../../trace/number-columns.ts';
import { percentile } from '../core/durations.ts';
import { getOrMake } from '../core/maps.ts';

export interface CallStory {
  /** What it was. */
  what: string;
  /** What happened inside it; '' = no calls were recorded there. */
  inside: string;
  /** How it compares with others of its kind; '' = it is the only one, or it has no duration. */
  beside: string;
}

const FILES: Readonly<Record<FileKind, string>> = {
  'main-db': 'the database',
  journal: 'the rollback journal',
  wal: 'the write-ahead log',
  temp: 'a temporary file',
  'memory-journal': 'the in-memory journal',
  other: 'a file',
};

/** The bytes of a call, `4 KiB at 8,192 of `. */
function bytesOf(thread: ThreadStore, row: number): string {
  const length = lengthOf(thread.events, row);
  const at = offsetOf(thread.events, row);
  return `${length ? formatBytes(length) : 'bytes'}${at === null ? '' : ` at offset ${formatCount(at)}`}`;
}

/** What SQLite asked its VFS to do, in the past tense. */
function vfsText(thread: ThreadStore, row: number): string {
  const { events, definitions } = thread;
  const op = events.op[row]!;
  const aux = events.aux[row]!;
  const d = definedAs(definitions, targetOf(events, row));
  const file = d?.kind === 'file' ? FILES[d.fileKind] : 'a file';
  switch (op) {
    case Op.xOpen:
      return `SQLite opened ${file}`;
    case Op.xClose:
      return `SQLite closed ${file}`;
    case Op.xRead:
      return `SQLite read ${bytesOf(thread, row)} of ${file}`;
    case Op.xWrite:
      return `SQLite wrote ${bytesOf(thread, row)} of ${file}`;
    case Op.xTruncate:
      return `SQLite set the size of ${file} to ${formatBytes(offsetOf(events, row))}`;
    case Op.xSync:
      return `SQLite waited until its writes to ${file} were durable`;
    case Op.xFileSize:
      return `SQLite asked for the size of ${file}`;
    case Op.xLock:
      return `SQLite asked for a ${lockLevelText(aux)} lock on ${file}`;
    case Op.xUnlock:
      return aux
        ? `SQLite lowered its lock on ${file} to ${lockLevelText(aux)}`
        : `SQLite released its lock on ${file}`;
    case Op.xCheckReservedLock:
      return `SQLite asked whether another connection may be writing to ${file}`;
    case Op.xFileControl:
      return `SQLite sent ${FILE_CONTROLS[aux] || `opcode ${aux}`} to the VFS`;
    case Op.xSectorSize:
      return `SQLite asked for the sector size of ${file}`;
    case Op.xDeviceCharacteristics:
      return `SQLite asked what the storage of ${file} guarantees`;
    case Op.xDelete:
      return `SQLite deleted ${file}`;
    case Op.xAccess:
      return `SQLite checked whether ${file} exists`;
    default:
      return `SQLite called ${opName(op)}`;
  }
}

/** What a call of a web API did, in the past tense, by what it counts as. */
function webText(thread: ThreadStore, row: number, { api, counts, activity }: OpInfo): string {
  const { events } = thread;
  const name = opName(events.op[row]!);
  if (events.op[row] === Op.idbTransaction) return 'An IndexedDB transaction ran';
  if (api === 'atomics') return `The thread called ${name}`;
  const length = lengthOf(events, row);
  const amount = length ? ` ${formatBytes(length)}` : '';
  switch (counts ?? activity) {
    case 'read':
      return `${name} read${amount || ' from storage'}`;
    case 'write':
      return `${name} wrote${amount || ' to storage'}`;
    case 'sync':
      return `${name} waited until writes were durable`;
    case 'open':
      return `${name} opened a file`;
    case 'lock':
      return `${name} asked for a lock`;
    default:
      return `${name} ran`;
  }
}

const SQL_TEXTS: Readonly<Record<number, string>> = {
  [Op.sqlOpen]: 'SQLite opened a database',
  [Op.sqlClose]: 'SQLite closed a database',
  [Op.sqlPrepare]: 'SQLite compiled the statement',
  [Op.sqlStep]: 'SQLite ran the statement up to its next row or its end',
  [Op.sqlReset]: 'SQLite reset the statement',
  [Op.sqlFinalize]: 'SQLite freed the statement',
  [Op.sqlExec]: 'SQLite ran a text of SQL',
};

function whatText(thread: ThreadStore, row: number): string {
  const { events } = thread;
  const op = events.op[row]!;
  const info = OPS[op];
  const doing = isVfsOp(op)
    ? vfsText(thread, row)
    : info?.layer === 'web'
      ? webText(thread, row, info)
      : (SQL_TEXTS[op] ?? '');
  if (!doing) return '';
  if (events.endSeq[row] === 0) return `${doing}. No end was recorded.`;
  const result = resultText(op, events.result[row]!, events.flags[row]!);
  const failed = isFailure(op, events.result[row]!, events.flags[row]!)
    ? ` It failed: ${result}.`
    : '';
  const took = isInstant(op) ? '' : ` It took ${measured(thread, events.dur[row]!)}.`;
  return `${doing}.${took}${failed}`;
}

/** How many of the operations inside are named. */
const NAMED = 3;

/** Calls made for this one, by operation, and the time that none of them covers. */
function insideText(thread: ThreadStore, row: number): string {
  const { events } = thread;
  const end = events.endSeq[row]!;
  if (end === 0) return '';
  const seq = events.seq[row]!;
  const [from, to] = [events.t0[row]!, events.t0[row]! + events.dur[row]!];
  const groups = new Map<number, { calls: number; us: number; covered: number }>();
  let [us, covered] = [0, from];
  for (let i = row + 1; i < events.count && events.seq[i]! < end; i++) {
    const info = OPS[events.op[i]!];
    if (events.parent[i] !== seq || !info || info.aside || info.own) continue;
    const begin = Math.max(from, events.t0[i]!);
    const stop = events.endSeq[i] === 0 ? to : Math.min(to, events.t0[i]! + events.dur[i]!);
    const group = getOrMake(groups, events.op[i]!, () => ({ calls: 0, us: 0, covered: from }));
    group.calls++;
    // if calls overlap, a moment counts once; they are in order of begin
    group.us += Math.max(0, stop - Math.max(begin, group.covered));
    group.covered = Math.max(group.covered, stop);
    us += Math.max(0, stop - Math.max(begin, covered));
    covered = Math.max(covered, stop);
  }
  if (groups.size === 0) return '';
  const all = [...groups].sort(([, a], [, b]) => b.us - a.us);
  const named = all
    .slice(0, NAMED)
    .map(
      ([op, group]) => `${formatCount(group.calls)} ${opName(op)} (${measured(thread, group.us)})`,
    );
  const left = all.slice(NAMED).reduce((sum, [, { calls }]) => sum + calls, 0);
  if (left) named.push(countOf(left, 'other call'));
  return `Inside it: ${named.join(', ')}. ${measured(thread, Math.max(0, to - from - us))} passed outside these calls.`;
}

const isLock = (op: number): boolean => op === Op.xLock || op === Op.xUnlock;
/**
 * What makes calls comparable: the operation, the kind of file, for locks the level, for statements
 * the text.
 */
function kindKey(thread: ThreadStore, row: number): string {
  const { events, definitions } = thread;
  const op = events.op[row]!;
  if (isLock(op)) return `${op} ${events.aux[row]!}`;
  const d = definedAs(definitions, targetOf(events, row));
  if (isStatementOp(op)) return `${op} ${d?.kind === 'sql' ? d.text : ''}`;
  return `${op} ${d?.kind === 'file' ? d.fileKind : ''}`;
}

/** Ascending durations of all ended calls of a kind, microseconds. */
export function durationsOfKind({ threads }: TraceStore, op: number, key: string): Float64Array {
  const found: number[] = [];
  for (const thread of threads) {
    const { events } = thread;
    /** By the part of the key other than the operation. */
    const same = new Map<number, boolean>();
    for (let row = 0; row < events.count; row++) {
      if (events.op[row] !== op || events.endSeq[row] === 0) continue;
      const by = isLock(op) ? events.aux[row]! : targetOf(events, row);
      if (getOrMake(same, by, () => kindKey(thread, row) === key)) found.push(events.dur[row]!);
    }
  }
  return Float64Array.from(found).sort();
}

function besideText(thread: ThreadStore, row: number, sorted: Float64Array): string {
  const { events } = thread;
  if (sorted.length < 2 || events.endSeq[row] === 0) return '';
  const longer = sorted.length - firstPlace(0, sorted.length, (i) => sorted[i]! > events.dur[row]!);
  const rank =
    longer === 0
      ? 'None took longer than this one.'
      : `${formatCount(longer)} took longer than this one.`;
  return `Median of ${formatCount(sorted.length)} such calls: ${measured(thread, percentile(sorted, 0.5))}. ${rank}`;
}

/** @param durations of a kind, from `durationsOfKind`, cached by its key */
export function callStory(
  thread: ThreadStore,
  row: number,
  durations: (op: number, key: string) => Float64Array,
): CallStory {
  const what = whatText(thread, row);
  const op = thread.events.op[row]!;
  if (!what) return { what: '', inside: '', beside: '' };
  return {
    what,
    inside: insideText(thread, row),
    beside: isInstant(op) ? '' : besideText(thread, row, durations(op, kindKey(thread, row))),
  };
}

const measured = (thread: ThreadStore, us: number): string =>
  formatMeasured(us, thread.environment?.clockStepUs ?? null);
