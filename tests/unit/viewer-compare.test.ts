// Two traces side by side: what the Compare view shows, without a browser.
import { describe, expect, it } from 'vitest';
import { SQL_PARTS } from '../../src/analysis/core/time-parts.ts';
import { Facts } from '../../src/analysis/core/graph.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import {
  ComparisonTraces,
  MAX_PREVIOUS_EVENTS,
} from '../../src/viewer/session/comparison-traces.ts';
import { verdictLines } from '../../src/analysis/report/diff-table.ts';
import { QUERIES } from '../../src/viewer/session/query-table.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';
import { autocommits, contextOf } from './viewer-context.ts';
import { diffOf } from '../traces/analyses.ts';

describe('a comparison', () => {
  it('shows two traces side by side', () => {
    const [a, b] = [autocommits(12), autocommits(3)];
    const both = QUERIES.comparison(
      contextOf(a, {
        other: { store: b, facts: new Facts(b), name: 'b.vfst' },
        previous: null,
      }),
      {},
    )!;
    const commits = both.numbers.find((n) => n.a.id === 'commits')!;
    expect([commits.a.value, commits.b.value]).toEqual([12, 3]);
    expect(both.diff.statements).toMatchObject([
      { executionsA: 12, executionsB: 3, verdict: 'changed' },
    ]);
    expect(both.a.times!.syncUs).toBe(4 * both.b.times!.syncUs);
    expect(QUERIES.comparison(contextOf(a), {})).toBeNull();
  });
  it('swaps them: numbers, times, statements, and the verdict', () => {
    const [a, b] = [autocommits(12), autocommits(3)];
    const context = contextOf(a, {
      other: { store: b, facts: new Facts(b), name: 'b.vfst' },
      previous: null,
    });
    const swapped = QUERIES.comparison(context, { other: 'b.vfst', swapped: true })!;
    const commits = swapped.numbers.find((n) => n.a.id === 'commits')!;
    expect([commits.a.value, commits.b.value]).toEqual([3, 12]);
    expect(swapped.diff).toEqual(diffOf(b, a));
    expect(verdictLines(swapped.diff)).not.toEqual(verdictLines(diffOf(a, b)));
    expect(swapped.b.times!.syncUs).toBe(4 * swapped.a.times!.syncUs);
    const strips = QUERIES.compareStrips(context, {
      ...{ other: 'b.vfst', width: 400 },
      ...{ oneScale: true, swapped: true },
    })!;
    expect(strips.b.spanUs).toBeGreaterThan(3 * strips.a.spanUs);
  });
  it('draws both over time, with columns of equal length if requested', () => {
    const [a, b] = [autocommits(12), autocommits(3)];
    const context = contextOf(a, {
      other: { store: b, facts: new Facts(b), name: 'b.vfst' },
      previous: null,
    });
    const wide = { other: 'b.vfst', width: 400 };
    const one = QUERIES.compareStrips(context, { ...wide, oneScale: true })!;
    const inUse = ({ stacks }: { stacks: Uint8Array[] }): number => {
      let last = 0;
      stacks.forEach((stack) =>
        stack.forEach(
          (share, i) =>
            (last = share ? Math.max(last, Math.floor(i / SQL_PARTS.length) + 1) : last),
        ),
      );
      return last;
    };
    expect(one.a.spanUs).toBeGreaterThan(3 * one.b.spanUs);
    expect(inUse(one.a)).toBe(400);
    expect(inUse(one.b)).toBe(Math.floor((400 * one.b.spanUs) / one.a.spanUs));
    const late = new ThreadBuilder(newStore());
    late.call('tracer', { dur: 5 });
    late.idle(1e6);
    const statement = late.define({ kind: 'sql', text: 'SELECT 1' });
    late.call('sqlStep', { object: statement, context: 1, dur: 10 });
    late.send();
    const begun = {
      other: { store: late.store, facts: new Facts(late.store), name: 'b.vfst' },
      previous: null,
    };
    expect(QUERIES.compareStrips(contextOf(a, begun), { ...wide, oneScale: true })!.b.spanUs).toBe(
      10,
    );
    const own = QUERIES.compareStrips(context, { ...wide, oneScale: false })!;
    expect([inUse(own.a), inUse(own.b)]).toEqual([400, 400]);
    expect(QUERIES.compareStrips(contextOf(a), { ...wide, oneScale: true })).toBeNull();
    const empty = newStore();
    const none = {
      other: { store: empty, facts: new Facts(empty), name: 'b.vfst' },
      previous: null,
    };
    expect(QUERIES.compareStrips(contextOf(a, none), { ...wide, oneScale: true })!.b).toEqual({
      spanUs: 0,
      stacks: [],
    });
  });
  it('shows which findings a change has solved, which are new, and which remain', () => {
    const [many, few] = [autocommits(40), autocommits(3)];
    const findings = (a: TraceStore, b: TraceStore) =>
      diffOf(a, b).findings.map(({ rule, verdict, savingUsA, savingUsB }) => [
        rule,
        verdict,
        savingUsA !== null,
        savingUsB !== null,
      ]);
    expect(findings(many, few)).toEqual([
      ['F01', 'solved', true, false],
      ['F07', 'solved', true, false],
    ]);
    expect(findings(few, many)).toEqual([
      ['F01', 'new', false, true],
      ['F07', 'new', false, true],
    ]);
    expect(findings(many, many).map(([rule, verdict]) => [rule, verdict])).toEqual([
      ['F01', 'in both'],
      ['F07', 'in both'],
    ]);
    expect(diffOf(many, few).findings[0]).toMatchObject({
      title: 'One transaction per statement',
      a: [expect.stringContaining('40 commits') as string],
      b: [],
    });
  });
  it('keeps the previous recording, unless it is empty or huge', () => {
    const compared = new ComparisonTraces();
    const store = autocommits(1);
    compared.keep(newStore(), 'empty');
    expect(() => compared.usePrevious()).toThrow("isn't stored");
    compared.keep(store, 'before');
    compared.keep(newStore(), 'empty');
    compared.usePrevious();
    expect(compared.other).toMatchObject({ store, name: 'before' });
    compared.keep({ eventCount: MAX_PREVIOUS_EVENTS + 1 } as TraceStore, 'huge');
    expect(compared.previous).toBeNull();
    compared.forget();
    expect(compared.other).toBeNull();
  });
});
