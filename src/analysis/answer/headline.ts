/** The first sentences about a recording: how long SQLite kept which thread busy, and what most of that was. */
import { scriptName } from '../../text/clean.ts';
import { countOf, formatDuration, formatShare } from '../../text/numbers.ts';
import { toNs } from '../../trace/lanes/sweep.ts';
import type { ThreadStore, TraceStore } from '../../trace/store.ts';
import { fact, type Known } from '../core/graph.ts';
import { hasCall } from '../core/layers.ts';
import { sqliteThreads } from '../core/main-threads.ts';
import { threadTitles } from '../core/thread-titles.ts';
import type { PartTimes } from '../core/time-parts.ts';
import { extent } from '../core/time-range.ts';
import { unseenWork } from '../core/unrecorded-workers.ts';
import { recordingCost, type RecordingCost } from '../time/recording-cost.ts';
import { KIND_NEEDS, TIME_KINDS, type TimeKind } from '../findings/time-kinds.ts';
import { timesInSql, totalTimeInSql } from '../time/summary-time.ts';
import { partition } from '../time/thread-times.ts';
import { timeInSql } from '../time/time-partition.ts';
import { isWebOp } from '../../event/operations.ts';

export interface Headline {
  /** One or two sentences, plain. */
  text: string;
  /** Time while SQL runs by part, over all threads that run SQLite, microseconds; null where none does. */
  times: PartTimes | null;
  /** What the recording itself took. */
  cost: RecordingCost;
  /** Begin and end of the recording, microseconds. */
  fromUs: number;
  toUs: number;
}

const NEEDS = {
  ...KIND_NEEDS,
  recordingCost,
  extent,
  partition,
  sqliteThreads,
  timesInSql,
  totalTimeInSql,
  unseenWork,
};

export const headline = fact('headline', 'what SQLite did', NEEDS, (store, known): Headline => {
  const [fromUs, toUs] = known.extent;
  const { timesInSql: times } = known;
  const text = times ? withSqlite(store, known, times) : withoutSqlite(store, known);
  return { text, times, cost: known.recordingCost, fromUs, toUs };
});

/** A thread of which more than this is spent in SQL has most of it. */
const MOST = 0.5;

function withSqlite(store: TraceStore, known: Known<typeof NEEDS>, times: PartTimes): string {
  const inSqlUs = known.totalTimeInSql!;
  const [fromUs, toUs] = known.extent;
  if (inSqlUs === 0) return 'SQLite ran, but every call was too short for the clock.';
  const most = known.unseenWork ? 'at least ' : '';
  const isOne = known.sqliteThreads.length === 1;
  const busy = `SQLite kept ${whom(store, known, inSqlUs)} busy for ${isOne ? '' : 'a total of '}${most}${formatDuration(inSqlUs)}`;
  const recorded = formatDuration(toUs - fromUs);
  // of several threads the sum may be longer than the recording
  const of = isOne ? ` of the ${recorded} you recorded` : ` while you recorded ${recorded}`;
  return `${busy}${of}. ${largest(known, times, inSqlUs)}`.trim();
}

/** `the worker db.js`, `your page's main thread`, or several. */
function whom(
  store: TraceStore,
  { sqliteThreads: threads, partition }: Known<typeof NEEDS>,
  inSqlUs: number,
): string {
  const titles = threadTitles(store);
  const nameOf = ({ index, info }: ThreadStore): string =>
    info.kind === 'page'
      ? `your page's main thread`
      : titles[index]!.replace(
          /^(Worker|Frame|Shared worker|Service worker) /,
          (kind) => `the ${kind.toLowerCase()}`,
        );
  if (threads.length === 1) return nameOf(threads[0]!);
  const shortName = (thread: ThreadStore): string =>
    thread.info.kind === 'page' ? 'the main thread' : scriptName(thread.info.url);
  const [first] = threads
    .map((thread) => ({ thread, us: timeInSql(partition.of(thread)) }))
    .sort((a, b) => b.us - a.us);
  const share = first!.us / inSqlUs;
  const among = share > MOST ? ` (mostly ${shortName(first!.thread)}, ${formatShare(share)})` : '';
  return `${countOf(threads.length, 'thread')}${among}`;
}

/** What most of the time was. */
function largest(known: Known<typeof NEEDS>, times: PartTimes, inSqlUs: number): string {
  const usOf = ({ parts }: TimeKind): number =>
    parts.reduce((ns, part) => ns + toNs(times[`${part}Us`]), 0) / 1000;
  const [kind] = [...TIME_KINDS].sort((a, b) => usOf(b) - usOf(a));
  const us = usOf(kind!);
  if (us === 0) return '';
  const calls = kind!.calls(known, us);
  return `${kind!.what} took ${formatShare(us / inSqlUs)} of that${calls ? `: ${calls}` : ''}.`;
}

function withoutSqlite(store: TraceStore, { unseenWork: unseen }: Known<typeof NEEDS>): string {
  if (unseen)
    return `vfscope didn't see SQLite run: ${unseen.text.replace(/, and SQLite was.*/, '')}.`;
  const engine = store.threads.flatMap(({ engines }) => engines)[0];
  if (engine) return `Your app loaded ${engine.name}, but it ran no statement while you recorded.`;
  const stores = store.threads.find((thread) => hasCall(thread, isWebOp));
  if (stores)
    return `vfscope didn't see SQLite. ${scriptName(stores.info.url)} called the browser's storage itself.`;
  return store.eventCount
    ? 'Your app used no SQLite and no storage while you recorded.'
    : 'Nothing was recorded.';
}
