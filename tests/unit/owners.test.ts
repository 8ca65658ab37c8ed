// Which call every call belongs to, for random calls: nested, overlapping, with missing ends, and
// with forged parents.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Op, type OpName } from '../../src/event/event.ts';
import { isStatementOp, OPS } from '../../src/event/operations.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';
import { threadOf, type Row } from '../traces/partition-rows.ts';
import { ownersOf } from '../../src/trace/owners.ts';

test('a statement, its VFS call, the storage below, and what the storage call made', () => {
  const t = new ThreadBuilder(newStore());
  const db = t.file('/a.db');
  t.call('sqlStep', {}, () =>
    t.call('xRead', { object: db }, () => t.call('opfsRead', {}, () => t.call('lockRequest'))),
  );
  t.call('xSync', { object: db }, () => t.call('opfsFlush'));
  t.call('idbGet');
  t.send();
  const owners = ownersOf(t.thread);
  const rows = [0, 1, 2, 3, 4, 5, 6];
  expect(rows.map((row) => owners.sql(row))).toEqual([0, 0, 0, 0, -1, -1, -1]);
  expect(rows.map((row) => owners.vfs(row))).toEqual([-1, 1, 1, 1, 4, 4, -1]);
  expect(rows.map((row) => owners.answering(row))).toEqual([0, 0, 0, 0, 4, 4, -1]);
  t.call('sqlOpen', {}, () =>
    t.call('sqlStep', {}, () => t.call('sqlOpen', {}, () => t.call('xRead', { object: db }))),
  );
  t.send();
  const more = ownersOf(t.thread);
  expect(more).toBe(owners); // it continues where it stopped
  expect([7, 8, 9, 10].map((row) => more.statement(row))).toEqual([-1, 8, 8, 8]);
  expect([7, 8, 9, 10].map((row) => more.sql(row))).toEqual([7, 8, 9, 9]);
  t.thread.forget(8);
  expect([0, 1, 2].map((row) => ownersOf(t.thread).statement(row))).toEqual([0, 0, 0]);
});

test('a VFS on top of another one answers for it', () => {
  const t = new ThreadBuilder(newStore());
  t.call('xSync', {}, () => t.call('xSync', {}, () => t.call('opfsFlush')));
  t.send();
  const owners = ownersOf(t.thread);
  expect([0, 1, 2].map((row) => owners.vfs(row))).toEqual([0, 1, 1]);
  expect([0, 1, 2].map((row) => owners.answering(row))).toEqual([0, 0, 0]);
});

test('equal to a walk up the calls above, row by row', () => {
  const names: OpName[] = [
    'sqlStep',
    'sqlOpen',
    'sqlExec',
    'sqlPrepare',
    'xRead',
    'xWrite',
    'xSync',
    'opfsRead',
    'idbGet',
    'lockRequest',
    'tracer',
    'mark',
  ];
  const row = fc.record({
    op: fc.constantFrom(...names),
    dur: fc.option(fc.nat(20), { freq: 5 }),
    /** How many rows up the parent is; 0 = none, below 0 = a row that comes later. */
    up: fc.integer({ min: -2, max: 6 }),
  });
  let served = 0;
  fc.assert(
    fc.property(fc.array(row, { minLength: 2, maxLength: 30, size: 'max' }), (drawn) => {
      const rows = drawn.map((d, i): Row => ({
        op: d.op,
        t0: i,
        end: d.dur === null ? null : i + d.dur,
        parent: d.up === 0 ? -1 : i - d.up,
      }));
      const thread = threadOf(rows);
      const { events } = thread;
      const owners = ownersOf(thread);
      /**
       * The innermost call of a layer at or above a row. A VFS call is searched for only under the
       * innermost SQL call.
       */
      const above = (at: number): number => {
        const parent = events.parent[at]! ? events.rowOfSeq(events.parent[at]!) : -1;
        return parent < at ? parent : -1;
      };
      const statement = (from: number): number => {
        let at = from;
        while (at >= 0 && !isStatementOp(events.op[at]!)) at = above(at);
        return at;
      };
      const innermost = (from: number, layer: 'sql' | 'vfs'): number => {
        for (let at = from; at >= 0;) {
          const own = OPS[events.op[at]!]!.layer;
          if (own === layer) return at;
          if (own === 'sql') return -1;
          at = above(at);
        }
        return -1;
      };
      for (let i = 0; i < events.count; i++) {
        const at = `row ${i} of ${drawn.map((d) => `${Op[d.op]}:${d.up}`).join(' ')}`;
        expect([at, owners.sql(i), owners.vfs(i), owners.statement(i)]).toEqual([
          at,
          innermost(i, 'sql'),
          innermost(i, 'vfs'),
          statement(i),
        ]);
        if (owners.sql(i) >= 0 && owners.vfs(i) >= 0) served++;
      }
    }),
    { numRuns: 500 },
  );
  expect(served).toBeGreaterThan(500);
});
