/** What the functions of a wasm module are called. */
import { moduleInfo } from './module-info.ts';
import { sectionsOf } from './reader.ts';

/**
 * Names by index, from the name section, else those of exports.
 * @param bytes of a wasm module @throws MeterError where they are none
 */
export function functionNames(bytes: Uint8Array): {
  names: ReadonlyMap<number, string>;
  functions: number;
} {
  const { names, importedFunctions, functions } = moduleInfo(bytes, sectionsOf(bytes));
  return { names, functions: importedFunctions + functions };
}
