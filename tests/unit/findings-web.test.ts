// Findings on synthetic traces (tests/traces/findings): each rule fires on its own trace, and not
// on the same work done right.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { RULES, type Finding } from '../../src/analysis/findings/index.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { FAILURES } from '../traces/findings/failures.ts';
import { QUERIES } from '../traces/findings/queries.ts';
import { IDB } from '../traces/findings/idb.ts';
import { play } from '../traces/findings/stage.ts';
import { STORAGE } from '../traces/findings/storage.ts';
import { WAITS } from '../traces/findings/waits.ts';
import { findingsOf } from '../traces/analyses.ts';

const CASES = [...WAITS, ...IDB, ...STORAGE, ...FAILURES, ...QUERIES];
const rulesOf = (store: TraceStore): string[] => findingsOf(store).map((f) => f.rule);
const find = (store: TraceStore, rule: string): Finding | undefined =>
  findingsOf(store).find((f) => f.rule === rule);

describe('each rule fires on its trace, and is silent on the same work done right', () => {
  test.each(CASES)('$rule: $name', ({ rule, wrong, right, says }) => {
    const bad = play(wrong);
    const found = find(bad, rule);
    expect(rulesOf(bad)).toContain(rule);
    expect(found!.title).toMatch(says);
    expect(found!.title).not.toMatch(/NaN|undefined|Infinity/);
    expect(found!.evidence.events.length).toBeGreaterThan(0);
    for (const { thread, seq } of found!.evidence.events)
      expect(bad.threads[thread]!.events.rowOfSeq(seq)).toBeGreaterThanOrEqual(0);
    expect(rulesOf(play(right))).not.toContain(rule);
  });
});

test('rules have their own ids, in order', () => {
  const ids = RULES.map((r) => r.id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toEqual([...ids].sort());
});

test('savings are those of the calls', () => {
  const gets = find(play(CASES.find((c) => c.rule === 'F18')!.wrong), 'F18')!;
  expect(gets.savingUs).toBeCloseTo(39 * 200, 6);
  expect(gets.savingHow).toContain('39 gets');
  const strict = find(play(CASES.find((c) => c.rule === 'F15')!.wrong), 'F15')!;
  expect(strict.savingUs).toBeNull();
  expect(strict.title).toContain('SQLite waited 8.8 ms for each on average, and 1.3 ms for each');
});

test("partial blocks of a journal aren't attributed to the page size", async () => {
  const golden = path.join(import.meta.dirname, '..', 'traces', 'golden', 'read-modify-write.vfst');
  const { store } = await readTrace(readFileSync(golden));
  expect(find(store, 'F09')!.advice).toMatch(/^Avoid the rollback journal/);
  expect(find(play(CASES.find((c) => c.rule === 'F09')!.wrong), 'F09')!.advice).toMatch(
    /page size|WAL/,
  );
});

test('every rule of the catalog has a trace on which it fires, and a healthy one', () => {
  // its cases have both as well
  const engine = readFileSync(path.join(import.meta.dirname, 'findings-engine.test.ts'), 'utf8');
  const ofEngines = [...engine.matchAll(/^ {4}rule: '(F\d\d)',$/gm)].map(([, id]) => id!);
  const tested = new Set([...CASES.map((c) => c.rule), ...ofEngines]);
  expect([...tested].sort()).toEqual(RULES.map((r) => r.id));
});
