/**
 * Why the slowest runs of a statement took longer than its median run: what happened inside them
 * but not inside the median run, and how much longer each call took. It only uses facts of the
 * recording: if none explains it, no cause is named.
 */
import { isVfsOp, opName } from '../../event/operations.ts';
import { Op } from '../../event/event.ts';
import { lowerBound } from '../../trace/number-columns.ts';
import type { EventRef, ThreadStore, TraceStore } from '../../trace/store.ts';
import { counterDeltas } from '../core/counter-deltas.ts';
import { percentile } from '../core/durations.ts';
import { executions, ExecutionState } from '../core/executions.ts';
import { fingerprintsOf } from '../core/fingerprints.ts';
import type { Facts, Known } from '../core/graph.ts';
import { IS_WEB_CALL, storageIsUnseen } from '../core/layers.ts';
import { owners } from '../core/owners.ts';
import { PART, PARTS } from '../core/time-parts.ts';
import { sweeps } from '../time/thread-times.ts';
import { checkpoints } from '../wal/checkpoints.ts';
import { frameKeys, frameName, OWN } from './call-frames.ts';
import { EXECUTION_COUNTS, executionGroups, type ExecutionCount } from './statement-runs.ts';
import { eachCacheShare } from './statement-cache.ts';
import { takesRun, type RunScope } from './run-scope.ts';

/** What happened inside a run, but not, or less, inside the median run. */
export type RunCause =
  /** The statement's first run on its thread, and its additional work for that. */
  | { kind: 'first'; reads: number; ownUs: number }
  | { kind: 'checkpoint'; us: number; pages: number }
  /** Pages that SQLite wrote early. */
  | { kind: 'spill'; pages: number }
  | { kind: 'lock'; us: number }
  /** It waited until its writes were durable; the median run did not. */
  | { kind: 'sync'; syncs: number }
  /** The recording's own work, at least half of the additional time. */
  | { kind: 'tracer'; us: number }
  /** One storage call that took at least half of the additional time. */
  | { kind: 'call'; name: string; us: number; call: EventRef };

export interface SlowRun extends EventRef {
  fromUs: number;
  us: number;
  /** How much longer than the median run, microseconds. */
  longerUs: number;
  causes: RunCause[];
  /**
   * Calls of SQLite, and its own work, that took longer, the largest difference first:
   * microseconds.
   */
  more: { name: string; us: number }[];
  /** Counts that exceed those of the median run. */
  counts: { count: ExecutionCount; more: number }[];
}
export interface SlowRuns {
  /** null = no run has ended. */
  median: (EventRef & { us: number }) | null;
  /** The slowest first. */
  runs: SlowRun[];
  /** Runs in the range of durations that are longer than the median. */
  longer: number;
}

/** How many runs of a statement are explained. */
const SLOWEST = 5;
/** How many differences are listed, and the minimum share of the total for each. */
const DIFFERENCES = 3;
const TELLING = 0.05;
/** If a call has this share of the additional time, it explains the run. */
const EXPLAINS = 0.5;
/** Counts that mean something in addition to the time. */
const COUNTS: readonly ExecutionCount[] = ['steps', 'reads', 'writes', 'syncs', 'locks'];

export const SLOW_NEEDS = {
  executions,
  owners,
  sweeps,
  checkpoints,
  counterDeltas,
  executionGroups,
};
type KnownFacts = Known<typeof SLOW_NEEDS>;

/** One run of the statement. */
interface Run {
  thread: number;
  /** Index in its thread's executions, and among all runs of the statement in order of time. */
  i: number;
  k: number;
  fromUs: number;
  us: number;
  ended: boolean;
}

/** What may explain a run. */
interface Inside {
  /** Nanoseconds by call of SQLite, including storage calls in it. */
  ns: Map<string, number>;
  lockNs: number;
  tracerNs: number;
  spills: number;
  checkpoint: { us: number; pages: number } | null;
  longest: { row: number; us: number } | null;
}

/**
 * @param text fingerprint of the statement; null = not known @param between only runs of these
 * durations, microseconds: [from, to) @param scope only runs of its thread that begin in its range,
 * including the median run
 */
export function slowRuns(
  facts: Facts,
  text: string | null,
  between: { from: number; to: number } = { from: 0, to: Infinity },
  scope: RunScope = {},
): SlowRuns {
  const { store } = facts;
  const known = facts.known(SLOW_NEEDS);
  const all = runsOf(store, known, text);
  const ended = all
    .filter((run) => run.ended && takesRun(scope, run.thread, run.fromUs))
    .sort((a, b) => a.us - b.us);
  if (ended.length === 0) return { median: null, runs: [], longer: 0 };
  const times = ended.map(({ us }) => us);
  const median = ended[times.indexOf(percentile(times, 0.5))]!;
  const longer = ended.filter(({ us }) => us > median.us && us >= between.from && us < between.to);
  const slow = longer.slice(-SLOWEST).reverse();
  const inside = insideOf(store, known, text, [median, ...slow]);
  const usual = inside.get(median)!;
  const counts = known.executionGroups.get(text ?? '')?.counts;
  const countAt = (run: Run, count: ExecutionCount): number =>
    counts?.[run.k * EXECUTION_COUNTS.length + EXECUTION_COUNTS.indexOf(count)] ?? 0;
  const refOf = ({ thread, i }: Run): EventRef => {
    const own = store.threads[thread]!;
    return own.ref(known.executions.of(own).firstRow[i]!);
  };
  return {
    median: { ...refOf(median), us: median.us },
    longer: longer.length,
    runs: slow.map((run): SlowRun => {
      const own = inside.get(run)!;
      const longerUs = run.us - median.us;
      const more = [...own.ns]
        .map(([name, ns]) => ({ name, us: (ns - (usual.ns.get(name) ?? 0)) / 1000 }))
        .filter(({ us }) => us > longerUs * TELLING)
        .sort((a, b) => b.us - a.us)
        .slice(0, DIFFERENCES);
      return {
        ...refOf(run),
        ...{ fromUs: run.fromUs, us: run.us, longerUs, more },
        counts: COUNTS.map((count) => ({
          count,
          more: countAt(run, count) - countAt(median, count),
        })).filter(({ more: by }) => by > 0),
        causes: causesOf(
          store.threads[run.thread]!,
          own,
          usual,
          longerUs,
          run.i === all.find(({ thread }) => thread === run.thread)!.i && run !== median,
          countAt(run, 'reads') - countAt(median, 'reads'),
          countAt(median, 'syncs') ? 0 : countAt(run, 'syncs'),
        ),
      };
    }),
  };
}

/** All runs of a statement in order of time, as in `executionGroups`. */
function runsOf(store: TraceStore, { executions }: KnownFacts, text: string | null): Run[] {
  const runs: Run[] = [];
  for (const thread of store.threads) {
    const textOf = fingerprintsOf(thread);
    const all = executions.of(thread);
    for (let i = 0; i < all.count; i++)
      if (textOf(all.text[i]!) === text)
        runs.push({
          ...{ thread: thread.index, i, k: 0, us: all.us[i]! },
          fromUs: thread.events.t0[all.firstRow[i]!]!,
          ended: all.state[i] !== ExecutionState.running,
        });
  }
  runs.sort((a, b) => a.fromUs - b.fromUs || a.thread - b.thread || a.i - b.i);
  runs.forEach((run, k) => (run.k = k));
  return runs;
}

function insideOf(
  store: TraceStore,
  known: KnownFacts,
  text: string | null,
  wanted: readonly Run[],
): Map<Run, Inside> {
  const found = new Map<Run, Inside>();
  for (const run of wanted)
    found.set(run, {
      ...{ ns: new Map(), lockNs: 0, tracerNs: 0, spills: 0 },
      ...{ checkpoint: null, longest: null },
    });
  for (const thread of store.threads) {
    const own = wanted.filter((run) => run.thread === thread.index);
    if (own.length) lookInto(thread, known, text, own, found);
  }
  return found;
}

function lookInto(
  thread: ThreadStore,
  known: KnownFacts,
  text: string | null,
  runs: readonly Run[],
  found: ReadonlyMap<Run, Inside>,
): void {
  const { events } = thread;
  const all = known.executions.of(thread);
  const own = known.owners.of(thread);
  const byExecution = new Map(runs.map((run) => [run.i, found.get(run)!]));
  /** The run whose step a row serves; reset and finalize aren't part of its time. */
  const insideAt = (sql: number): [number, Inside] | null => {
    if (sql < 0 || (events.op[sql] !== Op.sqlStep && events.op[sql] !== Op.sqlExec)) return null;
    const i = all.at(sql);
    const inside = byExecution.get(i);
    return inside ? [i, inside] : null;
  };
  const keys = frameKeys(thread, (sql) => 1 + (insideAt(sql)?.[0] ?? -1), true);
  const times = known.sweeps.of(thread).callTimes(keys, {});
  const insides: (Inside | null)[] = [];
  const names: string[] = [];
  for (let place = 0; place < times.count; place++) {
    const level = times.level[place]!;
    const above = times.parent[place]!;
    insides[place] =
      level === 0 ? (byExecution.get(times.key[place]! - 1) ?? null) : insides[above]!;
    // a VFS call's time includes its storage calls; SQLite's own are separate
    names[place] =
      level === 0
        ? OWN
        : level === 2 && times.level[above] === 1
          ? names[above]!
          : frameName(times, place);
    const inside = insides[place];
    if (!inside) continue;
    const name = names[place]!;
    let ns = 0;
    for (let part = 0; part < PARTS.length; part++) ns += times.ns[place * PARTS.length + part]!;
    inside.ns.set(name, (inside.ns.get(name) ?? 0) + ns);
    inside.lockNs += times.ns[place * PARTS.length + PART.lockWait]!;
    inside.tracerNs += times.ns[place * PARTS.length + PART.tracer]!;
  }
  const isLong = storageIsUnseen(thread) ? isVfsOp : (op: number): boolean => IS_WEB_CALL[op] === 1;
  for (let row = 0; row < events.count; row++) {
    if (!isLong(events.op[row]!) || events.endSeq[row] === 0) continue;
    const sql = own.sql(row);
    const inside = insideAt(sql)?.[1];
    if (!inside) continue;
    // a call that continues after the step didn't make the run longer from there on
    const endUs = events.endSeq[sql] === 0 ? Infinity : events.t0[sql]! + events.dur[sql]!;
    const us = Math.min(events.dur[row]!, endUs - events.t0[row]!);
    if (us > (inside.longest?.us ?? 0)) inside.longest = { row, us };
  }
  for (const { thread: index, fromRow, fromUs, toUs, pages } of known.checkpoints) {
    const inside = index === thread.index ? insideAt(own.sql(fromRow))?.[1] : undefined;
    if (!inside) continue;
    const before = inside.checkpoint ?? { us: 0, pages: 0 };
    inside.checkpoint = { us: before.us + toUs - fromUs, pages: before.pages + pages };
  }
  const textOf = fingerprintsOf(thread);
  eachCacheShare(thread, known.counterDeltas.of(thread), (id, row, { spills }) => {
    if (!spills || id === null || textOf(id) !== text) return;
    // the counters are read when a run is done, so they belong to the last run before
    for (let i = lowerBound(all.firstRow, row, all.count) - 1; i >= 0; i--)
      if (all.text[i] === id) {
        const inside = byExecution.get(i);
        if (inside) inside.spills += spills;
        return;
      }
  });
}

function causesOf(
  thread: ThreadStore,
  own: Inside,
  usual: Inside,
  longerUs: number,
  first: boolean,
  reads: number,
  syncs: number,
): RunCause[] {
  const causes: RunCause[] = [];
  const ownUs = ((own.ns.get(OWN) ?? 0) - (usual.ns.get(OWN) ?? 0)) / 1000;
  if (first && (reads > 0 || ownUs > longerUs * EXPLAINS))
    causes.push({ kind: 'first', reads: Math.max(0, reads), ownUs: Math.max(0, ownUs) });
  if (own.checkpoint && !usual.checkpoint) causes.push({ kind: 'checkpoint', ...own.checkpoint });
  if (own.spills > usual.spills) causes.push({ kind: 'spill', pages: own.spills - usual.spills });
  if (own.lockNs > usual.lockNs)
    causes.push({ kind: 'lock', us: (own.lockNs - usual.lockNs) / 1000 });
  if (syncs > 0) causes.push({ kind: 'sync', syncs });
  const tracerUs = (own.tracerNs - usual.tracerNs) / 1000;
  if (tracerUs >= longerUs * EXPLAINS) causes.push({ kind: 'tracer', us: tracerUs });
  const { longest } = own;
  if (longest && longest.us - (usual.longest?.us ?? 0) >= longerUs * EXPLAINS)
    causes.push({
      kind: 'call',
      name: opName(thread.events.op[longest.row]!),
      us: longest.us,
      call: thread.ref(longest.row),
    });
  return causes;
}
