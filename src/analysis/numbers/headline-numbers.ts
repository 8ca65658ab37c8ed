/**
 * The headline numbers of a trace: each one's name, meaning, unit, and value, or why it isn't
 * known. The Overview, the live strip, comparisons, summaries, and reports take them from here, so
 * that a number is the same everywhere.
 */
import { Op } from '../../event/event.ts';
import { opName } from '../../event/operations.ts';
import type { EventRef, TraceStore } from '../../trace/store.ts';
import { formatCount, type Unit } from '../../text/numbers.ts';
import { pageCacheFrom } from '../cache/page-cache.ts';
import { noCountersCause, noSqlCause, noVfsCause } from '../core/absences.ts';
import { NOT_COUNTED, totalInstructions } from '../core/instructions.ts';
import { leavesOut } from '../core/layers.ts';
import { LOST } from '../core/losses.ts';
import { PART_WORDS } from '../core/time-parts.ts';
import { extent } from '../core/time-range.ts';
import { callCounts, type CallCounts } from '../files/call-counts.ts';
import { fileCounts, vfsTotal } from '../files/file-counts.ts';
import { webCounts } from '../files/web-counts.ts';
import { fact, type Facts, type Known } from '../core/graph.ts';
import { unseenWork } from '../core/unrecorded-workers.ts';
import { tailCount, tailsText, unknownTails } from '../core/unknown-tails.ts';
import { heldFromSqlite, lockWaits } from '../locks/lock-waits.ts';
import { amplificationOf, writeAmplification } from '../pages/block-writes.ts';
import { pages } from '../pages/pages.ts';
import { statements } from '../statements/statements.ts';
import { summaryTime, totalTimeInSql } from '../time/summary-time.ts';
import type { CommitTotals } from '../transactions/anatomy-table.ts';
import { commits } from '../transactions/commits.ts';
import { TRANSACTION_KINDS } from '../transactions/table.ts';
import { longestReserved } from '../transactions/longest-reserved.ts';
import { anatomies } from '../transactions/transaction-anatomy.ts';
import { transactions } from '../transactions/transactions.ts';
import { checkpoints } from '../wal/checkpoints.ts';
import { wals } from '../wal/wal.ts';
import type { ListPart, NumberList, SaidNumber } from './said.ts';

/**
 * Needs of a summary's numbers, without the long analyses, because a summary is shown when a file
 * opens.
 */
export const SUMMARY_NEEDS = {
  extent,
  statements,
  transactions,
  commits,
  callCounts,
  fileCounts,
  webCounts,
  summaryTime,
  totalTimeInSql,
  totalInstructions,
  unseenWork,
};
/** Needs of all numbers. */
export const NUMBER_NEEDS = {
  ...SUMMARY_NEEDS,
  anatomies,
  longestReserved,
  lockWaits,
  wals,
  checkpoints,
  writeAmplification,
  pages,
  unknownTails,
};

export type NumberId = keyof typeof NUMBERS;
/** Those of which a view lists what they count. */
type ListedId = {
  [Id in NumberId]: (typeof NUMBERS)[Id] extends { list: NumberList } ? Id : never;
}[NumberId];

export interface HeadlineNumber {
  id: NumberId;
  title: string;
  /** The title for narrow places. */
  short: string;
  /** What it means and how it is counted. */
  definition: string;
  unit: Unit;
  value: number | null;
  /**
   * What it doesn't cover: workers that aren't recorded, so that a sum is a lower bound and a ratio
   * covers a part; null = nothing.
   */
  unseen: string | null;
  /** A text beside the value; '' = none. */
  also: string;
  /** Why it isn't known; null if it is, and while it isn't computed yet. */
  cause: string | null;
  /** The call that the number is about, which is in `list`. */
  event: EventRef | null;
  /** The view that lists what the number counts or sums. */
  list: NumberList | null;
  /** The part of that list that the number is about; null = the entire list. */
  about: ListPart | null;
}

interface Entry {
  title: string;
  short?: string;
  unit: Unit;
  definition: string | ((numbers: Numbers) => string);
  value: (numbers: Numbers) => number | null;
  also?: (numbers: Numbers) => string;
  /** It is about the recording itself, so unrecorded workers don't matter. */
  ofRecording?: true;
  /** Used if the value is null. */
  cause?: (numbers: Numbers) => string;
  event?: (numbers: Numbers) => HeadlineNumber['event'];
  list?: NumberList;
  about?: ListPart;
}

const STORAGE_LEFT_OUT = 'the recording leaves storage calls out';
const NO_WAL = 'no write-ahead log was used';

/** The numbers of one trace, each computed on request. */
class Numbers {
  /** @param grown of the trace as it is now: the live strip brings its own, which grow with it */
  constructor(
    readonly store: TraceStore,
    readonly known: Known<typeof NUMBER_NEEDS>,
    private readonly grown?: CallCounts,
  ) {}

  get calls(): CallCounts {
    return this.grown ?? this.known.callCounts;
  }

  get(id: NumberId): HeadlineNumber {
    const entry: Entry = NUMBERS[id];
    const value = entry.value(this);
    const unseen = entry.ofRecording ? null : this.known.unseenWork;
    // if an app's SQLite isn't recorded, a count of 0 means nothing
    if (unseen && !unseen.isLeast && !value) return { ...this.words(id), cause: unseen.text };
    return {
      ...this.words(id),
      value,
      unseen: unseen && value !== null ? unseen.text : null,
      also: entry.also?.(this) ?? '',
      cause: value === null ? (entry.cause?.(this) ?? null) : null,
      event: entry.event?.(this) ?? null,
    };
  }

  /** The number before it is computed. */
  words(id: NumberId): HeadlineNumber {
    const { title, short = title, unit, definition: words, list, about }: Entry = NUMBERS[id];
    const definition = typeof words === 'string' ? words : words(this);
    // if an engine's VFS calls aren't visible, its commits are frames of its log
    const inLog = list === 'transactions' && !this.calls.seesVfs;
    return {
      id,
      title,
      short,
      unit,
      definition,
      value: null,
      unseen: null,
      also: '',
      cause: null,
      event: null,
      list: inLog ? 'wal' : (list ?? null),
      about: (!inLog && about) || null,
    };
  }

  get noSql(): string {
    return noSqlCause(this.store);
  }
  /** @param cause if VFS calls were recorded */
  noVfs(
    cause = 'the recording lacks the calls that would show it (a lock kept over several transactions, a WAL, or headers not decoded)',
  ): string {
    return this.calls.seesVfs ? cause : noVfsCause(this.store);
  }
  /** SQLite requests locks through its VFS, or through a thread that does its storage. */
  get seesLocks(): boolean {
    return this.calls.seesVfs || this.known.lockWaits.some(({ sqlite }) => sqlite !== null);
  }
  get noCommit(): string {
    return this.known.commits.count === 0 ? 'nothing was committed' : this.noVfs();
  }
  get noTime(): string {
    return this.known.totalTimeInSql === null
      ? 'no SQL or VFS call was recorded'
      : 'no time passed while SQL ran';
  }

  /** Share of the time while SQL runs; null = not known. */
  share(us: number | null): number | null {
    const inSql = us === null ? null : this.known.totalTimeInSql;
    return inSql ? us! / inSql : null;
  }
  time(part: 'ioUs' | 'lockUs' | 'lockWaitUs'): number | null {
    return this.known.summaryTime?.[part] ?? null;
  }
  /** Share of the time of all commits, microseconds; null if none is known. */
  ofCommits(us: (all: CommitTotals) => number): number | null {
    const all = this.known.anatomies.commitTotals();
    return all.commits ? us(all) : null;
  }
  /** All databases together. */
  get amplification(): ReturnType<typeof amplificationOf> {
    return amplificationOf(this.known.writeAmplification);
  }
}

const per = (sum: number | null, count: number | null): number | null =>
  sum !== null && count ? sum / count : null;

/** The Overview's numbers, in its order. */
const HEADLINES = {
  duration: {
    title: 'Recorded',
    ofRecording: true,
    unit: 'us',
    list: 'timeline',
    definition: "From the first event's begin to the last one's end.",
    value: ({ known: { extent } }) => Math.round((extent[1] - extent[0]) * 1000) / 1000,
  },
  statements: {
    title: 'Statements',
    unit: 'count',
    list: 'statements',
    definition:
      'Executions of SQL statements: first sqlite3_step after a prepare or reset, or sqlite3_exec.',
    value: ({ known }) => known.statements.count,
    cause: (n) => n.noSql,
  },
  sqlTime: {
    title: 'Time in SQL',
    unit: 'us',
    list: 'statements',
    about: { part: null },
    definition:
      "Time while SQL runs, summed over the threads that run SQLite. vfscope's own work outside of SQL isn't included.",
    value: ({ known }) => known.totalTimeInSql,
    cause: (n) => n.noTime,
  },
  ioShare: {
    title: 'I/O share',
    unit: 'share',
    list: 'statements',
    about: { column: 'io' },
    definition: 'Storage I/O (read, write, sync, IndexedDB transactions) / time while SQL runs.',
    value: (n) => (leavesOut(n.store, 'web') ? null : n.share(n.time('ioUs'))),
    cause: (n) => (leavesOut(n.store, 'web') ? STORAGE_LEFT_OUT : n.noTime),
  },
  lockShare: {
    title: 'Lock wait',
    unit: 'share',
    list: 'locks',
    definition: `Time spent ${PART_WORDS.lockWait.meaning} / time while SQL runs. The Locks view lists the waits.`,
    value: (n) => n.share(n.time('lockWaitUs')),
    cause: (n) => n.noTime,
  },
  lockCallShare: {
    title: 'Lock calls',
    unit: 'share',
    list: 'statements',
    about: { part: 'lock' },
    definition: `Time spent ${PART_WORDS.lock.meaning} / time while SQL runs. Their computing counts as CPU, and their reads and writes as such.`,
    value: (n) => n.share(n.time('lockUs')),
    cause: (n) => n.noTime,
  },
  commits: {
    title: 'Commits',
    unit: 'count',
    list: 'transactions',
    about: { outcome: 'committed' },
    definition:
      'What made a transaction durable: the journal deleted, truncated or its header zeroed, a WAL commit frame, COMMIT_ATOMIC_WRITE, or with no journal the last database write before the unlock.',
    value: ({ known }) => known.commits.count,
    cause: (n) => n.noVfs(),
  },
  commitShare: {
    title: 'Commit share',
    unit: 'share',
    list: 'transactions',
    about: { outcome: 'committed' },
    definition:
      'Time of all commits (from COMMIT, or in autocommit the first call that only a commit makes, to the last unlock; idle time left out) / time while SQL runs. Where the page cache spills within an autocommitted statement, the rest of the statement counts. The Transactions view splits it.',
    value: (n) => n.share(n.ofCommits(({ us }) => us)),
    cause: (n) => n.noCommit,
  },
  syncShare: {
    title: 'Sync inside commits',
    unit: 'share',
    list: 'transactions',
    about: { outcome: 'committed' },
    definition:
      'Within commits, waiting until writes are durable (xSync, the completion of IndexedDB transactions) / time while SQL runs.',
    value: (n) => n.share(n.ofCommits(({ time }) => time.syncUs + time.idbCompleteUs)),
    cause: (n) => n.noCommit,
  },
  syncsPerCommit: {
    title: 'Syncs per commit',
    unit: 'number',
    list: 'transactions',
    about: { outcome: 'committed' },
    definition: 'Syncs / commits.',
    value: ({ known }) => known.commits.syncsPerCommit,
    cause: (n) => n.noCommit,
  },
  vfsPerStatement: {
    title: 'VFS calls per statement',
    unit: 'number',
    list: 'statements',
    definition: 'Calls on files, the in-memory journal left out / runs of statements.',
    value: ({ calls, known }) => per(calls.onFiles || null, known.statements.count),
    cause: (n) => n.noVfs(n.noSql),
  },
  checkpoints: {
    title: 'Checkpoints',
    unit: 'count',
    list: 'wal',
    definition: 'Times that frames of a write-ahead log were copied into its database.',
    value: ({ known }) => (known.wals.length ? known.checkpoints.length : null),
    cause: () => NO_WAL,
  },
  checkpointShare: {
    title: 'Checkpoint share',
    unit: 'share',
    list: 'wal',
    definition: 'Time of all checkpoints / time while SQL runs. The WAL view has each of them.',
    value: (n) =>
      n.known.wals.length
        ? n.share(n.known.checkpoints.reduce((us, c) => us + c.toUs - c.fromUs, 0))
        : null,
    cause: (n) => (n.known.wals.length ? n.noTime : NO_WAL),
  },
  rolledBack: {
    title: 'Rolled back',
    unit: 'count',
    list: 'transactions',
    about: { outcome: 'rolled back' },
    definition: 'Write transactions that ended without a commit.',
    value: ({ known }) => known.transactions.rolledBack,
    cause: (n) => n.noVfs(),
  },
  longestReserved: {
    title: 'Longest write lock',
    unit: 'us',
    list: 'transactions',
    definition:
      'Longest time for which a database was held at RESERVED or above: no other connection could write.',
    value({ known }) {
      const hold = known.longestReserved;
      return hold && hold.toUs - hold.fromUs;
    },
    cause: (n) => n.noVfs('no lock of that level was seen'),
    event({ known, store }) {
      const hold = known.longestReserved;
      return hold && store.threads[hold.thread]!.ref(hold.row);
    },
  },
  amplification: {
    title: 'Write amplification',
    unit: 'number',
    list: 'files',
    definition: (n) =>
      `Bytes ${n.amplification.storage ? 'that storage calls wrote' : 'that xWrite calls wrote (storage calls under them are not recorded)'} for databases, journals and WALs / bytes of the pages that transactions changed.`,
    value: (n) => n.amplification.ratio,
    cause: (n) => n.noVfs('no page was written, or the page size is not known'),
  },
  rereads: {
    title: 'Reads per page',
    unit: 'number',
    list: 'files',
    definition:
      'Page reads from databases and WALs, checkpoints left out / distinct pages read. 1 = nothing was read twice.',
    value({ known }) {
      const list = known.pages;
      return per(
        list.reduce((n, { reads }) => n + reads, 0),
        list.reduce((n, { placesRead }) => n + placesRead, 0),
      );
    },
    cause: (n) => (n.known.pages.length ? 'no page was read' : n.noVfs('no page was read')),
  },
  hitRate: {
    title: 'Page cache hits',
    short: 'Cache hits',
    unit: 'share',
    list: 'cache',
    definition:
      "Page requests that SQLite's page cache answered without a VFS call, from the engine's own counters.",
    value: ({ calls }) => pageCacheFrom(calls.cacheSums).hitRate,
    cause({ store, calls }) {
      if (pageCacheFrom(calls.cacheSums).hits !== null) return 'SQLite requested no page';
      return noCountersCause(store, calls.seesSql);
    },
  },
  readBytes: {
    title: 'Read by SQLite',
    unit: 'bytes',
    list: 'files',
    definition: 'Bytes of successful xRead calls, on all files except the in-memory journal.',
    value: ({ known }) => vfsTotal(known.fileCounts, 'xReadBytes'),
    cause: (n) => n.noVfs(),
  },
  writtenBytes: {
    title: 'Written by SQLite',
    unit: 'bytes',
    list: 'files',
    definition: 'Bytes of successful xWrite calls, on all files except the in-memory journal.',
    value: ({ known }) => vfsTotal(known.fileCounts, 'xWriteBytes'),
    cause: (n) => n.noVfs(),
  },
  idbTransactions: {
    title: 'IDB transactions',
    unit: 'count',
    list: 'events',
    about: { calls: opName(Op.idbTransaction) },
    definition: 'IndexedDB transactions, by SQLite and by the rest of the app.',
    value: ({ known }) => known.webCounts.idb.transactions,
    cause: () => STORAGE_LEFT_OUT,
  },
} as const satisfies Record<string, Entry>;

const OTHERS = {
  events: {
    title: 'Events',
    ofRecording: true,
    unit: 'count',
    list: 'events',
    definition: ({ store }) =>
      `Calls recorded: ${formatCount(store.eventCount)} ${store.forgotten ? 'retained' : 'so far'}, on all threads and layers. While recording: over the last second.`,
    value: ({ store }) => store.eventCount,
  },
  seen: {
    title: 'Seen',
    ofRecording: true,
    unit: 'count',
    definition: ({ store }) =>
      `Calls recorded since the beginning: ${formatCount(store.eventCount + store.forgotten)}. The older ones were dropped. The other numbers cover what was retained.`,
    value: ({ store }) => store.eventCount + store.forgotten,
  },
  dropped: {
    title: 'Dropped',
    ofRecording: true,
    unit: 'count',
    definition: ({ store, known }) =>
      [
        `${LOST}: ${formatCount(store.dropped)}. They ran as usual.`,
        ...(known.unknownTails.length ? [tailsText(known.unknownTails)] : []),
      ].join(' '),
    value: ({ store }) => store.dropped,
    also: ({ known }) => tailCount(known.unknownTails),
  },
  cost: {
    title: 'vfscope',
    ofRecording: true,
    unit: 'nsPerEvent',
    definition:
      "What recording took of your app's threads, per recorded call: by a model that was fitted to measured runs, in multiples of what a call took on each thread when its recording began.",
    value: ({ calls: { cost } }) => (cost.events > 0 ? cost.ns / cost.events : null),
    cause: () => 'no thread has measured it yet',
  },
  distinctStatements: {
    title: 'Distinct statements',
    unit: 'count',
    list: 'statements',
    definition: 'Distinct texts among the executed statements, literals folded.',
    value: ({ known }) => known.statements.distinct,
    cause: (n) =>
      n.known.statements.count === null ? n.noSql : 'no SQL text was recorded (capture level 0)',
  },
  lockWaits: {
    title: 'Lock waits',
    unit: 'count',
    list: 'locks',
    definition:
      'Locks that SQLite waited for: refused by SQLITE_BUSY, or held by a recorded thread. The Locks view lists them, and beside them requests that took long though no recorded thread held the lock.',
    value: (n) => (n.seesLocks ? heldFromSqlite(n.known.lockWaits).length : null),
    cause: (n) => n.noVfs(),
  },
  instructions: {
    title: 'Instructions',
    unit: 'count',
    list: 'statements',
    definition:
      "Instructions that SQLite's WebAssembly executed, from its start to its last call. Exact, and the same on every machine.",
    value: ({ known }) => known.totalInstructions,
    cause: () => NOT_COUNTED.replace('n/a: ', ''),
  },
  transactionsRead: {
    title: 'Read transactions',
    unit: 'count',
    list: 'transactions',
    definition: `Transactions that ${TRANSACTION_KINDS.read}.`,
    value: ({ known }) => known.transactions.read,
    cause: (n) => n.noVfs(),
  },
  transactionsWrite: {
    title: 'Write transactions',
    unit: 'count',
    list: 'transactions',
    definition: `Transactions that ${TRANSACTION_KINDS.write}.`,
    value: ({ known }) => known.transactions.write,
    cause: (n) => n.noVfs(),
  },
  reads: {
    title: 'Reads',
    unit: 'count',
    list: 'files',
    definition:
      'xRead calls of SQLite on files, the in-memory journal left out. Where no VFS call is recorded: reads of IndexedDB, OPFS and localStorage, and by HTTP.',
    value: ({ calls }) => calls.of('read'),
    cause: (n) => n.noVfs(),
  },
  writes: {
    title: 'Writes',
    unit: 'count',
    list: 'files',
    definition:
      'xWrite calls of SQLite on files, the in-memory journal left out. Where no VFS call is recorded: writes to IndexedDB, OPFS and localStorage.',
    value: ({ calls }) => calls.of('write'),
    cause: (n) => n.noVfs(),
  },
  syncs: {
    title: 'Syncs',
    unit: 'count',
    list: 'files',
    definition:
      'xSync calls of SQLite on files, the in-memory journal left out. Where no VFS call is recorded: OPFS flushes and writable streams closed.',
    value: ({ calls }) => calls.of('sync'),
    cause: (n) => n.noVfs(),
  },
} as const satisfies Record<string, Entry>;

export const NUMBERS = { ...HEADLINES, ...OTHERS };

/** @param grown as of Numbers */
export const numbersFrom = (facts: Facts, grown?: CallCounts): Numbers =>
  new Numbers(facts.store, facts.onDemand(NUMBER_NEEDS), grown);

/** A headline number in a sentence, in the words of the sentence. */
export const numberSaid =
  (facts: Facts) =>
  (id: ListedId, text: string): SaidNumber => {
    const { definition, list, about } = numbersFrom(facts).words(id);
    return { text, definition, list, about };
  };

/** The most important numbers: those of the Overview, which comparisons show side by side. */
export const headlineNumbers = fact(
  'headlineNumbers',
  'headline numbers',
  NUMBER_NEEDS,
  (store, known): HeadlineNumber[] => {
    const numbers = new Numbers(store, known);
    return (Object.keys(HEADLINES) as (keyof typeof HEADLINES)[]).map((id) => numbers.get(id));
  },
);

/**
 * Their number if the recording counted them; null: it didn't, so it isn't a number of the
 * recording.
 */
export const countedInstructions = fact(
  'countedInstructions',
  'instructions in all',
  { totalInstructions },
  (_, { totalInstructions: total }, facts): HeadlineNumber | null =>
    total === null ? null : numbersFrom(facts).get('instructions'),
);
