/** What comes out of runs: samples (one pass each), results of a run over its samples, verdicts, results of an experiment. */
import type { EngineFacts, Environment } from './environment-types.ts';
import type { FaultReport } from './faults.ts';
import type { Assertion, Counters, Run, VfsName } from './types.ts';

/** Count mode: what one statement of a step took in all its runs. */
export interface StatementCount {
  /** Its text, literals folded; '' = what belongs to no statement of the step. */
  readonly sql: string;
  readonly runs: number;
  /** From its prepare to its finalize. */
  readonly instructions: number;
  /** VFS calls. */
  readonly calls: number;
}
/** Count mode: what one function of the engine executed in a step, by its own instructions. */
export interface FunctionInstructions {
  /** From the module's names or exports; `#1234`, its index in the module, where it has none; '' = all that are not listed. */
  readonly name: string;
  readonly instructions: number;
}
/** One step of one sample. */
export interface StepSample {
  readonly id: string;
  readonly title: string;
  readonly counters: Counters;
  /** Why the step did not run, where it did not. */
  readonly skipped?: string;
  /** It ran without SQLite, for comparison: totals leave it out. */
  readonly twin?: boolean;
  /** Time mode: how long each of its checkpoints copied, with the sync of the database, ms. */
  readonly checkpoints?: readonly number[];
  /** Count mode: they sum up to the step's instructions. */
  readonly statements?: readonly StatementCount[];
  /** Where they were asked for: they sum up to the step's instructions, the dearest first. */
  readonly functions?: readonly FunctionInstructions[];
}
/** What the database held at the end, read back by a connection of its own: digests as of rows, no rows. */
export interface Stored {
  readonly digest: string;
  /** By table, and the schema itself as `sqlite_schema`. */
  readonly tables: Readonly<Record<string, string>>;
}
/** One pass over a workload. */
export interface Sample {
  readonly steps: readonly StepSample[];
  /** FNV-1a of every row that came back: two variants that compute the same have the same. */
  readonly digest: string;
  /** PRAGMA answers that differ from what was asked, and the like. */
  readonly notes: readonly string[];
  /** Absent: it was not read back; where it could not be, a note says why. */
  readonly stored?: Stored;
  /** What the connection answered: page_size, cache_size, journal_mode, ... */
  readonly settings: Readonly<Record<string, string>>;
  /** Absent in samples that tests make up. */
  readonly engine?: EngineFacts;
  /** Of a run with a fault profile. */
  readonly fault?: FaultReport;
}

/** A pass that is over. */
export interface Taken {
  sample: Sample;
  environment: Environment;
  /** What could not be removed from storage, with the reason. */
  left: string[];
}

export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
  /** Median distance from the median. */
  readonly mad: number;
  /** Passes that these are of: those that were left out are not among them. */
  readonly n: number;
  /** Each pass, in the order in which they ran: two classes of them do not show in a median. */
  readonly passes: readonly number[];
}
/** A number of a result: of a time its spread, and the step of the clock that took it. */
export interface Placed {
  readonly value: number;
  readonly spread: Spread | null;
  /** ms; 0 of a count, and where it is not known. */
  readonly stepMs: number;
}
export interface StepResult {
  readonly id: string;
  readonly title: string;
  /** Equal in every sample; without `ms`. A counter that differed between samples is named in `unstable`. Count mode: of the pass with the least instructions. */
  readonly counters: Counters;
  readonly unstable: readonly string[];
  /** Time mode only. */
  readonly ms: Spread | null;
  /** Time mode: the times of the step's parts, as `commit.ms`. */
  readonly parts: Readonly<Record<string, Spread>>;
  readonly skipped?: string;
  /** It ran without SQLite, for comparison: totals leave it out. */
  readonly twin?: boolean;
  /** Time mode: of each pass, in their order, how long each checkpoint took, ms. */
  readonly checkpoints?: readonly (readonly number[])[];
  readonly statements?: readonly StatementCount[];
  readonly functions?: readonly FunctionInstructions[];
}
/** A pass that the user took out of the median, and why. It stays among the passes. */
export interface LeftOut {
  /** From 1, in the order of `passes`. */
  readonly pass: number;
  readonly reason: string;
}
/** The same work by a native SQLite: times only. */
export interface NativeReference {
  /** `sqlite3 shell` or `node:sqlite`. */
  readonly program: string;
  readonly sqlite: string;
  /** By step; those that it didn't run are absent. */
  readonly steps: Readonly<Record<string, Spread>>;
  /** Of the steps that it ran. */
  readonly totalMs: Spread;
}
export interface RunResult {
  readonly run: Run;
  /** Version of the workload that ran. */
  readonly version: number;
  readonly environment: Environment;
  /** Absent: the result was saved without it. */
  readonly engine?: EngineFacts;
  readonly steps: readonly StepResult[];
  /** Sums over the steps with SQLite. */
  readonly totals: Counters;
  readonly totalMs: Spread | null;
  /** Time mode: the first pass, which warms up and is in no median; null where there was none. */
  readonly warmUpMs: number | null;
  readonly leftOut: readonly LeftOut[];
  readonly stored: Stored | null;
  readonly settings: Readonly<Record<string, string>>;
  readonly digest: string;
  readonly notes: readonly string[];
  readonly verdicts: readonly Verdict[];
  /** Absent: it was not asked for, or a note says why there is none. */
  readonly native?: NativeReference;
  /** Of a run with a fault profile: of its first pass. */
  readonly fault?: FaultReport;
}

/** Which counters an expectation compares, and how. */
export interface Compared {
  readonly left: string;
  /** null: with a number. */
  readonly right: string | null;
  readonly is: Assertion['is'];
  /** The left number times the first is compared with the right one times the second. */
  readonly times: readonly [left: number, right: number];
  /** Of times: the step of their clock, ms. */
  readonly stepMs?: number;
}
export interface Verdict {
  readonly text: string;
  /** null: not decided, `why` says so (a counter that is not known here, a difference within the noise). */
  readonly holds: boolean | null;
  /** As measured: no factor of the expectation is in it. */
  readonly left: number | null;
  readonly right: number | null;
  readonly why?: string;
  /** What was compared. Absent: no numbers were. */
  readonly compared?: Compared;
}

export interface SweepPoint {
  readonly x: number;
  readonly y: number;
  /** Of a time: its least and most; of a count both are `y`. */
  readonly from: number;
  readonly to: number;
}
export interface SweepCurve {
  /** The step, or the other settings. */
  readonly name: string;
  /** By x, rising. */
  readonly points: readonly SweepPoint[];
  /** The exponent b of y = a * x^b: 1 = twice as much costs twice as much. Over all points, by least squares of the logarithms. */
  readonly slope: number | null;
  /** The same between the last two points. */
  readonly lastSlope: number | null;
}
/** How a counter grows with a setting or a parameter of which runs have three values or more. */
export interface Growth {
  readonly over: string;
  readonly counter: string;
  readonly curves: readonly SweepCurve[];
}

export interface ExperimentResult {
  readonly experiment: string;
  readonly results: Readonly<Record<string, RunResult>>;
  /** Variants that could not run here, or failed, and why. */
  readonly skipped: Readonly<Record<string, string>>;
  readonly verdicts: readonly Verdict[];
  readonly growth: readonly Growth[];
  /** VFSs that the variants without one of their own ran on. Absent: saved before there was a choice. */
  readonly on?: readonly VfsName[];
}
/** One workload with every combination of several values. */
export interface GridResult {
  readonly workload: string;
  readonly runs: readonly RunResult[];
  /** Combinations that could not run here, or failed, and why. */
  readonly skipped: Readonly<Record<string, string>>;
  /** Of all of them together. */
  readonly verdicts: readonly Verdict[];
  readonly growth: readonly Growth[];
}
