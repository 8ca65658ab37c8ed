// What is transferred with a message between the drawing side and its worker, and what is copied.
import { expect, test } from 'vitest';
import { transferables } from '../../src/protocol/rpc.ts';

test('buffers of an answer move, wherever they are; parts of buffers and those of others stay', () => {
  const whole = [new Uint8Array(4), new Float64Array(2)];
  const answer = {
    lanes: [{ busy: whole[0] }, { values: whole[1], part: new Uint8Array(8).subarray(2) }],
    label: 'x',
    none: null,
  };
  expect(transferables(answer, true)).toEqual(whole.map(({ buffer }) => buffer));
  expect(transferables(answer, false)).toEqual([]);
});

test('not every row of a long table is searched, but every argument is', () => {
  let looks = 0;
  const rows = Array.from({ length: 50_000 }, () =>
    Object.defineProperty({}, 'name', { enumerable: true, get: () => ++looks }),
  );
  expect(transferables({ rows, total: rows.length }, true)).toEqual([]);
  expect(looks).toBeLessThan(5000);
  const { port1, port2 } = new MessageChannel();
  expect(transferables([...(new Array(20_000).fill(0) as number[]), port1], false)).toEqual([
    port1,
  ]);
  port1.close();
  port2.close();
});
