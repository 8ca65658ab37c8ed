// Self time in an area of the timeline: each moment counts once, with the same numbers as the flame
// graph and the table of statements.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { flameGraph } from '../../src/analysis/statements/flame-graph.ts';
import { statementTableIn } from '../../src/analysis/statements/statement-table.ts';
import type { AreaBy } from '../../src/analysis/time/area.ts';
import type { AreaLine } from '../../src/protocol/answers/timeline.ts';
import { fingerprint } from '../../src/sqlite/sql-text.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { timelineQueries } from '../../src/viewer/session/queries/timeline.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';
import { contextOf } from './viewer-context.ts';

const linesOf = async (
  store: TraceStore,
  by: AreaBy,
  range = { fromUs: 0, toUs: 1e9 },
): Promise<AreaLine[]> => {
  const layers: ['sql', 'vfs', 'web', 'host'] = ['sql', 'vfs', 'web', 'host'];
  const asked = { ...range, by, threadsOff: [], layers };
  const context = contextOf(store);
  context.timeline().update(store.extent()[1]);
  return (await timelineQueries.timelineArea(context, asked)).rows;
};
const selfOf = (lines: readonly AreaLine[]): Record<string, number | null> =>
  Object.fromEntries(lines.map(({ name, selfUs }) => [name, selfUs]));

/**
 * A step of 20 µs, an xRead of 10 in it, and a storage call of 6 in that. Then a mark of the app,
 * and a read after all SQL.
 */
function nested(): TraceStore {
  const store = newStore();
  const t = new ThreadBuilder(store);
  const object = t.file('/a.db');
  const blocks = t.define({ kind: 'opfs-file', path: '/blocks' });
  const sql = t.define({ kind: 'sql', text: 'SELECT 1' });
  t.call('sqlStep', { object: sql, dur: 10, result: 101 }, () => {
    t.call('xRead', { object, length: 4096, dur: 4 }, () =>
      t.call('opfsRead', { object: blocks, length: 4096, result: 4096, dur: 6 }),
    );
  });
  t.call('mark', { dur: 0 });
  t.call('opfsRead', { object: blocks, length: 1, result: 1, dur: 50 });
  t.send();
  return store;
}

test('each moment belongs to the innermost call that decides it', async () => {
  const store = nested();
  const lines = await linesOf(store, 'operation');
  expect(selfOf(lines)).toEqual({
    sqlite3_step: 10,
    xRead: 4,
    'opfs.read': 6, // its 50 µs outside SQL aren't time while SQL runs
    mark: null,
  });
  expect(lines.find(({ name }) => name === 'sqlite3_step')!.totalUs).toBe(20);
  expect(selfOf(await linesOf(store, 'file'))).toEqual({ '/a.db': 4, '/blocks': 6 });
  expect(selfOf(await linesOf(store, 'statement'))).toEqual({ 'SELECT 1': 20 });
});

test('what is outside the area is left out, but the mean and the median are of whole calls', async () => {
  const range = { fromUs: 0, toUs: 12 };
  const lines = await linesOf(nested(), 'operation', range);
  expect(selfOf(lines)).toEqual({ sqlite3_step: 2, xRead: 4, 'opfs.read': 6 });
  const step = lines.find(({ name }) => name === 'sqlite3_step')!;
  expect([step.totalUs, step.meanUs, step.p50Us]).toEqual([12, 20, 20]);
});

test('a thread without SQL has no time while SQL runs', async () => {
  const store = newStore();
  const t = new ThreadBuilder(store);
  t.call('opfsRead', { dur: 5 });
  t.send();
  expect(selfOf(await linesOf(store, 'operation'))).toEqual({ 'opfs.read': null });
});

test.each(['opfs-coop-sync', 'idb-batch-atomic'])(
  'the same as in the flame graph and the table of statements: %s',
  async (name) => {
    const file = join(import.meta.dirname, '..', 'traces', 'golden', `${name}.vfst`);
    const { store } = await readTrace(readFileSync(file));
    const { facts } = contextOf(store);
    const [from, to] = store.extent();
    const range = { fromUs: from + (to - from) / 4, toUs: from + ((to - from) * 3) / 4 };
    const flames = flameGraph(facts, range, true)!;
    const byCall = new Map<string, number>();
    for (const { parent, name: call, kind, totalUs } of flames.frames)
      if (parent < 0 && kind !== 'own') {
        const op = call!.split(' ')[0]!;
        byCall.set(op, (byCall.get(op) ?? 0) + totalUs);
      }
    expect(byCall.size).toBeGreaterThan(2);
    const lines = await linesOf(store, 'operation', range);
    const self = new Map<string, number>();
    for (const { name: call, selfUs } of lines) {
      const op = call.split(' ')[0]!;
      self.set(op, (self.get(op) ?? 0) + (selfUs ?? 0));
    }
    for (const [op, us] of byCall)
      expect(self.get(op === 'vfscope' ? 'tracer' : op), op).toBeCloseTo(us, 3);
    const sum = [...self.values()].reduce((a, b) => a + b, 0);
    expect(sum).toBeCloseTo(flames.totalUs, 3);
    const table = statementTableIn(facts, range)!;
    const byText = new Map<string, number>();
    for (const { name: text, selfUs } of await linesOf(store, 'statement', range)) {
      const key = fingerprint(text);
      byText.set(key, (byText.get(key) ?? 0) + selfUs!);
    }
    for (const { text, time } of table.rows)
      if (text !== null) expect(byText.get(text) ?? 0, text).toBeCloseTo(time.spanUs, 3);
  },
);
