// The evidence of each rule's finding on its story (tests/traces/findings). If it consists of calls
// that are all shown, their bytes, time range, and share of the time match the same calls in the
// exported CSV. If it counts something else, the title shows how many.
import { expect, test } from 'vitest';
import { FAILURES } from '../traces/findings/failures.ts';
import { QUERIES } from '../traces/findings/queries.ts';
import { IDB } from '../traces/findings/idb.ts';
import { play } from '../traces/findings/stage.ts';
import { STORAGE } from '../traces/findings/storage.ts';
import { WAITS } from '../traces/findings/waits.ts';
import { formatCount } from '../../src/text/numbers.ts';
import { findingsOf } from '../traces/analyses.ts';
import { csvCalls, sum } from './doors/calls.ts';
import { moved } from './doors/claims.ts';

/** Rules whose bytes or time aren't those of the calls that they count. */
const OWN: Partial<Record<string, 'bytes' | 'time'>> = {
  F09: 'bytes', // bytes read but not needed
  F24: 'bytes', // bytes that would be lost
  F26: 'time', // time of the transaction, whose first call is shown
  F29: 'time', // time until the end of the thread
};

test.each([...WAITS, ...IDB, ...STORAGE, ...FAILURES, ...QUERIES])(
  '$rule: $name',
  async ({ rule, wrong }) => {
    const store = play(wrong);
    const calls = new Map((await csvCalls(store)).map((c) => [`${c.thread} ${c.seq}`, c]));
    const { title, evidence } = findingsOf(store).find((f) => f.rule === rule)!;
    const shown = evidence.events.map(({ thread, seq }) => calls.get(`${thread} ${seq}`)!);
    expect(shown).not.toContain(undefined);
    if (evidence.count === 1 && shown.length > 1) return; // that one call and its cause
    if (shown.length !== evidence.count)
      return void expect(title).toMatch(new RegExp(`\\b${formatCount(evidence.count)}\\b`));
    const own = OWN[rule];
    if (own !== 'bytes') expect(evidence.bytes ?? 0).toBe(sum(shown, moved));
    if (own === 'time') return;
    const [begin, end] = store.extent();
    expect(evidence.fromUs).toBe(Math.min(...shown.map(({ fromNs }) => fromNs)) / 1000);
    expect(evidence.toUs).toBe(Math.max(...shown.map(({ fromNs, ns }) => fromNs + ns)) / 1000);
    const us = sum(shown, ({ ns }) => ns / 1000);
    expect(evidence.timeShare).toBeCloseTo(Math.min(1, us / (end - begin)), 6);
  },
);
