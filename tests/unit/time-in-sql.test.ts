// One time while SQL runs: the Overview's number, the sum over its threads and the Statements' total are the same to the nanosecond.
import { explained } from '../../src/analysis/findings/explanation.ts';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Facts } from '../../src/analysis/core/graph.ts';
import { statementTable } from '../../src/analysis/statements/statement-table.ts';
import { headlineNumbers } from '../../src/analysis/numbers/headline-numbers.ts';
import { summary } from '../../src/analysis/report/summary.ts';
import { totalTimeInSql } from '../../src/analysis/time/summary-time.ts';
import { byStatement, partition } from '../../src/analysis/time/thread-times.ts';
import { readTrace } from '../../src/trace/file/read.ts';

const GOLDEN = join(import.meta.dirname, '..', 'traces', 'golden');

describe('time while SQL runs', () => {
  it.each(readdirSync(GOLDEN).filter((name) => name.endsWith('.vfst')))('%s', async (name) => {
    const { store } = await readTrace(readFileSync(join(GOLDEN, name)));
    const facts = new Facts(store);
    const table = facts.get(statementTable);
    const shown = facts.get(headlineNumbers).find(({ id }) => id === 'sqlTime')!.value;
    expect(shown).toBe(facts.get(totalTimeInSql));
    if (!table) return expect(shown).toBeNull(); // no SQL layer: this recording has no VFS calls either
    expect(shown).toBe(table.spanUs);
    // the summary's parts are those of the time while SQL runs, without the setup of the recording
    const { cpuUs, ioUs, lockUs, lockWaitUs, tracerUs, otherUs } = facts.get(summary).time;
    const outside = store.threads
      .filter((thread) => facts.get(byStatement).of(thread).size > 0)
      .reduce((us, thread) => us + facts.get(partition).of(thread).tracerOutsideUs, 0);
    expect(outside).toBeGreaterThan(0); // each of these recordings shows how it was set up
    expect(cpuUs! + ioUs! + lockUs! + lockWaitUs! + tracerUs! + otherUs!).toBeCloseTo(shown!, 3);
    expect(facts.get(explained)!.explainedUs).toBeLessThanOrEqual(shown!);
  });
});
