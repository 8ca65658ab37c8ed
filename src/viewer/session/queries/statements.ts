/**
 * Queries of the Statements view: the table by fingerprint, and the runs of one statement over
 * time.
 */
import { mainThreads } from '../../../analysis/core/main-threads.ts';
import { fingerprintsOf } from '../../../analysis/core/fingerprints.ts';
import type { Scope } from '../../../analysis/core/scope.ts';
import { coarsestStep } from '../../../analysis/core/time-range.ts';
import { percentile } from '../../../analysis/core/durations.ts';
import { executions, ExecutionState } from '../../../analysis/core/executions.ts';
import {
  statementTable,
  statementTableIn,
  type StatementTable,
} from '../../../analysis/statements/statement-table.ts';
import { runHistogram } from '../../../analysis/statements/run-histogram.ts';
import { SLOW_NEEDS, slowRuns, type SlowRuns } from '../../../analysis/statements/slow-runs.ts';
import { recordedTexts } from '../../../analysis/core/recorded-texts.ts';
import { sweeps } from '../../../analysis/time/thread-times.ts';
import type { TimePartition } from '../../../analysis/time/time-partition.ts';
import { needing, type QueryContext } from './context.ts';
import { takesRun } from '../../../analysis/statements/run-scope.ts';
import type {
  MeasuredStatements,
  RunsArgs,
  SlowRunsArgs,
  StatementRuns,
} from '../../../protocol/answers/statements.ts';
const MOST_RUNS = 20_000;

/** The statements of a part of the recording, computed once for all callers; null as below. */
export const statementsOf = ({ facts, memo }: QueryContext, scope: Scope): StatementTable | null =>
  memo(`statements ${JSON.stringify(scope)}`, () => statementTableIn(facts, scope));

export const statementQueries = {
  /** null where no SQL call was recorded. */
  statements: needing(
    [statementTable, mainThreads],
    (context: QueryContext, scope: Scope): MeasuredStatements | null => {
      const table = statementsOf(context, scope);
      return table && { ...table, stepUs: coarsestStep(context.facts.get(mainThreads)) };
    },
  ),

  /** A statement as displayed, by its fingerprint; null = this trace has no such statement. */
  statementText: needing(
    [recordedTexts],
    ({ facts }: QueryContext, { text }: { text: string }): string | null =>
      facts.get(recordedTexts).get(text) ?? null,
  ),

  /**
   * @param text the fingerprint, as the table has it; null = text not known
   * @param scope the runs that the table counts with that filter
   */
  statementRuns: needing(
    [executions],
    (context: QueryContext, { text, ...scope }: RunsArgs): StatementRuns => {
      const found: [thread: number, seq: number, fromUs: number, us: number, state: number][] = [];
      for (const thread of context.store.threads) {
        const runs = context.facts.get(executions).of(thread);
        const textOf = fingerprintsOf(thread);
        for (let i = 0; i < runs.count; i++) {
          if (textOf(runs.text[i]!) !== text) continue;
          const row = runs.firstRow[i]!;
          if (!takesRun(scope, thread.index, thread.events.t0[row]!)) continue;
          found.push([
            thread.index,
            thread.events.seq[row]!,
            thread.events.t0[row]!,
            runs.us[i]!,
            runs.state[i]!,
          ]);
        }
      }
      const every = Math.max(1, Math.ceil(found.length / MOST_RUNS));
      const kept = found.filter((run, i) => i % every === 0 || run[4] === ExecutionState.failed);
      const ended = Float64Array.from(
        found.filter((run) => run[4] !== ExecutionState.running),
        (run) => run[3],
      ).sort();
      return {
        thread: Uint16Array.from(kept, (run) => run[0]),
        seq: Uint32Array.from(kept, (run) => run[1]),
        fromUs: Float64Array.from(kept, (run) => run[2]),
        us: Float64Array.from(kept, (run) => run[3]),
        state: Uint8Array.from(kept, (run) => run[4]),
        total: found.length,
        shown: kept.length,
        histogram: runHistogram(ended),
        medianUs: ended.length ? percentile(ended, 0.5) : null,
      };
    },
  ),

  /**
   * Why its slowest runs took longer than its median run.
   * @param between only runs of these durations, microseconds: [from, to)
   */
  slowRuns: needing(
    Object.values(SLOW_NEEDS),
    ({ facts }: QueryContext, { text, between, ...scope }: SlowRunsArgs): SlowRuns =>
      slowRuns(facts, text, between ?? undefined, scope),
  ),

  /** Where the time between two moments of a thread went. */
  timeBetween(
    { store, facts }: QueryContext,
    { thread, fromUs, toUs }: { thread: number; fromUs: number; toUs: number },
  ): TimePartition | null {
    const found = store.threads[thread];
    return found ? facts.get(sweeps).of(found).partitionWithin({ fromUs, toUs }) : null;
  },
};
