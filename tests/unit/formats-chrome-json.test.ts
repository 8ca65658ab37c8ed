// Chrome's Trace Event JSON: every event is present, complete events of one tid nest, and DevTools'
// own engine accepts it.
import { beforeAll, describe, expect, test } from 'vitest';
import { NestingTracks, chromeJson } from '../../src/formats/chrome-json.ts';
import { OPS } from '../../src/event/operations.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { ThreadBuilder, batchOf, newStore } from '../traces/builder.ts';
import { sampleStore } from '../traces/sample.ts';
import { syntheticStore } from '../traces/synthetic.ts';

interface ChromeEvent {
  name: string;
  ph: string;
  ts: number;
  dur?: number;
  pid: number;
  tid: number;
  args: Record<string, unknown>;
}
async function exported(store: TraceStore): Promise<ChromeEvent[]> {
  let text = '';
  for await (const piece of chromeJson(store)) text += piece;
  return (JSON.parse(text) as { traceEvents: ChromeEvent[] }).traceEvents;
}
const calls = (events: ChromeEvent[]): ChromeEvent[] => events.filter((e) => e.ph === 'X');

/** Complete events on one tid that neither nest nor follow each other. */
function overlaps(events: ChromeEvent[]): string[] {
  const wrong: string[] = [];
  const byTid = new Map<number, ChromeEvent[]>();
  for (const e of calls(events)) byTid.set(e.tid, [...(byTid.get(e.tid) ?? []), e]);
  for (const own of byTid.values()) {
    const open: number[] = [];
    for (const e of own) {
      const [begin, end] = [Math.round(e.ts * 1000), Math.round((e.ts + e.dur!) * 1000)];
      while (open.length && open.at(-1)! <= begin) open.pop();
      if (open.length && open.at(-1)! < end)
        wrong.push(`${e.name} at ${e.ts} outlasts what it began in`);
      open.push(end);
    }
  }
  return wrong;
}

/** Parallel requests: each begins before the previous one ends, and none nests. */
function concurrent(n: number): TraceStore {
  const store = newStore();
  const info = {
    id: 't',
    kind: 'worker' as const,
    url: 'https://a.example/w.js',
    name: 'db',
    parent: null,
    timeOrigin: store.originMs,
  };
  const rows = Array.from({ length: n }, (_, i) => [
    i * 10,
    i * 10 + 35,
    i + 1,
    n + i + 1,
    68,
    0,
    NaN,
    0,
    0,
    0,
    0,
    0,
    0,
  ]);
  store.thread(info).append(batchOf(info, 0, rows));
  return store;
}

describe('chrome json', () => {
  test('calls without an end last until their thread or the trace ends', async () => {
    const store = newStore();
    const [gone, goesOn] = [
      new ThreadBuilder(store, { name: 'gone' }),
      new ThreadBuilder(store, { name: 'goes on' }),
    ];
    for (const t of [gone, goesOn]) {
      t.idle(10);
      t.call('idbTransaction', { open: true });
      t.idle(80);
      t.call('idbGet', { dur: 10 });
    }
    goesOn.idle(9000);
    goesOn.call('idbGet', { dur: 10 });
    gone.thread.ended = 'pagehide';
    for (const t of [gone, goesOn]) t.send();
    const open = calls(await exported(store)).filter(
      (e) => e.name === 'idbTransaction' || /transaction/i.test(e.name),
    );
    const ends = (thread: {
      events: { t0: ArrayLike<number>; dur: ArrayLike<number>; count: number };
    }): number => {
      const { t0, dur, count } = thread.events;
      return t0[count - 1]! + dur[count - 1]!;
    };
    expect(open.map((e) => Math.round(e.ts + e.dur!))).toEqual(
      [ends(gone.thread), ends(goesOn.thread)].map(Math.round),
    );
  });
  test('holds every event once, with its times', async () => {
    const store = syntheticStore({ events: 3000, threads: 2, clockStepUs: 5 });
    const events = await exported(store);
    expect(calls(events).length).toBe(store.eventCount);
    const reads = store.threads
      .flatMap((t) => [...t.events.op.subarray(0, t.events.count)])
      .filter((op) => OPS[op]?.name === 'xRead').length;
    expect(calls(events).filter((e) => e.name === 'xRead').length).toBe(reads);
    const { events: columns } = store.threads[0]!;
    expect(calls(events).find((e) => e.tid === 1)).toMatchObject({
      ts: columns.t0[0],
      dur: columns.dur[0],
    });
  });

  test('nested calls share a tid; concurrent ones get their own tids, as few as possible', async () => {
    const nested = await exported(syntheticStore({ events: 5000, threads: 2 }));
    expect(overlaps(nested)).toEqual([]);
    expect(new Set(calls(nested).map((e) => e.tid)).size).toBe(2);
    const parallel = await exported(concurrent(50));
    expect(overlaps(parallel)).toEqual([]);
    expect(new Set(calls(parallel).map((e) => e.tid)).size).toBe(4);
    // the check itself can fail
    expect(overlaps(calls(parallel).map((e) => ({ ...e, tid: 1 }))).length).toBeGreaterThan(0);
  });

  test('every tid has a name', async () => {
    const events = await exported(concurrent(9));
    const named = new Map(
      events.filter((e) => e.name === 'thread_name').map((e) => [e.tid, e.args.name]),
    );
    expect([...new Set(calls(events).map((e) => e.tid))].map((tid) => named.get(tid))).toEqual([
      'db · worker w.js',
      'db · worker w.js · concurrent calls 1',
      'db · worker w.js · concurrent calls 2',
      'db · worker w.js · concurrent calls 3',
    ]);
  });

  test('names the object and purpose of a call, and the calls that never ended', async () => {
    const events = await exported(sampleStore());
    expect(calls(events).find((e) => e.name === 'xLock')!.args).toEqual({
      ...{
        object: '/app.db',
        detail: 'SHARED',
        result: 0,
        statement: 'INSERT INTO note VALUES(?, ?)',
      },
    });
    expect(calls(events).filter((e) => e.args.open)).toMatchObject([{ name: 'lock.held' }]);
  });

  test('an empty trace gives a valid file', async () => {
    expect((await exported(newStore())).filter((e) => e.ph === 'X')).toEqual([]);
  });

  test('tracks are reused once they are free', () => {
    const tracks = new NestingTracks();
    expect([
      tracks.place(0, 10),
      tracks.place(2, 5),
      tracks.place(4, 12),
      tracks.place(10, 20),
      tracks.count,
    ]).toEqual([0, 0, 1, 0, 2]);
  });
});

describe("DevTools' own engine", () => {
  beforeAll(() => {
    class DOMRect {
      static fromRect = (): DOMRect => new DOMRect();
    }
    Object.assign(globalThis, { DOMRect });
  });

  test('reads the file and finds every thread and call', async () => {
    const b = new ThreadBuilder(newStore(), { name: 'db' });
    for (let i = 0; i < 40; i++) b.call('sqlStep', {}, () => b.call('xRead'));
    b.send();
    const { Model } = (await import('@paulirish/trace_engine/models/trace/trace.js'))
      .TraceModel as unknown as EngineModel;
    const model = Model.createWithAllHandlers();
    await model.parse(await exported(b.store), {});
    const threads = [...model.parsedTrace(0)!.data.Renderer.processes.values()].flatMap((p) => [
      ...p.threads.values(),
    ]);
    expect(threads.map((t) => [t.name, t.entries.length])).toEqual([
      ['CrRendererMain', expect.any(Number)],
      ['db · worker worker.js', 80],
    ]);
  });
});

interface EngineModel {
  Model: {
    createWithAllHandlers(): {
      parse(events: ChromeEvent[], options: object): Promise<void>;
      parsedTrace(i: number): {
        data: {
          Renderer: {
            processes: Map<number, { threads: Map<number, { name: string; entries: unknown[] }> }>;
          };
        };
      } | null;
    };
  };
}
