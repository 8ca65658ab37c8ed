/** The API of the Lab's page, `globalThis.vfscopeLab`, for a command that drives the page. */
import type { ReplayReport } from './replay/replay.ts';
import type { Config, Run } from './model/types.ts';
import type { Environment } from './model/environment-types.ts';
import type { RunResult, Sample } from './model/result-types.ts';

/** The outcome of one run. */
export interface LabRun {
  /** null where it failed: `message` says why. */
  result: RunResult | null;
  message: string;
  /** What it left in storage and couldn't remove. */
  left: string[];
}
/** Passes of the runs, in their order. */
export interface PassesDone {
  /** Passes done, and total passes. */
  at: [done: number, all: number];
  /** Result of the passes so far; null before the first. */
  environment: Environment | null;
  /** `message`: why the run failed; '' where it didn't. */
  runs: { samples: Sample[]; message: string; left: string[] }[];
}
export interface LabDoor {
  /** A chunk of a database file, as base64. `takeDatabase` makes a database of all chunks. */
  addPiece(piece: string): void;
  /**
   * Checks it and stores it for later runs on a database.
   * @throws Error with a message for the user where it isn't a database or is damaged
   */
  takeDatabase(): Promise<void>;
  /**
   * @param runs their `database` has only a name
   * @param patienceMs timeout of one pass; the remaining runs continue
   */
  run(runs: Run[], patienceMs?: number): Promise<LabRun[]>;
  /**
   * The results of `run` so far. The driver saves them, because the tab may close.
   * @param known for each run, how many passes to leave out; null: nothing has run
   */
  passes(known: number[]): PassesDone | null;
  /** Ends the current `run` or `replay`, which then answers with the finished passes or calls. */
  stop(): Promise<void>;
  /** A pass with every layer recorded, as the bytes of a .vfst file in base64. */
  trace(run: Run): Promise<string>;
  /**
   * A recording's calls on another configuration. Input and output are traces: bytes of .vfst files
   * in base64.
   */
  replay(
    trace: string,
    config: Config,
  ): Promise<{ report: ReplayReport; trace: string; left: string[] }>;
  /**
   * The results of `replay` so far. The driver saves them, because the tab may close.
   * @param known the last known `at`, 0 = none; null: nothing newer
   */
  replayed(known: number): Promise<{ at: number; report: ReplayReport; trace: string } | null>;
  /** What runs left in storage. */
  storage(): Promise<string[]>;
}
