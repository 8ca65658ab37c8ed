// SQLite in memory that reads every page from its VFS again (cache_size=0), and two connections
// that block each other.
import SQLiteESMFactory from '../node_modules/@journeyapps/wa-sqlite/dist/wa-sqlite.mjs';
import * as SQLite from '../node_modules/@journeyapps/wa-sqlite/src/sqlite-api.js';
import { LockingMemoryVFS } from './locking-memory-vfs.js';
import { keepPace } from './pace.js';

const module = await SQLiteESMFactory();
const sqlite3 = SQLite.Factory(module);
const vfs = await LockingMemoryVFS.create('locking-memory', module);
sqlite3.vfs_register(vfs, true);
const one = await sqlite3.open_v2('load.db');
await sqlite3.exec(
  one,
  `PRAGMA page_size=512; PRAGMA cache_size=0;
   CREATE TABLE t(id INTEGER PRIMARY KEY, body BLOB); CREATE TABLE log(at REAL, note TEXT);
   WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) INSERT INTO t SELECT i, zeroblob(400) FROM n;`,
);
let going = true;

const kinds = {
  /** Scans of the whole table: an xRead for each of its pages. */
  scan: (options) =>
    keepPace({ ...options, going: () => going }, async () => {
      const before = vfs.reads;
      await sqlite3.exec(one, 'SELECT count(*) FROM t');
      return vfs.reads - before;
    }),
  /** Transactions, one row each. */
  commits: (options) =>
    keepPace({ ...options, going: () => going }, async (n) => {
      for (let i = 0; i < Math.min(n, 20); i++)
        await sqlite3.exec(one, `INSERT INTO log VALUES (${performance.now()}, 'a note')`);
      return Math.min(n, 20);
    }),
  /** A second connection wants to write while the first one does. */
  async conflict() {
    const two = await sqlite3.open_v2('load.db');
    try {
      await sqlite3.exec(one, "BEGIN IMMEDIATE; INSERT INTO log VALUES (0, 'first')");
      await sqlite3.exec(two, "BEGIN IMMEDIATE; INSERT INTO log VALUES (0, 'second'); COMMIT");
      return { calls: 0, ms: 0, error: null };
    } catch (error) {
      return { calls: 0, ms: 0, error: String(error.message) };
    } finally {
      await sqlite3.exec(one, 'COMMIT');
      await sqlite3.close(two);
    }
  },
};

let last = Promise.resolve();
self.onmessage = ({ data: { kind, options } }) => {
  if (kind === 'stop') {
    going = false;
    return;
  }
  last = last.then(async () => {
    going = true;
    try {
      self.postMessage({ result: { ...(await kinds[kind](options)), reads: vfs.reads } });
    } catch (error) {
      self.postMessage({ error: String(error?.stack ?? error) });
    }
  });
};
self.postMessage({ result: null });
