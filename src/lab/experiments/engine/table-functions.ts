/** JavaScript functions in an engine's function table, for SQLite to call. */
import {
  exportFunction,
  functionType,
  importFunction,
  moduleBytes,
  section,
  vector,
  type Signature,
} from '../../../vfs-instrumented/interpose/wasm-writer.ts';

/** Wasm types: 64 bits are passed as BigInt. */
export type WasmCall = (...args: (number | bigint)[]) => number | bigint | void;

const modules = new Map<string, WebAssembly.Module>();

/** A table only takes wasm functions. This one calls JavaScript. */
function wasmFunction(signature: Signature, call: WasmCall): unknown {
  const key = `${signature.params}>${signature.results}`;
  let module = modules.get(key);
  if (!module) {
    module = new WebAssembly.Module(
      moduleBytes(
        section(1, vector([functionType(signature)])),
        section(2, vector([importFunction('o', 'f', 0)])),
        section(7, vector([exportFunction('f', 0)])),
      ),
    );
    modules.set(key, module);
  }
  return new WebAssembly.Instance(module, { o: { f: call } }).exports.f;
}

/** @returns its slot @throws Error with a message for the user where the table can't grow */
export function addToTable(table: WebAssembly.Table, signature: Signature, call: WasmCall): number {
  try {
    const slot = table.grow(1);
    table.set(slot, wasmFunction(signature, call)); // where a recorder checks for new methods
    return slot;
  } catch (e) {
    if (!(e instanceof RangeError)) throw e;
    throw new Error("its function table can't grow, so it takes no VFS from outside", { cause: e });
  }
}

/** wa-sqlite's VFSs take 64 bits as two words, the low one first. */
export function asWords({ params }: Signature, args: readonly (number | bigint)[]): number[] {
  return args.flatMap((value, i) => {
    if (params[i] !== 'j') return [Number(value)];
    const n = Number(value);
    return [n | 0, Math.floor(n / 2 ** 32)];
  });
}
/** The reverse. */
export function fromWords({ params }: Signature, words: readonly number[]): (number | bigint)[] {
  let at = 0;
  return [...params].map((type) => {
    const low = words[at++] ?? 0;
    if (type !== 'j') return low;
    return BigInt(low >>> 0) + BigInt(words[at++] ?? 0) * 2n ** 32n;
  });
}
