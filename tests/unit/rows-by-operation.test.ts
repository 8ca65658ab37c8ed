// The calls of a thread by operation: one, several in order, or none.
import { expect, test } from 'vitest';
import { Facts } from '../../src/analysis/core/graph.ts';
import { rowsByOperation } from '../../src/analysis/core/rows-by-operation.ts';
import { Op } from '../../src/event/event.ts';
import { opSet } from '../../src/event/operations.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';

test('rows of an operation, of several in their order, and of none', () => {
  const store = newStore();
  const builder = new ThreadBuilder(store);
  for (const op of ['xRead', 'xLock', 'xWrite', 'xRead', 'sqlStep', 'xUnlock', 'xLock'] as const)
    builder.call(op, { dur: 1 });
  builder.send();
  const rows = new Facts(store).get(rowsByOperation).of(builder.thread);
  expect([...rows.of(Op.xRead)]).toEqual([0, 3]);
  expect([rows.count(Op.xLock), rows.count(Op.xSync)]).toEqual([2, 0]);
  expect([...rows.of(Op.xSync)]).toEqual([]);
  const several = opSet(Op.xUnlock, Op.xRead, Op.xSync, Op.xLock, Op.sqlStep);
  expect([...rows.together(several)]).toEqual([0, 1, 3, 4, 5, 6]);
  expect([...rows.together(opSet(Op.xWrite))]).toEqual([2]);
  expect([...rows.together(opSet(Op.xSync))]).toEqual([]);
});
