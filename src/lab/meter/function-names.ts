/** Names of a wasm module's functions. */
import { moduleInfo } from './module-info.ts';
import { SectionId, sectionsOf, WasmReader, type Section } from './reader.ts';

/**
 * Names by index, from the name section, else those of exports.
 * @param bytes of a wasm module
 * @returns `starts`: by index, the byte of the module where the body begins
 * @throws MeterError where they are none
 */
export function functionNames(bytes: Uint8Array): {
  names: ReadonlyMap<number, string>;
  functions: number;
  starts: ReadonlyMap<number, number>;
} {
  const sections = sectionsOf(bytes);
  const { names, importedFunctions, functions } = moduleInfo(bytes, sections);
  return {
    names,
    functions: importedFunctions + functions,
    starts: new Map(bodyStarts(bytes, sections).map((at, i) => [importedFunctions + i, at])),
  };
}

function bodyStarts(bytes: Uint8Array, sections: readonly Section[]): number[] {
  const starts: number[] = [];
  const code = sections.find(({ id }) => id === SectionId.code);
  if (!code) return starts;
  const r = new WasmReader(bytes);
  r.at = code.start;
  for (let n = r.u32(); n > 0; n--) {
    const size = r.u32();
    starts.push(r.at);
    r.at += size;
  }
  return starts;
}
