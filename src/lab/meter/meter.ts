/**
 * Rewrites a wasm module so that it counts its own executed instructions: a profiler's exact count,
 * without a profiler. The counter is a new mutable i64 global, which is exported; nothing is
 * renumbered. Whenever the host can read it, it has the value of a `counter += n` at the head of
 * every straight-line segment, with fewer additions (meter/placement.ts).
 *
 * A count belongs to one build and one input. It repeats exactly when the instance is fresh and its
 * randomness seeded (meter/seeded-realm.ts). Not counted: time in the host; memory.copy and
 * memory.fill are one instruction each. After a trap, the count lacks what the functions on the
 * stack hadn't written yet.
 */
import { leb, text } from '../../vfs-instrumented/interpose/wasm-writer.ts';
import { Flow } from './flow.ts';
import { writeBody } from './body.ts';
import type { Counted } from './instructions.ts';
import { moduleInfo, type ModuleInfo } from './module-info.ts';
import { outwardOf } from './outward.ts';
import { Output } from './output.ts';
import { Edits, Placement } from './placement.ts';
import { External, MeterError, SectionId, WasmReader, sectionsOf, type Section } from './reader.ts';

export { MeterError } from './reader.ts';

export interface MeterOptions {
  /** `total`: one counter. `functions`: one for each function, which costs size but no time. */
  readonly counters?: 'total' | 'functions';
  /**
   * Instructions by default. A module metered for one can be metered again for the other: the
   * additions neither load nor store.
   */
  readonly counted?: Counted;
}
export interface FunctionCount {
  /** In the module's function index space, with imported functions first. */
  readonly index: number;
  /** From the name section, else from the exports, else null. */
  readonly name: string | null;
  readonly instructions: bigint;
}
export interface MeteredModule {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly stats: {
    readonly functions: number;
    readonly segments: number;
    /** Total in the code. */
    readonly instructions: number;
    readonly hasNames: boolean;
  };
  /** Everything that this instance has executed so far. */
  readonly read: (exports: WebAssembly.Exports) => bigint;
  /** By function, most first, only those that ran; empty unless `counters` is `functions`. */
  readonly readFunctions: (exports: WebAssembly.Exports) => FunctionCount[];
}

const nameOf = (counted: Counted): string => `__vfscope_${counted}`;
/** Name of the export that counts instructions in a module of one counter. */
export const COUNTER = nameOf('instructions');
const I64 = 0x7e;
const Code = { end: 0x0b, i64Const: 0x42 } as const;

/** @throws MeterError naming function and byte, when the module contains something unknown */
export function meterModule(
  bytes: Uint8Array,
  { counters = 'total', counted = 'instructions' }: MeterOptions = {},
): MeteredModule {
  const sections = sectionsOf(bytes);
  const info = moduleInfo(bytes, sections);
  const name = nameOf(counted);
  const names =
    counters === 'total'
      ? [name]
      : Array.from({ length: info.functions }, (_, i) => `${name}_${i}`);
  if (names.some((each) => info.exportNames.has(each)))
    throw new MeterError('this module is metered already');
  const stats = {
    functions: info.functions,
    segments: 0,
    instructions: 0,
    hasNames: info.hasNames,
  };
  const out = new Output(Math.ceil(bytes.length * 1.6) + names.length * 40 + 1024);
  out.copy(bytes, 0, 8);
  let globals = false;
  let exports = false;
  const add = {
    globals: (s?: Section): void => addGlobals(out, bytes, s, names.length),
    exports: (s?: Section): void => addExports(out, bytes, s, names, info),
  };
  for (const section of sections) {
    // order of ids: ... 5 memory, 13 tag, 6 global, 7 export ... 12 data count, 10 code; custom
    // sections stand anywhere
    const ordered = section.id !== SectionId.custom && section.id !== SectionId.tag;
    if (!globals && ordered && section.id >= SectionId.global) {
      globals = true;
      add.globals(section.id === SectionId.global ? section : undefined);
      if (section.id === SectionId.global) continue;
    }
    if (!exports && ordered && section.id >= SectionId.export) {
      exports = true;
      add.exports(section.id === SectionId.export ? section : undefined);
      if (section.id === SectionId.export) continue;
    }
    if (section.id === SectionId.code)
      out.section(section.id, () =>
        writeCode(out, bytes, section, info, { each: counters === 'functions', counted, stats }),
      );
    else {
      out.put([section.id, ...leb(section.end - section.start)]);
      out.copy(bytes, section.start, section.end);
    }
  }
  if (!globals) add.globals();
  if (!exports) add.exports();
  return {
    bytes: out.taken(),
    stats,
    read: (e) => names.reduce((sum, each) => sum + counter(e, each), 0n),
    readFunctions: (e) => (counters === 'total' ? [] : functionCounts(e, names, info)),
  };
}

function counter(exports: WebAssembly.Exports, name: string): bigint {
  const global = exports[name];
  if (!(global instanceof WebAssembly.Global))
    throw new MeterError('this instance is not of the metered module: it exports no counter');
  return global.value as bigint;
}

function functionCounts(
  exports: WebAssembly.Exports,
  names: readonly string[],
  info: ModuleInfo,
): FunctionCount[] {
  return names
    .map((name, i) => {
      const index = info.importedFunctions + i;
      return { index, name: info.names.get(index) ?? null, instructions: counter(exports, name) };
    })
    .filter((f) => f.instructions > 0n)
    .sort((a, b) =>
      a.instructions < b.instructions
        ? 1
        : a.instructions > b.instructions
          ? -1
          : a.index - b.index,
    );
}

/** The vector of a section, copied, with space for `more` entries. */
function extend(out: Output, bytes: Uint8Array, section: Section | undefined, more: number): void {
  const r = new WasmReader(bytes);
  r.at = section?.start ?? 0;
  out.put(leb((section ? r.u32() : 0) + more));
  if (section) out.copy(bytes, r.at, section.end);
}

function addGlobals(out: Output, bytes: Uint8Array, section: Section | undefined, n: number): void {
  out.section(SectionId.global, () => {
    extend(out, bytes, section, n);
    for (let i = 0; i < n; i++) out.put([I64, 1, Code.i64Const, 0, Code.end]);
  });
}

function addExports(
  out: Output,
  bytes: Uint8Array,
  section: Section | undefined,
  names: readonly string[],
  info: ModuleInfo,
): void {
  out.section(SectionId.export, () => {
    extend(out, bytes, section, names.length);
    names.forEach((name, i) => out.put([...text(name), External.global, ...leb(info.globals + i)]));
  });
}

function writeCode(
  out: Output,
  bytes: Uint8Array,
  section: Section,
  info: ModuleInfo,
  {
    each,
    counted,
    stats,
  }: { each: boolean; counted: Counted; stats: { segments: number; instructions: number } },
): void {
  const r = new WasmReader(bytes);
  r.at = section.start;
  const n = r.u32();
  out.put(leb(n));
  const flow = new Flow(r, info, section.end - section.start, counted);
  for (let i = 0; i < n; i++) {
    const length = r.u32();
    readBody(flow, r.at + length, info, i);
  }
  const edits = new Edits();
  const placement = new Placement(
    flow,
    outwardOf(flow, info.importedFunctions),
    info.importedFunctions,
    edits,
  );
  flow.bodies.forEach((body, i) => {
    if (!body.plain) placement.place(body);
    out.sized(() => writeBody(out, bytes, flow, body, edits, info.globals + (each ? i : 0), stats));
  });
}

function readBody(flow: Flow, end: number, info: ModuleInfo, index: number): void {
  try {
    flow.read(end);
  } catch (e) {
    if (!(e instanceof MeterError)) throw e;
    const name = info.names.get(info.importedFunctions + index);
    throw new MeterError(
      `function ${info.importedFunctions + index}${name ? ` (${name})` : ''}: ${e.message}. The module is unchanged.`,
      { cause: e },
    );
  }
}
