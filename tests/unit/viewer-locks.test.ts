// The Locks view's queries: tracks and spans compared with the analysis, and every list of
// problems.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { modeText } from '../../src/analysis/locks/lock-columns.ts';
import { arrowsOf } from '../../src/analysis/contention/wait-arrows.ts';
import { Flag, type OpName } from '../../src/event/event.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { Memo, type QueryContext } from '../../src/viewer/session/queries/context.ts';
import type { LockTrack } from '../../src/protocol/answers/lock-lanes.ts';
import { lockLaneQueries } from '../../src/viewer/session/queries/lock-lanes.ts';
import { UNSEEN_HOLDER_US } from '../../src/sqlite/rule-limits.ts';
import { lockQueries } from '../../src/viewer/session/queries/locks.ts';
import {
  LOCK_SELECTION,
  type LockSelection,
} from '../../src/viewer/ui/views/locks/lock-selection.ts';
import { newStore, ThreadBuilder, type CallFields } from '../traces/builder.ts';
import { locksOf } from '../traces/analyses.ts';

function contextOf(store: TraceStore): QueryContext {
  const memo = new Memo(store);
  const made: Pick<QueryContext, 'store' | 'facts' | 'memo'> = {
    ...{ store, facts: memo.facts(1) },
    memo: (key, make) => memo.get(1, key, make),
  };
  return made as QueryContext;
}
const sum = (column: ArrayLike<number>): number => Array.from(column).reduce((a, b) => a + b, 0);
const frame = (context: QueryContext, from: number, to: number, width: number): LockTrack[] =>
  lockLaneQueries.lockFrame(context, {
    from,
    to,
    width,
    lanes: lockQueries.locks(context, {}).lanes.map(({ key }) => key),
  });

/** Four workers of four pages, of which the first ends midway. */
function trouble(): TraceStore {
  const store = newStore();
  const tabs = [1, 2, 3, 4].map((n) => {
    new ThreadBuilder(store, { id: `page${n}`, kind: 'page', url: 'https://app.example/' }).send();
    return new ThreadBuilder(store, { id: `worker${n}`, parent: `page${n}` });
  });
  const [a, b] = ['A', 'B'].map((text) => tabs.map((t) => t.define({ kind: 'lock', text })));
  const db = tabs.map((t) => t.file('/app.db'));
  const handle = tabs.map((t) => t.define({ kind: 'opfs-file', path: '/x.db' }));
  const at = (i: number, us: number, op: OpName, fields: CallFields): void => {
    tabs[i]!.now = us;
    tabs[i]!.call(op, { flags: Flag.async, ...fields });
  };
  at(0, 10, 'lockHeld', { object: a![0]!, dur: 5e6 });
  at(1, 25, 'lockHeld', { object: b![1]!, dur: 5e6 });
  at(0, 1e6, 'lockRequest', { object: b![0]!, dur: 3e6, result: 1 });
  at(1, 1.2e6, 'lockRequest', { object: a![1]!, dur: 3.5e6 });
  at(2, 6e6, 'xLock', { object: db[2]!, aux: 2, context: 1 });
  for (let n = 0; n < 4; n++)
    at(3, 6.1e6 + n * 1e5, 'xLock', { object: db[3]!, aux: 2, context: 9, result: 5, dur: 200 });
  at(2, 7e6, 'xUnlock', { object: db[2]!, aux: 0, context: 1 });
  at(3, 7.1e6, 'xLock', { object: db[3]!, aux: 2, context: 9 });
  at(0, 9e6, 'opfsOpenSyncAccessHandle', { object: handle[0]!, dur: 500 });
  tabs[0]!.thread.ended = 'pagehide';
  at(1, 9.5e6, 'opfsOpenSyncAccessHandle', {
    object: handle[1]!,
    dur: 300,
    result: 1,
    flags: Flag.async | Flag.threw,
  });
  at(1, 12e6, 'lockRequest', { object: a![1]!, dur: UNSEEN_HOLDER_US });
  at(1, 13e6, 'lockRequest', { object: a![1]!, dur: UNSEEN_HOLDER_US - 1 });
  for (const t of tabs) t.send();
  return store;
}

describe('problems', () => {
  const store = trouble();
  const answer = lockQueries.locks(contextOf(store), {});
  const worker = (n: number): string => `Page ${n} · Worker worker.js`;

  it('which thread waited for which, with their pages', () => {
    expect(
      answer.waits.map((w) => [
        w.waiterTitle,
        w.holderTitle,
        w.kind,
        w.name,
        w.asked,
        w.held,
        w.outcome,
        w.toUs - w.fromUs,
      ]),
    ).toEqual([
      [worker(1), worker(2), 'web-lock', 'B', 'exclusive', 'exclusive', 'refused', 3e6],
      [worker(2), worker(1), 'web-lock', 'A', 'exclusive', 'exclusive', 'granted', 3.5e6],
      [worker(4), worker(3), 'sqlite', '/app.db', 'RESERVED', 'RESERVED', 'granted', 900_001],
      [worker(2), null, 'access-handle', '/x.db', 'exclusive', null, 'refused', 300],
      [worker(2), null, 'web-lock', 'A', 'exclusive', null, 'granted', UNSEEN_HOLDER_US],
    ]);
    expect(answer.totals).toEqual({ waits: 5, busy: 1, left: 1, deadlocks: 3 });
  });
  it('arrows add up the waits between two threads', () => {
    expect(answer.arrows.map((a) => [a.waiter, a.holder, a.waits, a.names])).toEqual([
      [3, 1, 1, ['A']],
      [1, 3, 1, ['B']],
      [7, 5, 1, ['/app.db']],
      [3, null, 2, ['A', '/x.db']],
    ]);
    const twice = arrowsOf([...answer.waits, ...answer.waits]);
    expect(twice.map((a) => [a.waits, a.waitedUs])).toEqual(
      answer.arrows.map((a) => [2 * a.waits, 2 * a.waitedUs]),
    );
  });
  it('busy chains, unreleased locks, cycles', () => {
    expect(answer.busy).toMatchObject([
      {
        path: '/app.db',
        level: 'RESERVED',
        refusals: 4,
        codes: ['SQLITE_BUSY'],
        granted: true,
        threadTitle: worker(4),
      },
    ]);
    expect(answer.left).toMatchObject([
      {
        name: '/x.db',
        kind: 'access-handle',
        reason: 'pagehide',
        laterWaits: 1,
        threadTitle: worker(1),
      },
    ]);
    expect(
      answer.deadlocks.map((d) => [d.what, d.threads.length, d.names.length, d.events.length]),
    ).toEqual([
      ['long wait', 2, 1, 1],
      ['cycle', 2, 2, 2],
      ['long wait', 2, 1, 1],
    ]);
  });
  it('events keep their name when older ones are dropped', () => {
    const before = answer.waits.at(-1)!.event;
    const grown = trouble();
    grown.threads[before.thread]!.forget(1);
    const after = lockQueries.locks(contextOf(grown), {}).waits.at(-1)!.event;
    expect(after).toEqual(before);
  });
  it('modes are named after their kind of lock', () => {
    expect([
      modeText('sqlite', 2),
      modeText('idb', 4),
      modeText('idb', 1),
      modeText('web-lock', 1),
      modeText('sqlite', 9),
    ]).toEqual([...['RESERVED', 'readwrite', 'readonly', 'shared', 'level 9']]);
  });
});

describe('two tabs on one database', async () => {
  const file = path.join(import.meta.dirname, '..', 'traces', 'golden', 'opfs-wl-two-tabs.vfst');
  const { store } = await readTrace(readFileSync(file));
  const context = contextOf(store);
  const locks = locksOf(store);
  const [from, to] = store.extent();

  it('every hold and wait is on a track', () => {
    const { lanes, waits } = lockQueries.locks(context, {});
    expect(sum(lanes.map((l) => l.holds))).toBe(locks.holds.count);
    expect(sum(lanes.map((l) => l.waits))).toBe(locks.waits.count);
    const own = locks.edges.filter((e) => e.waiter === e.holder); // for each its own release
    expect(Math.max(...own.map((e) => e.toUs - e.fromUs))).toBeLessThan(UNSEEN_HOLDER_US);
    const ofOthers = locks.edges.length - own.length;
    expect(ofOthers).toBeGreaterThan(20);
    expect(waits.filter((w) => w.holder !== null)).toHaveLength(ofOthers);
    expect(new Set(lanes.map((l) => l.root)).size).toBe(2);
    expect(lanes.some((l) => l.contended)).toBe(true);
  });
  it('spans count every interval, however narrow the screen, and never exceed its pixels', () => {
    const all = locks.holds.count + locks.waits.count;
    for (const width of [1, 20, 400, 1e9]) {
      const tracks = frame(context, from, to, width);
      expect(sum(tracks.flatMap((t) => [...t.count]))).toBe(all);
      for (const t of tracks)
        if (width <= 400) expect(t.from.length).toBeLessThanOrEqual(2 * (2 * width + 1));
      for (const t of tracks)
        t.from.forEach((us, i) => expect(t.covered[i]!).toBeLessThanOrEqual(t.to[i]! - us + 1e-6));
    }
    expect(sum(frame(context, from, to, 1e9).flatMap((t) => [...t.count].map((n) => n - 1)))).toBe(
      0,
    );
    expect(sum(frame(context, to + 1e6, to + 2e6, 100).map((t) => t.from.length))).toBe(0);
  });
  it("tracks that don't exist are left out, and results own their columns", () => {
    expect(
      lockLaneQueries.lockFrame(context, { from, to, width: 10, lanes: ['99:0', '__proto__', ''] }),
    ).toEqual([]);
    const [a, b] = [frame(context, from, to, 50), frame(context, from, to, 50)];
    expect(a[0]!.from.buffer).not.toBe(b[0]!.from.buffer);
  });
  it('is cached until the trace changes', () => {
    expect(lockQueries.locks(context, {})).toBe(lockQueries.locks(context, {}));
  });
});

test.each<LockSelection>([
  { table: 'waits', key: '0:12:1', lanes: ['0:1', '1:1'], range: { from: 3, to: 4.5 } },
  { table: 'busy', key: 'of "a",b', lanes: [], range: { from: 0, to: 0 } },
])('what is chosen in a table of locks comes back from the address: %o', (marked) => {
  expect(LOCK_SELECTION.parse(LOCK_SELECTION.format(marked))).toEqual(marked);
});
test.each([
  '',
  'x',
  '{}',
  '[]',
  '["waits","k",5,4]',
  '["waits","k",1,null]',
  '["waits","k",1,2,3]',
])('and %o is no such thing', (text) => {
  expect(LOCK_SELECTION.parse(text)).toBeUndefined();
});
