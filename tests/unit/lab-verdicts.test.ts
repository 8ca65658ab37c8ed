/**
 * Verdicts and conclusions as sentences: with the measured values, and with nothing that the run
 * did not decide.
 */
import { describe, expect, it } from 'vitest';
import { decide, expectAll } from '../../src/lab/experiments/model/assertions.ts';
import { counterText } from '../../src/lab/experiments/model/counter-words.ts';
import { ALL_EXPERIMENTS } from '../../src/lab/experiments/documents/tries.ts';
import { takesText } from '../../src/lab/experiments/duration.ts';
import { onVfs } from '../../src/lab/experiments/on-vfs.ts';
import { faultVerdict } from '../../src/lab/experiments/model/fault-verdict.ts';
import { QUESTION_EXPERIMENTS } from '../../src/lab/experiments/documents/questions.ts';
import { readWords, runOf, runsOf } from '../../src/lab/experiments/plan.ts';
import type { RunResult, Verdict } from '../../src/lab/experiments/model/result-types.ts';
import type { Experiment, VfsName } from '../../src/lab/experiments/model/types.ts';
import { WORKLOADS, workloadOf } from '../../src/lab/experiments/workloads/index.ts';
import { conclusionTexts, verdictSentence } from '../../src/lab/results/verdicts.ts';

const sentence = (comparison: string, numbers: Record<string, number>): string => {
  const [expectation] = expectAll({ 'One saves': comparison });
  return verdictSentence(
    decide(expectation!, ({ variant }) => {
      const value = numbers[variant!];
      return value === undefined ? undefined : { value, spread: null, stepMs: 0 };
    }),
  );
};

describe('a verdict', () => {
  it("has the numbers as measured, whatever the expectation's factor", () => {
    expect(sentence('a run vfs.xSync * 100 < b run vfs.xSync', { a: 1, b: 300 })).toBe(
      'One saves: 1 sync against 300.',
    );
    expect(sentence('a run vfs.xSync * 100 < b run vfs.xSync', { a: 3, b: 300 })).toBe(
      'One saves: 3 syncs against 300; needed: 3 × 100 < 300.',
    );
  });
  it('names both counters if they differ, and one if it is compared with a number', () => {
    expect(
      sentence('a total checkpoint.dbWrites * 20 < b total vfs.wal.xWrite', { a: 6, b: 4002 }),
    ).toBe('One saves: 6 page writes against 4,002 log writes.');
    expect(sentence('a total vfs.xLock = 0', { a: 0 })).toBe('One saves: 0 locks.');
    expect(sentence('a total vfs.xLock = 0', { a: 12 })).toBe(
      'One saves: 12 locks; needed: 12 = 0.',
    );
    expect(sentence('a run ms < b run ms', { a: 1.5, b: 12 })).toBe(
      'One saves: 1.5 ms against 12 ms.',
    );
  });
  it('reports why it is open', () => {
    expect(sentence('a run vfs.xSync < b run vfs.xSync', { a: 3 })).toBe(
      'One saves: not known here: b: run vfs.xSync.',
    );
  });
  it('is a whole sentence in each experiment and workload', () => {
    const texts = [
      ...ALL_EXPERIMENTS.flatMap((e) => e.expectations),
      ...WORKLOADS.flatMap((w) => w.assertions),
    ].map(({ text }) => text);
    expect(texts.filter((text) => /^\.\.\.|\.$|^[a-z]+$/.test(text))).toEqual([]);
  });
});

it('a counter is shown with its noun, or by its name', () => {
  expect(
    [
      ['commit.vfs.xSync', 1],
      ['vfs.journal.xWrite', 2],
      ['vfs.xReadBytes', 4096],
      ['cache.miss', 195],
      ['other.thing', 2],
    ].map(([name, n]) => counterText(n as number, name as string)),
  ).toEqual([
    '1 sync in commits',
    '2 journal writes',
    '4 KiB',
    '195 cache misses',
    '2 other.thing',
  ]);
});

describe('a conclusion', () => {
  const verdicts = (...holds: Verdict['holds'][]): Verdict[] =>
    holds.map((each, i) => ({ text: `claim ${i}`, holds: each, left: null, right: null }));
  const says = [{ says: 'It pays.', rests: /claim [01]/ }];
  const of = (conclusions: Experiment['conclusions']): Parameters<typeof conclusionTexts>[0] => ({
    conclusions,
    variants: [],
  });
  it('is stated as shown only if everything that it depends on holds', () => {
    expect(conclusionTexts(of(says), verdicts(true, true, false))).toEqual([
      '2 of 3 claims hold, 1 does not.',
      'It pays.',
    ]);
    expect(conclusionTexts(of(says), verdicts(true, false))).toEqual([
      '1 of 2 claims holds, 1 does not.',
      'This run contradicts it: It pays.',
    ]);
    expect(conclusionTexts(of(says), verdicts(true, null))).toEqual([
      '1 of 2 claims holds, 1 is open.',
      'This run decides it in part (1 of 2 open): It pays.',
    ]);
    expect(conclusionTexts(of(says), verdicts(null, null))[1]).toBe(
      "This run doesn't decide it: It pays.",
    );
    expect(conclusionTexts(of(says), [])).toEqual([]);
  });
  it("about the cost of storing isn't drawn from runs in memory", () => {
    const experiment = QUESTION_EXPERIMENTS.find(({ id }) => id === 'commit-cost')!;
    const on = (vfs: VfsName[]): string[] =>
      conclusionTexts(
        onVfs(experiment, vfs, 'browser'),
        experiment.expectations.map(({ text }) => ({ text, holds: true, left: 3, right: 3 })),
      );
    const says = 'You pay for syncs per transaction, not per row.';
    expect(on(['BlockIDB', 'MemoryVFS'])[1]).toMatch(new RegExp(`^${says}`));
    expect(on(['MemoryVFS'])[1]).toMatch(
      new RegExp(`^Nothing was stored, so this run doesn't decide it: ${says}`),
    );
  });
  it("doesn't depend on the results under a fault profile", () => {
    const run = runOf(workloadOf('sequential-write'), readWords(['vfs=BlockIDB', 'quota=65536']), {
      mode: 'count',
      repeats: 1,
    });
    const report = { flushes: 0, handles: 0, refused: 0, overQuota: 1, answer: null, damage: '' };
    for (const fault of [
      { ...report, overQuota: 0, whole: true },
      { ...report, whole: false },
    ]) {
      const verdict = faultVerdict({ run, fault } as RunResult)!;
      expect(verdict.holds).not.toBe(true);
      const held: Verdict = { text: 'One saves', holds: true, left: 1, right: 2 };
      const told = conclusionTexts(of([{ says: 'It pays.' }]), [
        { ...verdict, text: `full@BlockIDB: ${verdict.text}` },
        held,
      ]);
      expect(told[1]).toBe('It pays.');
    }
  });
  it('depends on expectations that exist', () => {
    for (const experiment of ALL_EXPERIMENTS)
      for (const { rests } of onVfs(experiment, [], 'browser').conclusions)
        if (rests)
          expect([
            experiment.id,
            experiment.expectations.filter(({ text }) => rests.test(text)).length > 0,
          ]).toEqual([experiment.id, true]);
  });
});

it("an experiment reports how many passes it makes and how long they take; a user's script has no such time", () => {
  for (const experiment of ALL_EXPERIMENTS) {
    const { mode } = experiment;
    const runs = [...runsOf(onVfs(experiment, [], 'browser'), {}, { mode, repeats: 5 }).values()];
    expect(takesText(runs)).toMatch(
      /^\d+ passes\. Expect (?:a few seconds|up to \d+ (?:s|min))\.$/,
    );
  }
  const own = runOf(workloadOf('own-sql', 'SELECT 1'), {}, { mode: 'count', repeats: 1 });
  expect(takesText([own])).toBe('1 pass. How long it takes depends on your script.');
  const slow = runOf(
    workloadOf('read-poll'),
    { config: { vfs: 'BlockIDB', slowFlush: 20 } },
    { mode: 'time', repeats: 1 },
  );
  expect(takesText([slow])).toBe('2 passes. Expect a few seconds, and 20 ms more for each flush.');
});
