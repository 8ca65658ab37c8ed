// Bytes in use of several write-ahead logs together, over time.
import { expect, test } from 'vitest';
import { WalCounter } from '../../src/timeline/wal-counter.ts';

const log = (...points: [us: number, bytes: number][]) => ({
  series: {
    timeUs: Float64Array.from(points, ([us]) => us),
    usedBytes: Float64Array.from(points, ([, bytes]) => bytes),
    fileBytes: new Float64Array(points.length),
  },
});

test('logs are added up in order of time, each with its latest size', () => {
  const counter = new WalCounter([log([1, 10], [5, 30], [8, 0]), log([2, 100], [5, 200])]);
  //                                         from 0: - 10 110 110 110 230 230 230 200
  expect([...counter.most(0, 9, 9, Infinity)]).toEqual([0, 10, 110, 110, 110, 230, 230, 230, 230]);
  expect([...counter.most(9, 11, 2, 10)]).toEqual([200, 200]);
  expect(counter.most(9, 12, 3, 10)[2]).toBeNaN();
});

test('a log without a point, and no log at all', () => {
  expect([...new WalCounter([log(), log([1, 7])]).most(0, 2, 2, Infinity)]).toEqual([0, 7]);
  expect([...new WalCounter([]).most(0, 1, 1, Infinity)]).toEqual([0]);
});
