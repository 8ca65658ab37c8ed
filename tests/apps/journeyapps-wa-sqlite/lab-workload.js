// A workload of the Lab on MemoryVFS, as the Lab runs it: on a fresh instance, with chance and clock taken out (src/lab/meter/seeded-realm.ts).
import * as SQLite from '../node_modules/@journeyapps/wa-sqlite/src/sqlite-api.js';
import { MemoryVFS } from '../node_modules/@journeyapps/wa-sqlite/src/examples/MemoryVFS.js';
import factory from '../node_modules/@journeyapps/wa-sqlite/dist/wa-sqlite.mjs';

function seed(state) {
  const next = () => (state = (Math.imul(state, 1103515245) + 12345) >>> 0);
  crypto.getRandomValues = (view) => {
    const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    for (let i = 0; i < bytes.length; i++) bytes[i] = next() >>> 16;
    return view;
  };
  Math.random = () => next() / 2 ** 32;
}

const WASM = new URL('../node_modules/@journeyapps/wa-sqlite/dist/wa-sqlite.wasm', import.meta.url);

/** An app that trusts no byte which it has not checked. @returns what Emscripten calls for an instance */
const checking = (integrity, digests) => async (imports, done) => {
  const response = await fetch(WASM, { integrity });
  const bytes = await response.clone().arrayBuffer();
  digests.push(...new Uint8Array(await crypto.subtle.digest('SHA-384', bytes)));
  const { instance, module } = await WebAssembly.instantiateStreaming(response, imports);
  digests.push(...WebAssembly.Module.exports(module).map(({ name }) => name));
  done(instance, module);
};

/**
 * @param scripts SQL, one after another @param integrity of the wasm file; undefined: Emscripten loads it
 * @returns where it was checked: the bytes of its SHA-384, and the names of what the module exports
 */
export async function run(scripts, integrity) {
  seed(12345);
  const checked = [];
  const load = checking(integrity, checked);
  const module = await factory(
    integrity ? { instantiateWasm: (...given) => (void load(...given), {}) } : {},
  );
  const sqlite3 = SQLite.Factory(module);
  sqlite3.vfs_register(await MemoryVFS.create('lab', module), true);
  const db = await sqlite3.open_v2('t.db');
  for (const sql of scripts)
    for await (const statement of sqlite3.statements(db, sql))
      while ((await sqlite3.step(statement)) === SQLite.SQLITE_ROW);
  await sqlite3.close(db);
  return checked;
}
