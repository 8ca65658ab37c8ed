// The flame graph: the time of each frame, agreement with the table of statements, and the cost of
// a million events.
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { Facts } from '../../src/analysis/core/graph.ts';
import type { Scope } from '../../src/analysis/core/scope.ts';
import { flameGraph, type FlameGraph } from '../../src/analysis/statements/flame-graph.ts';
import {
  statementTableIn,
  type StatementRow,
} from '../../src/analysis/statements/statement-table.ts';
import { Flag } from '../../src/event/event.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { toNs } from '../../src/trace/lanes/sweep.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';
import { threadOf } from '../traces/partition-rows.ts';

const GOLDEN = path.join(import.meta.dirname, '..', 'traces', 'golden');

/** `0 INSERT 1x 60/20 cpu`: depth, name, calls, total and self time, and what most of it was. */
const lines = ({ frames }: FlameGraph): string[] =>
  frames.map((f) => `${f.depth} ${f.name} ${f.calls}x ${f.totalUs}/${f.selfUs} ${f.part}`);

/** The frames below a frame and its self time add up to its total, to the nanosecond. */
function expectSums({ frames, totalUs }: FlameGraph): void {
  const below = new Float64Array(frames.length);
  let roots = 0;
  frames.forEach((frame, i) => {
    expect(frame.parent).toBeLessThan(i);
    if (frame.parent < 0) roots += toNs(frame.totalUs);
    else below[frame.parent]! += toNs(frame.totalUs);
  });
  frames.forEach((frame, i) => expect(below[i]! + toNs(frame.selfUs)).toBe(toNs(frame.totalUs)));
  expect(roots).toBe(toNs(totalUs));
}

function twoStatements(): TraceStore {
  const store = newStore();
  const b = new ThreadBuilder(store);
  const db = b.file('/app.db');
  const wal = b.file('/app.db-wal', 'wal');
  const [insert, select] = ['insert', 'select'].map((text) => b.define({ kind: 'sql', text })) as [
    number,
    number,
  ];
  for (let i = 0; i < 2; i++) {
    b.call('sqlStep', { object: insert, aux: 1, result: 101, dur: 5 }, () => {
      b.call('xWrite', { object: wal, dur: 4 }, () => b.call('opfsWrite', { dur: 30 }));
      b.call('xSync', { object: wal, dur: 1 }, () => b.call('opfsFlush', { dur: 60 }));
    });
    b.idle(100);
  }
  b.call('sqlStep', { object: select, aux: 2, result: 101, dur: 7 }, () =>
    b.call('xRead', { object: db, dur: 2 }, () => b.call('opfsRead', { dur: 10 })),
  );
  b.send();
  return store;
}

describe('frames', () => {
  test('statement, VFS call, storage call', () => {
    const graph = flameGraph(new Facts(twoStatements()), {})!;
    expect(lines(graph)).toEqual([
      '0 insert 2x 200/10 sync',
      '1 xSync wal 2x 122/2 sync',
      '2 opfs.flush 2x 120/120 sync',
      '1 xWrite wal 2x 68/8 write',
      '2 opfs.write 2x 60/60 write',
      '0 select 1x 19/7 read',
      '1 xRead main-db 1x 12/2 read',
      '2 opfs.read 1x 10/10 read',
    ]);
    expect(graph.frames.map(({ call }) => call)).toEqual([
      null,
      ...['sync', 'sync', 'write', 'write'],
      null,
      ...['read', 'read'],
    ]);
    expect(graph.totalUs).toBe(219);
    expectSums(graph);
  });

  test('inverted: calls with their self time, and below them their callers', () => {
    const graph = flameGraph(new Facts(twoStatements()), {}, true)!;
    expect(lines(graph).slice(0, 6)).toEqual([
      '0 opfs.flush 2x 120/0 sync',
      '1 xSync wal 2x 120/0 sync',
      '2 insert 2x 120/120 sync',
      '0 opfs.write 2x 60/0 write',
      '1 xWrite wal 2x 60/0 write',
      '2 insert 2x 60/60 write',
    ]);
    expect(lines(graph)).toContain('0 SQLite 3x 17/0 cpu');
    expect(graph.totalUs).toBe(219);
    expectSums(graph);
  });

  test('of a statement, and of a time range', () => {
    const facts = new Facts(twoStatements());
    expect(lines(flameGraph(facts, { statement: 'select' })!)).toHaveLength(3);
    expect(lines(flameGraph(facts, { thread: 7 })!)).toEqual([]);
    const [first] = facts.store.threads[0]!.events.t0;
    // the first INSERT: 100 us; its xWrite begins at once
    const graph = flameGraph(facts, { fromUs: first!, toUs: first! + 50 })!;
    expect(graph.totalUs).toBe(50);
    expect(graph.frames[0]).toMatchObject({ name: 'insert', calls: 1, totalUs: 50 });
    expectSums(graph);
  });

  test('storage calls that overlap count each moment once', () => {
    const suspended = { flags: Flag.async };
    const thread = threadOf([
      { op: 'sqlStep', t0: 0, end: 100_000, object: 1, ...suspended },
      { op: 'xRead', t0: 0, end: 100_000, parent: 0, ...suspended },
      { op: 'idbGet', t0: 10_000, end: 90_000, parent: 1, ...suspended },
      { op: 'idbGet', t0: 10_000, end: 60_000, parent: 1, ...suspended },
      { op: 'opfsRead', t0: 20_000, end: 80_000, parent: 1, ...suspended },
    ]);
    const store = newStore();
    store.threads.push(thread);
    const graph = flameGraph(new Facts(store), {})!;
    expect(lines(graph)).toEqual([
      '0 null 1x 100/0 read',
      '1 xRead 1x 100/20 read',
      '2 opfs.read 1x 60/60 read',
      '2 idb.get 2x 20/20 read',
    ]);
    expectSums(graph);
  });

  test('none if no SQL was recorded', () => {
    const store = newStore();
    const b = new ThreadBuilder(store);
    b.call('xRead', { dur: 4 });
    b.send();
    expect(flameGraph(new Facts(store), {})).toBeNull();
  });
});

describe('agrees with the table of statements', () => {
  const names = readdirSync(GOLDEN).flatMap((file) => file.match(/^(.*)\.vfst$/)?.[1] ?? []);
  test.each(names)('%s', async (name) => {
    const { store } = await readTrace(readFileSync(path.join(GOLDEN, `${name}.vfst`)));
    const facts = new Facts(store);
    const [from, to] = store.extent();
    const third = (to - from) / 3;
    const thread = store.threads.length - 1;
    const scopes: Scope[] = [
      {},
      { fromUs: from + third, toUs: to - third },
      { thread },
      { part: 'cpu' },
      { part: 'sync', fromUs: from, toUs: to - third, thread },
    ];
    for (const range of scopes) {
      const timeOf = ({ time }: StatementRow): number =>
        range.part ? time[`${range.part}Us`] : time.spanUs;
      const table = statementTableIn(facts, range);
      const graph = flameGraph(facts, range);
      expect(graph === null).toBe(table === null);
      if (!graph || !table) continue;
      const roots = graph.frames.filter((f) => f.parent < 0 && (f.totalUs > 0 || f.calls > 0));
      expect(new Map(roots.map((f) => [f.name, [f.totalUs, f.calls]]))).toEqual(
        new Map(
          table.rows
            .filter((row) => timeOf(row) > 0 || (!range.part && row.executions > 0))
            .map((row) => [row.text, [timeOf(row), row.executions]]),
        ),
      );
      const totalUs = table.rows.reduce((ns, row) => ns + toNs(timeOf(row)), 0) / 1000;
      expect(graph.totalUs).toBe(totalUs);
      if (!range.part) expect(totalUs).toBe(table.spanUs);
      expectSums(graph);
      const inverted = flameGraph(facts, range, true)!;
      expect(inverted.totalUs).toBe(totalUs);
      expectSums(inverted);
    }
  });
});
