/**
 * Cold against warm: the first second of a trace with SQL or VFS calls against the rest, and the
 * first execution of every statement against its later ones. The first one fills empty caches,
 * reads the schema, and runs code that isn't compiled yet.
 */
import { isSqlOp, isVfsOp } from '../../event/operations.ts';
import { fingerprint } from '../../sqlite/sql-text.ts';
import { recordedTexts } from '../core/recorded-texts.ts';
import type { ThreadStore, TraceStore } from '../../trace/store.ts';
import { Access } from '../pages/accesses.ts';
import { ById } from '../core/by-id.ts';
import { connectionCachesIn } from './connection-caches.ts';
import { databasesByConnection } from '../core/connection-databases.ts';
import { counterDeltas, hitRate } from '../core/counter-deltas.ts';
import { executions, ExecutionState, type Executions } from '../core/executions.ts';
import { owners } from '../core/owners.ts';
import type { Owners } from '../../trace/owners.ts';
import { fact, type Known } from '../core/graph.ts';
import { accesses } from '../pages/page-accesses.ts';
import type { TimeRange } from '../time/time-partition.ts';

export interface Phase {
  fromUs: number;
  toUs: number;
  pageReads: number;
  /** From the engine's counters; null if there are none. */
  hitRate: number | null;
}
/** Executions of one statement text in order of time, over all threads. */
export interface FirstExecution {
  /** Fingerprint, and the text that is shown. */
  text: string;
  sql: string;
  executions: number;
  firstUs: number;
  /** Mean of the others, microseconds. */
  laterUs: number;
  /** Pages read below; null if VFS calls weren't recorded. */
  firstPages: number | null;
  laterPages: number | null;
}
export interface ColdWarm {
  /** null without SQL or VFS calls; `warm` is also null if the trace ends before it. */
  cold: Phase | null;
  warm: Phase | null;
  /** Statements executed at least twice, the one with the longest first execution first. */
  firstExecutions: FirstExecution[];
}

/** Length of the cold time range. */
const COLD_US = 1e6;

const NEEDS = {
  ...{ accesses, owners, executions, counterDeltas, databasesByConnection },
  recordedTexts,
};

export const coldWarm = fact('coldWarm', 'first and later runs', NEEDS, coldWarmOf);

function coldWarmOf(store: TraceStore, known: Known<typeof NEEDS>): ColdWarm {
  let begin = Infinity;
  let end = -Infinity;
  for (const thread of store.threads) {
    const [first, last] = workOf(thread);
    begin = Math.min(begin, first);
    end = Math.max(end, last);
  }
  const firstExecutions = firstExecutionsOf(store, known);
  if (begin === Infinity) return { cold: null, warm: null, firstExecutions };
  const border = begin + COLD_US;
  // one more nanosecond, because a range excludes its end
  const behind = end + 0.001;
  return {
    cold: phase(store, known, { fromUs: begin, toUs: Math.min(border, behind) }),
    warm: border < behind ? phase(store, known, { fromUs: border, toUs: behind }) : null,
    firstExecutions,
  };
}

/**
 * Begin of a thread's first SQL or VFS call and end of its last; [Infinity, -Infinity] without one.
 */
function workOf({ events }: ThreadStore): [beginUs: number, endUs: number] {
  const { op, t0, dur, count } = events;
  let begin = Infinity;
  let end = -Infinity;
  for (let row = 0; row < count; row++) {
    const code = op[row]!;
    if (!isVfsOp(code) && !isSqlOp(code)) continue;
    if (begin === Infinity) begin = t0[row]!;
    const us = t0[row]! + dur[row]!;
    if (us > end) end = us;
  }
  return [begin, end];
}

function phase(store: TraceStore, known: Known<typeof NEEDS>, range: Required<TimeRange>): Phase {
  const { accesses } = known;
  let [hits, misses, pageReads] = [0, 0, 0];
  for (const c of connectionCachesIn(store, known, range)) {
    hits += c.hits;
    misses += c.misses;
  }
  for (let i = accesses.lowerBound(range.fromUs), to = accesses.lowerBound(range.toUs); i < to; i++)
    if (!(accesses.what[i]! & (Access.write | Access.checkpoint))) pageReads += accesses.span[i]!;
  return { ...range, pageReads, hitRate: hitRate({ hits, misses }) };
}

function firstExecutionsOf(store: TraceStore, known: Known<typeof NEEDS>): FirstExecution[] {
  interface Sum {
    text: string;
    executions: number;
    firstAt: number;
    firstUs: number;
    firstPages: number | null;
    us: number;
    pages: number | null;
  }
  const sums = new Map<string, Sum>();
  const all = store.threads.map((thread) => known.executions.of(thread));
  const reads = readsByExecution(store, known, all);
  store.threads.forEach((thread, t) => {
    const executions = all[t]!;
    const sumOfText = new ById<Sum | null>();
    for (let i = 0; i < executions.count; i++) {
      if (executions.state[i] === ExecutionState.running) continue;
      const id = executions.text[i]!;
      let sum = sumOfText.get(id);
      if (sum === undefined) {
        const d = thread.definitions.get(id);
        const text = d?.kind === 'sql' ? fingerprint(d.text) : null;
        sum = text === null ? null : (sums.get(text) ?? null);
        if (text !== null && !sum) {
          sum = {
            text,
            executions: 0,
            firstAt: Infinity,
            firstUs: 0,
            firstPages: null,
            us: 0,
            pages: null,
          };
          sums.set(text, sum);
        }
        sumOfText.set(id, sum);
      }
      if (!sum) continue;
      const at = thread.events.t0[executions.firstRow[i]!]!;
      const pages = reads[t] ? reads[t]![i]! : null;
      sum.executions++;
      sum.us += executions.us[i]!;
      if (pages !== null) sum.pages = (sum.pages ?? 0) + pages;
      if (at < sum.firstAt) {
        sum.firstAt = at;
        sum.firstUs = executions.us[i]!;
        sum.firstPages = pages;
      }
    }
  });
  return [...sums.values()]
    .filter((s) => s.executions > 1)
    .map((s) => ({
      text: s.text,
      sql: known.recordedTexts.get(s.text)!,
      executions: s.executions,
      firstUs: s.firstUs,
      laterUs: (s.us - s.firstUs) / (s.executions - 1),
      firstPages: s.firstPages,
      laterPages: s.pages === null ? null : (s.pages - (s.firstPages ?? 0)) / (s.executions - 1),
    }))
    .sort((a, b) => b.firstUs - a.firstUs);
}

/** Page reads by execution, by thread; null if the thread has none. */
function readsByExecution(
  store: TraceStore,
  known: Known<typeof NEEDS>,
  executions: readonly Executions[],
): (Uint32Array | null)[] {
  const { accesses } = known;
  const { thread, row, what, span, count } = accesses;
  const reads = store.threads.map((): Uint32Array | null => null);
  const owners = store.threads.map((): Owners | null => null);
  const lastOwner = new Int32Array(store.threads.length).fill(-1);
  const lastExecution = lastOwner.slice();
  for (let i = 0; i < count; i++) {
    if (what[i]! & (Access.write | Access.checkpoint)) continue;
    const t = thread[i]!;
    const own = (owners[t] ??= known.owners.of(store.threads[t]!));
    const ofThread = (reads[t] ??= new Uint32Array(executions[t]!.count));
    const owner = own.sql(row[i]!);
    if (owner !== lastOwner[t]) {
      lastOwner[t] = owner; // calls made by one SQL call follow each other
      lastExecution[t] = owner < 0 ? -1 : executions[t]!.at(owner);
    }
    const execution = lastExecution[t]!;
    if (execution >= 0) ofThread[execution]! += span[i]!;
  }
  return reads;
}
