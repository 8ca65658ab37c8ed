/**
 * Facts about a module for the meter: the numbers of functions and globals, and the functions'
 * names.
 */
import { External, MeterError, SectionId, WasmReader, type Section } from './reader.ts';

export interface FunctionType {
  readonly params: number;
  readonly results: number;
}
export interface ModuleInfo {
  readonly importedFunctions: number;
  /** Defined here: those with a body. */
  readonly functions: number;
  /** Imported and own: the index of the first global behind them. */
  readonly globals: number;
  /**
   * The numbers of parameters and results of each function type; null where there are other kinds
   * of types.
   */
  readonly types: readonly FunctionType[] | null;
  /** Type of each function with a body. */
  readonly functionTypes: readonly number[];
  readonly exportNames: ReadonlySet<string>;
  /** By function index (imported ones first): the name section's name, else an export's. */
  readonly names: ReadonlyMap<number, string>;
  /** Whether the names come from a name section. */
  readonly hasNames: boolean;
}

/** @throws MeterError */
export function moduleInfo(bytes: Uint8Array, sections: readonly Section[]): ModuleInfo {
  const r = new WasmReader(bytes);
  const counts = { importedFunctions: 0, functions: 0, importedGlobals: 0, globals: 0 };
  const exportNames = new Set<string>();
  const exported = new Map<number, string>();
  let named: Map<number, string> | null = null;
  let types: FunctionType[] | null = [];
  const functionTypes: number[] = [];
  for (const section of sections) {
    r.at = section.start;
    if (section.id === SectionId.type) types = typesIn(r);
    else if (section.id === SectionId.function) {
      counts.functions = r.u32();
      for (let n = counts.functions; n > 0; n--) functionTypes.push(r.u32());
    } else if (section.id === SectionId.global) counts.globals = r.u32();
    else if (section.id === SectionId.import) imports(r, counts);
    else if (section.id === SectionId.export)
      for (let n = r.u32(); n > 0; n--) {
        const name = r.name();
        exportNames.add(name);
        const kind = r.byte();
        const index = r.u32();
        if (kind === External.function && !exported.has(index)) exported.set(index, name);
      }
    else if (section.id === SectionId.custom && r.name() === 'name')
      named = functionNames(r, section.end);
  }
  return {
    importedFunctions: counts.importedFunctions,
    functions: counts.functions,
    globals: counts.importedGlobals + counts.globals,
    types,
    functionTypes,
    exportNames,
    names: named?.size ? new Map([...exported, ...named]) : exported,
    hasNames: !!named?.size,
  };
}

/** @returns null where there are other kinds of types */
function typesIn(r: WasmReader): FunctionType[] | null {
  const types: FunctionType[] = [];
  const values = (): number => {
    const n = r.u32();
    for (let i = n; i > 0; i--) r.skipType();
    return n;
  };
  for (let n = r.u32(); n > 0; n--) {
    if (r.byte() !== 0x60) return null;
    types.push({ params: values(), results: values() });
  }
  return types;
}

function imports(
  r: WasmReader,
  counts: { importedFunctions: number; importedGlobals: number },
): void {
  for (let n = r.u32(); n > 0; n--) {
    r.skipBytes(); // module
    r.skipBytes(); // field
    const kind = r.byte();
    if (kind === External.function) {
      r.u32();
      counts.importedFunctions++;
    } else if (kind === External.table) {
      r.skipType();
      r.skipLimits();
    } else if (kind === External.memory) r.skipLimits();
    else if (kind === External.global) {
      r.skipType();
      r.byte();
      counts.importedGlobals++;
    } else if (kind === 4) {
      r.byte(); // tag
      r.u32();
    } else throw new MeterError(`an import of unknown kind ${kind} at byte ${r.at - 1}`);
  }
}

/** Subsection 1 of the custom section "name": function index and name. */
function functionNames(r: WasmReader, end: number): Map<number, string> {
  const names = new Map<number, string>();
  while (r.at < end) {
    const id = r.byte();
    const length = r.u32();
    const next = r.at + length;
    if (id === 1)
      for (let n = r.u32(); n > 0; n--) {
        const index = r.u32();
        names.set(index, r.name());
      }
    r.at = next;
  }
  return names;
}
