// How other tools read our exports: Perfetto's trace processor and speedscope's importer, with the
// same calls and sums.
import { beforeAll, describe, expect, test } from 'vitest';
import { chromeJson } from '../../src/formats/chrome-json.ts';
import { perfetto } from '../../src/formats/perfetto.ts';
import { opName } from '../../src/event/operations.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { TraceProcessor } from '../consumers/perfetto.ts';
import { speedscopeImport } from '../consumers/speedscope.ts';
import { ThreadBuilder, batchOf, newStore } from '../traces/builder.ts';
import { sampleStore } from '../traces/sample.ts';
import { syntheticStore } from '../traces/synthetic.ts';

async function bytesOf(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const piece of pieces) parts.push(piece);
  return Buffer.concat(parts);
}
async function textOf(pieces: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const piece of pieces) text += piece;
  return text;
}
/** Number of calls and nanoseconds by operation. */
function sums(store: TraceStore): Record<string, [number, number]> {
  const out: Record<string, [number, number]> = {};
  for (const { events } of store.threads)
    for (let i = 0; i < events.count; i++) {
      const sum = (out[opName(events.op[i]!)] ??= [0, 0]);
      sum[0]++;
      sum[1] += Math.round(events.dur[i]! * 1000);
    }
  return out;
}

describe("Perfetto's trace processor", () => {
  async function load(store: TraceStore): Promise<TraceProcessor> {
    const processor = await TraceProcessor.create();
    processor.load(await bytesOf(perfetto(store)));
    return processor;
  }
  const errors =
    "SELECT name, value FROM stats WHERE severity IN ('error', 'data_loss') AND value > 0";

  test('finds every call with its exact nanoseconds, on a track of its thread', async () => {
    const store = syntheticStore({ events: 20_000, threads: 3 });
    const processor = await load(store);
    expect(processor.query(errors)).toEqual([]);
    const found = processor.query(
      'SELECT name, count(*), sum(dur) FROM slice GROUP BY name ORDER BY name',
    );
    expect(Object.fromEntries(found.map(([name, n, ns]) => [name, [n, ns]]))).toEqual(sums(store));
    const threads = processor.query(
      'SELECT thread.name, count(*) FROM slice JOIN thread_track ON slice.track_id = thread_track.id JOIN thread USING(utid) GROUP BY 1 ORDER BY 1',
    );
    expect(threads).toEqual(
      store.threads.map((t, i) => [`db ${i} · worker db-worker.js`, t.events.count]),
    );
    const depth = processor.query("SELECT max(depth) FROM slice WHERE name = 'xRead'");
    expect(depth).toEqual([[1]]);
  });

  test('calls that overlap are on their own tracks, and arguments are present', async () => {
    const store = newStore();
    const info = {
      id: 't',
      kind: 'worker' as const,
      url: '',
      name: 'db',
      parent: null,
      timeOrigin: store.originMs,
    };
    const rows = Array.from({ length: 50 }, (_, i) => [
      i * 10,
      i * 10 + 35,
      i + 1,
      51 + i,
      68,
      0,
      i ? i * 4096 : -0.5,
      100,
      0,
      0,
      0,
      0,
      0,
    ]);
    store.thread(info).append(batchOf(info, 0, rows));
    const processor = await load(store);
    expect(processor.query(errors)).toEqual([]);
    expect(
      processor.query('SELECT count(*), count(DISTINCT track_id), min(dur), max(dur) FROM slice'),
    ).toEqual([[50, 4, 35_000, 35_000]]);
    const args =
      "SELECT sum(int_value) FROM slice JOIN args USING(arg_set_id) WHERE args.key = 'debug.offset'";
    expect(processor.query(args)).toEqual([[(49 * 50 * 4096) / 2]]);
    expect(processor.query("SELECT real_value FROM args WHERE key = 'debug.key'")).toEqual([
      [-0.5],
    ]);
  });

  test('below the step of a coarse clock the sequence numbers preserve nesting', async () => {
    const b = new ThreadBuilder(newStore(), { name: 'db' });
    for (let i = 0; i < 20; i++)
      b.call('sqlStep', { dur: 0 }, () =>
        b.call('xRead', { dur: 0 }, () => b.call('idbGet', { dur: 0 })),
      );
    b.send();
    const processor = await load(b.store);
    expect(processor.query('SELECT depth, count(*) FROM slice GROUP BY depth')).toEqual([
      [0, 20],
      [1, 20],
      [2, 20],
    ]);
  });

  test('a trace with some of everything, and an empty one', async () => {
    const sample = await load(sampleStore());
    expect(sample.query(errors)).toEqual([]);
    expect(sample.query('SELECT count(*) FROM slice')).toEqual([[sampleStore().eventCount]]);
    expect(
      sample.query(
        "SELECT DISTINCT string_value FROM args WHERE key = 'debug.object' AND string_value LIKE '/%' ORDER BY 1",
      ),
    ).toEqual([['/app.db'], ['/app.db-journal']]);
    expect((await load(newStore())).query('SELECT count(*) FROM slice')).toEqual([[0]]);
  });
});

describe("speedscope's importer on Chrome JSON", () => {
  let store: TraceStore;
  beforeAll(() => {
    store = syntheticStore({ events: 10_000, threads: 2 });
  });
  test('has a profile for every thread, with all its calls', async () => {
    const profiles = await speedscopeImport('trace.json', await textOf(chromeJson(store)));
    expect(profiles.map((p) => /db \d · worker db-worker\.js/.exec(p.getName())?.[0])).toEqual([
      'db 0 · worker db-worker.js',
      'db 1 · worker db-worker.js',
    ]);
    profiles.forEach((profile, i) => {
      const calls: Record<string, number> = {};
      let ends = 0;
      profile.forEachCall(
        ({ frame }) =>
          (calls[frame.name.split(' ')[0]!] = (calls[frame.name.split(' ')[0]!] ?? 0) + 1),
        () => ends++,
      );
      const { events } = store.threads[i]!;
      const expected: Record<string, number> = {};
      // a call that takes no time has no width there
      for (let row = 0; row < events.count; row++)
        if (events.dur[row]! > 0)
          expected[opName(events.op[row]!)] = (expected[opName(events.op[row]!)] ?? 0) + 1;
      expect(calls).toEqual(expected);
      expect(ends).toBe(Object.values(expected).reduce((a, b) => a + b));
    });
  });
});
