/**
 * The output of runs: samples (one pass each), results of a run over its samples, verdicts, and
 * results of an experiment.
 */
import type { EngineFacts, Environment } from './environment-types.ts';
import type { FaultReport } from './faults.ts';
import type { Assertion, Counters, Run, VfsName } from './types.ts';

/** Count mode: the cost of one statement of a step over all its runs. */
export interface StatementCount {
  /** Its text, literals folded; '' = the part of the step that belongs to no statement. */
  readonly sql: string;
  readonly runs: number;
  /** From its prepare to its finalize. */
  readonly instructions: number;
  /** VFS calls. */
  readonly calls: number;
}
/** Count mode: the instructions that one function of the engine itself executed in a step. */
export interface FunctionInstructions {
  /**
   * From the module's names or exports; `#1234`, its index in the module, where it has no name; ''
   * = all functions that aren't listed.
   */
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
  /** Time mode: the copy time of each of its checkpoints, with the sync of the database, ms. */
  readonly checkpoints?: readonly number[];
  /** Count mode: they sum up to the step's instructions. */
  readonly statements?: readonly StatementCount[];
  /** If requested: they sum to the step's instructions, the most expensive first. */
  readonly functions?: readonly FunctionInstructions[];
}
/** The final content of the database, read back by a separate connection: only digests, no rows. */
export interface Stored {
  readonly digest: string;
  /** By table, and the schema itself as `sqlite_schema`. */
  readonly tables: Readonly<Record<string, string>>;
}
/** One pass over a workload. */
export interface Sample {
  readonly steps: readonly StepSample[];
  /** FNV-1a of all returned rows. Two variants that compute the same have the same digest. */
  readonly digest: string;
  /** PRAGMA answers that differ from the request, and similar notes. */
  readonly notes: readonly string[];
  /** Absent: not read back. If reading failed, a note has the reason. */
  readonly stored?: Stored;
  /** The connection's answers: page_size, cache_size, journal_mode, ... */
  readonly settings: Readonly<Record<string, string>>;
  /** Absent in samples of tests. */
  readonly engine?: EngineFacts;
  /** For a run with a fault profile. */
  readonly fault?: FaultReport;
}

/** A finished pass. */
export interface Taken {
  sample: Sample;
  environment: Environment;
  /** What couldn't be removed from storage, with the reason. */
  left: string[];
}

export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
  /** Median distance from the median. */
  readonly mad: number;
  /** Number of passes, without those that were left out. */
  readonly n: number;
  /** Each pass, in execution order, because a median can hide two groups. */
  readonly passes: readonly number[];
}
/** A number of a result; for a time with its spread and its clock's resolution. */
export interface Placed {
  readonly value: number;
  readonly spread: Spread | null;
  /** ms; 0 for a count, and where it isn't known. */
  readonly stepMs: number;
}
export interface StepResult {
  readonly id: string;
  readonly title: string;
  /**
   * Equal in every sample; without `ms`. `unstable` names counters that differed. Count mode: of
   * the pass with the fewest instructions.
   */
  readonly counters: Counters;
  readonly unstable: readonly string[];
  /** Time mode only. */
  readonly ms: Spread | null;
  /** Time mode: the times of the step's parts, as `commit.ms`. */
  readonly parts: Readonly<Record<string, Spread>>;
  readonly skipped?: string;
  /** It ran without SQLite, for comparison: totals exclude it. */
  readonly twin?: boolean;
  /** Time mode: for each pass, in order, the duration of each checkpoint, ms. */
  readonly checkpoints?: readonly (readonly number[])[];
  readonly statements?: readonly StatementCount[];
  readonly functions?: readonly FunctionInstructions[];
}
/** A pass that the user left out of the median, and why. It stays in the list of passes. */
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
  /** Over the steps that it ran. */
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
  /**
   * Time mode: the first pass, which warms up and isn't in any median; null where there was none.
   */
  readonly warmUpMs: number | null;
  readonly leftOut: readonly LeftOut[];
  readonly stored: Stored | null;
  readonly settings: Readonly<Record<string, string>>;
  readonly digest: string;
  readonly notes: readonly string[];
  readonly verdicts: readonly Verdict[];
  /** Absent: not requested, or a note has the reason. */
  readonly native?: NativeReference;
  /** For a run with a fault profile, from its first pass. */
  readonly fault?: FaultReport;
}

/** The counters that an expectation compares, and how. */
export interface Compared {
  readonly left: string;
  /** null: compares with a number. */
  readonly right: string | null;
  readonly is: Assertion['is'];
  /** Compares the left number times the first factor with the right number times the second. */
  readonly times: readonly [left: number, right: number];
  /** For times: the resolution of their clock, ms. */
  readonly stepMs?: number;
}
export interface Verdict {
  readonly text: string;
  /**
   * null: undecided; `why` has the reason (a counter that isn't known here, a difference within the
   * noise).
   */
  readonly holds: boolean | null;
  /** As measured, without the expectation's factors. */
  readonly left: number | null;
  readonly right: number | null;
  readonly why?: string;
  /** The comparison. Absent: no numbers were compared. */
  readonly compared?: Compared;
}

export interface SweepPoint {
  readonly x: number;
  readonly y: number;
  /** For a time: its minimum and maximum; for a count both are `y`. */
  readonly from: number;
  readonly to: number;
}
export interface SweepCurve {
  /** The step, or the other settings. */
  readonly name: string;
  /** By x, rising. */
  readonly points: readonly SweepPoint[];
  /**
   * The exponent b of y = a * x^b: 1 = proportional. Over all points, by least squares of the
   * logarithms.
   */
  readonly slope: number | null;
  /** The same, between the last two points. */
  readonly lastSlope: number | null;
}
/** How a counter grows with a setting or a parameter with three or more values. */
export interface Growth {
  readonly over: string;
  readonly counter: string;
  readonly curves: readonly SweepCurve[];
}

export interface ExperimentResult {
  readonly experiment: string;
  readonly results: Readonly<Record<string, RunResult>>;
  /** Variants that couldn't run here, or failed, and why. */
  readonly skipped: Readonly<Record<string, string>>;
  readonly verdicts: readonly Verdict[];
  readonly growth: readonly Growth[];
  /** The VFSs for variants without their own. Absent: saved before VFSs could be chosen. */
  readonly on?: readonly VfsName[];
}
/** One workload with every combination of several values. */
export interface GridResult {
  readonly workload: string;
  readonly runs: readonly RunResult[];
  /** Combinations that couldn't run here, or failed, and why. */
  readonly skipped: Readonly<Record<string, string>>;
  /** Verdicts over all of them together. */
  readonly verdicts: readonly Verdict[];
  readonly growth: readonly Growth[];
}
