/** The instruction meter on modules small enough to count by hand, and on every SQLite build we know. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { MeterError, meterModule, type MeterOptions } from '../../src/lab/meter/meter.ts';
import { seedRealm } from '../../src/lab/meter/seeded-realm.ts';
import {
  OP,
  branch,
  branchIf,
  exportFunction,
  functionBody,
  functionType,
  get,
  i32,
  importFunction,
  leb,
  moduleBytes,
  section,
  set,
  text,
  vector,
  when,
  type Bytes,
} from '../../src/vfs-instrumented/interpose/wasm-writer.ts';

const TYPE = functionType({ params: 'i', results: 'i' });
const module = (
  body: Bytes,
  locals: [number, string][] = [],
  ...more: Bytes[]
): Uint8Array<ArrayBuffer> =>
  moduleBytes(
    section(1, vector([TYPE])),
    section(3, vector([[0]])),
    section(7, vector([exportFunction('f', 0)])),
    section(10, vector([functionBody(locals, body)])),
    ...more,
  );
const call = (
  bytes: Uint8Array<ArrayBuffer>,
  argument: number,
  options?: MeterOptions,
): { result: number; count: bigint } => {
  const metered = meterModule(bytes, options);
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(metered.bytes), {
    env: { host: (n: number) => n + 1 },
  });
  const result = (exports.f as (n: number) => number)(argument);
  return { result, count: metered.read(exports) };
};
const message = (work: () => unknown): string => {
  try {
    work();
  } catch (e) {
    if (e instanceof MeterError) return e.message;
    throw e;
  }
  throw new Error('nothing was thrown');
};

describe('counts by hand', () => {
  it('straight line: each instruction once, without `end` and `nop`', () => {
    expect(call(module([...get(0), 0x01, ...i32(1), OP.add]), 41)).toEqual({
      result: 42,
      count: 3n,
    });
  });

  it('if and else: what ran', () => {
    // get, if | const, set | get: 2 + 2 + 1 when taken, 2 + 3 + 1 when not
    const body = [
      ...get(0),
      ...when([...i32(7), ...set(0)], [...i32(8), 0x01, ...set(0), 0x01, ...i32(0), OP.drop]),
      ...get(0),
    ];
    expect(call(module(body), 1)).toEqual({ result: 7, count: 5n });
    expect(call(module(body), 0)).toEqual({ result: 8, count: 7n });
  });

  it('a loop: its body for every iteration', () => {
    // iterations: get const sub tee br_if = 5 each; then get 1
    const body = [
      OP.loop,
      0x40,
      ...get(0),
      ...i32(1),
      OP.sub,
      0x22,
      ...leb(0),
      ...branchIf(0),
      OP.end,
      ...get(0),
    ];
    expect(call(module(body), 10)).toEqual({ result: 0, count: 51n });
  });

  it('a branch out of blocks: nothing after it', () => {
    const body = [
      OP.block,
      0x40,
      ...get(0),
      ...branchIf(0),
      ...i32(9),
      ...set(0),
      ...branch(0),
      ...i32(5),
      ...set(0),
      OP.end,
      ...get(0),
    ];
    expect(call(module(body), 3)).toEqual({ result: 3, count: 3n });
    expect(call(module(body), 0)).toEqual({ result: 9, count: 6n });
  });

  it('br_table: one instruction, whichever target', () => {
    const table: Bytes = [0x0e, ...leb(1), 0, 1];
    const body = [
      OP.block,
      0x40,
      OP.block,
      0x40,
      ...get(0),
      ...table,
      OP.end,
      ...i32(100),
      OP.return,
      OP.end,
      ...i32(200),
    ];
    expect(call(module(body), 0)).toEqual({ result: 100, count: 4n });
    expect(call(module(body), 5)).toEqual({ result: 200, count: 3n });
  });

  it('a call counts one, and the called function its own instructions; the host counts nothing', () => {
    const bytes = moduleBytes(
      section(1, vector([TYPE])),
      section(2, vector([importFunction('env', 'host', 0)])),
      section(3, vector([[0], [0]])),
      section(7, vector([exportFunction('f', 2)])),
      section(
        10,
        vector([
          functionBody([], [...get(0), ...i32(2), OP.mul]),
          functionBody([], [...get(0), 0x10, 1, 0x10, 0]),
        ]),
      ),
    );
    expect(call(bytes, 20)).toEqual({ result: 41, count: 6n });
    expect(call(bytes, 20, { counters: 'functions' })).toEqual({ result: 41, count: 6n });
  });
});

describe('each function separately', () => {
  const names = (entries: [number, string][]): Bytes => {
    const content = vector(entries.map(([i, name]) => [...leb(i), ...text(name)]));
    return section(0, [...text('name'), 1, ...leb(content.length), ...content]);
  };
  const two = (...more: Bytes[]): Uint8Array<ArrayBuffer> =>
    moduleBytes(
      section(1, vector([TYPE])),
      section(3, vector([[0], [0]])),
      section(7, vector([exportFunction('f', 1)])),
      section(
        10,
        vector([
          functionBody([], [...get(0), ...i32(2), OP.mul]),
          functionBody([], [...get(0), 0x10, 0]),
        ]),
      ),
      ...more,
    );
  const counts = (bytes: Uint8Array<ArrayBuffer>): unknown[] => {
    const metered = meterModule(bytes, { counters: 'functions' });
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(metered.bytes));
    (exports.f as (n: number) => number)(1);
    return metered.readFunctions(exports).map((f) => [f.index, f.name, Number(f.instructions)]);
  };

  it('named by the exports if there is no name section', () => {
    expect(counts(two())).toEqual([
      [0, null, 3],
      [1, 'f', 2],
    ]);
  });
  it('named by the name section', () => {
    expect(
      counts(
        two(
          names([
            [0, 'sqlite3VdbeExec'],
            [1, 'main'],
          ]),
        ),
      ),
    ).toEqual([
      [0, 'sqlite3VdbeExec', 3],
      [1, 'main', 2],
    ]);
  });
});

describe('loads and stores', () => {
  /** One page of memory. */
  const withMemory = (body: Bytes, locals: [number, string][] = []): Uint8Array<ArrayBuffer> =>
    moduleBytes(
      section(1, vector([TYPE])),
      section(3, vector([[0]])),
      section(5, vector([[0, 1]])),
      section(7, vector([exportFunction('f', 0)])),
      section(10, vector([functionBody(locals, body)])),
    );
  const [LOAD, LOAD8, STORE, STORE8] = [0x28, 0x2d, 0x36, 0x3a];
  const at = (op: number): Bytes => [op, 0, ...leb(16)];
  const counted = (bytes: Uint8Array<ArrayBuffer>, argument: number): bigint[] => {
    const loads = meterModule(bytes, { counted: 'loads' });
    const both = meterModule(loads.bytes, { counted: 'stores' });
    const all = meterModule(bytes);
    const onTop = meterModule(meterModule(all.bytes, { counted: 'loads' }).bytes, {
      counted: 'stores',
    });
    const run = (module: Uint8Array<ArrayBuffer>): WebAssembly.Exports => {
      const { exports } = new WebAssembly.Instance(new WebAssembly.Module(module));
      (exports.f as (n: number) => number)(argument);
      return exports;
    };
    const [apart, stacked] = [run(both.bytes), run(onTop.bytes)];
    // added to an instruction count, each counts the same, and so do the instructions
    expect([loads.read(stacked), both.read(stacked), all.read(stacked)]).toEqual([
      loads.read(apart),
      both.read(apart),
      call(bytes, argument).count,
    ]);
    return [loads.read(apart), both.read(apart)];
  };

  it('each once, whatever its width, and in a loop for every iteration', () => {
    // an iteration: store, load, store8, load8
    const turn = [
      ...[...i32(0), ...get(0), ...at(STORE)],
      ...[...i32(0), ...at(LOAD), OP.drop],
      ...[...i32(0), ...get(0), ...at(STORE8)],
      ...[...i32(0), ...at(LOAD8), OP.drop],
    ];
    const body = [
      ...[OP.loop, 0x40, ...turn, ...get(0), ...i32(1), OP.sub, 0x22, ...leb(0), ...branchIf(0)],
      ...[OP.end, ...get(0)],
    ];
    expect(counted(withMemory(body), 5)).toEqual([10n, 10n]);
  });
  it('those of the branch that is taken', () => {
    const body = [
      ...get(0),
      ...when([...i32(0), ...at(LOAD), ...set(0)], [...i32(0), ...i32(7), ...at(STORE)]),
      ...get(0),
    ];
    expect(counted(withMemory(body), 1)).toEqual([1n, 0n]);
    expect(counted(withMemory(body), 0)).toEqual([0n, 1n]);
  });
  it('a copy is one of each, a fill is one store', () => {
    const three = [...i32(0), ...i32(8), ...i32(4)];
    const body = [
      ...[...three, 0xfc, 10, 0, 0],
      ...[...three, 0xfc, 11, 0],
      ...[...i32(0), ...at(LOAD)],
    ];
    expect(counted(withMemory(body), 0)).toEqual([2n, 2n]);
  });
});

describe("code that can't be metered is reported, with its place", () => {
  it.each([
    [
      'an unknown instruction',
      () => meterModule(module([...get(0), 0x27])),
      /^function 0 \(f\): unknown instruction 0x27 at byte \d+\. The module is unchanged\.$/,
    ],
    [
      'an unknown vector instruction',
      () => meterModule(module([...get(0), 0xfd, ...leb(5000)])),
      /unknown instruction 0xfd 5000/,
    ],
    [
      'an instruction over the end of its body',
      () => meterModule(module([0x44])),
      /its last instruction ends at byte/,
    ],
    [
      'no module at all',
      () => meterModule(new Uint8Array([1, 2, 3])),
      /aren't a WebAssembly module/,
    ],
    [
      'a module that is cut off',
      () => meterModule(module([...get(0)]).slice(0, -3)),
      /section 10 ends at byte \d+, the module at \d+/,
    ],
    [
      'a module that is metered already',
      () => meterModule(meterModule(module([...get(0)])).bytes),
      /metered already/,
    ],
  ])('%s', (_, work, expected) => {
    expect(message(work)).toMatch(expected);
  });

  it('an instance of another module', () => {
    const metered = meterModule(module([...get(0)]));
    expect(message(() => metered.read({}))).toMatch(/exports no counter/);
  });
});

describe('every SQLite build', () => {
  const require = createRequire(import.meta.url);
  it.each([
    ['@journeyapps/wa-sqlite/dist/wa-sqlite.wasm', true],
    ['@journeyapps/wa-sqlite/dist/wa-sqlite-async.wasm', true],
    ['@journeyapps/wa-sqlite/dist/wa-sqlite-jspi.wasm', true],
    ['wa-sqlite/dist/wa-sqlite.wasm', true],
    ['sql.js/dist/sql-wasm.wasm', true],
    ['@jlongster/sql.js/dist/sql-wasm.wasm', true],
    ['@sqlite.org/sqlite-wasm/sqlite3.wasm', true],
  ])('%s is valid when metered, with nothing renumbered', async (path) => {
    const bytes = new Uint8Array(readFileSync(require.resolve(path)));
    const metered = meterModule(bytes);
    const [before, after] = await Promise.all([
      WebAssembly.compile(bytes),
      WebAssembly.compile(metered.bytes),
    ]);
    expect(WebAssembly.Module.imports(after)).toEqual(WebAssembly.Module.imports(before));
    const exports = WebAssembly.Module.exports(before);
    expect(WebAssembly.Module.exports(after).slice(0, exports.length)).toEqual(exports);
    expect(WebAssembly.Module.exports(after).length).toBe(exports.length + 1);
    expect(metered.stats.segments).toBeGreaterThan(20_000);
    expect(metered.bytes.length / bytes.length).toBeLessThan(1.6);
  });
});

describe('a realm without randomness', () => {
  const draws = (): unknown[] => [
    [...crypto.getRandomValues(new Uint8Array(4))],
    Math.random(),
    Date.now(),
  ];
  it('draws the same values again, and restores everything', () => {
    const native = [crypto.getRandomValues, Math.random, Date.now];
    const once = (): unknown[] => {
      const restore = seedRealm({ seed: 1, clock: true });
      const drawn = draws();
      restore();
      return drawn;
    };
    expect(once()).toEqual(once());
    expect([crypto.getRandomValues, Math.random, Date.now]).toEqual(native);
    expect(Object.hasOwn(crypto, 'getRandomValues')).toBe(false);
    const restore = seedRealm({ seed: 1, clock: false });
    expect(Date.now).toBe(native[2]);
    restore();
  });
});
