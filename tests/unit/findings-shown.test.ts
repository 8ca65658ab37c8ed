// Every finding of the golden traces can be shown: it names calls of the trace, and a time range
// that contains them.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readTrace } from '../../src/trace/file/read.ts';
import { findingsOf } from '../traces/analyses.ts';

const GOLDEN = join(import.meta.dirname, '..', 'traces', 'golden');

it.each(readdirSync(GOLDEN).filter((name) => name.endsWith('.vfst')))('%s', async (name) => {
  const { store } = await readTrace(readFileSync(join(GOLDEN, name)));
  for (const { rule, evidence } of findingsOf(store)) {
    expect(evidence.events.length, `${rule} names no call`).toBeGreaterThan(0);
    for (const { thread, seq } of evidence.events) {
      const { events } = store.threads[thread]!;
      const row = events.rowOfSeq(seq);
      expect(row, rule).toBeGreaterThanOrEqual(0);
      // the cause of a wait may be named next to the counted waits: it is anywhere in the trace
      expect(events.op[row], rule).toBeGreaterThan(0);
    }
    expect(evidence.toUs, rule).toBeGreaterThanOrEqual(evidence.fromUs);
  }
});
