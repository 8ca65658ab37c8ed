// The block VFS under a real engine: its storage reads and writes for xRead and xWrite, by policy,
// and the database after crashes.
import { describe, expect, it } from 'vitest';
import {
  BlockIdbVfs,
  type BlockIdbOptions,
} from '../../src/vfs-instrumented/block-idb/block-idb-vfs.ts';
import type { BlockStorage, FileMeta } from '../../src/vfs-instrumented/block-idb/storage.ts';
import { loadWaSqlite, type Sqlite } from './helpers/wa-sqlite.ts';

type Stored = { blocks: Map<string, Uint8Array>; files: Map<string, FileMeta> };
const copyOf = (s: Stored): Stored => ({ blocks: new Map(s.blocks), files: new Map(s.files) });

/** Keeps blocks in memory, and the state at the last commit, which a crash would leave. */
class MemoryStorage implements BlockStorage {
  now: Stored = { blocks: new Map(), files: new Map() };
  committed: Stored = copyOf(this.now);
  /** Thrown by the next put. */
  refuse: Error | null = null;
  async get(path: string, index: number): Promise<Uint8Array | null> {
    await Promise.resolve();
    return this.now.blocks.get(`${path}\0${index}`)?.slice() ?? null;
  }
  async put(path: string, index: number, data: Uint8Array): Promise<void> {
    if (this.refuse) throw this.refuse;
    this.now.blocks.set(`${path}\0${index}`, data.slice());
    await Promise.resolve();
  }
  async deleteFrom(path: string, index: number): Promise<void> {
    for (const key of [...this.now.blocks.keys()]) {
      const [p, i] = key.split('\0');
      if (p === path && Number(i) >= index) this.now.blocks.delete(key);
    }
    await Promise.resolve();
  }
  readMeta(path: string): Promise<FileMeta | null> {
    return Promise.resolve(this.now.files.get(path) ?? null);
  }
  async writeMeta(path: string, meta: FileMeta | null): Promise<void> {
    if (meta) this.now.files.set(path, meta);
    else this.now.files.delete(path);
    await Promise.resolve();
  }
  commit(): Promise<void> {
    this.committed = copyOf(this.now);
    return Promise.resolve();
  }
  close(): void {}
  /** The storage after a crash. @param to what was stored then */
  static after(to: Stored): MemoryStorage {
    const storage = new MemoryStorage();
    storage.now = copyOf(to);
    storage.committed = copyOf(to);
    return storage;
  }
}

interface Opened {
  sqlite3: Sqlite;
  vfs: BlockIdbVfs;
  db: number;
  run: (sql: string) => Promise<unknown[][]>;
}
async function open(storage: BlockStorage, options: BlockIdbOptions): Promise<Opened> {
  const { sqlite3, module } = await loadWaSqlite('journey-async');
  const vfs = await BlockIdbVfs.create('lab', module as never, options, storage);
  sqlite3.vfs_register(vfs, true);
  const db = await sqlite3.open_v2('app.db');
  const run = async (sql: string): Promise<unknown[][]> => {
    const rows: unknown[][] = [];
    await sqlite3.exec(db, sql, (row) => void rows.push([...row]));
    return rows;
  };
  return { sqlite3, vfs, db, run };
}

const FILL = `CREATE TABLE t(a INT,b TEXT,c INT);
WITH RECURSIVE n(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM n WHERE x<10000) INSERT INTO t SELECT x,'row '||x||' some text',x*2 FROM n;`;
const SUMS = 'SELECT sum(a) FROM t;SELECT sum(c) FROM t;';
const PRAGMAS = 'PRAGMA page_size=4096;PRAGMA locking_mode=exclusive;PRAGMA synchronous=normal;';

/**
 * Fills a table and reads it: a new one, or one in the space of a dropped table of the same size.
 */
async function experiment(
  blockSize: number,
  writePolicy: 'through' | 'queued' | 'lazy',
  reused: boolean,
): Promise<BlockIdbVfs['stats']> {
  const { run, vfs, sqlite3, db } = await open(new MemoryStorage(), {
    blockSize,
    writePolicy,
    cacheBlocks: 8,
  });
  await run(PRAGMAS);
  if (reused) await run(`${FILL}DROP TABLE t`);
  await vfs.dropCaches();
  const before = { ...vfs.stats };
  await run(FILL);
  expect(await run(SUMS)).toEqual([[50005000], [100010000]]);
  const after = Object.fromEntries(
    Object.entries(vfs.stats).map(([k, v]) => [k, v - before[k as keyof typeof before]]),
  );
  await sqlite3.close(db);
  return after as unknown as BlockIdbVfs['stats'];
}

describe('reads and writes below xRead and xWrite', () => {
  it('a read-modify-write misses where space is reused, once per block, and never on an empty database', async () => {
    const [fresh, reused8, reused32] = [
      await experiment(8192, 'through', false),
      await experiment(8192, 'through', true),
      await experiment(32768, 'through', true),
    ];
    expect(fresh.rmw).toBeGreaterThan(30);
    expect(fresh.rmwMiss).toBe(0);
    expect(reused8.rmwMiss).toBeGreaterThan(30);
    expect(Math.round(reused8.rmwMiss / reused32.rmwMiss)).toBe(4);
  });

  it('lazy puts fewer blocks than write-through, and queues as many', async () => {
    const [through, queued, lazy] = [
      await experiment(8192, 'through', true),
      await experiment(8192, 'queued', true),
      await experiment(8192, 'lazy', true),
    ];
    expect(queued.put).toBe(through.put);
    expect(lazy.put).toBeLessThan(through.put * 0.7);
    expect(lazy.rmwMiss).toBe(through.rmwMiss);
  });

  it('the page cache misses half as often with pages of twice the size', async () => {
    const reads: number[] = [];
    for (const page of [4096, 8192, 16384]) {
      const { run, vfs, sqlite3, db } = await open(new MemoryStorage(), {
        blockSize: page,
        writePolicy: 'lazy',
        cacheBlocks: 1,
      });
      await run(`PRAGMA page_size=${page};${FILL}`);
      await sqlite3.close(db);
      const again = await sqlite3.open_v2('app.db');
      const before = vfs.stats.get;
      await sqlite3.exec(again, 'SELECT sum(a) FROM t');
      reads.push(vfs.stats.get - before);
    }
    expect(reads[0]! / reads[1]!).toBeCloseTo(2, 0);
    expect(reads[1]! / reads[2]!).toBeCloseTo(2, 0);
  });
});

describe.each(['through', 'queued', 'lazy'] as const)('%s', (writePolicy) => {
  it.each([512, 4096, 65536])('blocks of %i bytes hold the same database', async (blockSize) => {
    const storage = new MemoryStorage();
    const first = await open(storage, { blockSize, writePolicy, cacheBlocks: 3 });
    await first.run(
      `${FILL}CREATE INDEX i ON t(c);DELETE FROM t WHERE a%3=0;VACUUM;UPDATE t SET b=b||'!' WHERE a%7=0;`,
    );
    const expected = await first.run('SELECT count(*), sum(a), sum(length(b)) FROM t');
    await first.sqlite3.close(first.db);
    const second = await open(storage, { blockSize: 8192, writePolicy: 'through', cacheBlocks: 3 }); // a file keeps its block size
    expect(await second.run('SELECT count(*), sum(a), sum(length(b)) FROM t')).toEqual(expected);
    expect(await second.run('PRAGMA integrity_check')).toEqual([['ok']]);
    expect(expected[0]![0]).toBe(6667);
  });

  it.each(['delete', 'truncate', 'persist', 'wal'])(
    'journal_mode=%s: after a crash at any commit the database is whole, and has what was committed',
    async (mode) => {
      const storage = new MemoryStorage();
      const states: { state: Stored; done: number }[] = [];
      let done = 0;
      const commit = storage.commit.bind(storage);
      storage.commit = async () => {
        await commit();
        states.push({ state: storage.committed, done });
      };
      const { run } = await open(storage, { blockSize: 8192, writePolicy, cacheBlocks: 4 });
      await run(
        `PRAGMA locking_mode=exclusive;PRAGMA journal_mode=${mode};PRAGMA synchronous=full;PRAGMA cache_size=10;CREATE TABLE t(a,b)`,
      );
      for (let i = 0; i < 12; i++) {
        await run(
          `BEGIN;INSERT INTO t VALUES(${i},zeroblob(${3000 * (i % 5)}));UPDATE t SET b=zeroblob(9000) WHERE a%4=1;COMMIT`,
        );
        done = i + 1;
      }
      expect(states.length).toBeGreaterThan(12);
      const step = Math.ceil(states.length / 12);
      for (let i = 0; i < states.length; i += step) {
        const { state, done: before } = states[i]!;
        if (
          !state.files.has('app.db') &&
          ![...state.files.keys()].some((p) => p.endsWith('app.db'))
        )
          continue;
        const crashed = await open(MemoryStorage.after(state), { blockSize: 8192, cacheBlocks: 4 });
        await crashed.run('PRAGMA locking_mode=exclusive');
        expect(await crashed.run('PRAGMA integrity_check')).toEqual([['ok']]);
        if (before)
          expect(
            Number((await crashed.run('SELECT count(*) FROM t'))[0]![0]),
          ).toBeGreaterThanOrEqual(before);
      }
    },
  );

  it('a storage failure is an SQLite error, with its message in lastError', async () => {
    const storage = new MemoryStorage();
    const { run, vfs } = await open(storage, { writePolicy });
    await run('CREATE TABLE t(a)');
    storage.refuse = Object.assign(new Error('the disk is full'), { name: 'QuotaExceededError' });
    await expect(run('INSERT INTO t VALUES(zeroblob(100000))')).rejects.toThrow(/full/);
    expect(vfs.lastError?.message).toBe('the disk is full');
  });
});

it('two connections of one thread take turns', async () => {
  const { sqlite3, db, run } = await open(new MemoryStorage(), {});
  await run('CREATE TABLE t(a);BEGIN IMMEDIATE;INSERT INTO t VALUES(1)');
  const other = await sqlite3.open_v2('app.db');
  await expect(sqlite3.exec(other, 'INSERT INTO t VALUES(2)')).rejects.toThrow(/locked/);
  await run('COMMIT');
  await sqlite3.exec(other, 'INSERT INTO t VALUES(2)');
  expect(await run('SELECT count(*) FROM t')).toEqual([[2]]);
  await sqlite3.close(other);
  await sqlite3.close(db);
});

it('invalid options are rejected by name', async () => {
  const { module } = await loadWaSqlite('journey-async');
  await expect(
    BlockIdbVfs.create('x', module as never, { blockSize: 5000 }, new MemoryStorage()),
  ).rejects.toThrow(/blockSize/);
  await expect(
    BlockIdbVfs.create('x', module as never, { cacheBlocks: 0 }, new MemoryStorage()),
  ).rejects.toThrow(/cacheBlocks/);
});
