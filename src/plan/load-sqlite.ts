/** wa-sqlite's synchronous build, loaded when it is first used: it answers the SQL page and makes plans. */

/** How it gets its wasm: as bytes (Node), or by the address of the file (a worker). */
export type WasmSource = { wasmBinary: Uint8Array } | { locateFile: (name: string) => string };

/** A new instance. @throws Error when the wasm can't be loaded */
export async function loadSqlite<Module extends object>(
  source: WasmSource,
): Promise<{ module: Module; sqlite3: SQLiteAPI }> {
  const [{ default: load }, { Factory }] = await Promise.all([
    import('wa-sqlite/dist/wa-sqlite.mjs'),
    import('wa-sqlite'),
  ]);
  // a copy: Emscripten makes the module of the very object that it is given
  const module = await (load as unknown as (options: object) => Promise<Module>)({ ...source });
  return { module, sqlite3: Factory(module) };
}
