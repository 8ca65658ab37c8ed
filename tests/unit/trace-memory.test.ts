// Out of memory: if a column can't grow, the records that don't fit are lost and counted, and
// existing rows stay.
import { expect, test } from 'vitest';
import { readTrace } from '../../src/trace/file/read.ts';
import { saveTrace } from '../../src/trace/file/write.ts';
import { batchOf, newStore, ThreadBuilder } from '../traces/builder.ts';
import { Op } from '../../src/event/event.ts';

/** A column creates its successor by its constructor. */
const fails = (column: object): void =>
  void Object.defineProperty(column, 'constructor', {
    configurable: true,
    value: function noMemory(): never {
      throw new RangeError('Array buffer allocation failed');
    },
  });
const rows = (t: ThreadBuilder): unknown[] =>
  Array.from({ length: t.thread.events.count }, (_, i) => t.thread.events.row(i));

test.each(['Float64Array', 'Float32Array', 'Uint32Array', 'Uint8Array'] as const)(
  'a %s that cannot be made: the batch is counted, every row is whole, and it goes on when there is memory again',
  async (kind) => {
    const t = new ThreadBuilder(newStore());
    const like = new ThreadBuilder(newStore());
    const calls = (n: number, aux2 = 0): void => {
      for (const b of [t, like])
        for (let i = 0; i < n; i++)
          b.call('xRead', { offset: i * 4096, length: 4096, object: 1, aux2 });
    };
    calls(1000, 3);
    t.send();
    like.send();
    const before = rows(t);
    calls(500);
    const Kind = globalThis[kind];
    const columns = Object.values(t.thread.events).filter((c) => c instanceof Kind) as object[];
    expect(columns).not.toEqual([]);
    columns.forEach(fails);
    t.send();
    expect([t.thread.missing, t.thread.refused, t.thread.received]).toEqual([500, 500, 1500]);
    expect(rows(t)).toEqual(before);
    for (const column of columns) delete (column as { constructor?: unknown }).constructor;
    calls(10);
    like.send();
    t.send();
    expect([t.thread.missing, t.thread.events.count]).toEqual([500, 1010]);
    expect(rows(t).slice(1000)).toEqual(rows(like).slice(1500));
    const { store, warnings } = await readTrace(await saveTrace(t.store));
    expect(warnings).toEqual([]);
    expect(store.eventCount).toBe(1010);
    expect(store.dropped).toBe(500);
  },
);

test('no memory for smaller columns: rows are dropped within the old ones', () => {
  const t = new ThreadBuilder(newStore());
  for (let i = 0; i < 20_000; i++) t.call('xRead', { offset: i * 4096 });
  t.send();
  const { events } = t.thread;
  const [capacity, kept] = [events.capacity, rows(t).slice(-100)];
  fails(events.aux);
  t.thread.forget(19_900);
  expect(events.capacity).toBe(capacity);
  expect(rows(t)).toEqual(kept);
});

test('no memory to widen a column for a late end: the call stays unchanged, without its end', () => {
  const t = new ThreadBuilder(newStore());
  const seq = t.call('xRead', { open: true, length: 5 });
  t.send();
  const { events } = t.thread;
  const before = events.row(0);
  const { set } = events;
  events.set = (name, row, value) => {
    if (name === 'length' && value > 65_535) throw new RangeError('Array buffer allocation failed');
    set.call(events, name, row, value);
  };
  const end = [0, 7, seq, seq + 1, Op.end, 3, 0, 100_000, 0, 0, 0, 0, 0];
  expect(t.thread.append(batchOf(t.thread.info, 1, [end]))).toEqual([]);
  expect(events.row(0)).toEqual(before);
  expect(t.thread.refused).toBe(1);
});

test.each([2 ** 52 / 1e6, -(2 ** 52) / 1e6, 1e300, Infinity, NaN])(
  'a record at %s ms is rejected, because no file could store it',
  async (ms) => {
    const t = new ThreadBuilder(newStore());
    const open = t.call('xRead', { open: true });
    t.call('xRead');
    t.send();
    const at = (t0: number, t1: number, seq: number, op: number = Op.xRead): number[] => [
      t0 * 1e3,
      t1 * 1e3,
      seq,
      seq + 1,
      op,
      0,
      NaN,
      1,
      0,
      0,
      0,
      0,
      0,
    ];
    const forged = [at(ms, ms, 101), at(1, ms, 103), at(1, ms, open, Op.end)];
    t.thread.append(batchOf(t.thread.info, 2, [...forged, at(2, 3, 201)]));
    expect(t.thread.events.count).toBe(3);
    expect(t.thread.events.endSeq[0]).toBe(0);
    const { store, warnings } = await readTrace(await saveTrace(t.store));
    expect(warnings).toEqual([]);
    expect(store.eventCount).toBe(3);
  },
);

test('the earliest and the latest moment of a trace are saved and read', async () => {
  const t = new ThreadBuilder(newStore(0));
  const far = (2 ** 52 - 2 ** 20) / 1e6 - 1;
  const row = (from: number, to: number, seq: number): number[] => [
    from * 1e3,
    to * 1e3,
    seq,
    seq + 1,
    Op.xRead,
    0,
    NaN,
    1,
    0,
    0,
    0,
    0,
    0,
  ];
  t.thread.append(batchOf(t.thread.info, 0, [row(-far, far, 1), row(far, far, 3)]));
  expect(t.thread.events.count).toBe(2);
  const { store, warnings } = await readTrace(await saveTrace(t.store));
  expect(warnings).toEqual([]);
  expect(store.threads[0]!.events.row(0)).toEqual(t.thread.events.row(0));
});
