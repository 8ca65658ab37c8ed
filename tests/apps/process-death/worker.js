// The commits of the crash test on this browser's storage, by the published code of a VFS. After
// the n-th storage call that changes something, the thread stops like that of a process that dies:
// it makes no more calls, and no open transaction is committed.
import { configOf } from '../../../src/lab/crash/crash-test.ts';
import { failureText, waSqliteOpener } from '../../../src/lab/crash/open.ts';
import { sahpoolOpener } from '../../../src/lab/crash/open-sahpool.ts';
import { inspect, runWorkload } from '../../../src/lab/crash/workload.ts';
import { Engines } from '../../../src/lab/experiments/engine/open-engine.ts';

const PACKAGES = new URL('../node_modules/', self.location.href).href;
const bytesOf = async (path) =>
  new Uint8Array(await (await fetch(`${PACKAGES}${path}`)).arrayBuffer());

async function openerOf(config) {
  if (config.vfs !== 'opfs-sahpool') return waSqliteOpener(new Engines(bytesOf), configOf(config));
  const sahpool = `${PACKAGES}@sqlite.org/sqlite-wasm/dist/`;
  const { default: init } = await import(`${sahpool}index.mjs`);
  const bytes = await (await fetch(`${sahpool}sqlite3.wasm`)).arrayBuffer();
  return sahpoolOpener({ init, wasm: await WebAssembly.compile(bytes) });
}

/** Completed calls that changed something. */
let calls = 0;
let stopAfter = Infinity;

function returned() {
  if (++calls < stopAfter) return;
  postMessage({ last: true, calls, died: true });
  for (;;); // until the page terminates this worker
}
/**
 * Counts calls of a method when they have returned.
 * @param changes whether a call with these arguments changes something
 */
function count(prototype, name, changes = () => true) {
  const method = prototype[name];
  prototype[name] = function (...args) {
    const result = method.apply(this, args);
    if (changes(...args)) {
      if (result instanceof Promise) return result.then((value) => (returned(), value));
      returned();
    }
    return result;
  };
}
for (const name of ['write', 'truncate', 'flush'])
  count(FileSystemSyncAccessHandle.prototype, name);
const { prototype: folder } = FileSystemDirectoryHandle;
count(folder, 'removeEntry');
for (const name of ['getFileHandle', 'getDirectoryHandle'])
  count(folder, name, (_, options) => options?.create === true);
for (const name of ['put', 'delete']) count(IDBObjectStore.prototype, name);
// counts a completed transaction before the VFS is notified
const { transaction } = IDBDatabase.prototype;
IDBDatabase.prototype.transaction = function (...args) {
  const made = transaction.apply(this, args);
  if (args[1] === 'readwrite') made.addEventListener('complete', returned);
  return made;
};

async function commit({ config, commits, stopAfter: n }) {
  const open = await openerOf(config);
  calls = 0;
  stopAfter = n ?? Infinity;
  const log = { phase: '', acknowledge: () => postMessage({ last: false }) };
  await runWorkload(open, configOf(config), commits, log);
  postMessage({ last: true, calls, died: false });
}

async function look({ config }) {
  const open = await openerOf(config);
  try {
    const session = await open();
    const { lockingMode } = configOf(config);
    if (lockingMode !== null)
      await session.sqlite3.exec(session.db, `PRAGMA locking_mode=${lockingMode}`);
    const found = await inspect(session);
    await session.close();
    postMessage({ last: true, found });
  } catch (error) {
    // the terminated worker's handles may still be in use: the page tries again
    postMessage({ last: true, failure: failureText(error) });
  }
}

onmessage = ({ data }) => {
  const work = data.kind === 'look' ? look(data) : commit(data);
  work.catch((error) => postMessage({ last: true, error: failureText(error) }));
};
