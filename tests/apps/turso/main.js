// @tursodatabase/database-wasm as its README loads it: in the page, which must be cross-origin
// isolated: /coi/turso/?vfs=opfs (default) | memory. The package starts one worker from a blob,
// which runs the engine's second thread and has the OPFS handles.
import { pageSession, startPage } from '../common/engine-page.js';
import { createSession } from '../common/engine-worker.js';

const PACKAGE = '../node_modules/@tursodatabase/database-wasm';

let connect;
let inMemory;

const engine = {
  async load({ vfs = 'opfs' }) {
    if (!['opfs', 'memory'].includes(vfs))
      throw new Error(`no VFS "${vfs}"; there are opfs, memory`);
    if (!crossOriginIsolated)
      throw new Error(
        'the engine shares its memory: it needs a cross-origin isolated page (/coi/turso/)',
      );
    ({ connect } = await import(`${PACKAGE}/bundle/main.es.js`));
    inMemory = vfs === 'memory';
    const probe = await connect(':memory:');
    const [[sqliteVersion]] = await probe.prepare('SELECT sqlite_version()').raw().all();
    await probe.close();
    return { package: '@tursodatabase/database-wasm', sqliteVersion, vfs, build: 'threads' };
  },

  async open(name) {
    const db = await connect(inMemory ? ':memory:' : name);
    return {
      async exec(sql) {
        const statement = db.prepare(sql);
        try {
          return await statement.raw().all();
        } finally {
          statement.close();
        }
      },
      close: () => db.close(),
    };
  },
};

await startPage({ connect: () => pageSession(createSession(engine)) });
