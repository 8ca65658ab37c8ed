// Every fact of a trace, and other functions that read a store.
import { allFacts, Facts } from '../../src/analysis/index.ts';
import '../../src/viewer/session/query-table.ts';
import { markedRanges } from '../../src/analysis/report/cut.ts';
import { privacyReport } from '../../src/analysis/privacy/privacy-report.ts';
import { sanitizeStore } from '../../src/analysis/privacy/sanitize.ts';
import type { TraceStore } from '../../src/trace/store.ts';

export interface Analysis {
  name: string;
  run(facts: Facts): void;
}

export const ANALYSES: readonly Analysis[] = [
  ...allFacts().map((fact) => ({
    name: fact.name,
    run(facts: Facts) {
      for (const _ of facts.compute([fact]));
    },
  })),
  ...[markedRanges, privacyReport, sanitizeStore].map((read) => ({
    name: read.name,
    run: ({ store }: Facts) => void read(store),
  })),
];

/** @throws Error that names the analysis and the seed, with what it threw as its cause */
export function runAll(analyses: readonly Analysis[], store: TraceStore, seed: number): void {
  const facts = new Facts(store);
  for (const { name, run } of analyses) {
    try {
      run(facts);
    } catch (e) {
      throw new Error(
        `${name} on the store of seed ${seed}: ${e instanceof Error ? e.message : String(e)}`,
        { cause: e },
      );
    }
  }
}
