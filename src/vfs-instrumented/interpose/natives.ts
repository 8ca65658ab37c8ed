/**
 * WebAssembly's own entry points, taken when this script is first evaluated: before page code, and
 * before our own wrappers. The tracer uses them whatever a page does to them later.
 */
export const NativeModule = WebAssembly.Module;
export const NativeInstance = WebAssembly.Instance;
export const NativeTable = WebAssembly.Table;
export const NativeMemory = WebAssembly.Memory;

const nativeGet = WebAssembly.Table.prototype.get;
const nativeSet = WebAssembly.Table.prototype.set;

const apply = Reflect.apply;

/** A function from a table or from an instance's exports. */

export type WasmFunction = Function;

export const tableGet = (table: WebAssembly.Table, slot: number): WasmFunction | null =>
  apply(nativeGet, table, [slot]) as WasmFunction | null;
export const tableSet = (table: WebAssembly.Table, slot: number, fn: WasmFunction | null): void => {
  apply(nativeSet, table, [slot, fn]);
};
