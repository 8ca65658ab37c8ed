/**
 * absurd-sql, on its author's build of sql.js: SQLite's blocks in IndexedDB. SQLite's worker is
 * blocked in Atomics.wait while a worker for each open file talks to IndexedDB. absurd-sql requests
 * that worker from the page when it blocks, so workers are started in advance here.
 */
import type { BackendFile } from 'absurd-sql/dist/indexeddb-backend.js';
import type { EngineFactory, EngineModule } from '../engine/builds.ts';
import { CVfs } from '../engine/c-vfs.ts';
import { RequestCounts, type RequestsMessage } from './request-counts.ts';
import type { Made } from './vfs-makers.ts';
import { memoryOf, rawModule, tableOf, type RawModule } from '../engine/plain-loader.ts';
import { rawAllocate, type Call } from '../engine/raw-engine.ts';
import { whyNoSharedMemory } from '../model/shared-memory.ts';
import type { Config } from '../model/types.ts';
import { replace } from '../../meter/seeded-realm.ts';

/** A helper's message once it listens. */
export const READY = 'ready';
/** Attached databases take one each. Temporary files are in memory. */
const HELPERS = 4;
const FOLDER = '/sql';
/** A script may set one that differs from the configuration's. */
const LOG = /-(?:journal|wal)$/;
/** Emscripten's number for it. */
const EPERM = 63;

type SqlJs = Awaited<
  ReturnType<ReturnType<(typeof import('@jlongster/sql.js/dist/sql-wasm.js'))['default']>>
>;
interface SqlJsModule extends RawModule {
  readonly sqlJs: SqlJs;
}
/** absurd-sql's message when it opens a file. */
interface Spawn {
  readonly type: '__absurd:spawn-idb-worker';
  readonly argBuffer: SharedArrayBuffer;
  readonly resultBuffer: SharedArrayBuffer;
}
const isSpawn = (message: unknown): message is Spawn =>
  (message as Partial<Spawn> | null)?.type === '__absurd:spawn-idb-worker';

export const sqlJsFactory: EngineFactory = async ({ instantiateWasm }) => {
  const { default: load } = await import('@jlongster/sql.js/dist/sql-wasm.js');
  let raw: Omit<RawModule['raw'], 'find'> | null = null;
  const sqlJs = await load()({
    instantiateWasm: ((imports, done) =>
      instantiateWasm(imports, (instance, module) => {
        const { exports } = instance;
        raw = { memory: memoryOf(imports, exports), table: tableOf(imports, exports) };
        done(instance, module);
      })) satisfies Parameters<EngineFactory>[0]['instantiateWasm'],
  });
  if (!raw) throw new Error("its JavaScript doesn't load its wasm file by instantiateWasm");
  const { memory, table } = raw as Omit<RawModule['raw'], 'find'>;
  const made = rawModule({ memory, table, find: (name) => sqlJs[`_${name}`] });
  return Object.assign(made, {
    sqlJs,
    _sqlite3_malloc: (bytes: number) => rawAllocate(made.raw, bytes), // it only exports malloc
  }) satisfies SqlJsModule;
};

/** @throws Error with a message for the user where it can't run here */
export async function absurdSqlVfs(
  { journalMode }: Pick<Config, 'journalMode'>,
  module: EngineModule,
): Promise<Made> {
  if (journalMode !== null && journalMode !== 'memory' && journalMode !== 'off')
    throw new Error('absurd-sql stores no journal: it runs with journal_mode=memory or off.');
  if (typeof indexedDB === 'undefined') throw new Error('absurd-sql needs IndexedDB.');
  const unshared = whyNoSharedMemory('absurd-sql');
  if (unshared !== null) throw new Error(`${unshared}.`);
  const [{ SQLiteFS }, { default: IndexedDBBackend }] = await Promise.all([
    import('absurd-sql'),
    import('absurd-sql/dist/indexeddb-backend.js'),
  ]);
  const { sqlJs, raw } = module as SqlJsModule;
  const requests = new RequestCounts();
  const all = await Promise.all(Array.from({ length: HELPERS }, () => startHelper(requests)));
  const free = [...all];
  /** The file that is being opened. */
  let next: Worker | null = null;
  class Backend extends IndexedDBBackend {
    override createFile(name: string): BackendFile {
      const file = super.createFile(name);
      const { ops } = file;
      const [open, close] = [ops.open.bind(ops), ops.close.bind(ops)];
      let own: Worker | null = null;
      ops.open = () => {
        own = next = free.pop() ?? null;
        if (!own) throw new Error(`more than ${HELPERS} files are open at once`);
        open();
      };
      ops.close = () => {
        close();
        if (own) free.push(own);
        own = null;
      };
      return file;
    }
  }
  const post = self.postMessage.bind(self) as (...args: unknown[]) => void;
  const restore = replace(self, 'postMessage', (message: unknown, ...rest: unknown[]) => {
    if (!isSpawn(message)) return post(message, ...rest);
    next?.postMessage({ type: 'init', buffers: [message.argBuffer, message.resultBuffer] });
  });
  const files = new SQLiteFS(sqlJs.FS, new Backend());
  const { mknod } = files.node_ops;
  files.node_ops.mknod = (parent, name, ...rest) => {
    // it treats every file as a database
    if (LOG.test(name)) throw new sqlJs.FS.ErrnoError(EPERM);
    return mknod(parent, name, ...rest);
  };
  sqlJs.register_for_idb(files);
  sqlJs.FS.mkdir(FOLDER);
  sqlJs.FS.mount(files, {}, FOLDER);
  sqlJs.FS.chdir(FOLDER); // names are relative
  const found = new CVfs(module as SqlJsModule, Number((raw.find('sqlite3_vfs_find') as Call)(0)));
  return {
    vfs: found.methods,
    attach: () => found.attach(),
    counters: () => requests.read(),
    close() {
      restore();
      for (const helper of all) helper.terminate();
      return Promise.resolve();
    },
  };
}

function startHelper(requests: RequestCounts): Promise<Worker> {
  const worker = new Worker(new URL('absurd-helper.js', self.location.href), { type: 'module' });
  worker.postMessage({ vfscopeRequests: requests.buffer } satisfies RequestsMessage);
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => {
      if (data === READY) resolve(worker);
    };
    worker.onerror = ({ message }) =>
      reject(
        new Error(
          `absurd-sql's worker did not start: ${message || 'its script could not be loaded'}.`,
        ),
      );
  });
}
