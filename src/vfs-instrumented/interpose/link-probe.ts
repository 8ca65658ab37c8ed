/**
 * Detects the type of a wasm function without its bytes, by linking. Importing a function under a
 * wrong type is a LinkError. A wrong type in a table slot would break the app, so nothing is put
 * into a slot without this probe.
 */
import { NativeInstance, NativeModule, type WasmFunction } from './natives.ts';
import {
  functionType,
  importFunction,
  moduleBytes,
  section,
  vector,
  type Signature,
} from './wasm-writer.ts';

const probes = new Map<string, WebAssembly.Module>();

/**
 * Is `fn` of this type? Only for functions from a table: a plain JS function links under any type.
 * @throws never: errors other than LinkError decide nothing, and count as no
 */
export function hasType(fn: WasmFunction, signature: Signature): boolean {
  // An exported wasm function's `length` is its number of parameters. This check rejects nearly all
  // candidates without an exception.
  if (fn.length !== signature.params.length) return false;
  const key = `${signature.params}>${signature.results}`;
  let probe = probes.get(key);
  if (!probe) {
    probe = new NativeModule(
      moduleBytes(
        section(1, vector([functionType(signature)])),
        section(2, vector([importFunction('o', 'f', 0)])),
      ),
    );
    probes.set(key, probe);
  }
  try {
    new NativeInstance(probe, { o: { f: fn } });
    return true;
  } catch (error) {
    if (error instanceof WebAssembly.LinkError) return false;
    throw error;
  }
}
