/** The door of the Lab's page, `globalThis.vfscopeLab`: what a command that drives the page asks of it, and gets. */
import type { ReplayReport } from './replay/replay.ts';
import type { Config, Run } from './model/types.ts';
import type { Environment } from './model/environment-types.ts';
import type { RunResult, Sample } from './model/result-types.ts';

/** What became of one run. */
export interface LabRun {
  /** null where it failed: `message` says why. */
  result: RunResult | null;
  message: string;
  /** What it left in storage that could not be removed. */
  left: string[];
}
/** Passes of the runs, in their order. */
export interface PassesDone {
  /** Passes done, and passes in all. */
  at: [done: number, all: number];
  /** Of the passes so far; null before the first. */
  environment: Environment | null;
  /** `message`: why the run failed, '' where it did not. */
  runs: { samples: Sample[]; message: string; left: string[] }[];
}
export interface LabDoor {
  /** A piece of a database file, as base64: `takeDatabase` makes a database of all that came. */
  addPiece(piece: string): void;
  /** Checks it, and keeps it for the runs to come that have a database. @throws Error with a message for the user where it is none, or not whole */
  takeDatabase(): Promise<void>;
  /** @param runs their `database` has a name only @param patienceMs longest time for one pass; the rest of the runs goes on */
  run(runs: Run[], patienceMs?: number): Promise<LabRun[]>;
  /** What `run` has done so far: who drives the page keeps it, for the tab may close. @param known of each run, how many passes to leave away; null: nothing has run */
  passes(known: number[]): PassesDone | null;
  /** Ends what `run` or `replay` runs, which then answers with the passes or calls that were done. */
  stop(): Promise<void>;
  /** A pass with every layer recorded, as the bytes of a .vfst file in base64. */
  trace(run: Run): Promise<string>;
  /** A recording's calls on another configuration; trace in, trace out: bytes of .vfst files in base64. */
  replay(
    trace: string,
    config: Config,
  ): Promise<{ report: ReplayReport; trace: string; left: string[] }>;
  /** What `replay` has done so far: who drives the page keeps it, for the tab may close. @param known the `at` that is known already, 0 = none; null: nothing newer */
  replayed(known: number): Promise<{ at: number; report: ReplayReport; trace: string } | null>;
  /** What runs have left in storage. */
  storage(): Promise<string[]>;
}
