// How much of the time in SQL the findings explain: each moment counts once, however many findings
// name it.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Facts } from '../../src/analysis/core/graph.ts';
import { sqliteThreads } from '../../src/analysis/core/main-threads.ts';
import { servedThreads } from '../../src/analysis/core/helper-threads.ts';
import { PART, SQL_PARTS } from '../../src/analysis/core/time-parts.ts';
import { coverage, explained, explainedSaid } from '../../src/analysis/findings/explanation.ts';
import { saidText } from '../../src/analysis/numbers/said.ts';
import { coverageOf } from '../../src/analysis/findings/named-time.ts';
import { findings, toldFindings } from '../../src/analysis/findings/index.ts';
import { Flag } from '../../src/event/event.ts';
import { Evidence, findingContext, type NamedTime } from '../../src/analysis/rules/context.ts';
import { pieces } from '../../src/analysis/time/thread-times.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';
import { FAILURES } from '../traces/findings/failures.ts';
import { QUERIES } from '../traces/findings/queries.ts';
import { IDB } from '../traces/findings/idb.ts';
import { PAGE, play, times } from '../traces/findings/stage.ts';
import { STORAGE } from '../traces/findings/storage.ts';
import { WAITS } from '../traces/findings/waits.ts';

/**
 * A statement of 1,000 us with two reads of 100 us, each with 60 us in storage, then 500 us of the
 * app's own reading.
 */
function recorded() {
  const store = newStore();
  const thread = new ThreadBuilder(store);
  const file = thread.file('app.db');
  const stored = thread.define({ kind: 'opfs-file', path: 'app.db' });
  const reads: number[] = [];
  thread.call('sqlStep', { dur: 800 }, () => {
    for (let i = 0; i < 2; i++)
      reads.push(
        thread.call('xRead', { object: file, offset: 0, length: 512, dur: 40 }, () =>
          thread.call('opfsRead', { object: stored, offset: 0, length: 512, dur: 60 }),
        ),
      );
  });
  const own = thread.call('opfsRead', {
    object: thread.define({ kind: 'opfs-file', path: 'own' }),
    dur: 500,
  });
  thread.send();
  const facts = new Facts(store);
  expect(facts.get(findings)).toEqual([]);
  const ctx = facts.get(findingContext);
  /** For findings, each about these calls, or about this time range. */
  const explainedBy = (...about: (readonly number[] | NamedTime)[]): Record<string, number> => {
    const named = about.map((what) => {
      if ('ran' in what) return new Map([[thread.thread, what]]);
      const evidence = new Evidence();
      for (const seq of what) evidence.add(thread.thread, thread.thread.events.rowOfSeq(seq));
      return evidence.result(ctx).named;
    });
    const known = facts.known({ pieces, sqliteThreads, servedThreads });
    const { explained } = coverageOf(store, known, named);
    return Object.fromEntries(
      SQL_PARTS.flatMap((part) => {
        const ns = explained[PART[part]]!;
        return ns ? [[part, ns / 1000]] : [];
      }),
    );
  };
  return { explainedBy, reads, own, told: () => facts.get(explained)! };
}

test('calls that two findings name count once', () => {
  const { explainedBy, reads } = recorded();
  expect(explainedBy([reads[0]!], reads)).toEqual({ cpu: 80, read: 120 });
});
test('a statement covers the calls in it', () => {
  const { explainedBy, reads } = recorded();
  expect(explainedBy([reads[1]!], [1])).toEqual({ cpu: 880, read: 120 });
});
test('of awaited calls only the waits count, and those that a call covers count once', () => {
  const { explainedBy, reads } = recorded();
  const whole = { calls: new Uint32Array(), ran: [], awaited: [0, 1e6] };
  expect(explainedBy(whole)).toEqual({ read: 120 });
  expect(explainedBy([reads[1]!], whole)).toEqual({ cpu: 40, read: 120 });
});
test('what ran concurrently with whole calls counts once with them', () => {
  const { explainedBy, reads } = recorded();
  const whole = { calls: new Uint32Array(), ran: [0, 1e6], awaited: [] };
  expect(explainedBy(reads, whole)).toEqual(explainedBy(whole));
  expect(explainedBy([...reads].reverse(), reads)).toEqual(explainedBy(reads));
});
test('spans in any order, that overlap, touch, or are empty: each moment counts once', () => {
  const { explainedBy } = recorded();
  const moment = fc.integer({ min: 0, max: 1000 });
  const spans = fc.array(fc.tuple(moment, moment), { maxLength: 12 });
  fc.assert(
    fc.property(fc.array(spans, { maxLength: 4 }), (lists) => {
      const covered = new Set<number>();
      for (const [from, to] of lists.flat()) for (let us = from; us < to; us++) covered.add(us);
      const told = lists.map((list) => ({
        calls: new Uint32Array(),
        ran: list.flat(),
        awaited: [],
      }));
      const us = Object.values(explainedBy(...told)).reduce((sum, part) => sum + part, 0);
      expect(us).toBe(covered.size);
    }),
  );
});
test('what ran outside SQL explains none of it', () => {
  const { explainedBy, own } = recorded();
  expect(explainedBy([own])).toEqual({});
});
test('what no finding names is unexplained', () => {
  const { told } = recorded();
  expect(told()).toMatchObject({
    ...{ explainedUs: 0, inSqlUs: 1000, findings: 0, savings: 0, slowed: false },
  });
});
test("savings of several findings can overlap, and those of one can't", () => {
  const one = { explainedUs: 200, inSqlUs: 1000, findings: 1, savings: 1, slowed: false };
  const text = (told: typeof one): string => saidText(explainedSaid(told, '200 µs', '1 ms'));
  expect(text(one)).toBe('This action explains 200 µs of the 1 ms in SQL.');
  expect(text({ ...one, findings: 2 })).toBe('These actions explain 200 µs of the 1 ms in SQL.');
  expect(text({ ...one, findings: 2, savings: 2 })).toBe(
    "These actions explain 200 µs of the 1 ms in SQL. Savings overlap, so don't add them up: fix one, then record again.",
  );
});

describe('an IndexedDB transaction explains', () => {
  /**
   * Writes with 300 us of each in a strict transaction, reads of a file, and the transactions that
   * the app has open in a database of its own.
   */
  const told = (own: number): { explainedUs: number; rules: string[]; title: string } => {
    const store = play(({ thread }) => {
      const b = thread();
      const db = b.file('/app.db');
      const file = b.define({ kind: 'opfs-file', path: '/other.db' });
      const [blocks, notes] = ['vfs', 'app'].map((name) =>
        b.define({ kind: 'idb-store', db: name, store: 'all' }),
      ) as [number, number];
      const strict = { aux: 1 | (1 << 2), flags: Flag.async };
      times(own, (i) => {
        const context = 2 * i + 2;
        b.call('idbTransaction', { ...strict, object: notes, context, dur: 50_000 }, () =>
          b.call('idbPut', { object: notes, context, dur: 1, flags: Flag.async }),
        );
        b.now = 10 * i; // they stay open
      });
      times(12, (i) => {
        const page = { object: db, offset: i * PAGE, length: PAGE, dur: 200, flags: Flag.async };
        b.call('sqlStep', { dur: 1000, flags: Flag.async }, () => {
          b.call('xRead', page, () =>
            b.call('opfsRead', { object: file, offset: 0, length: PAGE, dur: 70 }),
          );
          b.call('xWrite', page, () => {
            const context = 2 * i + 1;
            b.call('idbTransaction', { ...strict, object: blocks, context, dur: 200 }, () =>
              b.call('idbPut', { object: blocks, context, dur: 100, flags: Flag.async }),
            );
          });
        });
        b.idle(100);
      });
    });
    const facts = new Facts(store);
    const found = facts.get(findings);
    return {
      explainedUs: facts.get(explained)!.explainedUs,
      rules: found.map(({ rule }) => rule),
      title: found.find(({ rule }) => rule === 'F15')!.title,
    };
  };
  test('the time that SQLite waits for it, not what SQLite computes meanwhile', () => {
    expect(told(0)).toMatchObject({ explainedUs: 12 * 300, rules: ['F15'] });
  });
  test("nothing if it is the app's own", () => {
    expect(told(12)).toEqual(told(0));
    expect(told(0).title).toContain('12 of 12 writing');
  });
});

describe('never more than there was, and something if there are findings', () => {
  const folder = path.join(import.meta.dirname, '..', 'traces', 'golden');
  test.each(readdirSync(folder).filter((name) => name.endsWith('.vfst')))('%s', async (name) => {
    const { store } = await readTrace(readFileSync(path.join(folder, name)));
    const facts = new Facts(store);
    const found = facts.get(findings);
    const known = facts.get(explained);
    for (const { savingUs } of found) expect(savingUs ?? 0).toBeGreaterThanOrEqual(0);
    if (!known) return;
    expect(known.explainedUs).toBeLessThanOrEqual(known.inSqlUs);
    const savings = found.filter(({ savingUs }) => savingUs !== null).length;
    expect(known).toMatchObject({ findings: found.length, savings });
    if (found.some(({ rule }) => rule === 'F01')) expect(known.explainedUs).toBeGreaterThan(0);
    // a rule that examined calls and then reported nothing explains none of them
    const told = facts.get(toldFindings).map(({ named }) => named);
    const all = facts.known({ pieces, sqliteThreads, servedThreads });
    expect(coverageOf(store, all, told)).toEqual(facts.get(coverage));
  });
});

describe('a finding saves no more than the calls took that it names', () => {
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
    for (const { finding, named } of new Facts(store).get(toldFindings)) {
      const us = [...named].reduce((sum, [{ events }, { calls, ran, awaited }]) => {
        const ofCalls = [...calls].flatMap((row) => [
          events.t0[row]!,
          events.t0[row]! + events.dur[row]!,
        ]);
        return sum + unionOf([...ofCalls, ...ran, ...awaited]);
      }, 0);
      expect(finding.savingUs ?? 0, `${finding.rule}: ${finding.title}`).toBeLessThanOrEqual(
        us * 1.000001 + 0.001,
      );
    }
  };
  test.each([...WAITS, ...IDB, ...STORAGE, ...FAILURES, ...QUERIES])(
    '$rule: $name',
    ({ wrong }) => {
      check(play(wrong));
    },
  );
  const folder = path.join(import.meta.dirname, '..', 'traces', 'golden');
  test.each(readdirSync(folder).filter((name) => name.endsWith('.vfst')))('%s', async (name) => {
    check((await readTrace(readFileSync(path.join(folder, name)))).store);
  });
});
