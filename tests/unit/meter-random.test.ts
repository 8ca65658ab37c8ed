/**
 * The meter adds at few places. On random modules, its counter equals one that adds at the start of
 * every segment, whenever the host can read it. Blocks, loops, ifs, branches in and out of them,
 * tables, returns, values on branches, unreachable code, and calls inside and out of the module.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { part } from '../full.ts';
import { meterModule } from '../../src/lab/meter/meter.ts';
import { ends, instruction, weightAt } from '../../src/lab/meter/instructions.ts';
import { WasmReader } from '../../src/lab/meter/reader.ts';
import {
  OP,
  branch,
  branchIf,
  call,
  exportFunction,
  functionType,
  get,
  i32,
  importFunction,
  leb,
  moduleBytes,
  section,
  set,
  sleb,
  text,
  vector,
  type Bytes,
} from '../../src/vfs-instrumented/interpose/wasm-writer.ts';

const [FUEL, COUNTER] = [0, 1];
const [HOST, OUTER, LEAF, VOID, INNER] = [0, 1, 2, 3, 4];
const [GIVES, NOTHING] = [
  functionType({ params: 'i', results: 'i' }),
  functionType({ params: '', results: '' }),
];

/** Numbers below `n`, the same for each seed. */
function random(seed: number): (n: number) => number {
  let state = seed >>> 0;
  return (n) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    return ((state ^ (state >>> 13)) >>> 0) % n;
  };
}

/** @param results of the function @param callees functions that it may call */
function code(pick: (n: number) => number, results: 0 | 1, callees: readonly number[]): Bytes {
  const labels: number[] = [results];
  let left = 90;
  const leave = results ? [...get(0), OP.return] : [OP.return];
  const carried = (depth: number): Bytes => (labels[labels.length - 1 - depth] ? get(0) : []);
  const inside = (arity: number, make: () => Bytes): Bytes => {
    labels.push(arity);
    const made = make();
    labels.pop();
    return made;
  };
  const some = (): Bytes => Array.from({ length: 1 + pick(4) }, statement).flat();
  const condition = (): Bytes => [...get(0), ...i32(1 + pick(3)), OP.and];
  const step = (): Bytes => [...get(0), ...i32(pick(9)), pick(2) ? OP.add : OP.mul, ...set(0)];
  function statement(): Bytes {
    if (left-- < 0 || labels.length > 6) return step();
    switch (pick(13)) {
      case 0:
      case 1: {
        const callee = callees[pick(callees.length)]!;
        if (callee === VOID) return pick(2) ? call(VOID) : [...i32(0), 0x11, 1, 0];
        return [...get(0), ...call(callee), ...set(0)];
      }
      case 2:
        return [...condition(), 0x04, 0x40, ...inside(0, some), OP.end];
      case 3:
        return [
          ...condition(),
          0x04,
          0x40,
          ...inside(0, some),
          OP.else,
          ...inside(0, some),
          OP.end,
        ];
      case 4:
      case 5:
        return [
          OP.block,
          0x40,
          ...inside(0, () => [...some(), ...some(), ...(pick(3) ? [] : leave)]),
          OP.end,
        ];
      case 6: {
        const burn = [
          0x23,
          FUEL,
          ...i32(1),
          OP.sub,
          0x24,
          FUEL,
          0x23,
          FUEL,
          ...i32(0),
          0x4c,
          0x04,
          0x40,
          ...leave,
          OP.end,
        ];
        return [
          OP.loop,
          0x40,
          ...inside(0, () => [
            ...burn,
            ...some(),
            ...(pick(3) ? [...condition(), ...branchIf(0)] : branch(0)),
          ]),
          OP.end,
        ];
      }
      case 7:
        return [OP.block, 0x7f, ...inside(1, () => [...some(), ...get(0)]), OP.end, ...set(0)];
      case 8:
      case 9: {
        const depth = pick(labels.length);
        const value = carried(depth);
        return [...value, ...condition(), ...branchIf(depth), ...(value.length ? [OP.drop] : [])];
      }
      case 10: {
        if (pick(3)) return step(); // otherwise most of the code would never be reached
        const depth = pick(labels.length);
        return [...carried(depth), ...branch(depth), ...(pick(2) ? step() : [])];
      }
      case 11: {
        const empty = labels
          .map((arity, i) => (arity ? -1 : labels.length - 1 - i))
          .filter((depth) => depth >= 0);
        if (!empty.length) return step();
        const table = Array.from({ length: 1 + pick(4) }, () => empty[pick(empty.length)]!);
        return [
          ...get(0),
          ...i32(3),
          OP.and,
          0x0e,
          ...vector(table.map((depth) => leb(depth))),
          ...leb(empty[pick(empty.length)]!),
        ];
      }
      default:
        return pick(10) ? step() : leave;
    }
  }
  const body = Array.from({ length: 8 }, statement).flat();
  return results ? [...body, ...get(0)] : body;
}

/** Adds `counter += n` at the start of every segment. */
function atHeads(body: Bytes): Bytes {
  const r = new WasmReader(new Uint8Array(body));
  const out: Bytes = [];
  let [head, size] = [0, 0];
  const flush = (to: number): void => {
    if (size) out.push(0x23, COUNTER, 0x42, ...sleb(size), 0x7c, 0x24, COUNTER);
    out.push(...body.slice(head, to));
    [head, size] = [to, 0];
  };
  while (r.at < body.length) {
    const { at } = r;
    const entry = instruction(r);
    size += weightAt(r.bytes, at, 'instructions');
    if (ends(entry)) flush(r.at);
  }
  flush(body.length);
  return out;
}

function moduleOf(bodies: readonly Bytes[], withCounter: boolean): Uint8Array<ArrayBuffer> {
  const locals = [[], [], [[1, 0x7f]], []] as Bytes[][];
  const globals: Bytes[] = [
    [0x7f, 1, ...i32(60), OP.end],
    ...(withCounter ? [[0x7e, 1, 0x42, 0, OP.end]] : []),
  ];
  const exports: Bytes[] = [
    exportFunction('f', OUTER),
    ...(withCounter ? [[...text('count'), 3, COUNTER]] : []),
  ];
  return moduleBytes(
    section(1, vector([GIVES, NOTHING])),
    section(2, vector([importFunction('env', 'host', 0)])),
    section(3, vector([[0], [0], [1], [0]])),
    section(4, vector([[0x70, 0, 1]])),
    section(6, vector(globals)),
    section(7, vector(exports)),
    section(9, vector([[0, ...i32(0), OP.end, ...vector([[VOID]])]])),
    section(
      10,
      vector(
        bodies.map((body, i) => {
          const whole = [...vector(locals[i]!), ...body, OP.end];
          return [...leb(whole.length), ...whole];
        }),
      ),
    ),
  );
}

/** What the host sees: the counter at each of its calls and at the end, and the result. */
function seen(
  bytes: Uint8Array<ArrayBuffer>,
  argument: number,
  read: (exports: WebAssembly.Exports) => bigint,
): unknown[] {
  const found: unknown[] = [];
  const host = (n: number): number => {
    found.push(read(instance.exports));
    return (n ^ 5) + 1;
  };
  const instance: WebAssembly.Instance = new WebAssembly.Instance(new WebAssembly.Module(bytes), {
    env: { host },
  });
  for (const given of [argument, argument + 1])
    found.push((instance.exports.f as (n: number) => number)(given), read(instance.exports));
  return found;
}

it('the counter is the same whenever the host can read it', () => {
  let looks = 0;
  fc.assert(
    fc.property(fc.integer(), fc.integer({ min: 0, max: 7 }), (seed, argument) => {
      const pick = random(seed);
      const bodies = [
        code(pick, 1, [HOST, LEAF, VOID, INNER]),
        leafCode(pick),
        code(pick, 0, [HOST, INNER]),
        code(pick, 1, [LEAF]),
      ];
      const plain = moduleOf(bodies, false);
      const wanted = seen(
        moduleOf(bodies.map(atHeads), true),
        argument,
        (e) => (e['count'] as WebAssembly.Global).value as bigint,
      );
      for (const counters of ['total', 'functions'] as const) {
        const metered = meterModule(plain, { counters });
        expect(seen(metered.bytes, argument, metered.read)).toEqual(wanted);
      }
      looks += wanted.length;
    }),
    { numRuns: part(600) },
  );
  expect(looks).toBeGreaterThan(part(3500));
});

/** A function that calls nothing. */
function leafCode(pick: (n: number) => number): Bytes {
  return [
    ...get(0),
    0x04,
    0x40,
    ...get(0),
    ...i32(pick(5)),
    OP.add,
    ...set(0),
    OP.end,
    ...get(0),
    ...i32(7),
    OP.mul,
  ];
}
