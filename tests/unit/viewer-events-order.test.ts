// The Events view: sorted by duration, without rows about the recording itself, and what a row
// shows instead of a number that isn't an offset.
import { describe, expect, it } from 'vitest';
import { Facts } from '../../src/analysis/core/graph.ts';
import type { EventFilter } from '../../src/protocol/session.ts';
import { lineOfEvent } from '../../src/viewer/session/event-lines.ts';
import { EventQuery } from '../../src/viewer/session/queries/event-query.ts';
import { sortByKey } from '../../src/viewer/session/queries/sort-by-key.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';
import { seeded } from '../../src/lab/experiments/workloads/random.ts';

const everything: EventFilter = {
  ...{ text: '', layers: null, errorsOnly: false, fromUs: null, toUs: null },
};

/**
 * Two threads: durations 10, 0 (below the clock's step), none yet, 2.5, and none; 7 and 10 on the
 * other.
 */
function trace(): TraceStore {
  const store = newStore();
  const [a, b] = [new ThreadBuilder(store), new ThreadBuilder(store)];
  a.call('threadStart', { dur: 0 });
  a.call('xRead', { dur: 10 });
  a.call('xLock', { dur: 0 });
  a.call('xSync', { open: true });
  a.call('xWrite', { dur: 2.5 });
  a.call('mark', { dur: 0 });
  b.call('tracer', { dur: 7 });
  b.call('xWrite', { dur: 10 });
  a.send();
  b.send();
  return store;
}
function linesOf(store: TraceStore, filter: Partial<EventFilter>): string[] {
  const query = new EventQuery(store);
  const n = query.run(new Facts(store), { ...everything, ...filter });
  const lines = Array.from({ length: n }, (_, line) => query.at(line));
  lines.forEach((event, line) => expect(query.lineOf(event)).toBe(line));
  return lines.map(({ thread, seq }) => {
    const { events } = store.threads[thread]!;
    const { name } = lineOfEvent(store.threads[thread]!, events.rowOfSeq(seq));
    return `${thread} ${name}`;
  });
}

describe('order', () => {
  const store = trace();
  const longest = ['0 xRead', '1 xWrite', '1 tracer', '0 xWrite', '0 xLock'];
  const last = ['0 threadStart', '0 xSync', '0 mark'];
  it('puts the longest first, equal ones in order of time, and those without a duration last', () => {
    expect(linesOf(store, { order: { key: 'duration', descending: true } })).toEqual([
      ...longest,
      ...last,
    ]);
  });
  it('puts the shortest first, and those without a duration again last', () => {
    expect(linesOf(store, { order: { key: 'duration', descending: false } })).toEqual([
      ...['0 xLock', '0 xWrite', '1 tracer', '0 xRead', '1 xWrite'],
      ...last,
    ]);
  });
  it('puts the latest first', () => {
    const forward = linesOf(store, {});
    expect(linesOf(store, { order: { key: 'time', descending: true } })).toEqual(forward.reverse());
  });
  it('sorts a million numbers exactly, equal ones in their order', () => {
    const random = seeded(7);
    const n = 1_000_000;
    const keys = Float64Array.from({ length: n }, () =>
      random(100) === 0 ? NaN : random(20_000) / (random(2) ? 10 : 1e6),
    );
    for (const descending of [false, true]) {
      const rows = sortByKey(keys.slice(), descending).gather(
        Uint32Array.from({ length: n }, (_, i) => i),
      );
      let wrong = 0;
      for (let i = 1; i < n; i++) {
        const [a, b] = [keys[rows[i - 1]!]!, keys[rows[i]!]!];
        const right =
          Number.isNaN(b) || a === b
            ? Number.isNaN(a) === Number.isNaN(b)
              ? rows[i - 1]! < rows[i]!
              : true
            : descending
              ? a > b
              : a < b;
        if (!right) wrong++;
      }
      expect(wrong).toBe(0);
    }
  });
});

it('leaves out rows about the recording itself, unless they are selected by name', () => {
  const store = trace();
  const calls = ['0 xRead', '0 xLock', '0 xSync', '0 xWrite', '0 mark', '1 xWrite'];
  expect(linesOf(store, { withoutOwn: true }).sort()).toEqual(calls.sort());
  const where = {
    ...{ thread: null, object: '', result: '' },
    ...{ leastUs: null, leastBytes: null, page: null },
  };
  expect(linesOf(store, { withoutOwn: true, where: { ...where, op: 'tracer' } })).toEqual([
    '1 tracer',
  ]);
});

it("has a byte offset or none, and shows the field's other values as text", () => {
  const store = newStore();
  const t = new ThreadBuilder(store);
  const blocks = t.define({ kind: 'idb-store', db: 'app', store: 'blocks' });
  const db = t.file('/app.db');
  t.call('idbGet', { object: blocks, offset: -479232, length: 4096 });
  t.call('sqlCounters', { offset: 10, length: 3, aux: 2, aux2: 1, dur: 0 });
  t.call('xDeviceCharacteristics', { object: db, result: 18432 });
  t.call('xDeviceCharacteristics', { object: db, result: 0 });
  t.call('xLock', { object: db, aux: 2 });
  t.call('xRead', { object: db, offset: 8192, length: 4096 });
  t.call('measure', { offset: 12.5, length: 3400, dur: 0 });
  t.call('atomicsWait', { offset: 64 });
  t.call('idbBlocked', { offset: NaN, length: 2 });
  t.send();
  const lines = Array.from({ length: 9 }, (_, row) => lineOfEvent(t.thread, row));
  expect(
    lines.map(({ offset, length, detail, resultText }) => [offset, length, detail || resultText]),
  ).toEqual([
    [null, 4096, 'key -479,232'],
    [null, 0, 'hits 10, misses 3, writes 2, spills 1'],
    [null, 0, 'UNDELETABLE_WHEN_OPEN | BATCH_ATOMIC'],
    [null, 0, 'none'],
    [null, 0, 'RESERVED'],
    [8192, 4096, ''],
    [null, 0, '3.4 ms'],
    [null, 0, 'at byte 64 of the buffer'],
    [null, 0, 'version 2 open, to be deleted'],
  ]);
});
