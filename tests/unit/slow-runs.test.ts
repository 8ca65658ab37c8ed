// Why runs of a statement took longer than its median run, and a histogram of their durations.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { Facts } from '../../src/analysis/core/graph.ts';
import { bucketOf, runHistogram } from '../../src/analysis/statements/run-histogram.ts';
import type { RunScope } from '../../src/analysis/statements/run-scope.ts';
import { slowRuns, type SlowRun } from '../../src/analysis/statements/slow-runs.ts';
import { Op } from '../../src/event/event.ts';
import { Fcntl } from '../../src/sqlite/constants.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';

class App {
  readonly store = newStore();
  readonly t = new ThreadBuilder(this.store);
  readonly db = this.t.file('/app.db');
  readonly wal = this.t.file('/app.db-wal', 'wal');
  readonly insert = this.t.define({ kind: 'sql', text: 'insert' });
  private n = 0;

  /** A run of 10 us, with a sync of 100 us, and what else happens in it. */
  run(more: { ownUs?: number; syncUs?: number; inside?: () => void } = {}): void {
    const { ownUs = 10, syncUs = 100, inside } = more;
    const aux = ++this.n;
    this.t.call(
      'sqlStep',
      { object: this.insert, context: 1, aux, result: 101, dur: ownUs },
      () => {
        inside?.();
        this.t.call('xSync', { object: this.wal, context: 1, dur: 0 }, () =>
          this.t.call('opfsFlush', { dur: syncUs }),
        );
      },
    );
    this.t.call('sqlReset', { object: this.insert, context: 1, aux, dur: 3 });
    this.t.idle(50);
  }
  read(): void {
    this.t.call('xRead', { object: this.db, context: 1, offset: 0, length: 4096, dur: 1 }, () =>
      this.t.call('opfsRead', { dur: 20 }),
    );
  }
  slow(between?: { from: number; to: number }, scope?: RunScope) {
    this.t.send();
    return slowRuns(new Facts(this.store), 'insert', between, scope);
  }
}
const causes = ({ causes: all }: SlowRun) => all.map(({ kind }) => kind);

describe('the slowest runs', () => {
  test('only those that pass a filter, next to the median of these', () => {
    const app = new App();
    for (let i = 0; i < 5; i++) app.run();
    const fromUs = app.t.now;
    for (const syncUs of [200, 200, 200, 900]) app.run({ syncUs });
    const { median, runs, longer } = app.slow(undefined, { fromUs });
    expect([median?.us, longer]).toEqual([210, 1]);
    expect(runs).toMatchObject([{ us: 910, longerUs: 700 }]);
    expect(app.slow(undefined, { thread: 7 }).median).toBeNull();
  });

  test('a sync that took longer, and what each call took more than in the median run', () => {
    const app = new App();
    for (let i = 0; i < 9; i++) app.run();
    app.run({ syncUs: 700, inside: () => app.read() });
    const { median, runs, longer } = app.slow();
    expect(median?.us).toBe(110);
    expect(longer).toBe(1);
    const [run] = runs;
    expect(run).toMatchObject({ us: 731, longerUs: 621, counts: [{ count: 'reads', more: 1 }] });
    expect(run!.more).toEqual([{ name: 'xSync wal', us: 600 }]);
    expect(run!.causes).toMatchObject([{ kind: 'call', name: 'opfs.flush', us: 700 }]);
  });

  test("the first run read pages; a later one with the same reads isn't a first run", () => {
    const app = new App();
    app.run({ inside: () => Array.from({ length: 5 }, () => app.read()) });
    for (let i = 0; i < 9; i++) app.run();
    app.run({ inside: () => Array.from({ length: 6 }, () => app.read()) });
    const { runs } = app.slow();
    expect(runs.map(({ us }) => us)).toEqual([236, 215]);
    expect(runs.map(causes)).toEqual([[], ['first']]);
    expect(runs[1]!.causes).toEqual([{ kind: 'first', reads: 5, ownUs: 0 }]);
    expect(runs[1]!.more).toEqual([{ name: 'xRead main-db', us: 105 }]);
  });

  test('a checkpoint inside', () => {
    const app = new App();
    const call = (op: 'xFileControl' | 'xRead' | 'xWrite', object: number, fields = {}): void =>
      void app.t.call(op, { object, context: 1, ...fields });
    for (let i = 0; i < 5; i++) app.run();
    app.run({
      inside: () => {
        call('xFileControl', app.db, { aux: Fcntl.ckptStart });
        call('xRead', app.wal, { offset: 56, length: 4096 });
        call('xWrite', app.db, { offset: 0, length: 4096, dur: 80 });
        call('xFileControl', app.db, { aux: Fcntl.ckptDone });
      },
    });
    const [run] = app.slow().runs;
    expect(run!.causes).toMatchObject([{ kind: 'checkpoint', pages: 1 }]);
  });

  test("vfscope's own work, and a sync that the median run lacks", () => {
    const app = new App();
    const step = (inside?: () => void, dur = 10): void => {
      app.t.call('sqlStep', { object: app.insert, context: 1, result: 101, dur }, inside);
      app.t.idle(50);
    };
    for (let i = 0; i < 5; i++) step();
    step(() => app.t.call('tracer', { dur: 500 }));
    step(() => app.t.call('xSync', { object: app.db, dur: 40 }));
    const { runs } = app.slow();
    expect(runs.map(({ causes: all }) => all)).toEqual([
      [{ kind: 'tracer', us: 500 }],
      [{ kind: 'sync', syncs: 1 }],
    ]);
  });

  test("pages that were written early, from the engine's counters", () => {
    const app = new App();
    const counters = (spills: number): void =>
      void app.t.call('sqlCounters', { context: 1, offset: 0, length: 0, aux: 0, aux2: spills });
    app.t.call('sqlOpen', { context: 1 });
    for (let i = 0; i < 5; i++) app.run();
    app.run({ ownUs: 60 });
    counters(4);
    const [run] = app.slow().runs;
    expect(run!.causes).toEqual([{ kind: 'spill', pages: 4 }]);
  });

  test("a wait for another tab's lock, in a recording of two", async () => {
    const file = path.join(import.meta.dirname, '..', 'traces', 'golden', 'idb-two-tabs.vfst');
    const { store } = await readTrace(readFileSync(file));
    const [run] = slowRuns(new Facts(store), 'begin immediate').runs;
    const lock = run!.causes.find((cause) => cause.kind === 'lock');
    expect(lock?.us).toBeGreaterThan(50_000);
    expect(lock!.us).toBeLessThanOrEqual(run!.us);
  });

  test('no cause if only SQLite itself took longer', () => {
    const app = new App();
    for (let i = 0; i < 5; i++) app.run();
    app.run({ ownUs: 90 });
    const [run] = app.slow().runs;
    expect(run).toMatchObject({ causes: [], more: [{ name: 'SQLite', us: 80 }], counts: [] });
  });

  test('of a range of durations', () => {
    const app = new App();
    for (let i = 0; i < 5; i++) app.run();
    for (const syncUs of [200, 300, 400]) app.run({ syncUs });
    expect(app.slow({ from: 250, to: 400 }).runs.map(({ us }) => us)).toEqual([310]);
  });

  test('nothing if no run has ended', () => {
    const app = new App();
    app.t.call('sqlStep', { object: app.insert, aux: 1, open: true });
    expect(app.slow()).toEqual({ median: null, runs: [], longer: 0 });
    expect(app.store.threads[0]!.events.op[0]).toBe(Op.sqlStep);
  });
});

describe('histogram', () => {
  test('buckets grow by a constant factor, and hold each run once', () => {
    const us = [10, 11, 20, 99, 100, 1000];
    const histogram = runHistogram(us);
    const { edges, counts } = histogram;
    expect(counts.reduce((a, b) => a + b, 0)).toBe(us.length);
    expect(edges).toHaveLength(counts.length + 1);
    const factor = edges[1]! / edges[0]!;
    for (let i = 2; i < edges.length; i++) expect(edges[i]! / edges[i - 1]!).toBeCloseTo(factor, 9);
    for (const one of us) {
      const bucket = bucketOf(histogram, one);
      expect(edges[bucket]!).toBeLessThanOrEqual(one * (1 + 1e-9));
      expect(edges[bucket + 1]!).toBeGreaterThan(one * (1 - 1e-9));
      expect(counts[bucket]).toBeGreaterThan(0);
    }
  });

  test('runs too short for the clock have their own bucket', () => {
    expect(runHistogram([0, 0, 100])).toMatchObject({ counts: [2, 1] });
    expect(runHistogram([0, 0])).toEqual({ edges: [0, 1], counts: [2] });
    expect(runHistogram([])).toEqual({ edges: [], counts: [] });
  });
});
