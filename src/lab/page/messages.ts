/** What the Lab's page and its workers say to each other. All ends are ours and of one build: no guard, no version. */
import type { DatabaseFacts } from './database-file.ts';
import type { RecordingFacts } from '../experiments/replay/facts.ts';
import type { ReplayProgress, ReplayReport } from '../experiments/replay/replay.ts';
import type { Config, Run, RunResult, Sample } from '../experiments/types.ts';

export type ToLabWorker =
  /** Before anything else, where a trace is wanted: `ports[0]` takes it, as a hook's port does. */
  | { k: 'trace' }
  | /** Before anything else, from another Lab's worker: serve one actor of its workload over `ports[0]`. */ {
      k: 'actor';
    }
  | { k: 'sample'; id: number; run: Run }
  | { k: 'replay'; id: number; file: Blob; config: Config }
  | { k: 'look'; id: number; file: Blob }
  | { k: 'explain'; id: number; database: Blob | null; sql: string | readonly string[] }
  | { k: 'take'; id: number; main: Blob; wal: Blob | null };

export interface PlanRow {
  /** The statement that it belongs to. */
  sql: string;
  id: number;
  parent: number;
  detail: string;
}
export type FromLabWorker =
  | {
      k: 'sample';
      id: number;
      sample: Sample;
      environment: RunResult['environment'];
      left: string[];
    }
  | { k: 'replay'; id: number; report: ReplayReport; trace: Blob; left: string[] }
  /** Before the answer, as often as the worker likes. */
  | { k: 'progress'; id: number; progress: ReplayProgress }
  | { k: 'looked'; id: number; facts: RecordingFacts; warnings: string[] }
  | { k: 'plan'; id: number; rows: PlanRow[] }
  | { k: 'taken'; id: number; facts: DatabaseFacts }
  | { k: 'failed'; id: number; message: string };

/** To the worker that keeps a run's trace: `ports[0]` brings it. */
export type ToKeeper = { k: 'keep' };
export type FromKeeper =
  { k: 'kept'; file: Blob; events: number } | { k: 'failed'; message: string };
