// The tracks derived from calls, compared with plain scans of the same calls: counters, single
// storage calls, transactions.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AUX_WAL_HEADER, Op } from '../../src/event/event.ts';
import { ACTIVITIES } from '../../src/event/operations.ts';
import { RowCounters } from '../../src/timeline/row-counters.ts';
import type { ThreadStore } from '../../src/trace/store.ts';
import { SubLanes } from '../../src/timeline/sub-lanes.ts';
import { TimelineLanes } from '../../src/timeline/timeline-lanes.ts';
import type { WalHistory } from '../../src/analysis/wal/wal.ts';
import { transactionWord } from '../../src/timeline/transaction-lane.ts';
import { ThreadBuilder, batchOf, newStore } from '../traces/builder.ts';
import { syntheticStore } from '../traces/synthetic.ts';
import { transactionAnatomies, walHistories } from '../traces/analyses.ts';

describe('bytes per second', () => {
  test('are the bytes of the calls that began in each column, at any zoom', () => {
    const store = syntheticStore({ events: 8_000, clockStepUs: 5 });
    const thread = store.threads[0]!;
    const { events } = thread;
    const counters = new RowCounters(thread);
    counters.update();
    const [first, last] = [events.t0[0]!, events.t0[events.count - 1]!];
    for (const [from, to, width] of [
      [first, last + 1, 7],
      [first + (last - first) / 3, first + (last - first) / 2, 64],
      [last - 500, last + 1, 3],
    ] as const)
      for (const [way, op] of [
        [0, Op.xRead],
        [1, Op.xWrite],
      ] as const) {
        const expected = new Float64Array(width);
        for (let row = 0; row < events.count; row++) {
          if (events.op[row] !== op || events.t0[row]! < from || events.t0[row]! >= to) continue;
          expected[
            Math.min(width - 1, Math.floor(((events.t0[row]! - from) / (to - from)) * width))
          ]! += events.length[row]!;
        }
        const perSecond = (1e6 * width) / (to - from);
        const total = (values: ArrayLike<number>): number =>
          Array.from(values).reduce((a, b) => a + b, 0);
        const found = counters.rates(way, from, to, width);
        // a call on the border of two columns may count in either
        expect(total(found) / perSecond).toBeCloseTo(total(expected), -2);
        const apart = Array.from(found, (value, i) =>
          Math.abs(value / perSecond - expected[i]!),
        ).filter((bytes) => bytes > 2 * 4096 + 48);
        expect(apart).toEqual([]);
        if (width === 7) expect(total(expected)).toBeGreaterThan(0);
      }
  });
});

describe('calls that end after they were counted', () => {
  test('only VFS calls count from the first that ends, and none is lost', () => {
    const b = new ThreadBuilder(newStore());
    for (const [op, length] of [
      ['xRead', 4096],
      ['idbGet', 1000],
      ['xRead', 512],
    ] as const)
      b.call(op, { length });
    b.send();
    const { events } = b.thread;
    const ends = [...events.endSeq.subarray(0, 3)];
    const counters = new RowCounters(b.thread);
    const read = (): number => {
      counters.update();
      return Math.round(counters.rates(0, 0, 1e6, 1)[0]!);
    };
    events.endSeq[0] = events.endSeq[2] = 0;
    expect(read()).toBe(1000);
    events.endSeq[0] = ends[0]!;
    expect(read()).toBe(4096);
    events.endSeq[2] = ends[2]!;
    expect(read()).toBe(4608);
  });
});

describe('columns of hundreds of rows', () => {
  test('add up to all bytes, each within a few rows of the exact value', () => {
    const store = syntheticStore({ events: 200_000, threads: 1, clockStepUs: 5 });
    const thread = store.threads[0]!;
    const { events } = thread;
    const counters = new RowCounters(thread);
    counters.update();
    const [first, last] = store.extent();
    const width = 50;
    const step = (last + 1 - first) / width;
    const reads = new Float64Array(width);
    for (let row = 0; row < events.count; row++) {
      const column = Math.floor((events.t0[row]! - first) / step);
      if (events.op[row] === Op.xRead) reads[column]! += events.length[row]!;
    }
    const rates = Array.from(
      counters.rates(0, first, last + 1, width),
      (rate) => (rate * step) / 1e6,
    );
    const sum = (values: ArrayLike<number>): number =>
      Array.from(values).reduce((a, b) => a + b, 0);
    expect(sum(rates) / sum(reads)).toBeCloseTo(1, 6);
    // with 4000 rows a column, in blocks of 32
    const rowsOff = rates.map((bytes, i) => Math.abs(bytes - reads[i]!) / 4096);
    expect(Math.max(...rowsOff)).toBeLessThan(16);
    expect(sum(rowsOff) / width).toBeLessThan(4);
  });
});

describe('columns of a few rows', () => {
  /** By column: bytes read and written by calls that begin in it. */
  function scanned(
    { events }: ThreadStore,
    from: number,
    to: number,
    width: number,
  ): [number[], number[]] {
    const column = (row: number): number =>
      Math.floor(((events.t0[row]! - from) * width) / (to - from));
    const [read, written] = [0, 0].map(() => Array.from({ length: width }, () => 0)) as [
      number[],
      number[],
    ];
    for (let row = 0; row < events.count; row++) {
      const c = column(row);
      if (events.op[row] === Op.xRead) read[c]! += events.length[row]!;
      if (events.op[row] === Op.xWrite) written[c]! += events.length[row]!;
    }
    return [read, written];
  }

  test('are exact, in whatever order calls arrived', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 9 })), {
          minLength: 200,
          maxLength: 400,
        }),
        fc.integer({ min: 2, max: 90 }),
        (calls, width) => {
          const store = newStore();
          const t = new ThreadBuilder(store);
          const [db, log] = [t.file('/a.db'), t.file('/a.db-wal', 'wal')];
          const counters = new RowCounters(t.thread);
          calls.forEach(([what, n], i) => {
            if (what === 0) t.call('xWrite', { object: log, offset: 0, length: 32 });
            else if (what === 1) t.call('xTruncate', { object: log, offset: n * 1000 });
            else if (what === 2) t.call('xDelete', { object: log });
            else if (what < 6)
              t.call('xWrite', { object: log, offset: 32 + n * 4120, length: 4120 });
            else if (what < 9) t.call('xWrite', { object: db, offset: n * 4096, length: 4096 });
            else t.call('xRead', { object: db, offset: n * 4096, length: 4096 });
            t.idle(1 + n);
            if (i % 150 !== 100) return;
            t.send();
            counters.update();
          });
          t.send();
          counters.update();
          const { t0, count } = t.thread.events;
          const [from, to] = [t0[0]! - Math.SQRT1_2, t0[count - 1]! + Math.SQRT2]; // no call begins on a border
          const [read, written] = scanned(t.thread, from, to, width);
          const bytes = (way: 0 | 1): number[] =>
            Array.from(counters.rates(way, from, to, width), (rate) =>
              Math.round((rate * (to - from)) / width / 1e6),
            );
          expect(bytes(0)).toEqual(read);
          expect(bytes(1)).toEqual(written);
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe('bytes of calls without an end', () => {
  test('are those of the end, once it arrives', () => {
    const store = newStore();
    const info = {
      id: 't',
      kind: 'worker' as const,
      url: '',
      name: '',
      parent: null,
      timeOrigin: store.originMs,
    };
    const thread = store.thread(info);
    const read = (i: number, ended: boolean): number[] => [
      i * 10,
      ended ? i * 10 + 5 : 0,
      2 * i + 1,
      ended ? 2 * i + 2 : 0,
      Op.opfsRead,
      ended ? 4096 : 0,
      i * 4096,
      8192,
      0,
      0,
      0,
      0,
      0,
    ];
    const rows = Array.from({ length: 300 }, (_, i) => read(i, i !== 20));
    thread.append(batchOf(info, 0, rows));
    const counters = new RowCounters(thread);
    counters.update();
    const bytes = (): number[] =>
      Array.from(counters.rates(0, 0, 3000, 10), (rate) => Math.round((rate * 300) / 1e6));
    const all = (missing: number): number[] =>
      Array.from({ length: 10 }, (_, i) => 30 * 4096 - (i === 0 ? missing : 0));
    expect(bytes()).toEqual(all(4096)); // a read's bytes are unknown before its end
    thread.append(batchOf(info, 300, [[3000, 3000, 41, 42, Op.end, 1024, 0, 8192, 0, 0, 0, 0, 0]]));
    counters.update();
    expect(bytes()).toEqual(all(3072));
    expect(Math.round((counters.rates(0, 0, 3000, 1)[0]! * 3000) / 1e6)).toBe(299 * 4096 + 1024);
  });
});

describe('the WAL in use', () => {
  const lanesOf = (b: ThreadBuilder): TimelineLanes => {
    const lanes = new TimelineLanes(b.store);
    lanes.update(b.now);
    lanes.settle();
    return lanes;
  };
  const most = (lanes: TimelineLanes, thread: number, from: number, to: number): number =>
    lanes.frames([`${thread}:wal`], from, to, 1)[0]!.values![0]!;

  test('of two databases are two, without frames that were not written', () => {
    const b = new ThreadBuilder(newStore());
    const [one, two] = [b.file('/a.db-wal', 'wal'), b.file('/b.db-wal', 'wal')];
    for (let frame = 0; frame < 40; frame++)
      b.call('xWrite', { object: one, offset: 32 + frame * 4120, length: 4120, dur: 10 });
    b.call('xWrite', { object: two, offset: 0, length: 32, aux: AUX_WAL_HEADER, dur: 10 });
    b.call('xWrite', { object: two, offset: 32, length: 4120, dur: 10 });
    b.call('xWrite', { object: two, offset: 4152, length: 4120, result: 13, dur: 10 });
    b.send();
    const lanes = lanesOf(b);
    const all = 32 + 40 * 4120 + 4152;
    expect([most(lanes, 0, 0, 430), most(lanes, 0, 425, 430)]).toEqual([all, all]);
    expect(most(lanes, 0, 390, 405)).toBe(32 + 40 * 4120);
  });
  test('is one log for all threads that use it, as in the WAL view', () => {
    const store = newStore();
    const [a, b] = ['a', 'b'].map((id) => new ThreadBuilder(store, { id })) as [
      ThreadBuilder,
      ThreadBuilder,
    ];
    const writes = (t: ThreadBuilder, frames: number): void => {
      const log = t.file('/app.db-wal', 'wal');
      t.call('xWrite', { object: log, offset: 0, length: 32, aux: AUX_WAL_HEADER, dur: 10 });
      for (let frame = 0; frame < frames; frame++) {
        const at = 32 + frame * 4120;
        t.call('xWrite', { object: log, offset: at, length: 24, aux: 7, aux2: 9, dur: 5 });
        t.call('xWrite', { object: log, offset: at + 24, length: 4096, dur: 5 });
        t.idle(10);
      }
      t.send();
    };
    writes(a, 100);
    b.idle(a.now - b.now);
    writes(b, 1); // starts it over
    const lanes = lanesOf(b);
    const [{ series }] = walHistories(store) as [WalHistory];
    expect([0, 1].map((thread) => most(lanes, thread, 0, a.now))).toEqual([
      Math.max(...series.usedBytes),
      Math.max(...series.usedBytes),
    ]);
    expect(Math.max(...series.usedBytes)).toBe(32 + 100 * 4120);
    expect([0, 1].map((thread) => most(lanes, thread, b.now - 5, b.now))).toEqual([4152, 4152]);
  });
  test('has a track if a log is written, not if SQLite only looks for one', () => {
    const b = new ThreadBuilder(newStore());
    const log = b.file('/app.db-wal', 'wal');
    const lanes = new TimelineLanes(b.store);
    const hasTrack = (): boolean => {
      b.send();
      lanes.update(b.now);
      return lanes.rows.some(({ kind }) => kind === 'wal');
    };
    b.call('xAccess', { object: log });
    expect(hasTrack()).toBe(false);
    b.call('xWrite', { object: log, offset: 0, length: 32, aux: AUX_WAL_HEADER });
    expect(hasTrack()).toBe(true);
    lanes.settle();
    expect(hasTrack()).toBe(true);
  });
  test('comes from OPFS writes if no VFS calls are visible, and is unknown where the trace has grown since', () => {
    const b = new ThreadBuilder(newStore());
    const log = b.define({ kind: 'opfs-file', path: '/app.db-wal' });
    b.call('opfsWrite', { object: log, offset: 0, length: 32, aux: AUX_WAL_HEADER, dur: 10 });
    b.call('opfsWrite', { object: log, offset: 32, length: 4120, aux: 7, aux2: 9, dur: 10 });
    b.send();
    const lanes = new TimelineLanes(b.store);
    lanes.update(b.now);
    expect(lanes.rows.map((r) => r.kind)).toContain('wal'); // its track
    expect(most(lanes, 0, 0, b.now)).toBeNaN();
    lanes.settle();
    expect(most(lanes, 0, 0, b.now + 1)).toBe(4152);
    const settled = b.now;
    b.idle(100);
    b.call('opfsWrite', { object: log, offset: 4152, length: 4120, aux: 8, aux2: 9, dur: 10 });
    b.send();
    lanes.update(b.now);
    expect([most(lanes, 0, 0, settled + 1), most(lanes, 0, settled + 1, b.now)]).toEqual([
      4152,
      NaN,
    ]);
    lanes.settle();
    expect(most(lanes, 0, settled + 1, b.now + 1)).toBe(8272);
  });
  test('grows with its frames, and falls when the log starts over or is truncated', () => {
    const b = new ThreadBuilder(newStore());
    const wal = b.file('/app.db-wal', 'wal');
    const write = (offset: number, length: number, dur = 10): void =>
      void b.call('xWrite', { object: wal, offset, length, dur });
    write(0, 32);
    for (let frame = 0; frame < 200; frame++) {
      write(32 + frame * 4120, 24, 5);
      write(56 + frame * 4120, 4096, 5);
    }
    const grown = b.now;
    b.idle(100);
    write(0, 32); // restart
    b.idle(100);
    const restarted = b.now;
    write(32, 24);
    b.call('xTruncate', { object: wal, offset: 0, dur: 10 });
    b.idle(100);
    b.send();
    const lanes = lanesOf(b);
    const all = 32 + 200 * 4120;
    expect([most(lanes, 0, 0, grown + 1), most(lanes, 0, 0, b.now)]).toEqual([all, all]);
    expect(most(lanes, 0, 0, 1011)).toBe(32 + 100 * 4120);
    expect(most(lanes, 0, restarted - 50, restarted)).toBe(32);
    expect(most(lanes, 0, b.now - 50, b.now)).toBe(0);
    expect(lanes.rows.map((r) => r.kind)).toContain('wal');
  });
});

describe('storage calls that overlap', () => {
  test('each has its own line, and the number in flight is the number of lines', () => {
    const b = new ThreadBuilder(newStore());
    b.call('idbPut', { dur: 20 }, () => {
      b.idle(10);
      b.call('idbGet', { dur: 30 }, () => {
        b.idle(10);
        b.call('idbGet', { dur: 10 });
      });
    });
    b.idle(10);
    b.call('idbGet', { dur: 20 });
    b.call('opfsRead', { dur: 20 }); // synchronous: no line
    b.send();
    const { events } = b.thread;
    const lines = new SubLanes(events);
    lines.update(b.now * 1000);
    const all = lines.lines.map(({ settled, tail }) =>
      [settled, tail].flatMap((i) => Array.from({ length: i.count }, (_, n) => i.rowOf(n))),
    );
    expect(all).toEqual([[0, 3], [1], [2]]);
    const lanes = new TimelineLanes(b.store);
    lanes.update(b.now);
    const [queue] = lanes.frames(['0:queue'], 0, 80, 8);
    const inFlight = Array.from({ length: 8 }, (_, i) => {
      let us = 0;
      for (let row = 0; row < 4; row++)
        us += Math.max(
          0,
          Math.min(events.t0[row]! + events.dur[row]!, 10 * i + 10) -
            Math.max(events.t0[row]!, 10 * i),
        );
      return us / 10;
    });
    Array.from(queue!.values!).forEach((value, i) => expect(value).toBeCloseTo(inFlight[i]!, 1));
    expect(Math.max(...inFlight)).toBe(3);
  });
});

describe('bytes per second', () => {
  test('are means over the same bins, for any picture width', () => {
    const b = new ThreadBuilder(newStore());
    const file = b.file('/app.db');
    const read = (at: number, length: number): void => {
      b.idle(at - b.now);
      b.call('xRead', { object: file, length, dur: 1 });
    };
    read(10, 100); // bin 0
    read(110, 300);
    read(190, 200); // both in bin 1
    read(390, 50); // bin 3
    b.send();
    const lanes = new TimelineLanes(b.store);
    lanes.update(b.now);
    const rates = (width: number, binUs?: number): number[] =>
      Array.from(lanes.frames(['0:reads'], 0, 400, width, binUs)[0]!.values!);
    const perSecond = [100, 500, 0, 50].map((bytes) => bytes * 1e4); // in 100 us each
    expect(rates(4, 100)).toEqual(perSecond);
    expect(rates(8, 100)).toEqual(perSecond.flatMap((rate) => [rate, rate]));
    // the largest bin that a column touches
    expect(rates(2, 100)).toEqual([perSecond[1], perSecond[3]]);
    for (const width of [2, 3, 7, 555, 1400])
      expect(Math.max(...rates(width, 100))).toBe(perSecond[1]);
    // bins start with the trace, wherever the picture starts
    expect(Array.from(lanes.frames(['0:reads'], 150, 350, 2, 100)[0]!.values!)).toEqual([
      perSecond[1],
      perSecond[3],
    ]);
    expect(rates(2)).toEqual([600, 50].map((bytes) => bytes * 5e3)); // one column each
  });
});

describe('the cache hit rate', () => {
  test('is that of the readings in a column; the first reading of a connection opened earlier gives nothing', () => {
    const b = new ThreadBuilder(newStore());
    const read = (hits: number, misses: number, context = 1): void => {
      b.call('sqlCounters', { offset: hits, length: misses, context, dur: 0 });
      b.idle(10);
    };
    read(1000, 1000);
    read(1009, 1001); // 9 of 10
    read(1010, 1004); // 1 of 4
    b.send();
    const lanes = new TimelineLanes(b.store);
    lanes.update(b.now);
    const rates = (to: number, width: number): number[] =>
      Array.from(lanes.frames(['0:cache'], 0, to, width)[0]!.values!);
    expect(rates(40, 4)[0]).toBeNaN();
    expect(
      rates(40, 4)
        .slice(1)
        .map((r) => Number(r.toFixed(2))),
    ).toEqual([0.9, 0.25, 0.25]);
    expect(rates(30, 1)[0]).toBeCloseTo(10 / 14, 6);
  });
});

describe('transactions', () => {
  test('are drawn as in their anatomy, phase by phase, and one links to its first call', () => {
    const store = syntheticStore({ events: 20_000, clockStepUs: 5 });
    const lanes = new TimelineLanes(store);
    lanes.update(store.extent()[1]);
    const rows = lanes.rows.map((r) => r.key);
    expect(rows).toContain('0:txn'); // its place is reserved
    expect(lanes.lane('0:txn')!.settled.count).toBe(0);
    lanes.settle();
    expect(lanes.rows.map((r) => r.key)).toEqual(rows);
    const anatomies = transactionAnatomies(store).filter(
      ({ transaction }) => transaction.thread === 0,
    );
    const lane = lanes.lane('0:txn')!;
    expect(anatomies.length).toBeGreaterThan(10);
    const spans = new Map<number, { from: number; to: number; words: string[] }>();
    const { settled } = lane;
    const { kind, count } = settled;
    for (let i = 0; i < count; i++) {
      const span = spans.get(settled.rowOf(i)) ?? { from: settled.startOf(i), to: 0, words: [] };
      span.to = settled.endOf(i);
      span.words.push(transactionWord(kind[i]!));
      spans.set(settled.rowOf(i), span);
    }
    expect(spans.size).toBe(new Set(anatomies.map((a) => a.transaction.beginRow)).size);
    for (const { transaction, fromUs, toUs, commit } of anatomies) {
      const span = spans.get(transaction.beginRow)!;
      expect(span.to / 1000).toBeCloseTo(toUs, 3);
      expect(span.from / 1000).toBeGreaterThanOrEqual(fromUs - 0.001);
      expect(span.words.includes('commit')).toBe(commit !== null && commit.toUs > commit.fromUs);
    }
    expect(ACTIVITIES).toContain('sync');
  });
});
