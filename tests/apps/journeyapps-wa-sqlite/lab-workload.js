// A workload of the Lab on MemoryVFS, as the Lab runs it: on a fresh instance, with fixed
// randomness and clock (src/lab/meter/seeded-realm.ts).
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

/** Ways in which apps load a module. @returns [instance, module] */
const LOADS = {
  /**
   * An app that checks every byte before it trusts it.
   * @param digests receives the bytes of its SHA-384, and the names of its exports
   */
  async checked(imports, integrity, digests) {
    const response = await fetch(WASM, { integrity });
    const bytes = await response.clone().arrayBuffer();
    digests.push(...new Uint8Array(await crypto.subtle.digest('SHA-384', bytes)));
    const { instance, module } = await WebAssembly.instantiateStreaming(response, imports);
    digests.push(...WebAssembly.Module.exports(module).map(({ name }) => name));
    return [instance, module];
  },
  /** As wasm-bindgen loads it: it continues if the server doesn't know the file's type. */
  async untyped(imports) {
    const response = new Response((await fetch(WASM)).body, { headers: { 'Content-Type': '' } });
    let made;
    try {
      made = await WebAssembly.instantiateStreaming(response, imports);
    } catch {
      made = await WebAssembly.instantiate(await response.arrayBuffer(), imports);
    }
    return [made.instance, made.module];
  },
  /** As bundlers inline it. */
  async data(imports) {
    const bytes = new Uint8Array(await (await fetch(WASM)).arrayBuffer());
    const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
    const inlined = fetch(`data:application/wasm;base64,${btoa(text)}`);
    const { instance, module } = await WebAssembly.instantiateStreaming(inlined, imports);
    return [instance, module];
  },
  async compiled(imports) {
    const module = await WebAssembly.compileStreaming(fetch(WASM));
    return [await WebAssembly.instantiate(module, imports), module];
  },
  async synchronous(imports) {
    const module = new WebAssembly.Module(await (await fetch(WASM)).arrayBuffer());
    return [new WebAssembly.Instance(module, imports), module];
  },
  posted: (imports, module) => [new WebAssembly.Instance(module, imports), module],
};

/**
 * @param scripts SQL, one after another
 * @param how of LOADS; undefined: Emscripten loads it
 * @param what to load, if that can be chosen
 * @returns if it was checked: the bytes of its SHA-384, and the names of what the module exports
 */
export async function run(scripts, how, what) {
  if (how === 'in a worker') return inWorker(scripts);
  if (how === 'in a SharedWorker') return inSharedWorker(scripts);
  seed(12345);
  const checked = [];
  const instantiateWasm = (imports, done) => {
    void Promise.resolve(LOADS[how](imports, what, checked)).then((made) => done(...made));
    return {};
  };
  const module = await factory(how ? { instantiateWasm } : {});
  const sqlite3 = SQLite.Factory(module);
  sqlite3.vfs_register(await MemoryVFS.create('lab', module), true);
  const db = await sqlite3.open_v2('t.db');
  for (const sql of scripts)
    for await (const statement of sqlite3.statements(db, sql))
      while ((await sqlite3.step(statement)) === SQLite.SQLITE_ROW);
  await sqlite3.close(db);
  return checked;
}

/** The page compiles, and a worker runs. */
async function inWorker(scripts) {
  const module = await WebAssembly.compileStreaming(fetch(WASM));
  const worker = new Worker(import.meta.url, { type: 'module' });
  await new Promise((ready) => (worker.onmessage = ready));
  worker.postMessage([scripts, 'posted', module]);
  await new Promise((done) => (worker.onmessage = done));
  return [];
}
async function inSharedWorker(scripts) {
  const { port } = new SharedWorker(import.meta.url, { type: 'module' });
  port.postMessage(scripts);
  await new Promise((done) => (port.onmessage = done));
  return [];
}
if (globalThis.SharedWorkerGlobalScope)
  onconnect = ({ ports: [port] }) => {
    port.onmessage = async ({ data }) => port.postMessage(await run(data));
  };
if (globalThis.DedicatedWorkerGlobalScope) {
  onmessage = async ({ data }) => postMessage(await run(...data));
  postMessage('ready');
}
