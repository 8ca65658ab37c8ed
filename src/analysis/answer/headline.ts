/**
 * The first sentences about a recording: how long SQLite kept which thread busy, and what took most
 * of that.
 */
import { scriptName } from '../../text/clean.ts';
import { countOf, formatBytes, formatDuration, formatShare } from '../../text/numbers.ts';
import { toNs } from '../../trace/lanes/sweep.ts';
import type { ThreadStore, TraceStore } from '../../trace/store.ts';
import { fact, type AnyFact, type Facts, type Known } from '../core/graph.ts';
import { hasCall } from '../core/layers.ts';
import { sqliteThreads } from '../core/main-threads.ts';
import { threadTitles } from '../core/thread-titles.ts';
import { isInScope, type Scope } from '../core/scope.ts';
import { SQL_PARTS, type Part, type PartTimes } from '../core/time-parts.ts';
import { extent, isWhole } from '../core/time-range.ts';
import { unseenWork } from '../core/unrecorded-workers.ts';
import { recordingCost, type RecordingCost } from '../time/recording-cost.ts';
import {
  KIND_NEEDS,
  timeKinds,
  timeSaid,
  writesText,
  type TimeKind,
} from '../findings/time-kinds.ts';
import { numberSaid } from '../numbers/headline-numbers.ts';
import { say, saidText, type Said, type SaidNumber } from '../numbers/said.ts';
import { statementTableIn, timesTogether } from '../statements/statement-table.ts';
import { timesInSql, timesInSqlOf, totalTimeInSql } from '../time/summary-time.ts';
import { partition, sweeps } from '../time/thread-times.ts';
import { timeInSql } from '../time/time-partition.ts';
import { isWebOp } from '../../event/operations.ts';
import { storageBytesWritten } from '../files/file-counts.ts';

export interface Headline {
  /** One or two sentences, plain. */
  text: string;
  /** The same, its numbers with what they count. */
  said: Said;
  /**
   * Time while SQL runs by part, over all threads that run SQLite, microseconds; null where none
   * does.
   */
  times: PartTimes | null;
  /** What the recording itself took. */
  cost: RecordingCost;
  /** Begin and end of the recording, microseconds. */
  fromUs: number;
  toUs: number;
  /** The sentence and the times are about a part of the recording. */
  narrowed: boolean;
}

const NEEDS = {
  recordingCost,
  extent,
  partition,
  sqliteThreads,
  timesInSql,
  totalTimeInSql,
  unseenWork,
};

export const headline = fact(
  'headline',
  'what SQLite did',
  NEEDS,
  function* (store, known, facts): Generator<void, Headline> {
    const [fromUs, toUs] = known.extent;
    const { timesInSql: times } = known;
    // counts only what the sentence uses, because the user waits for it
    const counts = times
      ? largestKind(times).needs
      : unseenEngine(store)
        ? UNSEEN_ENGINE_NEEDS
        : [];
    for (const name of counts) {
      const need: AnyFact = KIND_NEEDS[name];
      facts.get(need);
      yield;
    }
    const said = times
      ? withSqlite(store, known, times, facts)
      : withoutSqlite(store, known, facts);
    const { recordingCost: cost } = known;
    return { text: saidText(said), said, times, cost, fromUs, toUs, narrowed: false };
  },
);

/**
 * The same for a part of the recording. The sentence doesn't have calls, which are counted in the
 * entire recording.
 * @param scope its part of the time is ignored: the bar shows all parts side by side @param table
 * its statements
 */
export function headlineIn(
  facts: Facts,
  scope: Omit<Scope, 'part'>,
  table = statementTableIn(facts, scope),
): Headline {
  const all = facts.get(headline);
  const threads = facts.get(sqliteThreads).filter((thread) => isInScope(thread, scope));
  if (!all.times) return all;
  const times = table
    ? timesTogether(table)
    : timesInSqlOf(threads.map((thread) => facts.get(sweeps).of(thread).partitionWithin(scope)));
  const inSqlUs = usOf(times, SQL_PARTS);
  const where = placeOf(scope, all);
  const narrowed = (said: Said): Headline => ({
    ...all,
    text: saidText(said),
    said,
    times,
    narrowed: true,
  });
  if (inSqlUs === 0) {
    const short = 'SQL ran, but every call was too short for the clock';
    return narrowed(say`${where}, ${table?.executions ? short : 'no SQL ran'}.`);
  }
  const [only, ...others] = threads;
  const isOne = only !== undefined && others.length === 0;
  const busy = isOne ? busyOn(only, facts.store) : 'SQLite was busy for a total of ';
  const most = facts.get(unseenWork) ? 'at least ' : '';
  const inSql = numberSaid(facts)('sqlTime', formatDuration(inSqlUs));
  return narrowed(say`${where}, ${busy}${most}${inSql}. ${largest(times, inSqlUs)}`);
}

/** `In this range of 2 s`, and that there are other filters. */
function placeOf(scope: Omit<Scope, 'part'>, { fromUs, toUs }: Headline): Said {
  const { fromUs: from = fromUs, toUs: to = toUs, ...others } = scope;
  const filtered = Object.values(others).some((value) => value !== undefined);
  if (isWhole(scope)) return ['With these filters'];
  // the timeline may show more than was recorded
  const length: SaidNumber = {
    text: formatDuration(Math.max(0, Math.min(to, toUs) - Math.max(from, fromUs))),
    definition: 'The range on the timeline.',
    list: 'timeline',
    about: null,
  };
  return say`In this range of ${length}${filtered ? ', with the other filters' : ''}`;
}

/** If SQL takes more than this share of a thread's time, it takes most of it. */
const MOST = 0.5;

function withSqlite(
  store: TraceStore,
  known: Known<typeof NEEDS>,
  times: PartTimes,
  facts: Facts,
): Said {
  const inSqlUs = known.totalTimeInSql!;
  const [fromUs, toUs] = known.extent;
  if (inSqlUs === 0) return ['SQLite ran, but every call was too short for the clock.'];
  const number = numberSaid(facts);
  const most = known.unseenWork ? 'at least ' : '';
  const [only, ...others] = known.sqliteThreads;
  const isOne = others.length === 0;
  const inSql = number('sqlTime', formatDuration(inSqlUs));
  const busy = isOne
    ? say`${busyOn(only!, store)}${most}${inSql}`
    : say`SQLite kept ${whom(known, inSqlUs)} busy for a total of ${most}${inSql}`;
  const recorded = number('duration', formatDuration(toUs - fromUs));
  // of several threads the sum may be longer than the recording
  const of = isOne ? say` of the ${recorded} you recorded` : say` while you recorded ${recorded}`;
  const counted = facts.onDemand(KIND_NEEDS);
  const calls = (kind: TimeKind, us: number): Said => kind.calls(counted, us, number);
  return say`${busy}${of}. ${largest(times, inSqlUs, calls)}`;
}

/** Of one thread. A page that awaits SQLite isn't busy itself: F60 finds those that are. */
function busyOn({ index, info }: ThreadStore, store: TraceStore): string {
  if (info.kind === 'page') return "SQLite was busy on your page's main thread for ";
  const name = threadTitles(store)[index]!.replace(
    /^(Worker|Frame|Shared worker|Service worker) /,
    (kind) => `the ${kind.toLowerCase()}`,
  );
  return `SQLite kept ${name} busy for `;
}

/** Several threads. */
function whom({ sqliteThreads: threads, partition }: Known<typeof NEEDS>, inSqlUs: number): Said {
  const shortName = (thread: ThreadStore): string =>
    thread.info.kind === 'page' ? 'the main thread' : scriptName(thread.info.url);
  const [first] = threads
    .map((thread) => ({ thread, us: timeInSql(partition.of(thread)) }))
    .sort((a, b) => b.us - a.us);
  const share = first!.us / inSqlUs;
  const all: SaidNumber = {
    text: countOf(threads.length, 'thread'),
    definition: 'Threads that run SQLite.',
    list: 'timeline',
    about: null,
  };
  if (share <= MOST) return [all];
  const most: SaidNumber = {
    text: formatShare(share),
    definition: 'Of the time in SQL, the share on this thread.',
    list: 'statements',
    about: { thread: first!.thread.index },
  };
  return say`${all} (mostly ${shortName(first!.thread)}, ${most})`;
}

const usOf = (times: PartTimes, parts: readonly Part[]): number =>
  parts.reduce((ns, part) => ns + toNs(times[`${part}Us`]), 0) / 1000;

const largestKind = (times: PartTimes): TimeKind =>
  [...timeKinds((part) => times[`${part}Us`])].sort(
    (a, b) => usOf(times, b.parts) - usOf(times, a.parts),
  )[0]!;

/** What most of the time was. @param callsOf which calls; nothing = not said */
function largest(
  times: PartTimes,
  inSqlUs: number,
  callsOf: (kind: TimeKind, us: number) => Said = () => [],
): Said {
  const kind = largestKind(times);
  const us = usOf(times, kind.parts);
  if (us === 0) return [];
  const calls = callsOf(kind, us);
  const share = timeSaid(kind, (part) => times[`${part}Us`], formatShare(us / inSqlUs));
  return say`${kind.what} took ${share} of that${calls.length ? say`: ${calls}` : ''}.`;
}

/** The name of an engine whose SQL and VFS calls can't be seen; '' = none. */
const unseenEngine = ({ threads }: TraceStore): string =>
  threads.flatMap(({ engines }) => engines).find(({ layers }) => !layers.sql && !layers.vfs)
    ?.name ?? '';
const UNSEEN_ENGINE_NEEDS = ['commits', 'fileCounts'] as const;

function withoutSqlite(
  store: TraceStore,
  { unseenWork: unseen }: Known<typeof NEEDS>,
  facts: Facts,
): Said {
  if (unseen)
    return [`vfscope didn't see SQLite run: ${unseen.text.replace(/, and SQLite was.*/, '')}.`];
  const hidden = unseenEngine(store);
  if (hidden && !store.threads.some((thread) => hasCall(thread, isWebOp)))
    return [`vfscope can't see the SQL of ${hidden}. No storage call was recorded.`];
  if (hidden) {
    const { commits, fileCounts: files } = facts.onDemand(KIND_NEEDS);
    const bytes = storageBytesWritten(files);
    const written: SaidNumber | null =
      bytes === null
        ? null
        : {
            text: formatBytes(bytes),
            definition: 'Bytes that storage calls wrote.',
            list: 'files',
            about: null,
          };
    const writes = writesText(commits, written, numberSaid(facts));
    return say`vfscope can't see the SQL of ${hidden}, only storage calls${writes.length ? say`: ${writes}` : ''}.`;
  }
  const engine = store.threads.flatMap(({ engines }) => engines)[0];
  if (engine)
    return [`Your app loaded ${engine.name}, but it ran no statement while you recorded.`];
  const stores = store.threads.find((thread) => hasCall(thread, isWebOp));
  if (stores)
    return [
      `vfscope didn't see SQLite. ${scriptName(stores.info.url)} called the browser's storage itself.`,
    ];
  return [
    store.eventCount
      ? 'Your app used no SQLite and no storage while you recorded.'
      : 'Nothing was recorded.',
  ];
}
