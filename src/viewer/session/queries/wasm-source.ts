/** Where wa-sqlite's wasm is: beside the worker's own script. */
import type { WasmSource } from '../../../plan/load-sqlite.ts';

export const wasmSource: { at: WasmSource } = {
  at: { locateFile: (name) => new URL(name, self.location.href).href },
};
/** For tests, which have no such place. */
export function useWasm(wasmBinary: Uint8Array): void {
  wasmSource.at = { wasmBinary };
}
