// One time with SQL in flight: the Overview's number, the sum over its threads and the Statements' total are the same to the nanosecond.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { headlineNumbers } from '../../src/analysis/report/headline-numbers.ts';
import { Analyses } from '../../src/analysis/shared.ts';
import { sharedTable } from '../../src/analysis/statements/statement-table.ts';
import { sharedSummary } from '../../src/analysis/report/summary.ts';
import { totalTimeInSql } from '../../src/analysis/time/time-partition.ts';
import { readTrace } from '../../src/trace/file/read.ts';

const GOLDEN = join(import.meta.dirname, '..', 'traces', 'golden');

describe('time with SQL in flight', () => {
  it.each(readdirSync(GOLDEN).filter((name) => name.endsWith('.vfst')))('%s', async (name) => {
    const { store } = await readTrace(readFileSync(join(GOLDEN, name)));
    const shared = new Analyses(store);
    const summary = sharedSummary(shared);
    const table = sharedTable(shared);
    const shown = headlineNumbers(store, shared, summary).find(({ id }) => id === 'sqlTime')!.value;
    expect(shown).toBe(totalTimeInSql(store, shared));
    if (!table) return expect(shown).toBeNull(); // no SQL layer: this recording has no VFS calls either
    expect(shown).toBe(table.spanUs);
    // what is left out of the summary's parts is the tracer's own work outside of SQL
    const { cpuUs, ioUs, lockUs, tracerUs, otherUs } = summary.time;
    const outside = store.threads
      .filter((thread) => shared.byStatement(thread).size > 0)
      .reduce((us, thread) => us + shared.partition(thread).tracerOutsideUs, 0);
    expect(outside).toBeGreaterThan(0); // each of these recordings shows how it was set up
    expect(cpuUs! + ioUs! + lockUs! + tracerUs! + otherUs! - outside).toBeCloseTo(shown!, 3);
  });
});
