// @duckdb/duckdb-wasm as its README loads it: the page uses the package's own worker. ?vfs=opfs
// (default) | memory
import * as duckdb from '@duckdb/duckdb-wasm';
import { pageSession, startPage } from '../common/engine-page.js';
import { createSession } from '../common/engine-worker.js';

const served = (file) =>
  new URL(`../node_modules/@duckdb/duckdb-wasm/dist/${file}`, location.href).href;
const BUNDLES = {
  mvp: {
    mainModule: served('duckdb-mvp.wasm'),
    mainWorker: served('duckdb-browser-mvp.worker.js'),
  },
  eh: { mainModule: served('duckdb-eh.wasm'), mainWorker: served('duckdb-browser-eh.worker.js') },
};
const VFS = { opfs: (name) => `opfs://${name}`, memory: () => ':memory:' };

let database;
let path;

const engine = {
  async load({ vfs = 'opfs' }) {
    path = VFS[vfs];
    if (!path) throw new Error(`no VFS "${vfs}"; there are ${Object.keys(VFS).join(', ')}`);
    const bundle = await duckdb.selectBundle(BUNDLES);
    database = new duckdb.AsyncDuckDB(new duckdb.VoidLogger(), new Worker(bundle.mainWorker));
    await database.instantiate(bundle.mainModule, bundle.pthreadWorker);
    return {
      package: '@duckdb/duckdb-wasm',
      sqliteVersion: null,
      vfs,
      build: bundle === BUNDLES.mvp ? 'mvp' : 'eh',
    };
  },

  async open(name) {
    // sum() of integers is a HUGEINT, which arrives as a decimal of four words unless it is cast
    await database.open({
      path: path(name),
      accessMode: duckdb.DuckDBAccessMode.READ_WRITE,
      query: { castDecimalToDouble: true },
    });
    const connection = await database.connect();
    return {
      notSQLite: true,
      exec: async (sql) =>
        (await connection.query(sql)).toArray().map((row) => Object.values(row.toJSON())),
      async close() {
        await connection.query('CHECKPOINT');
        await connection.close();
        await database.reset();
      },
    };
  },
};

await startPage({ connect: () => pageSession(createSession(engine), () => database?.terminate()) });
