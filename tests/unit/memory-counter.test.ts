/**
 * How much memory a thread's engines and connections use over time, for the timeline and as a
 * table.
 */
import { expect, test } from 'vitest';
import { memoryColumns, memoryTable } from '../../src/analysis/memory/memory.ts';
import { Facts } from '../../src/analysis/core/graph.ts';
import { MEMORY_KINDS, MemoryCounter, type MemoryKind } from '../../src/timeline/memory-counter.ts';
import { TimelineLanes } from '../../src/timeline/timeline-lanes.ts';
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
  expect(counter.engines).toEqual([]);
  counter.update();
  expect(counter.engines).toEqual([null]);
  const of = (kind: MemoryKind): number[] => [...counter.most(null, kind, 0, 80, 8)];
  expect(of('memory')).toEqual([NaN, 16, 16, 20, 20, 20, 20, 20].map((mib) => mib * MIB));
  expect(of('cacheMemory')).toEqual([NaN, 1000, 1000, 1500, 1500, 1500, 500, 600]);
  expect(of('schemaMemory')).toEqual([NaN, 200, 200, 300, 300, 300, 100, 100]);
  expect(of('statementMemory')).toEqual([NaN, 30, 30, 40, 40, 40, 10, 10]);
});

/** Two engines, and a file of each connection. */
function twoEngines(): { t: ThreadBuilder; ids: [number, number] } {
  const t = new ThreadBuilder(newStore());
  const about = { name: 'wa-sqlite', sqliteVersion: null, sourceId: null, note: null } as const;
  const layers = { vfs: true, sql: true, counters: true };
  const [a, b] = [1, 2].map(() =>
    t.define({ kind: 'engine', ...about, suspension: 'none', layers }),
  ) as [number, number];
  for (const [engine, context] of [
    [a, 1],
    [a, 2],
    [b, 3],
  ] as const) {
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
  }
  return { t, ids: [a, b] };
}
/** @param readings connection, MiB, and the engine that it names, 0 = none */
function read(t: ThreadBuilder, readings: readonly (readonly [number, number, number])[]): void {
  for (const [context, mib, object] of readings) {
    t.call('sqlMemory', { context, object, offset: mib * MIB, length: 1000 * context, dur: 0 });
    t.idle(10);
  }
  t.send();
}
const inMib = (values: Float32Array): number[] => [...values].map((bytes) => bytes / MIB);

test('each engine of a thread has its own memory, whichever connection reports it', () => {
  const { t, ids } = twoEngines();
  const [a, b] = ids;
  read(t, [
    [1, 16, a],
    [3, 32, b],
    [2, 24, a],
    [9, 40, b], // a database in memory, without a file
    [1, 28, a],
  ]);
  const counter = new MemoryCounter(t.thread);
  counter.update();
  expect(counter.engines).toEqual([a, b]);
  expect(inMib(counter.most(a, 'memory', 0, 50, 5))).toEqual([16, 16, 24, 24, 28]);
  expect(inMib(counter.most(b, 'memory', 0, 50, 5))).toEqual([NaN, 32, 32, 40, 40]);
  expect([...counter.most(a, 'cacheMemory', 0, 50, 5)]).toEqual([1000, 1000, 3000, 3000, 3000]);
  expect([...counter.most(b, 'cacheMemory', 0, 50, 5)]).toEqual([NaN, 3000, 3000, 12000, 12000]);
  const rows = new Facts(t.store).get(memoryTable.rows);
  expect([0, 1, 2, 3, 4].map((i) => memoryColumns.engine_id.value(rows.at(i)))).toEqual([
    a,
    b,
    a,
    b,
    a,
  ]);
});

test('the timeline has a track of each engine, with its name', () => {
  const { t, ids } = twoEngines();
  read(t, [
    [1, 16, ids[0]],
    [3, 32, ids[1]],
  ]);
  const lanes = new TimelineLanes(t.store);
  lanes.update(20);
  const own = lanes.rowsOf(t.thread).filter(({ kind }) => MEMORY_KINDS.includes(kind as never));
  expect(own.map(({ key, of }) => `${key} ${of}`)).toEqual([
    ...MEMORY_KINDS.map((kind) => `0:${kind} wa-sqlite`),
    ...MEMORY_KINDS.map((kind) => `0:${kind}2 wa-sqlite 2`),
  ]);
  const [first, second] = lanes.frames(['0:memory', '0:memory2'], 0, 20, 2);
  expect(inMib(first!.values!)).toEqual([16, 16]);
  expect(inMib(second!.values!)).toEqual([NaN, 32]);
});

test('older recordings name no engine: the files of its connection do', () => {
  const { t, ids } = twoEngines();
  const [a, b] = ids;
  read(t, [
    [1, 16, 0],
    [3, 32, 0],
    [9, 40, 0], // a database in memory, whose engine is unknown
  ]);
  const rows = new Facts(t.store).get(memoryTable.rows);
  expect([0, 1, 2].map((i) => memoryColumns.engine_id.value(rows.at(i)))).toEqual([a, b, null]);
  const lanes = new TimelineLanes(t.store);
  lanes.update(30);
  const keys = lanes.rowsOf(t.thread).map(({ key, of }) => `${key} ${of}`);
  expect(keys).toContain('0:memory2 wa-sqlite 2');
  expect(keys).toContain('0:cacheMemory3 engine not known');
  expect(keys.join()).not.toContain('0:memory3');
});

test('a refused close changes nothing', () => {
  const t = new ThreadBuilder(newStore());
  t.call('sqlMemory', { context: 1, offset: MIB, length: 1000, dur: 0 });
  t.call('sqlClose', { context: 1, result: 5, dur: 10 });
  t.send();
  const counter = new MemoryCounter(t.thread);
  counter.update();
  expect([...counter.most(null, 'cacheMemory', 0, 20, 2)]).toEqual([1000, 1000]);
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
