// The time partition: each statement's share, the possible error of each part, and the time for
// many events.
import { describe, expect, test } from 'vitest';
import type { TimePartition } from '../../src/analysis/time/time-partition.ts';
import { CAPTURE_DEFAULTS } from '../../src/event/capture.ts';
import { Flag, Op, type OpName } from '../../src/event/event.ts';
import { part } from '../full.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';
import { ns, said, sumOf, threadOf, type Row } from '../traces/partition-rows.ts';
import { partitionThread, partitionByStatement, summaryTime } from '../traces/analyses.ts';

describe('shares', () => {
  test('statements, with the calls made for them', () => {
    const store = newStore();
    const b = new ThreadBuilder(store);
    const [insert, select] = ['INSERT', 'SELECT'].map((text) =>
      b.define({ kind: 'sql', text }),
    ) as [number, number];
    b.call('sqlOpen', { context: 7, object: 99, dur: 3 });
    b.call('sqlPrepare', { context: 7, object: insert, dur: 2 });
    b.call('sqlStep', { context: 7, object: insert, dur: 5 }, () =>
      b.call('xWrite', { context: 7, dur: 4 }, () => b.call('opfsWrite', { dur: 30 })),
    );
    b.idle(100);
    b.call('sqlStep', { context: 8, object: select, dur: 1 }, () =>
      b.call('xRead', { context: 8, dur: 1 }, () => b.call('opfsRead', { dur: 10 })),
    );
    b.call('opfsRead', { dur: 20 });
    b.send();
    const byStatement = partitionByStatement(b.thread);
    expect([...byStatement].map(([id, p]) => [id, said(p)])).toEqual([
      [0, { cpu: 3 }],
      [insert, { cpu: 11, write: 30 }],
      [select, { cpu: 2, read: 10 }],
    ]);
    expect(said(partitionThread(b.thread))).toEqual({
      cpu: 16,
      read: 10,
      write: 30,
      idle: 100,
      outside: 20,
    });
  });

  test('the summary adds the threads that run SQLite, and none is null', () => {
    const store = newStore();
    const app = new ThreadBuilder(store);
    app.call('idbGet', { dur: 50, flags: Flag.async });
    app.send();
    expect(summaryTime(store)).toBeNull();
    for (const extra of [0, 1]) {
      const b = new ThreadBuilder(store);
      b.call('sqlStep', { dur: 3 }, () =>
        b.call('xSync', { dur: 2 }, () => b.call('opfsFlush', { dur: 5 + extra })),
      );
      b.idle(10);
      b.call('tracer', { dur: 4 });
      b.call('opfsClose', { dur: 6 });
      b.send();
    }
    expect(summaryTime(store)).toEqual({
      cpuUs: 10,
      ioUs: 11,
      lockUs: 0,
      lockWaitUs: 0,
      tracerUs: 0, // both records were written while no SQL ran
      otherUs: 0,
      idleUs: 20,
      outsideUs: 12,
      tracerOutsideUs: 8,
      vfsIsStorage: false,
    });
    expect(store.threads.map((thread) => partitionThread(thread).spanUs)).toEqual([50, 30, 31]);
  });
});

describe('errors', () => {
  /** xReads of 30 us every 70 us, on a clock with this step. */
  function readAt(stepNs: number | null, phase: number, n = 400): TimePartition {
    const floor = (t: number): number => (stepNs ? Math.floor(t / stepNs) * stepNs : t);
    const rows: Row[] = [];
    const at = { seq: 0 };
    const row = (op: OpName, t0: number, end: number, parent: number, endSeq?: number): void => {
      const seq = ++at.seq;
      rows.push({ op, t0: floor(t0), end: floor(end), parent, seq, endSeq: endSeq ?? ++at.seq });
    };
    row('sqlStep', 0, n * 70_013 + 1000, -1, 1e6);
    for (let i = 0; i < n; i++) {
      const t = phase + i * 70_013;
      const call = ++at.seq;
      rows.push({
        op: 'xRead',
        t0: floor(t),
        end: floor(t + 40_000),
        parent: 0,
        seq: call,
        endSeq: call + 3,
      });
      rows.push({
        op: 'opfsRead',
        t0: floor(t + 5000),
        end: floor(t + 35_000),
        parent: rows.length - 1,
        seq: call + 1,
        endSeq: call + 2,
      });
      at.seq += 3;
    }
    const thread = threadOf(rows);
    const clockStepUs = stepNs === null ? NaN : stepNs / 1000;
    thread.define({
      kind: 'environment',
      id: 0,
      url: '',
      threadKind: 'worker',
      crossOriginIsolated: false,
      clockStepUs,
      userAgent: '',
      hidden: null,
      capture: CAPTURE_DEFAULTS,
    });
    return partitionThread(thread);
  }

  test("a coarse clock's error is given in numbers, and the true value is within it", () => {
    const truth = readAt(null, 100);
    expect(truth.errorUs).toBeNull();
    expect(truth.readUs).toBe(400 * 30);
    let likely = 0;
    for (let phase = 0; phase < 100_000; phase += 5000) {
      const seen = readAt(100_000, phase);
      expect(sumOf(seen)).toBe(ns(seen.spanUs));
      expect(Math.abs(seen.readUs - truth.readUs)).toBeLessThanOrEqual(seen.errorUs!.readUs);
      if (Math.abs(seen.readUs - truth.readUs) <= seen.likelyErrorUs!.readUs) likely++;
      expect(seen.likelyErrorUs!.readUs).toBeLessThan(seen.errorUs!.readUs);
      expect(seen.errorUs!.lockUs).toBe(0);
    }
    expect(likely).toBeGreaterThanOrEqual(18);
    // 400 reads with two edges each, which a fine clock keeps
    expect(readAt(1, 100).errorUs!.readUs).toBeCloseTo(800 * 0.001, 9);
    expect(readAt(1, 100).errorUs!.cpuUs).toBeCloseTo(802 * 0.001, 9);
  });
});

describe('size', () => {
  test('many events', () => {
    const n = part(250_000);
    const { thread } = new ThreadBuilder(newStore());
    const { events } = thread;
    events.reserve(4 * n);
    for (let i = 0, row = 0; i < n; i++)
      for (let depth = 0; depth < 4; depth++, row++) {
        const suspends = i % 3 === 0;
        events.t0[row] = i * 40 + depth * 3;
        events.set('dur', row, depth === 3 ? 5 : 30 - depth * 6);
        events.seq[row] = i * 8 + depth + 1;
        events.endSeq[row] = i * 8 + 8 - depth;
        events.op[row] = [
          Op.sqlStep,
          Op.xRead,
          suspends ? Op.idbTransaction : Op.opfsRead,
          suspends ? Op.idbGet : Op.opfsGetSize,
        ][depth]!;
        events.flags[row] = suspends ? Flag.async : 0;
        events.parent[row] = depth ? i * 8 + Math.min(depth, 2) : 0;
        events.set('object', row, depth ? 0 : 1 + (i % 50));
        events.count++;
      }
    partitionThread(thread);
    const started = process.cpuUsage();
    const p = partitionThread(thread);
    const took = process.cpuUsage(started).user / 1000;
    console.info(`partition of ${events.count} events: ${took.toFixed(0)} ms of processor time`);
    expect(sumOf(p)).toBe(ns(p.spanUs));
    expect(ns(p.cpuUs + p.readUs + p.idbTransactionUs + p.otherUs)).toBe(n * 30_000);
    const shares = [...partitionByStatement(thread).values()];
    expect(shares).toHaveLength(50);
    expect(shares.reduce((sum, s) => sum + ns(s.spanUs), 0)).toBe(n * 30_000);
    // 200 for a million in plain Node, alone: this only catches what isn't linear
    expect(took).toBeLessThan(n / 100);
  });
});
