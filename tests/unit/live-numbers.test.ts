// The live strip: its numbers equal those of the whole trace, however it arrives; unknown values
// are never 0.
import { describe, expect, it, vi } from 'vitest';
import { numbersFrom } from '../../src/analysis/numbers/headline-numbers.ts';
import { allFacts, Facts } from '../../src/analysis/core/graph.ts';
import type { EngineInfo } from '../../src/event/definitions.ts';
import type { LiveNumber } from '../../src/protocol/session.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { LiveCounts, SLOW_NEEDS } from '../../src/viewer/session/live-stats.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';

const at = (slot: string, numbers: readonly LiveNumber[]): LiveNumber =>
  numbers.find((n) => n.slot === slot)!;
const shown = (slot: string, live: LiveCounts): LiveNumber =>
  at(slot, live.counts(0, true).numbers);
/** Numbers that need a pass over the whole trace: during the recording, and after it. */
const SLOW = ['commits', 'lock-waits', 'io-share'];
const SLOW_AFTER = ['sql-time', 'statements', 'commits'];

/** A commit by rollback journal: its VFS calls, and the storage calls below on another thread. */
function commit(t: ThreadBuilder, storage: ThreadBuilder): void {
  const [db, journal] = [t.file('/app.db'), t.file('/app.db-journal', 'journal')];
  t.call('sqlStep', { object: t.define({ kind: 'sql', text: 'INSERT' }), result: 101 }, () => {
    t.call('xLock', { object: db, aux: 1 });
    t.call('xRead', { object: db, length: 4096 }, () => t.call('idbGet', { dur: 20 }));
    t.call('xLock', { object: db, aux: 2, result: 5 });
    t.call('xLock', { object: db, aux: 2 });
    t.call('xWrite', { object: journal, length: 512 });
    t.call('xWrite', { object: db, length: 4096 });
    t.call('xSync', { object: db });
    t.call('xDelete', { object: journal });
    t.call('xFileControl', { object: db, aux: 22 });
    t.call('xUnlock', { object: db, aux: 0 });
  });
  for (const op of ['opfsRead', 'opfsWrite', 'opfsWrite', 'opfsFlush'] as const) storage.call(op);
  t.send();
  storage.send();
}
function recording(): { store: TraceStore; more(): void } {
  const store = newStore();
  const [t, storage] = [new ThreadBuilder(store), new ThreadBuilder(store)];
  return { store, more: () => commit(t, storage) };
}

describe('at the end of a recording', () => {
  it("each is the whole trace's number, by the same definition", () => {
    const { store, more } = recording();
    const live = new LiveCounts(store);
    for (let i = 0; i < 5; i++) {
      more();
      live.counts(i, false);
    }
    live.computeSlow(1, 5);
    const { numbers } = live.counts(5, true, 1);
    const whole = numbersFrom(new Facts(store));
    expect(numbers.map(({ slot: _, ...number }) => number)).toEqual(
      numbers.map(({ id }) => whole.get(id)),
    );
    // the storage calls under the VFS calls are the same work, counted again
    expect(['reads', 'writes', 'syncs'].map((slot) => at(slot, numbers).value)).toEqual([5, 10, 5]);
    expect(SLOW_AFTER.map((slot) => at(slot, numbers).value)).toEqual([
      whole.get('sqlTime').value,
      5,
      5,
    ]);
    const [events] = live.counts(5, false, 1).numbers;
    expect(events).toMatchObject({ slot: 'events', short: 'Events/s' });
    expect(SLOW.map((slot) => at(slot, live.counts(5, false, 1).numbers).value)).toEqual([
      5,
      5,
      expect.closeTo((5 * 20) / whole.get('sqlTime').value!, 9),
    ]);
  });
  it('those about the recorder are gone, except a loss', () => {
    const { store, more } = recording();
    more();
    const slots = (settled: boolean): string[] =>
      new LiveCounts(store).counts(0, settled).numbers.map(({ slot }) => slot);
    expect(slots(true)).toEqual(
      'recorded sql-time statements commits reads writes syncs events'.split(' '),
    );
    expect(slots(false)).toEqual(expect.arrayContaining(['dropped', 'cost']));
    expect(slots(true)).not.toContain('cost');
    expect(slots(true)).not.toContain('dropped');
    store.threads[0]!.dropped = 3;
    expect(slots(true)).toContain('dropped');
  });
  it('storage calls count if no VFS call is recorded', () => {
    const store = newStore();
    const t = new ThreadBuilder(store);
    for (const op of ['opfsRead', 'opfsWrite', 'opfsWrite', 'opfsFlush'] as const) t.call(op);
    t.send();
    const live = new LiveCounts(store);
    expect(['reads', 'writes', 'syncs'].map((slot) => shown(slot, live).value)).toEqual([1, 2, 1]);
  });
});

describe('whole-trace numbers', () => {
  it('need what they declare, and nothing else that passes over the whole trace', () => {
    const { store, more } = recording();
    more();
    const facts = new Facts(store);
    for (const _ of facts.compute(SLOW_NEEDS)) continue;
    const late = allFacts().map((fact) => vi.spyOn(fact, 'make'));
    new LiveCounts(store).computeSlow(1, 0, undefined, facts);
    expect(late.flatMap(({ mock }) => mock.calls)).toEqual([]);
    vi.restoreAllMocks();
  });
  it('are computed at intervals, and again once the recording has ended', () => {
    const { store, more } = recording();
    more();
    const live = new LiveCounts(store);
    const computing = (settled: boolean, version: number): boolean[] =>
      (settled ? SLOW_AFTER : SLOW).map((slot) => {
        const { value, cause } = at(slot, live.counts(0, settled, version).numbers);
        return value === null && cause === null;
      });
    const [yes, no] = [SLOW.map(() => true), SLOW.map(() => false)];
    expect(computing(true, 1)).toEqual(yes);
    expect(shown('reads', live).value).toBe(1);
    expect(live.slowDueIn(1, 0)).toBe(0);
    live.computeSlow(1, 0);
    expect(live.slowDueIn(1, 0)).toBeNull();
    expect(live.slowDueIn(2, 0)).toBeGreaterThan(0);
    // numbers from during the recording aren't shown once it has ended, and are computed again
    // without delay
    live.computeSlow(2, 0, undefined, undefined, true);
    expect(live.slowDueIn(3, 0, true)).toBeGreaterThan(0);
    expect([computing(false, 3), computing(true, 3), live.slowDueIn(3, 0)]).toEqual([no, yes, 0]);
    live.computeSlow(3, 0);
    expect(computing(true, 3)).toEqual(no);
  });
  it("aren't shown next to counts of a recording that has become much longer", () => {
    const { store, more } = recording();
    const live = new LiveCounts(store);
    const commits = (): (number | null)[] =>
      ['commits', 'syncs'].map((slot) => at(slot, live.counts(0, false, 1).numbers).value);
    for (let i = 0; i < 10; i++) more();
    live.computeSlow(1, 0, undefined, undefined, true);
    more();
    expect(commits()).toEqual([10, 11]);
    more();
    expect(commits()).toEqual([null, 12]);
    live.computeSlow(2, 0, undefined, undefined, true);
    expect(commits()).toEqual([12, 12]);
  });
});

describe('unknown values', () => {
  it('report that nothing is recorded yet', () => {
    for (const settled of [true, false])
      for (const n of new LiveCounts(newStore()).counts(0, settled, 0, true).numbers)
        expect([n.value, n.cause]).toEqual([null, 'nothing is recorded yet']);
  });
  it('are distinguished from a true 0, with their cause', () => {
    const store = newStore();
    const t = new ThreadBuilder(store);
    t.call('opfsRead');
    t.send();
    const live = new LiveCounts(store);
    live.computeSlow(1, 0);
    expect(shown('writes', live).value).toBe(0);
    expect(shown('commits', live)).toMatchObject({
      value: null,
      cause: expect.stringContaining('no VFS call') as string,
    });
    expect(shown('sql-time', live).cause).toContain('no SQL');
    expect(shown('statements', live).cause).toContain('no SQL');
  });
  it.each([
    ['no engine', null, 'no SQL call was recorded'],
    ['an engine without counters', false, 'sql.js does not give its counters'],
    ['counters that were not read yet', true, 'no statement has ended'],
  ])('the hit rate of the page cache: %s', (_, counters, cause) => {
    const t = new ThreadBuilder(newStore());
    const engine = { name: 'sql.js', sqliteVersion: null, sourceId: null, suspension: 'none' };
    const layers: EngineInfo['layers'] = { vfs: true, sql: true, counters: counters === true };
    if (counters !== null) {
      t.say({ kind: 'engine', id: 90, ...engine, note: null, layers } as never);
      t.call('sqlPrepare');
    }
    t.call('opfsRead');
    t.send();
    const { numbers } = new LiveCounts(t.store).counts(0, false);
    expect(at('cache-hit', numbers).cause).toContain(cause);
  });
});

it('a recording shows its rate, a trace its total', () => {
  const { store, more } = recording();
  const live = new LiveCounts(store);
  live.counts(0, false);
  more();
  expect(at('events', live.counts(100, false).numbers)).toMatchObject({
    short: 'Events/s',
    value: store.eventCount * 10,
  });
  expect(shown('events', live)).toMatchObject({ short: 'Events', value: store.eventCount });
});
