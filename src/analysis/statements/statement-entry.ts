/** Rows of the table of statements while they are counted, one for each fingerprint. */
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
  /** Its fingerprint; null = SQL whose text was not seen, and opening and closing. */
  text: string | null;
  /** As it is shown: the text of its first run as it was recorded; null as above. */
  sql: string | null;
  /** The JavaScript stack of its first prepare or exec, where the recording was asked for stacks; else null. */
  stack: string | null;
  /** The text was cut when it was recorded, once at least: others may begin alike. */
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
  /** Time while SQL runs that it decides, by part; spanUs is the sum. */
  time: PartTimes & { spanUs: number };
  /** spanUs of it / spanUs of all; null where no time passed. */
  share: number | null;
  /** Pages of databases by the calls below, a checkpoint's left out; null where no VFS call is recorded. */
  pages: { read: number; written: number; walRead: number; walWritten: number } | null;
  /** From the engine's counters, where they can be told to be its own; null where none can. */
  cache: CacheCounts | null;
  /** Of the runs that the engine counted, by its own counters; null where none were read. */
  query: (QueryCounts & { runs: number }) | null;
  /** What SQLite's wasm executed in its calls; null where that was not counted. */
  instructions: number | null;
  /** Bytes of one of it, prepared, the most seen; null where none were read. */
  memory: number | null;
  /** Steps that brought a row; those inside sqlite3_exec are not seen. */
  rows: number;
  /** VFS calls under step, exec, reset and finalize, the in-memory journal left out; null as for pages. */
  vfsCalls: number | null;
  vfsCallsPerExecution: number | null;
  /** Of vfsCalls, those that read, write, sync, and take a lock; null as above. */
  callsBy: CallsBy | null;
  /** VFS calls under prepare: reading the schema. */
  prepareVfsCalls: number | null;
  /** Statements in the text of an sqlite3_exec (an upper bound); null where it was not run so. */
  statementsInScript: number | null;
  /** What it ran with, where the recording was asked for values (capture level 3); else null. */
  bound: BoundValues | null;
}

/** A row while it is counted. */
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

/** Entry of an `sql` definition's id; entries are made as they are asked for. */
export type PlaceOf = (text: number) => number;

/** @param entries, byText shared by the threads: a text of several is one entry */
export function placesOfTexts(
  thread: ThreadStore,
  entries: Entry[],
  byText: Map<string | null, number>,
): PlaceOf {
  const { definitions, said } = thread;
  const textOf = fingerprintsOf(thread);
  /** By id of a text; the first connection's. */
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
