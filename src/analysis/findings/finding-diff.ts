/**
 * Findings of two traces by rule: what a change solved, what is new, and what remains.
 *
 *   A   F01 F07 F14        B   F14 F41        F41 new, F14 in both; F01 and F07 solved
 */
import { grouped } from '../core/maps.ts';
import { findings, RULES, type Finding } from './index.ts';
import type { Facts } from '../core/graph.ts';

export interface FindingDiff {
  rule: string;
  /** Of the rule. */
  title: string;
  /**
   * The sentences of its findings, the largest saving first; empty if the trace doesn't have it.
   */
  a: string[];
  b: string[];
  /** Microseconds, summed over its findings; null where none is known. */
  savingUsA: number | null;
  savingUsB: number | null;
  /** `solved`: in A only. `new`: in B only. */
  verdict: 'solved' | 'new' | 'in both';
}

/** First what to do in B, the largest saving first; then what is solved, in A's order. */
export function findingDiffs(a: Facts, b: Facts): FindingDiff[] {
  const [inA, inB] = [byRule(a), byRule(b)];
  const titles = new Map(RULES.map(({ id, title }) => [id, title]));
  return [...inB.keys(), ...[...inA.keys()].filter((rule) => !inB.has(rule))].map(
    (rule): FindingDiff => {
      const [before, after] = [inA.get(rule) ?? [], inB.get(rule) ?? []];
      return {
        rule,
        title: titles.get(rule) ?? rule,
        a: before.map((f) => f.title),
        b: after.map((f) => f.title),
        savingUsA: savingOf(before),
        savingUsB: savingOf(after),
        verdict: before.length === 0 ? 'new' : after.length === 0 ? 'solved' : 'in both',
      };
    },
  );
}

/** In the order of `findings`: by each rule's largest saving. */
const byRule = (facts: Facts): Map<string, Finding[]> =>
  grouped(facts.get(findings), ({ rule }) => rule);

function savingOf(findings: readonly Finding[]): number | null {
  const known = findings.flatMap(({ savingUs }) => savingUs ?? []);
  return known.length ? known.reduce((sum, us) => sum + us, 0) : null;
}
