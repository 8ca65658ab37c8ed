// The block VFS of the Lab on @journeyapps/wa-sqlite, built with Asyncify: ?blockSize=8192&cacheBlocks=64&writePolicy=through&durability=relaxed
import { serve } from '../common/engine-worker.js';
import { BlockIdbVfs } from '../../../src/vfs-instrumented/block-idb/block-idb-vfs.ts';

// by URL: the bundler leaves them alone, and the module finds its wasm file next to it
const PACKAGE = new URL('../node_modules/@journeyapps/wa-sqlite/', self.location.href).href;

let sqlite3;

serve({
  async load({
    blockSize = 8192,
    cacheBlocks = 64,
    writePolicy = 'through',
    durability = 'relaxed',
  }) {
    const [{ default: SQLiteESMFactory }, SQLite] = await Promise.all([
      import(`${PACKAGE}dist/wa-sqlite-async.mjs`),
      import(`${PACKAGE}src/sqlite-api.js`),
    ]);
    const module = await SQLiteESMFactory();
    sqlite3 = SQLite.Factory(module);
    const options = { blockSize: Number(blockSize), cacheBlocks: Number(cacheBlocks) };
    const vfs = await BlockIdbVfs.create('block-idb', module, {
      ...options,
      writePolicy,
      durability,
    });
    sqlite3.vfs_register(vfs, true);
    const sqliteVersion = sqlite3.libversion();
    return { package: '@journeyapps/wa-sqlite', sqliteVersion, vfs: 'BlockIDB', build: 'asyncify' };
  },

  async open(name) {
    const db = await sqlite3.open_v2(name);
    return {
      async exec(sql) {
        const rows = [];
        await sqlite3.exec(db, sql, (row) => rows.push(row));
        return rows;
      },
      close: () => sqlite3.close(db),
    };
  },
});
