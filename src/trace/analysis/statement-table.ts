/**
 * Statements by fingerprint (text with literals folded, spelling made one): executions, times, pages, cache, rows, VFS calls, errors.
 * Statements of several threads with the same text are one row. Times of executions are those of their step calls; prepare, reset
 * and finalize stand apart. `time` is the part of the time partition that the statement decides, so that shares add up to one.
 */
import { Flag, Op } from '../event.ts';
import { isErrorResult } from '../result-codes.ts';
import { fingerprint } from '../sqlite-format/sql-text.ts';
import type { ThreadStore, TraceStore } from '../store.ts';
import { Access, type Accesses } from './accesses.ts';
import { ById } from './by-id.ts';
import { eachBound, withExample, type BoundValues } from './bound-values.ts';
import type { CacheCounts } from './connection-caches.ts';
import { ExecutionState, type Executions } from './executions.ts';
import type { Owners } from './owners.ts';
import { Analyses } from './shared.ts';
import { eachCacheShare } from './statement-cache.ts';
import { hasSql } from './statements.ts';
import { PARTS, type PartTimes } from './time-parts.ts';
import { partitionByStatement } from './time-partition.ts';
import { isWhole, type TimeRange } from './time-range.ts';
import { hasVfs } from './transactions.ts';

export interface StatementRow {
  /** null = SQL whose text was not seen, and opening and closing. */
  text: string | null;
  /** The JavaScript stack of its first prepare or exec, where the recording was asked for stacks; else null. */
  stack: string | null;
  /** The text was cut when it was recorded: others may begin alike. */
  truncated: boolean;
  executions: number;
  /** Of these, executions with a call that had not returned: their times are not known. */
  running: number;
  /** Ended while rows were left. */
  rowsLeft: number;
  failed: number;
  failedPrepares: number;
  /** Of one execution, microseconds; nearest rank. null where none ended. */
  totalUs: number;
  meanUs: number | null;
  p50Us: number | null;
  p95Us: number | null;
  maxUs: number | null;
  /** Its calls, and their durations summed up. */
  prepares: number;
  prepareUs: number;
  /** reset and finalize */
  endingUs: number;
  /** Time with SQL in flight that it decides, by part; spanUs is the sum. */
  time: PartTimes & { spanUs: number };
  /** spanUs of it / spanUs of all; null where no time passed. */
  share: number | null;
  /** Pages of databases by the calls beneath; null where no VFS call is recorded. */
  pages: { read: number; written: number; walRead: number; walWritten: number } | null;
  /** From the engine's counters, where they can be told to be its own; null where none can. */
  cache: CacheCounts | null;
  /** Steps that brought a row; those inside sqlite3_exec are not seen. */
  rows: number;
  /** VFS calls beneath step, exec, reset and finalize; null as for pages. */
  vfsCalls: number | null;
  vfsCallsPerExecution: number | null;
  /** VFS calls beneath prepare: reading the schema. */
  prepareVfsCalls: number | null;
  /** Statements in the text of an sqlite3_exec (an upper bound); null where it was not run so. */
  statementsInScript: number | null;
  /** What it ran with, where the recording was asked for values (capture level 3); else null. */
  bound: BoundValues | null;
}

export interface StatementTable {
  /** The longest time first. */
  rows: StatementRow[];
  executions: number;
  /** Time with SQL in flight, all threads, microseconds. */
  spanUs: number;
  /** What the counters grew by that no single statement can be told to have caused; null without counters. */
  cacheShared: CacheCounts | null;
}

interface Entry extends StatementRow {
  /** Executions that ended. */
  times: number;
  partNs: number[];
}

const newEntry = (text: string | null, truncated: boolean): Entry => ({
  ...{ text, truncated, stack: null, executions: 0, running: 0, rowsLeft: 0, failed: 0, failedPrepares: 0, totalUs: 0 },
  ...{ meanUs: null, p50Us: null, p95Us: null, maxUs: null, prepares: 0, prepareUs: 0, endingUs: 0 },
  ...{ time: partTimes([]), share: null, pages: null, cache: null, rows: 0, vfsCalls: null, vfsCallsPerExecution: null },
  ...{ prepareVfsCalls: null, statementsInScript: null, bound: null, times: 0, partNs: [] },
});
const partTimes = (ns: readonly number[]): PartTimes & { spanUs: number } => ({
  ...(Object.fromEntries(PARTS.map((name, i) => [`${name}Us`, (ns[i] ?? 0) / 1000])) as PartTimes),
  spanUs: ns.reduce((a, b) => a + b, 0) / 1000,
});

/**
 * @param range executions and calls that begin in it
 * @returns null where no SQL call was recorded
 */
export function statementTable(store: TraceStore, range: TimeRange = {}, shared: Analyses = new Analyses(store)): StatementTable | null {
  if (!store.threads.some(hasSql)) return null;
  const entries: Entry[] = [];
  const byText = new Map<string, number>();
  const placeOf = store.threads.map((thread) => placesOfTexts(thread, entries, byText));
  /** Executions that ended: entry and time, over all threads. */
  const ended: { places: Uint32Array; us: Float64Array; count: number }[] = [];
  let cacheShared: CacheCounts | null = null;
  const owners = new Map<number, Owners>();
  store.threads.forEach((thread, t) => {
    const { fromUs = -Infinity, toUs = Infinity } = range;
    const { events } = thread;
    const executions = shared.executions(thread);
    ended.push(countExecutions(thread, executions, entries, placeOf[t]!, range));
    countCalls(thread, entries, placeOf[t]!, range);
    if (hasVfs(thread)) {
      const own = shared.owners(thread);
      owners.set(t, own);
      for (const entry of touched(executions, entries, placeOf[t]!)) {
        entry.vfsCalls ??= 0;
        entry.prepareVfsCalls ??= 0;
        entry.pages ??= { read: 0, written: 0, walRead: 0, walWritten: 0 };
      }
      countVfsCalls(thread, own, entries, placeOf[t]!, range);
    }
    for (const [text, partition] of isWhole(range) ? shared.byStatement(thread) : partitionByStatement(thread, range)) {
      const entry = entries[placeOf[t]!(text)]!;
      PARTS.forEach((name, i) => (entry.partNs[i] = (entry.partNs[i] ?? 0) + Math.round(partition[`${name}Us`] * 1000)));
    }
    eachBound(thread, (row, example) => {
      if (!within(events.t0[row]!, range)) return;
      const entry = entries[placeOf[t]!(events.object[row]!)]!;
      entry.bound = withExample(entry.bound, example);
    });
    eachCacheShare(thread, (text, row, counts) => {
      const us = events.t0[row]!;
      if (us < fromUs || us >= toUs) return;
      cacheShared ??= { hits: 0, misses: 0, writes: 0, spills: 0 };
      const to = text === null ? cacheShared : (entries[placeOf[t]!(text)]!.cache ??= { hits: 0, misses: 0, writes: 0, spills: 0 });
      for (const name of ['hits', 'misses', 'writes', 'spills'] as const) to[name] += counts[name];
    });
  });
  countPages(store, shared.accesses, owners, entries, placeOf, range);
  timesOf(entries, ended);
  const spanNs = entries.reduce((sum, e) => sum + e.partNs.reduce((a, b) => a + b, 0), 0);
  const rows = entries.filter((e) => e.executions || e.prepares || e.partNs.some((ns) => ns > 0)).map((e) => rowOf(e, spanNs));
  rows.sort((a, b) => b.time.spanUs - a.time.spanUs || b.executions - a.executions || ((a.text ?? '') < (b.text ?? '') ? -1 : 1));
  return { rows, executions: rows.reduce((n, r) => n + r.executions, 0), spanUs: spanNs / 1000, cacheShared };
}

/** Over the whole trace, computed once. */
export const sharedTable = (shared: Analyses): StatementTable | null =>
  shared.once('statement table', () => statementTable(shared.store, {}, shared));

/** Entry of an `sql` definition's id; entries are made as they are asked for. */
type PlaceOf = (text: number) => number;
function placesOfTexts({ definitions, said }: ThreadStore, entries: Entry[], byText: Map<string, number>): PlaceOf {
  /** By id of a text; the first connection's. */
  const stacks = new Map<number, string>();
  for (const d of said) if (d.kind === 'stack' && typeof d.text === 'string' && !stacks.has(d.of)) stacks.set(d.of, d.text);
  const known = new ById<number>();
  return (id) => {
    let place = known.get(id);
    if (place !== undefined) return place;
    const d = id ? definitions.get(id) : undefined;
    const text = d?.kind === 'sql' ? fingerprint(d.text) : null;
    const truncated = d?.kind === 'sql' && d.truncated === true;
    const key = text === null ? '' : `${truncated ? 1 : 0}${text}`;
    place = byText.get(key);
    if (place === undefined) byText.set(key, (place = entries.push(newEntry(text, truncated)) - 1));
    known.set(id, place);
    entries[place]!.stack ??= stacks.get(id) ?? null;
    return place;
  };
}

const within = (us: number, { fromUs = -Infinity, toUs = Infinity }: TimeRange): boolean => us >= fromUs && us < toUs;

function countExecutions(
  { events }: ThreadStore,
  executions: Executions,
  entries: Entry[],
  placeOf: PlaceOf,
  range: TimeRange,
): { places: Uint32Array; us: Float64Array; count: number } {
  const places = new Uint32Array(executions.count);
  const us = new Float64Array(executions.count);
  let count = 0;
  for (let i = 0; i < executions.count; i++) {
    if (!within(events.t0[executions.firstRow[i]!]!, range)) continue;
    const place = placeOf(executions.text[i]!);
    const entry = entries[place]!;
    entry.executions++;
    entry.rows += executions.rows[i]!;
    entry.totalUs += executions.us[i]!;
    const state = executions.state[i];
    if (state === ExecutionState.running) {
      entry.running++;
      continue;
    }
    if (state === ExecutionState.failed) entry.failed++;
    else if (state === ExecutionState.rowsLeft) entry.rowsLeft++;
    entry.times++;
    places[count] = place;
    us[count++] = executions.us[i]!;
  }
  return { places, us, count };
}

function touched(executions: Executions, entries: readonly Entry[], placeOf: PlaceOf): Set<Entry> {
  const texts = new Set<number>(executions.text.subarray(0, executions.count));
  return new Set([...texts].map((text) => entries[placeOf(text)]!));
}

/** prepare, reset, finalize, and what sqlite3_exec was given. */
function countCalls({ events }: ThreadStore, entries: readonly Entry[], placeOf: PlaceOf, range: TimeRange): void {
  for (let row = 0; row < events.count; row++) {
    const op = events.op[row]!;
    if (op < Op.sqlPrepare || op > Op.sqlExec || op === Op.sqlStep) continue;
    if (!within(events.t0[row]!, range)) continue;
    const entry = entries[placeOf(events.object[row]!)]!;
    if (op === Op.sqlPrepare) {
      entry.prepares++;
      entry.prepareUs += events.dur[row]!;
      if (isErrorResult(events.result[row]!) || events.flags[row]! & Flag.threw) entry.failedPrepares++;
    } else if (op === Op.sqlExec) {
      const statements = events.aux2[row] ?? 0;
      if (statements) entry.statementsInScript = Math.max(entry.statementsInScript ?? 0, statements);
    } else entry.endingUs += events.dur[row]!;
  }
}

function countVfsCalls({ events }: ThreadStore, owners: Owners, entries: readonly Entry[], placeOf: PlaceOf, range: TimeRange): void {
  const { op, count } = events;
  // calls beneath one SQL call follow each other
  let [last, calls] = [-1, 0];
  const add = (): void => {
    if (calls === 0 || op[last]! < Op.sqlPrepare || !within(events.t0[last]!, range)) return;
    const entry = entries[placeOf(events.object[last]!)]!;
    if (op[last] === Op.sqlPrepare) entry.prepareVfsCalls = (entry.prepareVfsCalls ?? 0) + calls;
    else entry.vfsCalls = (entry.vfsCalls ?? 0) + calls;
  };
  for (let row = 0; row < count; row++) {
    if (op[row]! === 0 || op[row]! >= 64) continue;
    const owner = owners.sql(row);
    if (owner < 0) continue;
    if (owner !== last) {
      add();
      last = owner;
      calls = 0;
    }
    calls++;
  }
  add();
}

function countPages(
  store: TraceStore,
  accesses: Accesses,
  owners: ReadonlyMap<number, Owners>,
  entries: readonly Entry[],
  placeOf: readonly PlaceOf[],
  range: TimeRange,
): void {
  const { thread, row, what, span, count } = accesses;
  /** By thread: the SQL call that the last access served, calls beneath one follow each other, and where its pages count. */
  const lastOwner = new Int32Array(store.threads.length).fill(-2);
  const counts = store.threads.map((): StatementRow['pages'] => null);
  const pagesOf = (t: number, owner: number): StatementRow['pages'] => {
    const { op, t0, object } = store.threads[t]!.events;
    if (owner < 0 || op[owner]! < Op.sqlPrepare || !within(t0[owner]!, range)) return null;
    return (entries[placeOf[t]!(object[owner]!)]!.pages ??= { read: 0, written: 0, walRead: 0, walWritten: 0 });
  };
  for (let i = 0; i < count; i++) {
    const t = thread[i]!;
    const owner = owners.get(t)?.sql(row[i]!) ?? -1;
    if (owner !== lastOwner[t]) {
      lastOwner[t] = owner;
      counts[t] = pagesOf(t, owner);
    }
    const pages = counts[t];
    if (!pages) continue;
    const wal = (what[i]! & Access.wal) !== 0;
    if (what[i]! & Access.write) {
      if (wal) pages.walWritten += span[i]!;
      else pages.written += span[i]!;
    } else if (wal) pages.walRead += span[i]!;
    else pages.read += span[i]!;
  }
}

/** Mean, percentiles and maximum: times grouped by entry, then each group sorted. */
function timesOf(entries: readonly Entry[], ended: readonly { places: Uint32Array; us: Float64Array; count: number }[]): void {
  const at = new Uint32Array(entries.length + 1);
  entries.forEach((entry, place) => (at[place + 1] = at[place]! + entry.times));
  const all = new Float64Array(at[entries.length]!);
  const next = at.slice();
  for (const { places, us, count } of ended) for (let i = 0; i < count; i++) all[next[places[i]!]!++] = us[i]!;
  entries.forEach((entry, place) => {
    const times = all.subarray(at[place], at[place + 1]).sort();
    const n = times.length;
    if (n === 0) return;
    const rank = (share: number): number => times[Math.max(0, Math.ceil(share * n) - 1)]!;
    entry.meanUs = times.reduce((a, b) => a + b, 0) / n;
    entry.p50Us = rank(0.5);
    entry.p95Us = rank(0.95);
    entry.maxUs = times[n - 1]!;
  });
}

function rowOf({ times: _, partNs, ...row }: Entry, spanNs: number): StatementRow {
  const time = partTimes(partNs);
  return {
    ...row,
    time,
    share: spanNs ? (time.spanUs * 1000) / spanNs : null,
    vfsCallsPerExecution: row.vfsCalls === null || row.executions === 0 ? null : row.vfsCalls / row.executions,
  };
}
