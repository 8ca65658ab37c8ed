// Frames are exact: every column compared with a plain scan of the calls, however the trace
// arrived.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Op } from '../../src/event/event.ts';
import { KINDS } from '../../src/trace/lanes/interval-index.ts';
import { ACTIVITIES } from '../../src/event/operations.ts';
import { ACTIVITY_OF_OP, laneOfOp } from '../../src/trace/lanes/lanes.ts';
import { CallLanes, rowAt, SLICE_FIELDS } from '../../src/trace/lanes/frame.ts';
import { TraceStore } from '../../src/trace/store.ts';
import { SQL_PARTS } from '../../src/analysis/core/time-parts.ts';
import { TimelineLanes } from '../../src/timeline/timeline-lanes.ts';
import { ThreadBuilder, batchOf, newStore } from '../traces/builder.ts';

interface Call {
  t0: number;
  /** Infinity = never ends */
  end: number;
  op: number;
  seq: number;
  endSeq: number;
}
const OPS_USED = [
  Op.xRead,
  Op.xWrite,
  Op.xSync,
  Op.idbGet,
  Op.idbPut,
  Op.idbTransaction,
  Op.sqlStep,
  Op.xFileSize,
];

/** Calls in order of their begin, with sequence numbers as a thread would assign them. */
function numbered(
  drawn: readonly { gap: number; dur: number; op: number; open: boolean }[],
): Call[] {
  let t = 0;
  const calls = drawn.map((d) => ({
    t0: (t += d.gap),
    end: d.open ? Infinity : t + d.dur,
    op: OPS_USED[d.op]!,
    seq: 0,
    endSeq: 0,
  }));
  // a store only uses the order of begins: one counter, begins first
  calls.forEach((c, i) => (c.seq = i + 1));
  calls.forEach((c, i) => (c.endSeq = c.end === Infinity ? 0 : calls.length + i + 1));
  return calls;
}

/**
 * Sends the calls in batches that end at the given times. A call that ends after its batch gets its
 * end from a later `end` record.
 */
function load(
  calls: readonly Call[],
  cuts: readonly number[],
): { store: TraceStore; callLanes: CallLanes; horizon: number } {
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
  const callLanes = new CallLanes(store);
  const last = Math.max(0, ...calls.map((c) => (c.end === Infinity ? c.t0 : c.end)));
  const times = [...cuts].sort((a, b) => a - b).filter((c) => c < last);
  times.push(last + 1);
  let from = -1;
  let sent = 0;
  for (const cut of times) {
    const records: { at: number; row: number[] }[] = [];
    for (const c of calls) {
      const ended = c.end <= cut;
      if (c.t0 > from && c.t0 <= cut)
        records.push({
          at: c.t0,
          row: [
            c.t0,
            ended ? c.end : c.t0,
            c.seq,
            ended ? c.endSeq : 0,
            c.op,
            0,
            NaN,
            0,
            0,
            0,
            0,
            0,
            0,
          ],
        });
      else if (c.t0 <= from && c.end > from && ended)
        records.push({
          at: c.end,
          row: [c.end, c.end, c.seq, c.endSeq, Op.end, 0, NaN, 0, 0, 0, 0, 0, 0],
        });
    }
    records.sort((a, b) => a.at - b.at);
    thread.append(
      batchOf(
        info,
        sent,
        records.map((r) => r.row),
      ),
    );
    sent += records.length;
    callLanes.update(cut);
    from = cut;
  }
  return { store, callLanes, horizon: last + 1 };
}

/** The plain scan: in every elementary time range, the latest-begun call that runs. */
function scan(
  calls: readonly Call[],
  fromUs: number,
  toUs: number,
  width: number,
  horizon: number,
): { busy: Uint8Array; times: number[][] } {
  const busy = new Uint8Array(width);
  const times: number[][] = [];
  const step = (toUs - fromUs) / width;
  for (let x = 0; x < width; x++) {
    const [a, b] = [fromUs + x * step, fromUs + (x + 1) * step];
    const marks = [...new Set([a, b, ...calls.flatMap((c) => [c.t0, Math.min(c.end, horizon)])])]
      .filter((t) => t >= a && t <= b)
      .sort((p, q) => p - q);
    const time = new Array<number>(KINDS).fill(0);
    for (let i = 1; i < marks.length; i++) {
      const middle = (marks[i - 1]! + marks[i]!) / 2;
      const top = calls.findLast((c) => c.t0 <= middle && Math.min(c.end, horizon) > middle);
      if (top) time[ACTIVITY_OF_OP[top.op]!]! += marks[i]! - marks[i - 1]!;
    }
    const sum = time.reduce((p, q) => p + q, 0);
    times.push(time);
    const instants = calls.filter((c) => c.end === c.t0 && c.t0 >= a && c.t0 < b);
    if (sum === 0 && !instants.length) continue;
    busy[x] = Math.max(1, Math.min(255, Math.round((sum / step) * 255)));
  }
  return { busy, times };
}

const call = fc.record({
  gap: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 50 })),
  dur: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 120 })),
  op: fc.integer({ min: 0, max: OPS_USED.length - 1 }),
  open: fc.integer({ min: 0, max: 30 }).map((n) => n === 0),
});

describe('frames', () => {
  test('every column equals a plain scan, at any zoom, however the trace was split into batches', () => {
    fc.assert(
      fc.property(
        fc.array(call, { minLength: 1, maxLength: 60 }),
        fc.array(fc.integer({ min: 0, max: 2000 }), { maxLength: 6 }),
        fc.integer({ min: 0, max: 1000 }),
        fc.integer({ min: 1, max: 1500 }),
        fc.integer({ min: 1, max: 64 }),
        (drawn, cuts, from, span, width) => {
          const calls = numbered(drawn);
          const { callLanes, horizon } = load(calls, cuts);
          for (const kind of ['sql', 'vfs', 'web'] as const) {
            const own = calls.filter((c) => laneOfOp(c.op) === kind);
            const lane = callLanes.lane(`0:${kind}`);
            expect(lane?.events ?? 0).toBe(own.length);
            if (!lane) continue;
            const frame = callLanes.frames([lane.key], from, from + span, width)[0]!;
            const plain = scan(own, from, from + span, width, horizon);
            for (let x = 0; x < width; x++) {
              expect(
                Math.abs(frame.busy[x]! - plain.busy[x]!),
                `busy of column ${x}`,
              ).toBeLessThanOrEqual(1); // the rounding of a boundary
              if (plain.busy[x] === 0) expect(frame.busy[x]).toBe(0);
              const times = plain.times[x]!;
              expect(times[frame.activity[x]!], `activity of column ${x}`).toBeGreaterThanOrEqual(
                Math.max(...times) - 1e-3,
              );
            }
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  test("the activity with most of a column's time wins; among instants the most frequent one", () => {
    const b = new ThreadBuilder(newStore());
    b.call('xRead', { dur: 30 });
    b.call('xWrite', { dur: 60 });
    b.idle(10);
    for (let i = 0; i < 3; i++) b.call('xSync', { dur: 0 });
    b.call('xRead', { dur: 0 });
    b.idle(100);
    b.send();
    const callLanes = callLanesOf(b);
    const [frame] = callLanes.frames(['0:vfs'], 0, 300, 3);
    expect([...frame!.busy]).toEqual([Math.round(0.9 * 255), 1, 0]);
    expect([...frame!.activity].map((a) => ACTIVITIES[a])).toEqual(['write', 'sync', 'none']);
  });

  test("slices of 3 px and more have their row and label, narrower ones don't", () => {
    const b = new ThreadBuilder(newStore());
    const file = b.file('/app.db');
    b.call('xRead', { object: file, dur: 2 });
    b.call('xRead', { object: file, dur: 50 });
    b.call('xSync', { object: file, dur: 3 });
    b.send();
    const [frame] = callLanesOf(b).frames(null, 0, 100, 100);
    const slices = [...Array(frame!.slices.length / SLICE_FIELDS).keys()].map((i) => [
      ...frame!.slices.subarray(i * 5, i * 5 + 5),
    ]);
    expect(slices).toEqual([
      [1, 2, 52, ACTIVITIES.indexOf('read'), 0],
      [2, 52, 55, ACTIVITIES.indexOf('sync'), -1],
    ]);
    expect(frame!.labels).toEqual(['xRead']);
  });

  test('storage time under SQL is separate from CPU', () => {
    const b = new ThreadBuilder(newStore());
    b.call('sqlStep', { dur: 40 }, () =>
      b.call('xRead', { dur: 10 }, () => b.call('opfsRead', { dur: 50 })),
    );
    b.send();
    const lanes = new TimelineLanes(b.store);
    lanes.update(b.now);
    const shown = (): number[] => [...lanes.frames(['0:time'], 0, 100, 1)[0]!.stack!];
    const half = Math.round(0.5 * 255);
    const expected = SQL_PARTS.map((part) => (part === 'cpu' || part === 'read' ? half : 0)); // the VFS's own code is CPU
    expect(shown()).toEqual(expected);
    lanes.settle();
    expect(shown()).toEqual(expected);
  });

  test('the lock track shows the highest level held, and failed locks change nothing', () => {
    const b = new ThreadBuilder(newStore());
    const file = b.file('/app.db');
    const lock = (op: 'xLock' | 'xUnlock', aux: number, result = 0): void =>
      void b.call(op, { object: file, aux, result, dur: 0 });
    lock('xLock', 1);
    b.idle(100);
    lock('xLock', 2);
    b.idle(50);
    lock('xLock', 4);
    b.idle(10);
    lock('xUnlock', 1);
    b.idle(40);
    lock('xLock', 4, 5);
    b.idle(100);
    lock('xUnlock', 0);
    b.idle(100);
    lock('xLock', 1);
    b.send();
    const callLanes = callLanesOf(b, 500);
    expect([...callLanes.frames(['0:lock'], 0, 500, 5)[0]!.busy]).toEqual([1, 4, 1, 0, 1]);
  });

  test('the call at a point is the innermost one, or next to one, the nearest within reach', () => {
    const b = new ThreadBuilder(newStore());
    b.idle(10);
    b.call('idbTransaction', { dur: 30 }, () => {
      b.idle(20);
      b.call('idbGet', { dur: 10 });
    });
    b.send();
    const lane = callLanesOf(b).lane('0:web')!;
    expect([5, 8.5, 15, 35, 45, 73].map((us) => rowAt(lane, us, 3))).toEqual([-1, 0, 0, 1, 0, 0]);
  });

  test('an empty range is rejected by name', () => {
    const b = new ThreadBuilder(newStore());
    b.call('xRead');
    b.send();
    expect(() => callLanesOf(b).frames(null, 5, 5, 100)).toThrow(/range.*5\.\.5/);
  });
});

function callLanesOf(b: ThreadBuilder, horizon = b.now): CallLanes {
  const callLanes = new CallLanes(b.store);
  callLanes.update(horizon);
  return callLanes;
}
