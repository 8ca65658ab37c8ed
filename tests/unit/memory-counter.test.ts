/** What a thread's connections hold in memory over time, for the timeline and as a table. */
import { expect, test } from 'vitest';
import { memoryColumns, memoryTable } from '../../src/analysis/memory/memory.ts';
import { Facts } from '../../src/analysis/core/graph.ts';
import { MemoryCounter } from '../../src/timeline/memory-counter.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';

const MIB = 2 ** 20;
/** Two connections of one engine: the first one is closed at 50 µs. */
function made(): ThreadBuilder {
  const t = new ThreadBuilder(newStore());
  const held = (context: number, wasm: number, cache: number, schema: number, stmt: number): void =>
    void t.call('sqlMemory', {
      context,
      offset: wasm,
      length: cache,
      aux: schema,
      aux2: stmt,
      dur: 0,
    });
  t.idle(10);
  held(1, 16 * MIB, 1000, 200, 30);
  t.idle(20);
  held(2, 20 * MIB, 500, 100, 10);
  t.idle(20);
  t.call('sqlClose', { context: 1, result: 0, dur: 0 });
  t.idle(20);
  held(2, 20 * MIB, 600, 100, 10);
  t.send();
  return t;
}

test('connections add up until they are closed; the engine keeps its memory', () => {
  const counter = new MemoryCounter(made().thread);
  expect(counter.seen).toBe(false);
  counter.update();
  expect(counter.seen).toBe(true);
  const of = (kind: Parameters<MemoryCounter['most']>[0]): number[] => [
    ...counter.most(kind, 0, 80, 8),
  ];
  expect(of('memory')).toEqual([NaN, 16, 16, 20, 20, 20, 20, 20].map((mib) => mib * MIB));
  expect(of('cacheMemory')).toEqual([NaN, 1000, 1000, 1500, 1500, 1500, 500, 600]);
  expect(of('schemaMemory')).toEqual([NaN, 200, 200, 300, 300, 300, 100, 100]);
  expect(of('statementMemory')).toEqual([NaN, 30, 30, 40, 40, 40, 10, 10]);
});

test('engines add up, each with the memory that it has whichever connection says so', () => {
  const t = new ThreadBuilder(newStore());
  const about = { name: 'wa-sqlite', sqliteVersion: null, sourceId: null, note: null } as const;
  const layers = { vfs: true, sql: true, counters: true };
  const connection = (engine: number, context: number): void => {
    const path = `/${context}.db`;
    const object = t.define({
      kind: 'file',
      path,
      fileKind: 'main-db',
      vfs: 'test',
      engine,
      flags: 0,
    });
    t.call('xRead', { object, context, offset: 0, length: 4096, dur: 0 });
  };
  const [a, b] = [1, 2].map(() =>
    t.define({ kind: 'engine', ...about, suspension: 'none', layers }),
  ) as [number, number];
  connection(a, 1);
  connection(a, 2);
  connection(b, 3);
  const readings = [
    [1, 16],
    [3, 32],
    [2, 24],
    [1, 40],
    [9, 40], // a database in memory: of which engine isn't known
  ] as const;
  for (const [context, mib] of readings) {
    t.call('sqlMemory', { context, offset: mib * MIB, length: 1000, dur: 0 });
    t.idle(10);
  }
  t.send();
  const counter = new MemoryCounter(t.thread);
  counter.update();
  expect([...counter.most('memory', 0, 50, 5)].map((bytes) => bytes / MIB)).toEqual([
    16, 48, 56, 72, 72,
  ]);
  const rows = new Facts(t.store).get(memoryTable.rows);
  expect(readings.map((_, i) => memoryColumns.engine_id.value(rows.at(i)))).toEqual([
    a,
    b,
    a,
    a,
    null,
  ]);
});

test('a close that was refused changes nothing', () => {
  const t = new ThreadBuilder(newStore());
  t.call('sqlMemory', { context: 1, offset: MIB, length: 1000, dur: 0 });
  t.call('sqlClose', { context: 1, result: 5, dur: 10 });
  t.send();
  const counter = new MemoryCounter(t.thread);
  counter.update();
  expect([...counter.most('cacheMemory', 0, 20, 2)]).toEqual([1000, 1000]);
});

test('each reading is a row of the table', () => {
  const rows = new Facts(made().store).get(memoryTable.rows);
  const at = (i: number): unknown[] =>
    Object.values(memoryColumns).map(({ value }) => value(rows.at(i)));
  expect(rows.count).toBe(3);
  expect([at(0), at(2)]).toEqual([
    [0, 10, 1, null, 16 * MIB, 1000, 200, 30],
    [0, 70, 2, null, 20 * MIB, 600, 100, 10],
  ]);
});
