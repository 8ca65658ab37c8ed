/** How a file is used, as text: what could be one call, what is read to be written, what IndexedDB is asked for. */
import type { DatabaseHeaders } from '../../../../analysis/pages/database-headers.ts';
import { RUN_CLASSES, type Runs } from '../../../../analysis/files/runs.ts';
import type { IdbUse } from '../../../../analysis/idb/idb-use.ts';
import {
  countOf,
  formatBytes,
  formatCount,
  formatDuration,
  formatNumber,
  formatShare,
} from '../../../../text/numbers.ts';
import type { FileUse } from '../../../../protocol/answers/patterns.ts';

interface UseFact {
  text: string;
  /** What it means, and how it is counted. */
  title: string;
  /** A line over time beside the text, see `stepsOf`. */
  line?: string;
}
/** Of the line over time, px. */
export const LINE = { width: 90, height: 12 } as const;

/** Fewer are not worth a word. */
const FEW_REPEATED = 10;

function runFact(runs: Runs | null, name: 'read' | 'write'): UseFact[] {
  if (!runs?.calls) return [];
  const merges = runs.possibleMerges;
  const some = runs.calls < runs.all ? `${formatCount(runs.calls)} of ` : '';
  return [
    {
      text: `${some}${countOf(runs.all, name)} in ${countOf(runs.runs, 'run')}${merges ? `, ${formatCount(merges)} could be merged` : ''}`,
      title:
        `A run goes on where the ${name} before ended, and could be one call; the longest has ${formatCount(runs.longest)}. Calls that failed or came short are in none. ` +
        (name === 'write'
          ? 'Writes of two SQL calls, or with a sync between, are no run: no VFS could hold the first one back. Nothing merges them today; a VFS could.'
          : 'Calls on other files between do not end it.') +
        `\n\nRuns by their calls: ${histogramText(runs.histogram)}`,
    },
  ];
}

function interleavingFact({ interleaving }: FileUse): UseFact[] {
  if (!interleaving) return [];
  const { databaseWrites, journalWrites, switches } = interleaving;
  return [
    {
      text: `${countOf(switches, 'change')} between writing the journal and the database`,
      title:
        `${countOf(journalWrites, 'write')} to the journal and ${formatCount(databaseWrites)} to the database. A commit writes the journal first, then the database: ` +
        'one change for it and one for the next commit. More say that the page cache spilled within a transaction',
    },
  ];
}

/** `1: 40, 2: 10, 3-4: 2` */
const histogramText = (histogram: readonly number[]): string =>
  histogram.flatMap((n, i) => (n ? [`${RUN_CLASSES[i]}: ${formatCount(n)}`] : [])).join(', ');

function blockFacts({ blocks, amplification }: FileUse): UseFact[] {
  const facts: UseFact[] = [];
  if (blocks?.blockBytes && blocks.partialWrites)
    facts.push({
      text: `${formatCount(blocks.partialWrites)} of ${countOf(blocks.writes, 'write')} fill a part of a block`,
      title: `They do not begin and end with a block of the storage below, which has ${formatBytes(blocks.blockBytes)}`,
    });
  if (blocks?.readModifyWrites)
    facts.push({
      text: `${countOf(blocks.readModifyWrites, 'block')} read to be written, ${formatBytes(blocks.wastedBytes)} for nothing`,
      title: `Read, modify, write: ${formatBytes(blocks.readBytes)} read under a write that filled a part of the block, ${formatBytes(blocks.rewrittenBytes)} written that it did not bring; the reads took ${formatDuration(blocks.readUs)}. Blocks in the VFS's own cache cost no read and are not counted`,
    });
  if (amplification) {
    const {
      storageAmplification: stored,
      vfsAmplification: written,
      dirtyPages,
      pageBytes,
    } = amplification;
    const value = stored ?? written;
    if (value !== null)
      facts.push({
        text: `write amplification ${formatNumber(value)}`,
        title:
          `With journal and log: bytes that ${stored === null ? 'xWrite calls wrote (no storage call under them is recorded)' : 'storage calls wrote'} / bytes of the pages that each transaction changed. ` +
          `${countOf(dirtyPages, 'page')} of ${formatBytes(pageBytes!)} changed in all` +
          (stored !== null && written !== null
            ? `; of the VFS's own calls it is ${formatNumber(written)}`
            : ''),
      });
  }
  return facts;
}

function idbFacts(idb: IdbUse): UseFact[] {
  const facts: UseFact[] = [
    {
      text: `IndexedDB: ${countOf(idb.transactions, 'transaction')} (${formatCount(idb.readwrite)} readwrite), ${countOf(idb.requests, 'request')}`,
      title: `All databases and stores of the trace together. Transactions by their requests: ${histogramText(idb.histogram) || 'none'}${idb.empty ? `; without any: ${formatCount(idb.empty)}` : ''}`,
    },
    idb.transactionsPerPeriod === null
      ? {
          text: 'transactions a lock of SQLite: n/a',
          title: 'n/a: no xLock is recorded on the thread that uses IndexedDB',
        }
      : {
          text: `${formatNumber(idb.transactionsPerPeriod)} transactions a lock of SQLite`,
          title: `${formatCount(idb.transactionsInPeriods!)} within ${formatCount(idb.lockPeriods!)} periods from the first lock to the last unlock; one would do for each`,
        },
    {
      text: `${formatCount(idb.oneRequest)} with one request, ${formatCount(idb.empty)} with none`,
      title: `Of ${countOf(idb.transactions, 'transaction')}; each has to be started and completed all the same`,
    },
  ];
  if (idb.sequences)
    facts.push({
      text: `${countOf(idb.sequentialGets, 'get')} in ${countOf(idb.sequences, 'sequence')}`,
      title: `Four or more on neighboring keys, one after another in a transaction that asks nothing else between: one getAll each would save ${countOf(idb.savedGets, 'request')} (F18); they took ${formatDuration(idb.sequentialUs)}`,
    });
  if (idb.readwriteUnused)
    facts.push({
      text: `${formatCount(idb.readwriteUnused)} readwrite without a write`,
      title:
        'Nothing was put, deleted or cleared in them: they keep others waiting as a writer would (F17)',
    });
  return facts;
}

function repeatedFact({ repeated }: FileUse): UseFact[] {
  const calls = repeated.reduce((n, r) => n + r.repeated, 0);
  if (calls < FEW_REPEATED) return [];
  const all = repeated.reduce((n, r) => n + r.calls, 0);
  const us = repeated.reduce((n, r) => n + r.repeatedUs, 0);
  return [
    {
      text: `${countOf(calls, 'repeated call')} (${formatShare(calls / all)})`,
      title: `Of calls that ask, those that asked what the connection knew already, with nothing between that could change the answer; ${formatDuration(us)} in all: ${repeated.map((r) => `${r.name} ${formatCount(r.repeated)} of ${formatCount(r.calls)}`).join(', ')}. SQLite must ask xAccess again unless locking_mode=exclusive`,
    },
  ];
}

const VACUUMS: readonly string[] = [
  'auto_vacuum is none: the file keeps them until VACUUM',
  'auto_vacuum is full: each commit gives them back',
  'auto_vacuum is incremental: PRAGMA incremental_vacuum gives them back',
];

function freeFacts({ headers }: FileUse): UseFact[] {
  if (!headers?.count) return [];
  const { pages, free, count, freed, reused, appended, cut, pageSize, vacuum } = headers;
  const [now, all] = [free[count - 1]!, pages[count - 1]!];
  const most = free.reduce((a, b) => Math.max(a, b), 0);
  const share = all ? ` of ${formatCount(all)} (${formatShare(now / all)})` : '';
  const facts: UseFact[] = [
    {
      text: `${countOf(now, 'free page')}${share}`,
      title:
        `Pages of the freelist, from the database header: ${formatBytes(now * pageSize!)} that hold nothing; at most ${formatCount(most)}. ${VACUUMS[vacuum] ?? ''}` +
        (count > 1 ? '\n\nThe line has them over time.' : ''),
      ...(most && count > 1 ? { line: stepsOf(headers) } : {}),
    },
  ];
  if (freed || reused || appended || cut)
    facts.push({
      text: `${formatCount(freed)} freed, ${formatCount(reused)} used again, ${formatCount(appended)} appended${cut ? `, ${formatCount(cut)} cut off` : ''}`,
      title:
        'Pages, from one database header to the next: those that went to the freelist, those that were taken from it, and those by which the file grew and shrank. ' +
        'What a transaction frees and uses again itself is in none of them',
    });
  return facts;
}

/** Free pages over time as an SVG path in `LINE`: the first header at the left, the last at the right, the most at the top. */
function stepsOf({ us, free, count }: Pick<DatabaseHeaders, 'us' | 'free' | 'count'>): string {
  const finite = us.slice(0, count).filter(Number.isFinite);
  const [from, to] = [finite[0] ?? 0, finite.at(-1) ?? 0];
  const most = free.reduce((a, b) => Math.max(a, b), 1);
  const x = (at: number): string =>
    (Number.isFinite(at) && to > from ? ((at - from) / (to - from)) * LINE.width : 0).toFixed(1);
  const y = (n: number): string => (1 + (1 - n / most) * (LINE.height - 2)).toFixed(1);
  let path = `M0,${y(free[0] ?? 0)}`;
  // of many steps one a pixel: where it ends
  for (let i = 1; i < count; i++)
    if (i === count - 1 || x(us[i]!) !== x(us[i + 1]!)) path += `H${x(us[i]!)}V${y(free[i]!)}`;
  return `${path}H${LINE.width}`;
}

/** Empty where nothing is to be said of it. */
export const useFacts = (use: FileUse): UseFact[] => [
  ...runFact(use.writes, 'write'),
  ...runFact(use.reads, 'read'),
  ...blockFacts(use),
  ...interleavingFact(use),
  ...freeFacts(use),
  ...repeatedFact(use),
  ...(use.idb ? idbFacts(use.idb) : []),
];
