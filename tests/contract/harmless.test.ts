/**
 * The traced app behaves as without tracing: full rings, the tracer's own faults, restoring,
 * foreign modules.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { Traced } from './helpers/traced.ts';
import { runScript } from './helpers/script.ts';
import { loadWaSqlite } from './helpers/wa-sqlite.ts';

const open: Traced[] = [];
afterEach(() => {
  for (const t of open.splice(0)) t.restore();
});
const trace = (...args: ConstructorParameters<typeof Traced>): Traced => {
  const t = new Traced(...args);
  open.push(t);
  return t;
};

it('records drained during a call get their end from an end record', async () => {
  const t = trace();
  const { sqlite3, vfs } = await loadWaSqlite('journey-sync');
  const write = (vfs.jWrite as (...a: unknown[]) => number).bind(vfs);
  vfs.jWrite = (...a: unknown[]): number => {
    t.drain(); // the step and this xWrite leave the ring while they run
    return write(...a);
  };
  await runScript(sqlite3);
  expect(t.faultsOf(t.all())).toEqual([]);
  expect(t.counters()).toEqual({ dropped: 0, faults: 0 });
});

it('a full ring drops calls and counts them, and the app continues', async () => {
  // memory is read by the clock, so both runs must read it equally often
  const now = (): number => 1;
  const t = trace({ capacity: 256, now }, {}, false);
  const { sqlite3 } = await loadWaSqlite('journey-sync');
  const answers = await runScript(sqlite3);
  expect(answers.at(-1)).toEqual(['ok']);
  const { dropped, faults } = t.counters();
  expect(faults).toBe(0);
  const kept = t.all();
  expect(kept).toHaveLength(256);
  const free = trace({ now });
  await runScript((await loadWaSqlite('journey-sync')).sqlite3);
  const whole = free.all().length;
  // missing calls were counted; an end that didn't fit counts as well
  expect(dropped).toBeGreaterThanOrEqual(whole - 256);
  expect(dropped).toBeLessThan(whole - 256 + 16);
});

it("a thread that doesn't yield requests a drain by its clock, however slow its calls are", async () => {
  let ms = 0;
  // 10 ms until a call ends, and as long until the next
  const t = trace({ now: () => (ms += 10) }, {}, false);
  const asked: number[] = [0];
  const restart = (): void => t.recorder.askForDrains(Infinity, ms + 125);
  t.recorder.onPressure = () => {
    asked.push(ms);
    t.drain();
    restart();
  };
  restart();
  const answers = await runScript((await loadWaSqlite('journey-sync')).sqlite3);
  expect(answers.at(-1)).toEqual(['ok']);
  const gaps = asked.slice(1).map((at, i) => at - asked[i]!);
  expect(gaps.length).toBeGreaterThan(20);
  expect(Math.max(...gaps)).toBeLessThanOrEqual(125 + 4 * 10);
});

it('also writes to a shared ring', async () => {
  const t = trace({ shared: true });
  t.recorder.onPressure = () => t.drain();
  new Uint32Array(t.recorder.memory.buffer)[36 >>> 2] = 1024; // like a thread that drains itself
  const plain = trace();
  plain.restore();
  await runScript((await loadWaSqlite('journey-sync')).sqlite3);
  expect(t.faultsOf(t.all())).toEqual([]);
  expect(t.counters()).toEqual({ dropped: 0, faults: 0 });
  expect(t.tally(t.all())['xLock main-db']!.calls).toBeGreaterThan(60);
});

it('a fault inside the tracer is counted and reported, and never reaches the app', async () => {
  const expected = await runScript((await loadWaSqlite('journey-sync')).sqlite3);
  const t = trace();
  t.recorder.define = () => {
    throw new Error('no definitions today');
  };
  const { sqlite3 } = await loadWaSqlite('journey-sync');
  expect(await runScript(sqlite3)).toEqual(expected);
  expect(t.counters().faults).toBeGreaterThan(0);
  expect(t.notes.join('\n')).toContain('no definitions today');
});

it.each([false, true])(
  'without memory for engines the app continues (shared: %s)',
  async (shared) => {
    const expected = await runScript((await loadWaSqlite('journey-sync')).sqlite3);
    const { Memory } = WebAssembly;
    let t: Traced;
    try {
      WebAssembly.Memory = class {
        constructor() {
          throw new RangeError('WebAssembly.Memory(): could not allocate memory');
        }
      } as unknown as typeof Memory;
      t = trace({ shared });
    } finally {
      WebAssembly.Memory = Memory;
    }
    const { sqlite3 } = await loadWaSqlite('journey-sync');
    expect(await runScript(sqlite3)).toEqual(expected);
    const rows = t.all();
    expect(rows.filter(({ name }) => name === 'xRead')).toEqual([]);
    expect(t.notes.join('\n')).toContain('memory for engines: RangeError');
  },
);

it('while recording is off nothing is recorded, and names stay correct', async () => {
  const t = trace();
  const { sqlite3 } = await loadWaSqlite('journey-sync');
  const db = await sqlite3.open_v2('a.db');
  await sqlite3.exec(db, 'CREATE TABLE t(a)');
  const mark = t.mark();
  t.recorder.enabled = false;
  await sqlite3.exec(db, 'INSERT INTO t VALUES(1)');
  const other = await sqlite3.open_v2('b.db');
  await sqlite3.exec(other, 'CREATE TABLE t(a)');
  expect(t.since(mark)).toEqual([]);
  t.recorder.enabled = true;
  await sqlite3.exec(other, 'INSERT INTO t VALUES(1)');
  const rows = t.since(mark);
  expect(
    new Set(rows.filter((r) => r.name === 'xWrite').map((r) => t.file(r.object)!.path)),
  ).toEqual(new Set(['b.db', 'b.db-journal']));
  expect(t.faultsOf(rows)).toEqual([]);
  await sqlite3.close(other);
  await sqlite3.close(db);
});

describe('restore', () => {
  const holders: [string, object][] = [
    ['WebAssembly', WebAssembly],
    ['Table.prototype', WebAssembly.Table.prototype],
    ['Object.prototype', Object.prototype],
  ];
  const snapshot = (): unknown =>
    holders.map(([name, o]) => [name, Object.getOwnPropertyDescriptors(o)]);

  it('restores every global and prototype, and leaves running engines working', async () => {
    const before = snapshot();
    const keys = Reflect.ownKeys(Object.prototype);
    const t = trace();
    expect(snapshot()).not.toEqual(before);
    const { sqlite3, module } = await loadWaSqlite('journey-async');
    const db = await sqlite3.open_v2('r.db');
    await sqlite3.exec(db, 'CREATE TABLE t(a); INSERT INTO t VALUES(1)');
    t.restore();
    expect(snapshot()).toEqual(before);
    expect(Reflect.ownKeys(Object.prototype)).toEqual(keys);
    const mark = t.mark();
    const answers: unknown[] = [];
    await sqlite3.exec(db, 'INSERT INTO t VALUES(2); SELECT sum(a) FROM t', (row) =>
      answers.push(row[0]),
    );
    expect(answers).toEqual([3]);
    expect(Object.getOwnPropertyDescriptor(module, '_sqlite3_step')).toMatchObject({
      writable: true,
      enumerable: true,
      configurable: true,
    });
    await sqlite3.close(db);
    expect(t.since(mark).filter((r) => r.op >= 128)).toEqual([]);
    expect(t.since(mark)).toEqual([]);
  });

  it('restores every table slot', async () => {
    let table: WebAssembly.Table | null = null;
    const native = WebAssembly.instantiate;
    const spy = async (...a: Parameters<typeof native>): Promise<unknown> => {
      const answer = (await native(...a)) as unknown as WebAssembly.WebAssemblyInstantiatedSource;
      table = Object.values(answer.instance.exports).find(
        (e) => e instanceof WebAssembly.Table,
      ) as WebAssembly.Table;
      slots = Array.from({ length: table.length }, (_, i) => table!.get(i) as unknown);
      return answer;
    };
    let slots: unknown[] = [];
    // below our wrapper, so it sees the instance first
    (WebAssembly as { instantiate: unknown }).instantiate = spy;
    try {
      const t = trace();
      const { sqlite3 } = await loadWaSqlite('journey-sync');
      await runScript(sqlite3);
      const get = (i: number): unknown => table!.get(i);
      // while traced, the app reads its own functions from the table
      expect(
        Array.from({ length: slots.length }, (_, i) => get(i) === slots[i]).every(Boolean),
      ).toBe(true);
      t.restore();
      expect(
        Array.from({ length: slots.length }, (_, i) => get(i) === slots[i]).every(Boolean),
      ).toBe(true);
    } finally {
      (WebAssembly as { instantiate: unknown }).instantiate = native;
    }
  });

  it('wrapped entry points have the native names and lengths, and fail like the native ones', async () => {
    const { instantiate, Instance, Module } = WebAssembly;
    const shape = (f: { name: string; length: number }): unknown => [f.name, f.length];
    const wrapped = (): unknown[] =>
      [
        ...[
          WebAssembly.instantiate,
          WebAssembly.instantiateStreaming,
          WebAssembly.compile,
          WebAssembly.Instance,
          WebAssembly.Module,
        ],
        ...[WebAssembly.Table.prototype.set, WebAssembly.Table.prototype.get],
      ].map(shape);
    const native = wrapped();
    const broken = new Uint8Array([1, 2, 3]);
    const error = await instantiate(broken).catch((e: Error) => e);
    trace();
    expect(wrapped()).toEqual(native);
    const same = await WebAssembly.instantiate(broken).catch((e: Error) => e);
    expect(same).toBeInstanceOf(WebAssembly.CompileError);
    expect((same as unknown as Error).message).toBe((error as unknown as Error).message);
    const empty = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
    expect((await WebAssembly.instantiate(empty)).instance).toBeInstanceOf(WebAssembly.Instance);
    expect(new WebAssembly.Instance(new WebAssembly.Module(empty))).toBeInstanceOf(Instance);
    expect(new WebAssembly.Module(empty)).toBeInstanceOf(Module);
    expect(await WebAssembly.compile(empty)).toBeInstanceOf(WebAssembly.Module);
    expect(() =>
      new WebAssembly.Table({ element: 'anyfunc', initial: 1 }).set(
        0,
        (() => 0) as unknown as null,
      ),
    ).toThrow(TypeError);
  });
});

it("a wasm module that isn't SQLite stays unchanged, and isn't reported", async () => {
  const t = trace();
  const bytes = new Uint8Array([
    0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 5, 3, 1, 0, 1, 7, 5, 1, 1, 0x6d, 2, 0,
  ]); // one exported memory
  const { instance } = await WebAssembly.instantiate(bytes);
  t.installed.announce();
  expect(Object.keys(instance.exports)).toEqual(['m']);
  expect(t.engines).toEqual([]);
  expect(t.installed.count).toBe(0);
});

it('more engines than the recorder can hold still run', async () => {
  const t = trace({ maxEngines: 1 });
  const first = await loadWaSqlite('journey-sync');
  const second = await loadWaSqlite('journey-sync');
  expect(await runScript(second.sqlite3)).toEqual(await runScript(first.sqlite3));
  expect(t.engines.map((e) => e.layers.vfs)).toEqual([false, true]);
  expect(t.engines[0]!.layers.sql).toBe(true);
  expect(t.engines[0]!.note).toContain('more than 1');
});
