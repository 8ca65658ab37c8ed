/** Where wa-sqlite's wasm is: next to the worker's script. */
import type { SqliteBuild, WasmSource } from '../../../plan/load-sqlite.ts';

/** Of the build that runs the Query view, and of those that make plans. */
export const wasmSource: { at: WasmSource; of(build: SqliteBuild): WasmSource } = {
  at: beside('wa-sqlite.wasm'),
  of: (build) =>
    build === 'wa-sqlite' ? wasmSource.at : beside(`${build.slice(1).replace('/', '-')}.wasm`),
};
function beside(file: string): WasmSource {
  return { locateFile: () => new URL(file, self.location.href).href };
}
/** For tests, which have no such location. */
export function useWasm(wasmBinary: Uint8Array, of = (): WasmSource => ({ wasmBinary })): void {
  wasmSource.at = { wasmBinary };
  wasmSource.of = of;
}
