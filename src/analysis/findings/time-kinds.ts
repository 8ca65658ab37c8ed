/**
 * Divides the time while SQL runs into kinds that each have one remedy. The first sentence about a
 * recording names them, and descriptions of large costs are about them. vfscope's own time isn't
 * one.
 */
import { countOf, formatBytes, formatDuration } from '../../text/numbers.ts';
import { Op } from '../../event/event.ts';
import { opName, opTable } from '../../event/operations.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { PART_WORDS, type Part } from '../core/time-parts.ts';
import type { Known } from '../core/graph.ts';
import { sqliteThreads } from '../core/main-threads.ts';
import { callCounts } from '../files/call-counts.ts';
import { fileCounts, vfsTotal } from '../files/file-counts.ts';
import { idbTraffic, transactionsOfSqlite } from '../idb/idb-use.ts';
import { heldFromSqlite, lockWaits } from '../locks/lock-waits.ts';
import type { numberSaid } from '../numbers/headline-numbers.ts';
import { partsListed, say, saidList, type Said, type SaidNumber } from '../numbers/said.ts';
import { commits, type Commits } from '../transactions/commits.ts';

/** What `TimeKind.calls` counts; each kind only needs its own. */
export const KIND_NEEDS = {
  sqliteThreads,
  callCounts,
  fileCounts,
  commits,
  lockWaits,
  idbTraffic,
};

export interface TimeKind {
  parts: readonly Part[];
  what: string;
  /** Needs of `calls`. */
  needs: readonly (keyof typeof KIND_NEEDS)[];
  /** Which calls. @param us the time of the parts @param number a headline number */
  calls(known: Known<typeof KIND_NEEDS>, us: number, number: ReturnType<typeof numberSaid>): Said;
  advice: string;
  /** The text if most of the time is in statements that ran once. */
  once?: string;
}

/**
 * The time of a kind, with the statements that have it.
 * @param usOf time of a part
 * @param text formats it
 */
export function timeSaid(
  { parts }: TimeKind,
  usOf: (part: Part) => number,
  text: string,
): SaidNumber {
  const times = parts.map((part) => ({ part, us: usOf(part) })).filter(({ us }) => us > 0);
  return {
    text,
    definition: `Time spent ${times.map(({ part }) => PART_WORDS[part].meaning).join('; ')}.`,
    list: 'statements',
    about: partsListed(times),
  };
}

/**
 * "200 reads, 2 ms each"; nothing if their number is unknown.
 * @param part their time
 * @param which part of each the time is for
 */
function each(
  count: number | null,
  noun: string,
  us: number,
  part: Part,
  counted: (text: string) => SaidNumber,
  which = '',
): Said {
  if (!count) return [];
  const mean: SaidNumber = {
    text: formatDuration(us / count),
    definition: `Time spent ${PART_WORDS[part].meaning} / ${noun}s.`,
    list: 'statements',
    about: { part },
  };
  return say`${counted(countOf(count, noun))}, ${which}${mean} each`;
}

/**
 * "24 commits, 26 syncs, 329 KiB written", without unknown numbers.
 * @param bytes who wrote how many
 */
export const writesText = (
  { count, syncs }: Commits,
  written: SaidNumber | null,
  number: ReturnType<typeof numberSaid>,
): Said =>
  saidList([
    count ? [number('commits', countOf(count, 'commit'))] : [],
    syncs === null ? [] : [number('syncs', countOf(syncs, 'sync'))],
    written ? say`${written} written` : [],
  ]);

const IS_LOCK_CALL = opTable(({ layer, spent }) => Number(layer === 'vfs' && spent === 'lock'));
function lockCallsOf({ events: { op, count } }: ThreadStore): number {
  let n = 0;
  for (let row = 0; row < count; row++) n += IS_LOCK_CALL[op[row]!]!;
  return n;
}

const WRITING: TimeKind = {
  parts: ['write', 'sync'],
  what: 'Writing and committing',
  needs: ['commits', 'fileCounts'],
  // what a commit took is in Transactions: this time is more than that of the commits
  calls({ commits, fileCounts: files }, _, number) {
    const bytes = vfsTotal(files, 'xWriteBytes');
    const written = bytes === null ? null : number('writtenBytes', formatBytes(bytes));
    return writesText(commits, written, number);
  },
  advice: 'Commit less often: statements that belong together go into one transaction.',
};
/** A commit on IndexedDB waits for its transactions, but so do reads. */
const WRITING_IN_IDB: TimeKind = {
  ...WRITING,
  parts: [...WRITING.parts, 'idbTransaction'],
  what: 'Writing and committing, with waits for IndexedDB transactions,',
};
const IDB_TRANSACTIONS: TimeKind = {
  parts: ['idbTransaction'],
  what: 'Waiting for IndexedDB transactions',
  needs: ['idbTraffic'],
  calls: ({ idbTraffic: traffic }, us) =>
    each(
      transactionsOfSqlite(traffic).length,
      'IndexedDB transaction',
      us,
      'idbTransaction',
      (text) => ({
        text,
        definition: "IndexedDB transactions of SQLite's storage. The list also has your app's own.",
        list: 'events',
        about: { calls: opName(Op.idbTransaction) },
      }),
      'waiting ',
    ),
  advice:
    'Put SELECTs that belong together in one transaction: the VFS then needs fewer IndexedDB transactions. If your app has one connection, set locking_mode=exclusive.',
};

const OTHERS: readonly TimeKind[] = [
  {
    parts: ['read'],
    what: 'Reading',
    needs: ['callCounts'],
    calls: ({ callCounts: calls }, us, number) =>
      each(calls.of('read'), 'read', us, 'read', (text) => number('reads', text)),
    advice:
      'Read fewer pages: an index for these statements, a larger page cache (the Cache view shows what it would avoid), or larger pages.',
  },
  {
    parts: ['cpu'],
    what: 'Computing in SQLite and its VFS',
    needs: [],
    calls: () => [],
    advice:
      'Look at the query plans of these statements: scans, sorts, and functions called for every row compute. Fewer, larger statements save calls through JavaScript.',
    once: 'Most of it is in opening the database and in statements that ran once. The first calls of an engine are the slowest, because WebAssembly compiles while it runs. Leave the database open, and open it before you need it.',
  },
  {
    parts: ['lock'],
    what: 'Taking and releasing locks',
    needs: ['sqliteThreads'],
    calls: ({ sqliteThreads: threads }, us) =>
      each(
        threads.reduce((n, thread) => n + lockCallsOf(thread), 0),
        'lock call',
        us,
        'lock',
        (text) => ({
          text,
          definition:
            'Calls that take, check, or release locks, on the threads that run SQLite. The list shows how long statements waited in them.',
          list: 'statements',
          about: { part: 'lock' },
        }),
      ),
    advice:
      'Lock less often: several statements in one transaction share its locks. With a single connection, locking_mode=EXCLUSIVE takes them once.',
  },
  {
    parts: ['lockWait'],
    what: 'Waiting for locks that others held',
    needs: ['lockWaits'],
    calls: ({ lockWaits: waits }, us, number) =>
      each(heldFromSqlite(waits).length, 'wait', us, 'lockWait', (text) =>
        number('lockWaits', text),
      ),
    advice:
      'Keep write transactions short, and send writes through one connection. The Locks view shows who held each lock.',
  },
  {
    parts: ['other'],
    what: 'Waiting for something that was not recorded',
    needs: [],
    calls: () => [],
    advice:
      'Record all layers and all workers: the engine waits for a promise or a worker whose calls are not in this recording.',
  },
];

/** The kinds of a recording, or of a part of it. @param usOf its time by part */
export const timeKinds = (usOf: (part: Part) => number): readonly TimeKind[] => {
  if (usOf('idbTransaction') === 0) return [WRITING, ...OTHERS];
  // it isn't known what an IndexedDB transaction's time serves: if reads take more time than
  // writes, it is mostly reads
  const isWriting = usOf('write') + usOf('sync') > usOf('read');
  return isWriting ? [WRITING_IN_IDB, ...OTHERS] : [WRITING, IDB_TRANSACTIONS, ...OTHERS];
};
