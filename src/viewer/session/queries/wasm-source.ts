/** Where wa-sqlite's wasm is: beside the worker's own script. */
import type { SqliteBuild, WasmSource } from '../../../plan/load-sqlite.ts';

/** Of the build that answers the Query view, and of those that make plans. */
export const wasmSource: { at: WasmSource; of(build: SqliteBuild): WasmSource } = {
  at: beside('wa-sqlite.wasm'),
  of: (build) =>
    build === 'wa-sqlite' ? wasmSource.at : beside(`${build.slice(1).replace('/', '-')}.wasm`),
};
function beside(file: string): WasmSource {
  return { locateFile: () => new URL(file, self.location.href).href };
}
/** For tests, which have no such place. */
export function useWasm(wasmBinary: Uint8Array, of = (): WasmSource => ({ wasmBinary })): void {
  wasmSource.at = { wasmBinary };
  wasmSource.of = of;
}
