/** The exact VFS calls of known SQL (tests/oracle/own-sql-goldens.ts), in Node. */
import { afterEach, describe, expect, it } from 'vitest';
import { Flag } from '../../src/event/event.ts';
import {
  OWN_SQL_GOLDENS,
  countsOnly,
  ownSqlCounts,
  type OwnSqlGolden,
} from '../oracle/own-sql-goldens.ts';
import { Traced, type Row } from './helpers/traced.ts';
import { CREATE_T, insertT, loadWaSqlite, type Build } from './helpers/wa-sqlite.ts';

let traced: Traced | null = null;
afterEach(() => {
  traced?.restore();
  traced = null;
});

async function run(
  build: Build,
  golden: Pick<OwnSqlGolden, 'pragmas' | 'oneTransaction'>,
): Promise<{ t: Traced; rows: Row[] }> {
  const t = (traced = new Traced());
  const { sqlite3 } = await loadWaSqlite(build);
  const db = await sqlite3.open_v2('golden.db');
  if (golden.pragmas) await sqlite3.exec(db, golden.pragmas);
  await sqlite3.exec(db, CREATE_T);
  const mark = t.mark();
  if (golden.oneTransaction) await sqlite3.exec(db, 'BEGIN');
  for (let i = 0; i < 1000; i++) await sqlite3.exec(db, insertT(i));
  if (golden.oneTransaction) await sqlite3.exec(db, 'COMMIT');
  const rows = t.since(mark);
  await sqlite3.close(db);
  return { t, rows };
}

describe.each(['journey-sync', 'journey-async'] as const)(
  'VFS calls of 1000 inserts, %s',
  (build) => {
    it.each(OWN_SQL_GOLDENS)('$name', async (golden) => {
      const { t, rows } = await run(build, golden);
      expect(ownSqlCounts(t.tally(rows))).toEqual(countsOnly(golden));
      expect(t.counters()).toEqual({ dropped: 0, faults: 0 });
      expect(t.faultsOf(t.all())).toEqual([]);
      expect(t.notes).toEqual([]);
    });

    it('every VFS call is inside the statement that caused it, on its connection', async () => {
      const { t, rows } = await run(build, {});
      const steps = new Map(rows.filter((r) => r.name === 'sqlite3_step').map((r) => [r.seq, r]));
      const io = rows.filter((r) => r.op < 64);
      expect(steps.size).toBe(1000);
      expect(io.filter((r) => !steps.has(r.parent))).toEqual([]);
      expect(new Set(rows.map((r) => r.context))).toEqual(new Set([rows[0]!.context]));
      expect([...new Set([...steps.values()].map((r) => t.sqlText(r.object)))]).toEqual([
        'INSERT INTO t VALUES(?,?,?)',
      ]);
      expect(t.recorder.current).toBe(0);
    });
  },
);

it('one autocommit insert, call by call', async () => {
  const { t, rows } = await run('journey-sync', {});
  const last = rows.filter((r) => r.name === 'sqlite3_step').at(-1)!;
  const short: Record<string, string> = { 'main-db': 'db', journal: 'j', wal: 'wal' };
  const lines = rows
    .filter(
      (r) =>
        r.parent === last.seq &&
        !/FileControl|DeviceCharacteristics|SectorSize|FileSize/.test(r.name),
    )
    .map((r) => {
      const file = short[t.kind(r)!];
      if (r.name === 'xLock' || r.name === 'xUnlock') return `${r.name} ${r.aux}`;
      return r.name === 'xRead' || r.name === 'xWrite'
        ? `${r.name} ${file} ${r.length}@${r.offset}`
        : `${r.name} ${file}`;
    });
  expect(lines).toEqual(
    (
      'xLock 1, xAccess j, xRead db 16@24, xAccess wal, xLock 2, xOpen j, xWrite j 512@0, xWrite j 4@512, xWrite j 4096@516, xWrite j 4@4612, xLock 4, ' +
      'xWrite j 4@4616, xWrite j 4096@4620, xWrite j 4@8716, xRead j 8@9216, xSync j, xWrite j 12@0, xSync j, xWrite db 4096@0, xWrite db 4096@4096, ' +
      'xSync db, xClose j, xDelete j, xUnlock 1, xUnlock 0'
    )
      .split(', ')
      .map(
        (line) =>
          (/xWrite db 4096@4096/.test(line)
            ? expect.stringMatching(/^xWrite db 4096@\d+$/)
            : line) as string,
      ),
  );
});

it("SQLite's in-memory journal is counted separately from files", async () => {
  const { t, rows } = await run('journey-sync', { pragmas: 'PRAGMA journal_mode=memory;' });
  const journal = rows.filter((r) => r.flags & Flag.memoryJournal);
  expect(journal.length).toBeGreaterThan(1000);
  expect(new Set(journal.map((r) => t.kind(r)))).toEqual(new Set(['memory-journal']));
  expect(
    rows.filter((r) => t.kind(r) === 'memory-journal' && !(r.flags & Flag.memoryJournal)),
  ).toEqual([]);
});
