// How much of the time in SQL the findings are about: each moment once, whatever names it.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { Facts } from '../../src/analysis/core/graph.ts';
import { explained, explainedText } from '../../src/analysis/findings/explained.ts';
import { findings } from '../../src/analysis/findings/index.ts';
import { Evidence, findingContext } from '../../src/analysis/rules/context.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';

/** A statement of 1,000 us with two reads of 100 us, and 500 us of the app's own reading after it. */
function recorded() {
  const store = newStore();
  const thread = new ThreadBuilder(store);
  const file = thread.file('app.db');
  const reads: number[] = [];
  thread.call('sqlStep', { dur: 800 }, () => {
    for (let i = 0; i < 2; i++)
      reads.push(thread.call('xRead', { object: file, offset: 0, length: 512, dur: 100 }));
  });
  const own = thread.call('opfsRead', {
    object: thread.define({ kind: 'opfs-file', path: 'own' }),
    dur: 500,
  });
  thread.send();
  const facts = new Facts(store);
  expect(facts.get(findings)).toEqual([]);
  const ctx = facts.get(findingContext);
  const row = (seq: number): number => thread.thread.events.rowOfSeq(seq);
  return {
    /** A finding about these calls. */
    about(...seqs: number[]): void {
      const evidence = new Evidence();
      for (const seq of seqs) evidence.add(thread.thread, row(seq));
      evidence.result(ctx);
    },
    reads,
    own,
    told: () => facts.get(explained)!,
  };
}

test('calls that two findings name count once', () => {
  const { about, reads, told } = recorded();
  about(reads[0]!);
  about(...reads);
  expect(told()).toEqual({ explainedUs: 200, inSqlUs: 1000, slowed: false });
  expect(explainedText(told())).toBe('Explained by findings: 200 µs of 1 ms in SQL.');
});
test('a statement covers the calls in it', () => {
  const { about, reads, told } = recorded();
  about(reads[1]!);
  about(1);
  expect(told().explainedUs).toBe(1000);
});
test('what ran outside of SQL explains none of it', () => {
  const { about, own, told } = recorded();
  about(own);
  expect(told()).toEqual({ explainedUs: 0, inSqlUs: 1000, slowed: false });
});
test('evidence that led to no finding explains nothing', () => {
  const { told } = recorded();
  expect(told().explainedUs).toBe(0);
});

describe('never more than there was, and something where there are findings', () => {
  const folder = path.join(import.meta.dirname, '..', 'traces', 'golden');
  test.each(readdirSync(folder).filter((name) => name.endsWith('.vfst')))('%s', async (name) => {
    const facts = new Facts((await readTrace(readFileSync(path.join(folder, name)))).store);
    const found = facts.get(findings);
    const known = facts.get(explained);
    const { fromUs, toUs } = facts.get(findingContext);
    for (const { rule, savingUs, evidence } of found)
      if (['F01', 'F02', 'F11', 'F45'].includes(rule) && evidence.timeShare! < 1)
        // the others name more calls than their evidence shows
        expect(savingUs ?? 0, rule).toBeLessThanOrEqual(
          evidence.timeShare! * (toUs - fromUs) * 1.000001,
        );
    if (!known)
      return expect(found.every(({ savingUs }) => savingUs === null || savingUs >= 0)).toBe(true);
    expect(known.explainedUs).toBeLessThanOrEqual(known.inSqlUs);
    if (found.some(({ rule }) => rule === 'F01')) expect(known.explainedUs).toBeGreaterThan(0);
  });
});
