// Engines that a page creates and drops: `makeAndDrop(n)`, then `alive()` counts by kind what was
// not collected yet.
import factory from '../node_modules/wa-sqlite/dist/wa-sqlite.mjs';
import * as SQLite from '../node_modules/wa-sqlite/src/sqlite-api.js';
import { MemoryVFS } from '../node_modules/wa-sqlite/src/examples/MemoryVFS.js';

/** Kind -> what the app has dropped. */
const dropped = {};
const drop = (kind, object) => (dropped[kind] ??= []).push(new WeakRef(object));

const SCRIPT = new URL('../node_modules/wa-sqlite/dist/wa-sqlite.wasm', import.meta.url);

/** A database in its own engine. @param onInstance receives its wasm instance */
async function open(name, onInstance) {
  const instantiateWasm = (imports, done) => {
    WebAssembly.instantiateStreaming(fetch(SCRIPT), imports).then(({ instance, module }) => {
      onInstance(instance);
      done(instance, module);
    });
    return {};
  };
  const module = await factory(onInstance && { instantiateWasm });
  const sqlite3 = SQLite.Factory(module);
  const db = await sqlite3.open_v2(name);
  await sqlite3.exec(db, 'CREATE TABLE IF NOT EXISTS t (x); INSERT INTO t VALUES (1)');
  return { module, sqlite3, db };
}

async function makeAndDrop(n) {
  for (let i = 0; i < n; i++) {
    const { module, sqlite3, db } = await open(':memory:', (instance) => {
      drop('instance', instance);
      for (const part of Object.values(instance.exports))
        if (typeof part === 'object') drop(part.constructor.name, part);
    });
    await sqlite3.close(db);
    drop('module', module);
    drop('buffer', module.HEAPU8.buffer);
  }
}

/**
 * A VFS whose xWrite throws once, in the middle of a statement.
 * @returns whether the app got that same error, and what it can do afterwards
 */
async function throwInWrite() {
  const module = await factory();
  const sqlite3 = SQLite.Factory(module);
  const vfs = new MemoryVFS();
  const error = new RangeError('of the app');
  const write = vfs.xWrite;
  let due = false;
  vfs.xWrite = function (...args) {
    if (!due) return write.apply(this, args);
    due = false;
    performance.mark('throws');
    throw error;
  };
  sqlite3.vfs_register(vfs, true);
  const db = await sqlite3.open_v2('throws.db');
  await sqlite3.exec(db, 'PRAGMA journal_mode = memory; CREATE TABLE t (x)');
  due = true;
  const got = await sqlite3.exec(db, 'INSERT INTO t VALUES (1)').then(
    () => 'no error',
    (e) => e === error,
  );
  performance.mark('after');
  const other = await sqlite3.open_v2('other.db');
  await sqlite3.exec(other, 'CREATE TABLE u (x)');
  return got;
}

Object.assign(window, {
  engines: {
    throwInWrite,
    makeAndDrop,
    /** For each kind: how many are alive, and how many there were. */
    alive: () =>
      Object.fromEntries(
        Object.entries(dropped).map(([kind, refs]) => [
          kind,
          [refs.filter((ref) => ref.deref()).length, refs.length],
        ]),
      ),
    open,
  },
});
