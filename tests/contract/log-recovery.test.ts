// What a trace shows about a write-ahead log or a rollback journal, compared with the log itself:
// frames as a recovery reads them, with their salts and checksums, and commits as made. Real
// SQLite, recorded by the hook.
import { afterEach, describe, expect, test } from 'vitest';
import type { WalHistory } from '../../src/analysis/wal/wal.ts';
import { Op } from '../../src/event/event.ts';
import { WAL_FRAME_HEADER, WAL_HEADER } from '../../src/sqlite/wal.ts';
import { storeOf } from './helpers/store.ts';
import { Traced } from './helpers/traced.ts';
import { loadWaSqlite } from './helpers/wa-sqlite.ts';
import { interleavingOf, transactionsOf, walHistories } from '../traces/analyses.ts';

const POWERSAFE_OVERWRITE = 0x1000;
const WAL = 'PRAGMA locking_mode=exclusive; PRAGMA journal_mode=wal; PRAGMA wal_autocheckpoint=0;';
const fill = (rows: number, from = 0): string =>
  `WITH RECURSIVE c(x) AS (SELECT ${from + 1} UNION ALL SELECT x+1 FROM c WHERE x<${from + rows}) INSERT INTO t SELECT x,printf('%0100d',x) FROM c;`;

let traced: Traced | undefined;
afterEach(() => {
  traced?.restore();
  traced = undefined;
});

/** A recorded database in memory. */
async function database(characteristics = 0) {
  const t = (traced = new Traced());
  const { sqlite3, vfs } = await loadWaSqlite('journey-sync');
  vfs.jDeviceCharacteristics = () => characteristics;
  const db = await sqlite3.open_v2('test.db');
  const sql = async (text: string): Promise<(number | string | null)[]> => {
    let first: (number | string | null)[] = [];
    await sqlite3.exec(
      db,
      text,
      (row) => void (first = first.length ? first : (row as typeof first)),
    );
    return first;
  };
  const log = (): Uint8Array => {
    const { data, size } = (
      vfs.mapNameToFile as Map<string, { data: ArrayBuffer; size: number }>
    ).get('/test.db-wal')!;
    return new Uint8Array(data).slice(0, size);
  };
  const store = (...leftOut: number[]): ReturnType<typeof storeOf> => storeOf(t, t.all(), leftOut);
  const history = (): WalHistory => walHistories(store())[0]!;
  return { sql, log, store, history };
}

/**
 * The log as a recovery reads it: frames with the header's salts and correct checksums, from the
 * first to the last that commits.
 */
function recover(bytes: Uint8Array): { frames: number; commits: number; pageSize: number } {
  const view = new DataView(bytes.buffer);
  const u32 = (at: number): number => view.getUint32(at);
  const little = (u32(0) & 1) === 0; // the byte order of checksums
  let [a, b] = [0, 0];
  const add = (from: number, length: number): void => {
    for (let at = from; at < from + length; at += 8) {
      a = (a + view.getUint32(at, little) + b) >>> 0;
      b = (b + view.getUint32(at + 4, little) + a) >>> 0;
    }
  };
  add(0, 24);
  if (a !== u32(24) || b !== u32(28)) throw new Error('the header of the log has a wrong checksum');
  const pageSize = u32(8);
  let [frames, commits, count] = [0, 0, 0];
  for (
    let at = WAL_HEADER;
    at + WAL_FRAME_HEADER + pageSize <= bytes.length;
    at += WAL_FRAME_HEADER + pageSize
  ) {
    add(at, 8);
    add(at + WAL_FRAME_HEADER, pageSize);
    if (u32(at + 8) !== u32(16) || u32(at + 16) !== a || u32(at + 20) !== b) break;
    count++;
    if (u32(at + 4) === 0) continue;
    commits++;
    frames = count;
  }
  return { frames, commits, pageSize };
}

describe('a log', () => {
  test.each([512, 4096, 65536])(
    'with pages of %i bytes: every frame and every commit',
    async (pageSize) => {
      const { sql, log, store, history } = await database(POWERSAFE_OVERWRITE);
      await sql(
        `PRAGMA page_size=${pageSize}; ${WAL} CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT)`,
      );
      for (let i = 0; i < 20; i++) await sql(fill(50, i * 50));
      // the same single page repeatedly
      for (let i = 0; i < 5; i++) await sql(`UPDATE t SET b=${i} WHERE a=7`);
      const { frames, commits } = recover(log());
      expect(commits).toBe(26);
      expect(history()).toMatchObject({
        pageSize,
        frames,
        commits,
        highWaterFrames: frames,
        restarts: 0,
        truncations: 0,
      });
      expect(transactionsOf(store()).list.length).toBe(27); // the change to WAL came before
      expect(await sql('PRAGMA wal_checkpoint(PASSIVE)')).toEqual([0, frames, frames]);
    },
  );

  test('starts over, is truncated, and is used again', async () => {
    const { sql, log, history } = await database(POWERSAFE_OVERWRITE);
    await sql(`${WAL} CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT); ${fill(500)}`);
    const first = recover(log());
    expect(history()).toMatchObject({ restarts: 0, truncations: 0, frames: first.frames });
    await sql(`PRAGMA wal_checkpoint(RESTART); ${fill(3, 500)}`);
    const second = recover(log());
    expect(second.frames).toBeLessThan(first.frames);
    expect(history()).toMatchObject({
      restarts: 1,
      truncations: 0,
      frames: first.frames + second.frames,
      highWaterFrames: first.frames,
    });
    await sql(`PRAGMA wal_checkpoint(TRUNCATE); ${fill(3, 503)}`);
    const third = recover(log());
    const frames = first.frames + second.frames + third.frames;
    expect(history()).toMatchObject({
      restarts: 1,
      truncations: 1,
      frames,
      commits: first.commits + second.commits + third.commits,
    });
  });

  test('of a transaction that spills: pages and checksums are written again, and a rolled-back one leaves frames to be replaced', async () => {
    const { sql, log, store, history } = await database(POWERSAFE_OVERWRITE);
    await sql(
      `${WAL} PRAGMA cache_size=5; CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT); ${fill(2000)}`,
    );
    const before = recover(log());
    await sql(`BEGIN; UPDATE t SET b=b||'x'; ROLLBACK`);
    expect(recover(log())).toEqual(before);
    expect(history().highWaterFrames).toBeGreaterThan(before.frames);
    expect(history().commits).toBe(before.commits);
    await sql(`BEGIN; UPDATE t SET b=b||'y'; UPDATE t SET b=b||'z'; COMMIT`);
    await sql('UPDATE t SET b=1 WHERE a=1');
    const after = recover(log());
    expect(after.commits).toBe(before.commits + 2);
    expect(history().commits).toBe(after.commits);
    const outcomes = [...transactionsOf(store()).list]
      .filter((t) => t.kind === 'write')
      .map((t) => t.outcome);
    expect(outcomes.slice(-2)).toEqual(['committed', 'committed']);
    // also if COMMIT_PHASETWO isn't recorded, and only frames show it
    expect(
      [...transactionsOf(store(Op.xFileControl)).list].filter((t) => t.commitPoint === 'wal'),
    ).toHaveLength(after.commits);
  });

  test("that is filled up to its sectors: copies of a commit frame don't count", async () => {
    const { sql, log, store, history } = await database();
    await sql(
      `PRAGMA page_size=512; ${WAL} PRAGMA synchronous=full; CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT);`,
    );
    for (let i = 0; i < 100; i++) await sql(`INSERT OR REPLACE INTO t VALUES(1,${i})`);
    const recovered = recover(log());
    expect(recovered.commits).toBeGreaterThan(151);
    expect(history()).toMatchObject({ commits: 101, frames: recovered.frames });
    expect([...transactionsOf(store()).list].filter((t) => t.commitPoint === 'wal')).toHaveLength(
      101,
    );
  });
});

describe('a rollback journal', () => {
  test.each([512, 4096, 65536])(
    'that stays, pages of %i bytes: its zeroed header is the commit',
    async (pageSize) => {
      const { sql, store } = await database();
      await sql(
        `PRAGMA page_size=${pageSize}; PRAGMA journal_mode=persist; CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT); ${fill(1000)}`,
      );
      for (let i = 0; i < 10; i++) await sql(`UPDATE t SET b=b||'x' WHERE a=${i + 1}`);
      const points = [...transactionsOf(store()).list]
        .filter((t) => t.kind === 'write')
        .map((t) => t.commitPoint);
      expect(points).toEqual(new Array(12).fill('journal zeroed'));
    },
  );

  test('of a transaction that spills: written alternately with the database, one commit', async () => {
    const { sql, store } = await database();
    await sql(
      `PRAGMA journal_mode=delete; PRAGMA cache_size=5; CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT); ${fill(3000)}`,
    );
    const before = interleavingOf(store())[0]!.switches;
    await sql(`UPDATE t SET b=b||'x'`);
    expect(interleavingOf(store())[0]!.switches - before).toBeGreaterThan(2);
    const points = [...transactionsOf(store()).list]
      .filter((t) => t.kind === 'write')
      .map((t) => t.commitPoint);
    expect(points).toEqual(new Array(3).fill('journal deleted'));
  });
});
