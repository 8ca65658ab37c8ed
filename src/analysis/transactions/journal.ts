/**
 * Findings about the cost of the rollback journal, and about journals that the app didn't choose.
 *
 *   F07   open j, write j x8, sync j x2, write db, sync db, close j, delete j       WAL: two writes a page
 *   F08   PRAGMA journal_mode=wal ... and later commits delete a rollback journal
 *   F12   a batch-atomic VFS (needs no journal) opens one: the page cache spilled during a
 *         transaction, or it covers two files
 *   F25   synchronous=OFF on a batch-atomic VFS: neither atomic writes nor a journal
 */
import { Op } from '../../event/event.ts';
import { databasePath, fileKindOfPath, suffixOf } from '../../event/file-names.ts';
import { Rc } from '../../sqlite/constants.ts';
import { called, callsOf, commitEvidence, commitPlaces, nothingStored } from './commit-evidence.ts';
import { anatomies } from './transaction-anatomy.ts';
import { transactions } from './transactions.ts';
import { pragmas } from '../core/pragmas.ts';
import { Evidence, type FindingContext, findingFact } from '../rules/context.ts';
import { noSaving, Saving } from '../rules/saving.ts';
import type { Found, Rule } from '../rules/types.ts';
import { countOf, formatCount, formatShare } from '../../text/numbers.ts';
import { getOrMake, grouped } from '../core/maps.ts';

const IOCAP_BATCH_ATOMIC = 0x4000;
/** Fewer commits aren't typical of an app. */
const FEW_COMMITS = 10;
/**
 * SQLite spills once this share of its cache is dirty or in use: dirty pages, and a few that
 * statements hold.
 */
const SPILLS_AT = 0.9;
const HELD = 20;
/** A larger cache takes memory that a page may not have; in pages. */
const LARGEST_CACHE = 25_000;
/** A cache_size that holds this many dirty pages; null if it would be large. */
function cacheFor(dirtyPages: number): number | null {
  const pages = 100 * Math.ceil((dirtyPages / SPILLS_AT + HELD) / 100);
  return pages <= LARGEST_CACHE ? pages : null;
}
/** A header and one page: a new database's first commit writes less. */
const SPILLED = 4;

/** Databases whose VFS reports atomic writes: keys of `databaseKey`. */
const batchAtomic = findingFact('batchAtomic', 'databases with atomic writes', batchAtomicOf);

function batchAtomicOf(ctx: FindingContext): ReadonlySet<string> {
  const found = new Set<string>();
  ctx.each(Op.xDeviceCharacteristics, (thread, row) => {
    const { events } = thread;
    const file = ctx.file(thread, events.object[row]!);
    if (file?.kind === 'main-db' && events.result[row]! & IOCAP_BATCH_ATOMIC)
      found.add(databaseKey(thread.index, file.path));
  });
  return found;
}
const databaseKey = (thread: number, path: string): string => `${thread}\0${path}`;
/** Whether the VFS of a transaction, by index, reports them. */
const isAtomicIn =
  (ctx: FindingContext) =>
  (i: number): boolean => {
    const { list } = ctx.get(transactions);
    return ctx.get(batchAtomic).has(databaseKey(list.thread[i]!, list.path(i)));
  };

/**
 * VFSs that can't store a write-ahead log, so a database in WAL mode can't be opened on them. kvvfs
 * can't store names that end in -wal.
 */
const STORES_NO_WAL = /kvvfs/i;
/**
 * Paths of databases whose VFS can't store a write-ahead log, by its name or because a log couldn't
 * be opened.
 */
const withoutWal = findingFact('withoutWal', 'databases that can have no WAL', withoutWalOf);

function withoutWalOf(ctx: FindingContext): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { definitions } of ctx.store.threads)
    for (const d of definitions.values())
      if (d.kind === 'file' && STORES_NO_WAL.test(d.vfs)) found.add(databasePath(d.path));
  ctx.each(Op.xOpen, (thread, row) => {
    const file = ctx.file(thread, thread.events.object[row]!);
    if (file?.kind === 'wal' && (thread.events.result[row]! & 255) === Rc.cantOpen)
      found.add(file.main);
  });
  return found;
}

/** Commits by path of their database, only those with `when`. */
const byDatabase = (ctx: FindingContext, when: (i: number) => boolean): Map<string, number[]> =>
  grouped(ctx.get(commitPlaces).filter(when), (i) => ctx.get(transactions).list.path(i));

const ON_JOURNAL = [
  ...(['journalSyncs', 'journalWrites', 'journalReads', 'journalOpens', 'journalCloses'] as const),
  ...(['journalDeletes', 'journalTruncates'] as const),
];
/** The saving of these commits' calls on the journal. */
function journalCalls(ctx: FindingContext, commits: readonly number[]): Saving {
  const saving = new Saving(ctx);
  for (const count of ON_JOURNAL) saving.avoid(callsOf(ctx, commits, count), ...called(count));
  return saving;
}

/** Advice for a VFS that can't store a write-ahead log. */
const NEVER_WAL =
  "Don't set locking_mode=exclusive with journal_mode=wal here: this VFS can't store a WAL, and the database could not be opened again.";
const EXCLUSIVE_WAL = 'PRAGMA locking_mode=EXCLUSIVE;\nPRAGMA journal_mode=WAL;';

export const rollbackJournalCost: Rule = {
  id: 'F07',
  title: 'Rollback journal cost',
  run(ctx) {
    const { journalWrites, transactions: list } = ctx.get(anatomies);
    const found: Found[] = [];
    const journalled = byDatabase(
      ctx,
      (i) => list.commitPoint(i)?.startsWith('journal') === true && journalWrites[i]! > 0,
    );
    for (const [path, commits] of journalled) {
      const atomic = commits.some(isAtomicIn(ctx));
      if (commits.length < FEW_COMMITS || atomic || nothingStored(ctx, commits)) continue;
      const writes = callsOf(ctx, commits, 'journalWrites');
      const syncs = callsOf(ctx, commits, 'journalSyncs');
      const others = callsOf(ctx, commits, 'dbWrites');
      // page 1, whose change counter a rollback-journal commit increases, isn't in any commit's
      // frames
      const frames = Math.max(commits.length, others - commits.length);
      const connections = new Set(commits.map((i) => `${list.thread[i]} ${list.context[i]}`)).size;
      const evidence = commitEvidence(ctx, commits, 'journal');
      const saving = journalCalls(ctx, commits)
        .avoid(others, ...called('dbWrites'))
        .instead(2 * frames, Op.xWrite, 'writes of WAL frames', 'wal', 'main-db')
        .atMost(evidence.us);
      const noWal = ctx.get(withoutWal).has(path);
      found.push({
        title: `${formatCount(commits.length)} commits on ${path} used a rollback journal: ${countOf(writes, 'journal write')} (${formatShare(writes / (writes + others))} of all writes) and ${countOf(syncs, 'journal sync')}, besides ${countOf(others, 'database write')}`,
        evidence: evidence.result(ctx, false),
        ...(noWal
          ? noSaving('this VFS can store no WAL to compare with')
          : connections > 1
            ? noSaving('the connections that write here cannot have an exclusive WAL')
            : saving.result()),
        confidence: connections === 1 ? 'likely' : 'possible',
        reason: noWal
          ? 'the journal calls were counted; the VFS has no place for a WAL file'
          : connections === 1
            ? 'only one connection writes here, so an exclusive WAL works; another tab or worker may use the database outside this recording'
            : `${formatCount(connections)} connections write this database: a WAL without shared memory needs locking_mode=exclusive, which they cannot have`,
        advice: noWal
          ? `Make fewer, larger commits, or use a VFS that writes a commit in one step (batch-atomic), such as wa-sqlite's IDBBatchAtomicVFS. ${NEVER_WAL}`
          : "If only one tab or worker opens the database, set locking_mode=exclusive and journal_mode=wal. Otherwise, use a VFS that writes a commit in one step (batch-atomic), such as wa-sqlite's IDBBatchAtomicVFS.",
        why: 'Before SQLite overwrites a page, it stores and syncs the old one in a rollback journal. A WAL needs no journal, and neither does a batch-atomic VFS.',
        ...(noWal || connections > 1 ? {} : { sql: EXCLUSIVE_WAL }),
        link: 'https://www.sqlite.org/wal.html#noshm',
        tryInLab: 'journal-modes',
      });
    }
    return found;
  },
};

export const walRefused: Rule = {
  id: 'F08',
  title: 'WAL silently refused',
  run(ctx) {
    /**
     * By thread and connection: the row that last requested a WAL, if no other mode was requested
     * since.
     */
    const asked = new Map<string, { thread: number; row: number }>();
    for (const { thread, context, row, name, value } of ctx.get(pragmas)) {
      if (name !== 'journal_mode') continue;
      if (value.toLowerCase() === 'wal') asked.set(`${thread} ${context}`, { thread, row });
      else asked.delete(`${thread} ${context}`);
    }
    if (asked.size === 0) return [];
    const { journalWrites, walWrites, transactions: list } = ctx.get(anatomies);
    const found = new Map<
      string,
      { path: string; ask: { thread: number; row: number }; later: number[] }
    >();
    const inWal = new Set<string>();
    for (const i of ctx.get(commitPlaces)) {
      const [thread, path, row] = [list.thread[i]!, list.path(i), list.beginRow[i]!];
      const ask = asked.get(`${thread} ${list.context[i]}`);
      if (!ask || row < ask.row) continue;
      const key = `${thread} ${list.context[i]} ${path}`;
      const commitPoint = list.commitPoint(i);
      if (walWrites[i]! > 0 || commitPoint === 'wal') inWal.add(key);
      if (!commitPoint?.startsWith('journal') || journalWrites[i] === 0) continue;
      const { events } = ctx.store.threads[thread]!;
      // switching to WAL is itself one commit with a rollback journal, in the requesting statement
      if (row > ask.row && events.seq[row]! < events.endSeq[ask.row]!) continue;
      getOrMake(found, key, () => ({ path, ask, later: [] as number[] })).later.push(i);
    }
    return [...found].flatMap(([key, { path, ask, later }]): Found | [] => {
      if (inWal.has(key)) return [];
      const evidence = new Evidence();
      evidence.show(ask.thread, ask.row);
      evidence.join(commitEvidence(ctx, later, 'journal'));
      return {
        title: `Your app set journal_mode=wal on ${path}, yet ${countOf(evidence.count, 'later commit')} used a rollback journal: the WAL was refused`,
        evidence: evidence.result(ctx),
        ...noSaving('the finding on the rollback journal (F07) shows what it costs'),
        confidence: 'certain',
        reason:
          'after the PRAGMA no write-ahead log was written, and commits deleted or truncated a journal file',
        advice: ctx.get(withoutWal).has(path)
          ? `Remove the PRAGMA. ${NEVER_WAL}`
          : 'Set locking_mode=exclusive before journal_mode=wal. Without shared memory, SQLite keeps the old mode and reports no error.',
        ...(ctx.get(withoutWal).has(path) ? {} : { sql: EXCLUSIVE_WAL }),
        link: 'https://www.sqlite.org/wal.html#noshm',
        tryInLab: 'journal-modes',
      };
    });
  },
};

/** Rows of calls that open a super-journal, by thread. */
const superJournals = findingFact('superJournals', 'super-journals', superJournalsOf);

function superJournalsOf(ctx: FindingContext): Map<number, number[]> {
  const found = new Map<number, number[]>();
  ctx.each(Op.xOpen, (thread, row) => {
    const path = ctx.file(thread, thread.events.object[row]!)?.path ?? '';
    // a journal by its name, but not a database's own
    if (fileKindOfPath(path) === 'journal' && !suffixOf(path))
      getOrMake(found, thread.index, (): number[] => []).push(row);
  });
  return found;
}

export const batchAtomicLost: Rule = {
  id: 'F12',
  title: 'Batch-atomic lost by cache spill',
  run(ctx) {
    const all = ctx.get(anatomies);
    const { journalWrites, atomicBegins, fromRow, pagesWritten, transactions: list } = all;
    const several = ctx.get(superJournals);
    const coversSeveral = (i: number): boolean =>
      several.get(list.thread[i]!)?.some((row) => row >= fromRow[i]! && row <= list.endRow[i]!) ??
      false;
    const isAtomic = isAtomicIn(ctx);
    const spilled = (i: number): boolean =>
      journalWrites[i]! >= SPILLED && atomicBegins[i] === 0 && isAtomic(i);
    const found = [true, false].flatMap((many) =>
      [...byDatabase(ctx, (i) => spilled(i) && coversSeveral(i) === many)].map(
        ([path, commits]) => ({ path, commits, many }),
      ),
    );
    return found.map(({ path, commits, many }): Found => {
      const writes = callsOf(ctx, commits, 'journalWrites');
      const syncs = callsOf(ctx, commits, 'syncs');
      const evidence = commitEvidence(ctx, commits, 'journal');
      const changed = commits.map((i) => pagesWritten[i]!);
      const most = changed.includes(-1) ? 0 : changed.reduce((a, b) => Math.max(a, b), 0);
      const size = many || most === 0 ? null : cacheFor(most);
      return {
        title: `${countOf(commits.length, 'transaction')} on ${path} needed a rollback journal, although the VFS can write a commit in one step (batch-atomic): ${countOf(writes, 'journal write')}, ${countOf(syncs, 'sync')}`,
        evidence: evidence.result(ctx, false),
        ...journalCalls(ctx, commits).atMost(evidence.us).result(),
        confidence: 'likely',
        reason: many
          ? 'each covers several databases, so that a super-journal had to name the journal of every one; what one database would take is not known'
          : 'the VFS announces SQLITE_IOCAP_BATCH_ATOMIC and a journal file was opened inside the transaction: its pages did not fit into the page cache',
        advice: many
          ? 'Keep what changes together in one database: a transaction over attached databases cannot be written atomically.'
          : `Raise PRAGMA cache_size above the ${most ? countOf(most, 'page') : 'number of pages'} that the largest transaction changes.`,
        ...(size === null ? {} : { sql: `PRAGMA cache_size=${size};` }),
        link: many
          ? 'https://www.sqlite.org/atomiccommit.html#_multi_file_commit'
          : 'https://www.sqlite.org/c3ref/c_iocap_atomic.html',
        ...(many ? {} : { tryInLab: 'spill' }),
      };
    });
  },
};

export const synchronousOffOnBatchAtomic: Rule = {
  id: 'F25',
  title: 'synchronous=OFF on a batch-atomic VFS',
  run(ctx) {
    const { atomicBegins, journalWrites, syncs, transactions: list } = ctx.get(anatomies);
    const isAtomic = isAtomicIn(ctx);
    const bare = byDatabase(
      ctx,
      (i) =>
        list.commitPoint(i) === 'database write' &&
        atomicBegins[i]! + syncs[i]! + journalWrites[i]! === 0 &&
        isAtomic(i),
    );
    return [...bare].map(([path, commits]): Found => ({
      title: `${countOf(commits.length, 'transaction')} on ${path} went to storage with neither atomic write, journal nor sync: a crash or a closed tab leaves a corrupt database`,
      evidence: commitEvidence(ctx, commits).result(ctx, false),
      ...noSaving('a risk, not a cost'),
      confidence: 'certain',
      reason:
        'the VFS announces SQLITE_IOCAP_BATCH_ATOMIC, no BEGIN_ATOMIC_WRITE, xSync, or journal write was called in these transactions',
      advice:
        'Set PRAGMA synchronous=normal: it costs little on a batch-atomic VFS and brings the atomic write back.',
      sql: 'PRAGMA synchronous=NORMAL;',
      link: 'https://www.sqlite.org/pragma.html#pragma_synchronous',
      tryInLab: 'journal-modes',
    }));
  },
};
