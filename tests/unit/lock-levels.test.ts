// SQLite's lock level by connection and file.
import { expect, it } from 'vitest';
import { Op } from '../../src/event/event.ts';
import type { EventColumns } from '../../src/trace/columns.ts';
import { LockLevels } from '../../src/trace/lock-levels.ts';

const [REFUSED, RUNNING] = ['refused', 'running'] as const;

it('rises by xLock, falls by xUnlock, and is separate for two connections to one file', () => {
  const calls = [
    [Op.xOpen, 1, 0, 0],
    [Op.xLock, 1, 1, 1],
    [Op.xLock, 2, 1, 1],
    [Op.xLock, 1, 4, 4],
    [Op.xLock, 1, 2, 4],
    [Op.xUnlock, 2, 0, 0],
    [Op.xUnlock, 1, 1, 1],
    [Op.xLock, 1, 2, 1, REFUSED],
    [Op.xLock, 1, 2, 1, RUNNING],
    [Op.xUnlock, 1, 0, 1, REFUSED],
    [Op.xClose, 1, 0, 0, REFUSED],
  ] as const;
  const events = {
    op: calls.map(([op]) => op),
    context: calls.map(([, connection]) => connection),
    aux: calls.map(([, , aux]) => aux),
    object: calls.map(() => 7),
    result: calls.map(([, , , , how]) => (how === REFUSED ? 5 : 0)),
    endSeq: calls.map(([, , , , how], row) => (how === RUNNING ? 0 : row + 1)),
  } as unknown as EventColumns;
  const levels = new LockLevels(events);
  expect(calls.map((_, row) => levels.take(row))).toEqual(calls.map(([, , , after]) => after));
  expect(levels.highest).toBe(0);
  levels.take(1);
  levels.take(2);
  levels.take(5);
  expect([levels.of(1), levels.of(2), levels.highest]).toEqual([1, 0, 1]);
});
