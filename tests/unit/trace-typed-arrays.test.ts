// Arrays that change their length, with and without a platform function that moves their memory.
import { afterEach, expect, test } from 'vitest';
import { IntervalIndex } from '../../src/trace/lanes/interval-index.ts';
import { resized } from '../../src/trace/typed-arrays.ts';
import { TimelineLanes } from '../../src/timeline/timeline-lanes.ts';
import { syntheticStore } from '../traces/synthetic.ts';

const before = Object.getOwnPropertyDescriptor(ArrayBuffer.prototype, 'transfer');
/** As in every browser, and in Node from 21 on: the old buffer is empty afterwards. */
function move(this: ArrayBuffer, bytes: number): ArrayBuffer {
  const to = new ArrayBuffer(bytes);
  new Uint8Array(to).set(new Uint8Array(this).subarray(0, bytes));
  structuredClone(this, { transfer: [this] });
  return to;
}
function transferring(can: boolean): void {
  Object.defineProperty(ArrayBuffer.prototype, 'transfer', {
    configurable: true,
    writable: true,
    value: can ? move : undefined,
  });
}
afterEach(() => {
  if (before) Object.defineProperty(ArrayBuffer.prototype, 'transfer', before);
  else Reflect.deleteProperty(ArrayBuffer.prototype, 'transfer');
});

test.each([true, false])('longer and shorter, with transfer: %s', (can) => {
  transferring(can);
  const first = Float64Array.of(1.5, -2, 3);
  const longer = resized(first, 5);
  expect([...longer]).toEqual([1.5, -2, 3, 0, 0]);
  expect(first.length).toBe(can ? 0 : 3);
  expect([...resized(longer, 2)]).toEqual([1.5, -2]);
  expect(resized(new Int16Array(0), 0)).toEqual(new Int16Array(0));
  const shared = new Uint8Array(8).fill(7);
  // a part of another array isn't moved out of it
  expect([...resized(shared.subarray(2, 4), 3)]).toEqual([7, 7, 0]);
  expect(shared.length).toBe(8);
});

test('an index of intervals and the lanes of a trace have the same contents either way', () => {
  const store = syntheticStore({ events: 30_000, clockStepUs: 5 });
  const [from, to] = store.extent();
  const made = [true, false].map((can) => {
    transferring(can);
    const index = new IntervalIndex();
    for (let i = 0; i < 5000; i++) index.push(i * 100, i % 90, i % 8, i * 3);
    index.trim();
    const lanes = new TimelineLanes(store);
    lanes.update(to);
    lanes.trim();
    const keys = lanes.rows.map(({ key }) => key);
    return [
      Array.from({ length: 5000 }, (_, i) => [
        index.startOf(i),
        index.endOf(i) - index.startOf(i),
        index.rowOf(i),
      ]),
      lanes.frames(keys, from, to, 300),
    ];
  });
  expect(made[0]).toEqual(made[1]);
});
