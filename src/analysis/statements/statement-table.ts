/**
 * Statements by fingerprint (text with literals folded, spelling made one): executions, times,
 * pages, cache, rows, VFS calls, errors. Statements of several threads with the same text are one
 * row. Times of executions are those of their step calls; prepare, reset, and finalize are
 * separate. `time` is the statement's part of the time partition, so that shares add up to one.
 */
import { counterDeltas, NO_COUNTS, CACHE_COUNTS } from '../core/counter-deltas.ts';
import { hasSql, hasVfs } from '../core/layers.ts';
import type { TraceStore } from '../../trace/store.ts';
import { eachBound, withExample } from './bound-values.ts';
import type { CacheCounts } from '../core/counter-deltas.ts';
import { percentile } from '../core/durations.ts';
import { executions } from '../core/executions.ts';
import { instructions } from '../core/instructions.ts';
import { owners } from '../core/owners.ts';
import { rowsByOperation } from '../core/rows-by-operation.ts';
import type { Owners } from '../../trace/owners.ts';
import { fact, type Facts, type Known } from '../core/graph.ts';
import { accesses } from '../pages/page-accesses.ts';
import { byStatement, sweeps } from '../time/thread-times.ts';
import { recordedTexts, type RecordedTexts } from '../core/recorded-texts.ts';
import { eachCacheShare } from './statement-cache.ts';
import {
  countCalls,
  countExecutions,
  countInstructions,
  countPages,
  countVfsCalls,
  touched,
  within,
} from './statement-counts.ts';
import {
  noCalls,
  placesOfTexts,
  timesOf,
  type Entry,
  type StatementRow,
} from './statement-entry.ts';
import { PARTS, partTimes, type PartTimes } from '../core/time-parts.ts';
import { statementsIn } from './statements-in-scope.ts';
import { isInScope, type Scope } from '../core/scope.ts';
import { isWhole } from '../core/time-range.ts';

export type { StatementRow } from './statement-entry.ts';

export interface StatementTable {
  /** The longest time first. */
  rows: StatementRow[];
  executions: number;
  /** Time while SQL runs, all threads, microseconds. */
  spanUs: number;
  /** Growth of the counters that can't be assigned to a single statement; null without counters. */
  cacheShared: CacheCounts | null;
}

const NEEDS = {
  ...{ executions, owners, byStatement, sweeps, accesses, counterDeltas },
  recordedTexts,
  rowsByOperation,
  instructions,
};

/** Over the whole trace; null if no SQL call was recorded. */
export const statementTable = fact('statementTable', 'statements', NEEDS, (store, known) =>
  tableOf(store, known, {}),
);

/**
 * @param scope its range includes executions and calls that begin in it; shares are of the time of
 * all statements there
 * @returns null if no SQL call was recorded
 */
export function statementTableIn(facts: Facts, scope: Scope): StatementTable | null {
  const { part } = scope;
  const taken = statementsIn(facts, scope);
  const table =
    isWhole(scope) && scope.thread === undefined
      ? facts.get(statementTable)
      : tableOf(facts.store, facts.known(NEEDS), scope);
  if (!table || (!taken && part === undefined)) return table;
  const timeOf = ({ time }: StatementRow): number => (part ? time[`${part}Us`] : time.spanUs);
  const rows = table.rows.filter(
    (row) => (!taken || taken(row.text)) && (part === undefined || timeOf(row) > 0),
  );
  if (part) rows.sort((a, b) => timeOf(b) - timeOf(a));
  const spanUs = rows.reduce((us, { time }) => us + time.spanUs, 0);
  return { ...table, rows, executions: executionsIn(rows), spanUs };
}

/** Where the time of all its statements went, microseconds. */
export const timesTogether = ({
  rows,
  spanUs,
}: StatementTable): PartTimes & { spanUs: number } => ({
  ...partTimes((part) => rows.reduce((us, { time }) => us + time[`${PARTS[part]!}Us`], 0)),
  spanUs,
});

const executionsIn = (rows: readonly StatementRow[]): number =>
  rows.reduce((n, { executions }) => n + executions, 0);

function tableOf(
  store: TraceStore,
  known: Known<typeof NEEDS>,
  scope: Scope,
): StatementTable | null {
  if (!store.threads.some(hasSql)) return null;
  const entries: Entry[] = [];
  const byText = new Map<string | null, number>();
  const placeOf = store.threads.map((thread) => placesOfTexts(thread, entries, byText));
  /** Ended executions: entry and time, over all threads. */
  const ended: { places: Uint32Array; us: Float64Array; count: number }[] = [];
  let cacheShared: CacheCounts | null = null;
  const ownersOfVfs = new Map<number, Owners>();
  store.threads.forEach((thread, t) => {
    if (!isInScope(thread, scope)) return;
    const { fromUs = -Infinity, toUs = Infinity } = scope;
    const { events } = thread;
    const executions = known.executions.of(thread);
    ended.push(countExecutions(thread, executions, entries, placeOf[t]!, scope));
    countCalls(thread, known.rowsByOperation.of(thread), entries, placeOf[t]!, scope);
    countInstructions(thread, known.instructions.of(thread), entries, placeOf[t]!, scope);
    if (hasVfs(thread)) {
      const own = known.owners.of(thread);
      ownersOfVfs.set(t, own);
      for (const entry of touched(executions, entries, placeOf[t]!)) {
        entry.vfsCalls ??= 0;
        entry.callsBy ??= noCalls();
        entry.prepareVfsCalls ??= 0;
        entry.pages ??= { read: 0, written: 0, walRead: 0, walWritten: 0 };
      }
      countVfsCalls(thread, own, entries, placeOf[t]!, scope);
    }
    for (const [text, partition] of isWhole(scope)
      ? known.byStatement.of(thread)
      : known.sweeps.of(thread).within(scope).byStatement) {
      const entry = entries[placeOf[t]!(text)]!;
      PARTS.forEach(
        (name, i) =>
          (entry.partNs[i] = (entry.partNs[i] ?? 0) + Math.round(partition[`${name}Us`] * 1000)),
      );
    }
    eachBound(thread, (row, example) => {
      if (!within(events.t0[row]!, scope)) return;
      const entry = entries[placeOf[t]!(events.object[row]!)]!;
      entry.bound = withExample(entry.bound, example);
    });
    eachCacheShare(thread, known.counterDeltas.of(thread), (text, row, counts) => {
      const us = events.t0[row]!;
      if (us < fromUs || us >= toUs) return;
      cacheShared ??= { ...NO_COUNTS };
      const to =
        text === null ? cacheShared : (entries[placeOf[t]!(text)]!.cache ??= { ...NO_COUNTS });
      for (const name of CACHE_COUNTS) to[name] += counts[name];
    });
  });
  countPages(store, known.accesses, ownersOfVfs, entries, placeOf, scope);
  sortTimes(entries, ended);
  const spanNs = entries.reduce((sum, e) => sum + e.partNs.reduce((a, b) => a + b, 0), 0);
  const rows = entries
    .filter((e) => e.executions || e.prepares || e.partNs.some((ns) => ns > 0))
    .map((e) => rowOf(e, spanNs, known.recordedTexts));
  rows.sort(
    (a, b) =>
      b.time.spanUs - a.time.spanUs ||
      b.executions - a.executions ||
      ((a.text ?? '') < (b.text ?? '') ? -1 : 1),
  );
  return { rows, executions: executionsIn(rows), spanUs: spanNs / 1000, cacheShared };
}

/** Mean, percentiles and maximum: times grouped by entry, then each group sorted. */
function sortTimes(
  entries: readonly Entry[],
  ended: readonly { places: Uint32Array; us: Float64Array; count: number }[],
): void {
  const at = new Uint32Array(entries.length + 1);
  entries.forEach((entry, place) => (at[place + 1] = at[place]! + entry.times));
  const all = new Float64Array(at[entries.length]!);
  const next = at.slice();
  for (const { places, us, count } of ended)
    for (let i = 0; i < count; i++) all[next[places[i]!]!++] = us[i]!;
  entries.forEach((entry, place) => {
    const times = all.subarray(at[place], at[place + 1]).sort();
    const n = times.length;
    if (n === 0) return;
    entry.meanUs = times.reduce((a, b) => a + b, 0) / n;
    entry.p50Us = percentile(times, 0.5);
    entry.p95Us = percentile(times, 0.95);
    entry.maxUs = times[n - 1]!;
  });
}

function rowOf(
  { times: _, partNs, ...row }: Entry,
  spanNs: number,
  texts: RecordedTexts,
): StatementRow {
  const time = timesOf(partNs);
  return {
    ...row,
    sql: row.text === null ? null : texts.get(row.text)!,
    time,
    share: spanNs ? (time.spanUs * 1000) / spanNs : null,
    vfsCallsPerExecution:
      row.vfsCalls === null || row.executions === 0 ? null : row.vfsCalls / row.executions,
  };
}
