// SQLite's own build through its Worker1 Promiser API: the package's own worker, with one message
// for each statement. ?api=promiser&vfs=opfs (default, below /coi/ only) | memory. A database
// opened by this API can't be on opfs-sahpool, which its worker doesn't install.
import { sqlite3Worker1Promiser } from '../node_modules/@sqlite.org/sqlite-wasm/dist/index.mjs';

const PACKAGE = '../node_modules/@sqlite.org/sqlite-wasm/dist';
/** `vfs` as the worker's `open` expects it. */
const VFS = { opfs: 'opfs', memory: undefined };

let worker;
let promiser;
let vfs;

/** Terminates the package's worker, because it has no call for that. */
export const end = () => worker?.terminate();

export const engine = {
  async load(config) {
    vfs = config.vfs ?? 'opfs';
    if (!(vfs in VFS)) throw new Error(`no VFS "${vfs}"; there are ${Object.keys(VFS).join(', ')}`);
    worker = new Worker(new URL(`${PACKAGE}/sqlite3-worker1.mjs`, import.meta.url), {
      type: 'module',
    });
    promiser = await sqlite3Worker1Promiser({ worker: () => worker });
    const { result } = await promiser('config-get', {});
    if (VFS[vfs] && !result.vfsList.includes(VFS[vfs]))
      throw new Error(
        'the opfs VFS is not there: it needs a cross-origin isolated page (/coi/sqlite-org/)',
      );
    return {
      package: '@sqlite.org/sqlite-wasm',
      sqliteVersion: result.version.libVersion,
      vfs,
      build: 'promiser',
    };
  },

  async open(name) {
    const { dbId } = await promiser('open', { filename: `/${name}`, vfs: VFS[vfs] });
    return {
      async exec(sql) {
        const { result } = await promiser('exec', { dbId, sql, rowMode: 'array', resultRows: [] });
        return result.resultRows;
      },
      close: () => promiser('close', { dbId }),
    };
  },
};
