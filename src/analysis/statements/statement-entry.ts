/** Rows of the table of statements while they are being counted, one for each fingerprint. */
import { getOrMake } from '../core/maps.ts';
import { fingerprintsOf } from '../core/fingerprints.ts';
import type { ThreadStore } from '../../trace/store.ts';
import type { BoundValues } from './bound-values.ts';
import type { Counts } from '../../event/operations.ts';
import { ById } from '../core/by-id.ts';
import type { CacheCounts } from '../core/counter-deltas.ts';
import type { QueryCounts } from '../core/executions.ts';
import { type PartTimes, partTimes } from '../core/time-parts.ts';

export type CallsBy = Record<(typeof CALL_KINDS)[number], number>;
export const CALL_KINDS = ['read', 'write', 'sync', 'lock'] as const satisfies readonly Counts[];
export const noCalls = (): CallsBy => ({ read: 0, write: 0, sync: 0, lock: 0 });

export interface StatementRow {
  /** Its fingerprint; null = SQL with an unknown text, and opening and closing. */
  text: string | null;
  /** The shown text, that of its first run; null as above. */
  sql: string | null;
  /** The JavaScript stack of its first prepare or exec, if the recording has stacks; else null. */
  stack: string | null;
  /**
   * The text was cut in the recording at least once, so other statements may begin the same way.
   */
  truncated: boolean;
  executions: number;
  /** Executions with a call that hadn't returned, so their times aren't known. */
  running: number;
  /** Ended before all rows were read. */
  rowsLeft: number;
  failed: number;
  failedPrepares: number;
  /** Of one execution, microseconds; nearest rank. null if none ended. */
  totalUs: number;
  meanUs: number | null;
  p50Us: number | null;
  p95Us: number | null;
  maxUs: number | null;
  /** Its calls, and the sums of their durations. */
  prepares: number;
  prepareUs: number;
  /** reset and finalize */
  endingUs: number;
  /** Its time while SQL runs, by part; spanUs is the sum. */
  time: PartTimes & { spanUs: number };
  /** spanUs / spanUs of all; null if no time passed. */
  share: number | null;
  /** Database pages of the calls below, without checkpoints; null if no VFS call was recorded. */
  pages: { read: number; written: number; walRead: number; walWritten: number } | null;
  /** From the engine's counters, if they can be assigned to it; null if none can. */
  cache: CacheCounts | null;
  /** From the engine's counters, for the runs that it counted; null if none were read. */
  query: (QueryCounts & { runs: number }) | null;
  /** Instructions of SQLite's wasm in its calls; null if they weren't counted. */
  instructions: number | null;
  /** Maximum bytes of one prepared statement; null if not read. */
  memory: number | null;
  /** Steps that returned a row; those inside sqlite3_exec aren't visible. */
  rows: number;
  /**
   * VFS calls below step, exec, reset, and finalize, without the in-memory journal; null as for
   * pages.
   */
  vfsCalls: number | null;
  vfsCallsPerExecution: number | null;
  /** Those that read, write, sync, and take a lock; null as above. */
  callsBy: CallsBy | null;
  /** VFS calls below prepare, which reads the schema. */
  prepareVfsCalls: number | null;
  /** Statements in the text of an sqlite3_exec (an upper bound); null if it wasn't run that way. */
  statementsInScript: number | null;
  /** Its values, if the recording has them (capture level 3); else null. */
  bound: BoundValues | null;
}

/** A row while it is being counted. */
export interface Entry extends StatementRow {
  /** Executions that ended. */
  times: number;
  partNs: number[];
}

const newEntry = (text: string | null): Entry => ({
  text,
  sql: null,
  truncated: false,
  stack: null,
  executions: 0,
  running: 0,
  rowsLeft: 0,
  failed: 0,
  failedPrepares: 0,
  totalUs: 0,
  meanUs: null,
  p50Us: null,
  p95Us: null,
  maxUs: null,
  prepares: 0,
  prepareUs: 0,
  endingUs: 0,
  time: timesOf([]),
  share: null,
  pages: null,
  cache: null,
  query: null,
  instructions: null,
  memory: null,
  rows: 0,
  vfsCalls: null,
  vfsCallsPerExecution: null,
  callsBy: null,
  prepareVfsCalls: null,
  statementsInScript: null,
  bound: null,
  times: 0,
  partNs: [],
});
/** @param ns by part, nanoseconds */
export const timesOf = (ns: readonly number[]): PartTimes & { spanUs: number } => ({
  ...partTimes((part) => (ns[part] ?? 0) / 1000),
  spanUs: ns.reduce((a, b) => a + b, 0) / 1000,
});

/** Entry of an `sql` definition's id; entries are made on request. */
export type PlaceOf = (text: number) => number;

/** @param entries, byText shared by the threads: a text used by several is one entry */
export function placesOfTexts(
  thread: ThreadStore,
  entries: Entry[],
  byText: Map<string | null, number>,
): PlaceOf {
  const { definitions, said } = thread;
  const textOf = fingerprintsOf(thread);
  /** By id of a text: the stack of the first connection. */
  const stacks = new Map<number, string>();
  for (const d of said)
    if (d.kind === 'stack' && typeof d.text === 'string' && !stacks.has(d.of))
      stacks.set(d.of, d.text);
  const known = new ById<number>();
  const make = (id: number): number => {
    const d = id ? definitions.get(id) : undefined;
    const text = textOf(id);
    const place = getOrMake(byText, text, () => entries.push(newEntry(text)) - 1);
    known.set(id, place);
    if (d?.kind === 'sql' && d.truncated) entries[place]!.truncated = true;
    entries[place]!.stack ??= stacks.get(id) ?? null;
    return place;
  };
  return (id) => known.get(id) ?? make(id);
}
