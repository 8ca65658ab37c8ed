/**
 * How a file is used, as text: what could be one call, what is read to be written, IndexedDB
 * requests.
 */
import type { DatabaseHeaders } from '../../../../analysis/pages/database-headers.ts';
import { Op } from '../../../../event/event.ts';
import { opName } from '../../../../event/operations.ts';
import { RUN_CLASSES, type Runs } from '../../../../analysis/files/runs.ts';
import type { IdbUse } from '../../../../analysis/idb/idb-use.ts';
import {
  countOf,
  formatBytes,
  formatCount,
  formatDuration,
  formatNumber,
  formatShare,
  UNKNOWN,
} from '../../../../text/numbers.ts';
import type { FileEventsOf, FileUse } from '../../../../protocol/answers/patterns.ts';
import type { PlacesTable } from '../../../../protocol/answers/pages.ts';

/**
 * The list behind a number: the calls that it counts, calls by operation in Events, another view,
 * the calls on page 1.
 */
export type FactList =
  { events: FileEventsOf } | { operation: string } | 'transactions' | 'page 1' | 'pages';
export interface UseFact {
  name: string;
  text: string;
  /** What it means, and how it is counted. */
  title: string;
  /** A line over time next to the text, see `stepsOf`. */
  line?: string;
  list?: FactList;
}
/** Size of the line over time, px. */
export const LINE = { width: 90, height: 12 } as const;

/** Fewer aren't mentioned. */
const FEW_REPEATED = 10;

function runFact(runs: Runs | null, name: 'read' | 'write'): UseFact[] {
  if (!runs?.calls) return [];
  const merges = runs.possibleMerges;
  const some = runs.calls < runs.all ? `${formatCount(runs.calls)} of ` : '';
  return [
    {
      name: name === 'read' ? 'Sequential reads' : 'Sequential writes',
      ...(merges && {
        list: { events: name === 'read' ? 'mergeable reads' : 'mergeable writes' } as const,
      }),
      text: `${some}${countOf(runs.all, name)} in ${countOf(runs.runs, 'sequence')}${merges ? `, ${formatCount(merges)} could be merged` : ''}`,
      title:
        `Each ${name} in a sequence starts where the previous one ended, so one call could replace the sequence. The longest has ${countOf(runs.longest, name)}. Failed and short calls aren't part of a sequence. ` +
        (name === 'write'
          ? "Writes of two SQL calls, or with a sync between them, don't form a sequence: no VFS could delay the first one. Nothing merges them today, but a VFS could."
          : "Calls on other files between them don't end a sequence.") +
        `\n\nSequences by number of calls: ${histogramText(runs.histogram)}`,
    },
  ];
}

function interleavingFact({ interleaving }: FileUse): UseFact[] {
  if (!interleaving) return [];
  const { databaseWrites, journalWrites, switches } = interleaving;
  return [
    {
      name: 'Order of writes',
      list: { events: 'switches' },
      text: `${countOf(switches, 'switch', 'switches')} between journal and database`,
      title:
        `${countOf(journalWrites, 'write')} to the journal and ${formatCount(databaseWrites)} to the database. A commit writes the journal first, then the database: ` +
        'one switch for it, and one back for the next commit. More switches mean that the page cache spilled within a transaction',
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
      name: 'Partial blocks',
      list: { events: 'partial writes' },
      text: `${formatCount(blocks.partialWrites)} of ${countOf(blocks.writes, 'write')} fill part of a block`,
      title: `They don't start and end at a storage block, which has ${formatBytes(blocks.blockBytes)}`,
    });
  if (blocks?.readModifyWrites)
    facts.push({
      name: 'Read to write',
      list: { events: 'reads to write' },
      text: `${countOf(blocks.readModifyWrites, 'block')}, ${formatBytes(blocks.wastedBytes)} wasted`,
      title: `Read-modify-write: a write filled only a part of a block, so the VFS read ${formatBytes(blocks.readBytes)} and wrote ${formatBytes(blocks.rewrittenBytes)} back unchanged. The reads took ${formatDuration(blocks.readUs)}. Blocks in the VFS's own cache need no read and aren't counted`,
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
        name: 'Write amplification',
        list: 'transactions',
        text: formatNumber(value),
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

const PER_LOCK = 'Transactions a lock';
const TRANSACTIONS: FactList = { operation: opName(Op.idbTransaction) };

function idbFacts(idb: IdbUse): UseFact[] {
  const facts: UseFact[] = [
    {
      name: 'IndexedDB',
      list: TRANSACTIONS,
      text: `${countOf(idb.transactions, 'transaction')} (${formatCount(idb.readwrite)} readwrite), ${countOf(idb.requests, 'request')}`,
      title: `All databases and stores of the recording together. Transactions by their requests: ${histogramText(idb.histogram) || 'none'}${idb.empty ? `; without any: ${formatCount(idb.empty)}` : ''}`,
    },
    idb.transactionsPerPeriod === null
      ? {
          name: PER_LOCK,
          text: UNKNOWN,
          title: 'n/a: no xLock is recorded on the thread that uses IndexedDB',
        }
      : {
          name: PER_LOCK,
          list: TRANSACTIONS,
          text: formatNumber(idb.transactionsPerPeriod),
          title: `${formatCount(idb.transactionsInPeriods!)} within ${formatCount(idb.lockPeriods!)} periods from the first lock to the last unlock. One transaction for each would be enough`,
        },
    {
      name: 'Small transactions',
      list: TRANSACTIONS,
      text: `${formatCount(idb.oneRequest)} with one request, ${formatCount(idb.empty)} with none`,
      title: `Of ${countOf(idb.transactions, 'transaction')}. Starting and completing each one takes time`,
    },
  ];
  if (idb.sequences)
    facts.push({
      name: 'Sequential gets',
      list: { operation: opName(Op.idbGet) },
      text: `${countOf(idb.sequentialGets, 'get')} in ${countOf(idb.sequences, 'sequence')}`,
      title: `Four or more gets of neighboring keys, one after another in one transaction. One getAll for each sequence would save ${countOf(idb.savedGets, 'request')} (F18). They took ${formatDuration(idb.sequentialUs)}`,
    });
  if (idb.readwriteUnused)
    facts.push({
      name: 'Unused readwrite',
      list: TRANSACTIONS,
      text: countOf(idb.readwriteUnused, 'transaction'),
      title:
        'Nothing was put, deleted, or cleared in them. They still block others, as a writer does (F17)',
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
      name: 'Repeated calls',
      list: { events: 'repeated' },
      text: `${formatCount(calls)} (${formatShare(calls / all)})`,
      title: `Calls that asked what the connection already knew, when nothing could have changed the answer. They took ${formatDuration(us)}: ${repeated.map((r) => `${r.name} ${formatCount(r.repeated)} of ${formatCount(r.calls)}`).join(', ')}. SQLite must ask xAccess again unless locking_mode=exclusive`,
    },
  ];
}

const VACUUMS: readonly string[] = [
  'auto_vacuum is none: they stay in the file until VACUUM',
  'auto_vacuum is full: each commit removes them from the file',
  'auto_vacuum is incremental: PRAGMA incremental_vacuum removes them from the file',
];

function freeFacts({ headers }: FileUse): UseFact[] {
  if (!headers?.count) return [];
  const { pages, free, count, freed, reused, appended, cut, pageSize, vacuum } = headers;
  const [now, all] = [free[count - 1]!, pages[count - 1]!];
  const most = free.reduce((a, b) => Math.max(a, b), 0);
  const share = all ? ` of ${formatCount(all)} (${formatShare(now / all)})` : '';
  const facts: UseFact[] = [
    {
      name: 'Free pages',
      list: 'page 1',
      text: `${formatCount(now)}${share}`,
      title:
        `Pages of the freelist, from the database header: ${formatBytes(now * pageSize!)} unused; max ${formatCount(most)}. ${VACUUMS[vacuum] ?? ''}` +
        (count > 1 ? '\n\nThe line shows them over time.' : ''),
      ...(most && count > 1 ? { line: stepsOf(headers) } : {}),
    },
  ];
  if (freed || reused || appended || cut)
    facts.push({
      name: 'Freed space',
      list: 'page 1',
      text: `${formatCount(freed)} freed, ${formatCount(reused)} used again, ${formatCount(appended)} appended${cut ? `, ${formatCount(cut)} cut off` : ''}`,
      title:
        'Pages that moved to the freelist, pages taken from it, and pages by which the file grew or shrank, from one database header to the next. ' +
        'Pages that one transaction frees and uses again are not counted',
    });
  return facts;
}

/**
 * Free pages over time as an SVG path in `LINE`: the first header on the left, the last on the
 * right, the maximum at the top.
 */
function stepsOf({ us, free, count }: Pick<DatabaseHeaders, 'us' | 'free' | 'count'>): string {
  const finite = us.slice(0, count).filter(Number.isFinite);
  const [from, to] = [finite[0] ?? 0, finite.at(-1) ?? 0];
  const most = free.reduce((a, b) => Math.max(a, b), 1);
  const x = (at: number): string =>
    (Number.isFinite(at) && to > from ? ((at - from) / (to - from)) * LINE.width : 0).toFixed(1);
  const y = (n: number): string => (1 + (1 - n / most) * (LINE.height - 2)).toFixed(1);
  let path = `M0,${y(free[0] ?? 0)}`;
  // of many steps, one per pixel: the last
  for (let i = 1; i < count; i++)
    if (i === count - 1 || x(us[i]!) !== x(us[i + 1]!)) path += `H${x(us[i]!)}V${y(free[i]!)}`;
  return `${path}H${LINE.width}`;
}

/** For a database's pages, or a store's blocks, in the range that is shown. */
export function placesFacts(table: PlacesTable): UseFact[] {
  const { kind, unit, placesRead, placesWritten, readsPerPlace, untied, untold } = table;
  const noun = kind === 'main-db' ? 'page' : 'block';
  const facts: UseFact[] = [
    {
      name: noun === 'page' ? 'Page size' : 'Block size',
      text:
        unit.bytes === null
          ? UNKNOWN
          : `${formatBytes(unit.bytes)}${unit.certain ? '' : ' (assumed)'}`,
      title: unit.how,
    },
    {
      name: noun === 'page' ? 'Pages' : 'Blocks',
      text: `${formatCount(placesRead)} read, ${formatCount(placesWritten)} written`,
      title: `Distinct ${noun}s, each counted once`,
      list: 'pages',
    },
  ];
  if (readsPerPlace !== null)
    facts.push({
      name: `Reads a ${noun}`,
      text: formatNumber(readsPerPlace),
      title: `Reads for each ${noun} that was read. 1 means that none was read twice`,
      list: 'pages',
    });
  if (untied)
    facts.push({
      name: `Without a ${noun}`,
      text: countOf(untied, 'call'),
      title:
        'Frames of a WAL whose header was not seen, keys that are not numbers, and lengths that no file has',
    });
  if (untold)
    facts.push({
      name: 'Not followed',
      text: countOf(untold, 'call'),
      title:
        'vfscope follows a limited number of connections. There may be more re-reads than it counts',
    });
  return facts;
}

/** Empty if there is nothing to report. */
export const useFacts = (use: FileUse): UseFact[] => [
  ...runFact(use.writes, 'write'),
  ...runFact(use.reads, 'read'),
  ...blockFacts(use),
  ...interleavingFact(use),
  ...freeFacts(use),
  ...repeatedFact(use),
  ...(use.idb ? idbFacts(use.idb) : []),
];
