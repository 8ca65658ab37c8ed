// How much of the time in SQL the findings are about: each moment once, whatever names it.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { Facts } from '../../src/analysis/core/graph.ts';
import { explained, explainedText } from '../../src/analysis/findings/explanation.ts';
import { findings, type Finding } from '../../src/analysis/findings/index.ts';
import { Evidence, findingContext } from '../../src/analysis/rules/context.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import type { ThreadStore, TraceStore } from '../../src/trace/store.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';
import { FAILURES } from '../traces/findings/failures.ts';
import { IDB } from '../traces/findings/idb.ts';
import { play } from '../traces/findings/stage.ts';
import { STORAGE } from '../traces/findings/storage.ts';
import { WAITS } from '../traces/findings/waits.ts';

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
    for (const { savingUs } of found) expect(savingUs ?? 0).toBeGreaterThanOrEqual(0);
    if (!known) return;
    expect(known.explainedUs).toBeLessThanOrEqual(known.inSqlUs);
    if (found.some(({ rule }) => rule === 'F01')) expect(known.explainedUs).toBeGreaterThan(0);
  });
});

describe('a finding saves no more than the calls took that it names', () => {
  /** Findings with what the calls took that each names, microseconds, each moment of a thread once. */
  function named(store: TraceStore): { finding: Finding; us: number }[] {
    const facts = new Facts(store);
    const ctx = facts.get(findingContext);
    const byEvents = new Map<unknown, number>();
    let spans = new Map<ThreadStore, readonly number[]>();
    vi.spyOn(ctx, 'name').mockImplementation((thread, own) => void spans.set(thread, own));
    const { result } = Evidence.prototype;
    vi.spyOn(Evidence.prototype, 'result').mockImplementation(function (this: Evidence, ...args) {
      spans = new Map();
      const evidence = result.apply(this, args);
      byEvents.set(
        evidence.events,
        [...spans.values()].reduce((us, own) => us + unionOf(own), 0),
      );
      return evidence;
    });
    try {
      const found = facts.get(findings);
      return found.map((finding) => ({ finding, us: byEvents.get(finding.evidence.events) ?? 0 }));
    } finally {
      vi.restoreAllMocks();
    }
  }
  function unionOf(spans: readonly number[]): number {
    let [us, at] = [0, -Infinity];
    const pairs = Array.from({ length: spans.length / 2 }, (_, i) => [
      spans[2 * i]!,
      spans[2 * i + 1]!,
    ]);
    for (const [from, to] of pairs.sort((a, b) => a[0]! - b[0]!)) {
      us += Math.max(0, to! - Math.max(at, from!));
      at = Math.max(at, to!);
    }
    return us;
  }
  const check = (store: TraceStore): void => {
    for (const { finding, us } of named(store))
      expect(finding.savingUs ?? 0, `${finding.rule}: ${finding.title}`).toBeLessThanOrEqual(
        us * 1.000001 + 0.001,
      );
  };
  test.each([...WAITS, ...IDB, ...STORAGE, ...FAILURES])('$rule: $name', ({ wrong }) => {
    check(play(wrong));
  });
  const folder = path.join(import.meta.dirname, '..', 'traces', 'golden');
  test.each(readdirSync(folder).filter((name) => name.endsWith('.vfst')))('%s', async (name) => {
    check((await readTrace(readFileSync(path.join(folder, name)))).store);
  });
});
