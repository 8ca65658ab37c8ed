// The cost of another wal_autocheckpoint, predicted from one recording, compared with running the
// same workload with it: real engines, exact counts.
import { afterEach, describe, expect, test } from 'vitest';
import { Facts } from '../../src/analysis/core/graph.ts';
import { accesses } from '../../src/analysis/pages/page-accesses.ts';
import {
  checkpointChoices,
  type CheckpointChoices,
} from '../../src/analysis/what-if/checkpoint-choices.ts';
import { checkpoints } from '../../src/analysis/wal/checkpoints.ts';
import {
  askedCheckpoints,
  logScriptOf,
  type LogCounts,
} from '../../src/analysis/what-if/log-script.ts';
import { wals } from '../../src/analysis/wal/wal.ts';
import { some } from '../full.ts';
import { storeOf } from './helpers/store.ts';
import { Traced } from './helpers/traced.ts';
import { loadWaSqlite, type Build } from './helpers/wa-sqlite.ts';

let traced: Traced | undefined;
afterEach(() => {
  traced?.restore();
  traced = undefined;
});

const POWERSAFE_OVERWRITE = 0x1000;
const rows = (from: number, n: number): string =>
  `WITH RECURSIVE c(x) AS (SELECT ${from} UNION ALL SELECT x+1 FROM c WHERE x<${from + n - 1})`;
/**
 * Large and small transactions, hot pages, one that spills, one rolled back, freed pages, PRAGMAs,
 * and reads from a small cache.
 */
const WORKLOAD = [
  'CREATE TABLE t(id INTEGER PRIMARY KEY,a INT,b TEXT); CREATE INDEX i ON t(a);',
  `${rows(1, 2000)} INSERT INTO t SELECT x,x,printf('%0200d',x) FROM c;`,
  ...Array.from({ length: 150 }, (_, i) => `UPDATE t SET a=a+1 WHERE id=${((i * 37) % 40) + 1};`),
  'SELECT sum(length(b)) FROM t;',
  'PRAGMA wal_checkpoint;',
  ...Array.from({ length: 60 }, (_, i) => `UPDATE t SET a=a+7 WHERE id%${i + 97}=0;`),
  `BEGIN; UPDATE t SET b=printf('%0190d',id); ROLLBACK;`,
  `BEGIN; UPDATE t SET b=printf('%0190d',id); SAVEPOINT s; UPDATE t SET a=a+1; ROLLBACK TO s; UPDATE t SET a=3 WHERE id=9; COMMIT;`,
  'SELECT sum(length(b)) FROM t;',
  'DELETE FROM t WHERE id>600;',
  'PRAGMA incremental_vacuum;',
  ...Array.from({ length: 40 }, (_, i) => `UPDATE t SET a=a+1 WHERE id=${i + 1};`),
  'PRAGMA wal_checkpoint(TRUNCATE);',
  ...Array.from({ length: 80 }, (_, i) => `UPDATE t SET a=a+1 WHERE id=${(i * 13) % 500};`),
  'SELECT count(*) FROM t WHERE a>5;',
];

interface Setting {
  build: Build;
  synchronous: string;
  characteristics: number;
  sector: number;
  pageSize: number;
}

/**
 * The counted cost of the workload with this distance, and what its recording predicts for all
 * others.
 */
async function run(
  { build, synchronous, characteristics, sector, pageSize }: Setting,
  autocheckpoint: number,
): Promise<{ counted: LogCounts; promised: CheckpointChoices }> {
  traced?.restore();
  const t = (traced = new Traced());
  const { sqlite3, vfs } = await loadWaSqlite(build);
  for (const name of ['jDeviceCharacteristics', 'xDeviceCharacteristics'])
    if (name in vfs) vfs[name] = (): number => characteristics;
  for (const name of ['jSectorSize', 'xSectorSize'])
    if (name in vfs) vfs[name] = (): number => sector;
  const db = await sqlite3.open_v2('app.db');
  await sqlite3.exec(
    db,
    `PRAGMA page_size=${pageSize}; PRAGMA auto_vacuum=incremental; PRAGMA locking_mode=exclusive; PRAGMA journal_mode=wal;
     PRAGMA synchronous=${synchronous}; PRAGMA cache_size=20; PRAGMA wal_autocheckpoint=${autocheckpoint};`,
  );
  for (const sql of WORKLOAD) await sqlite3.exec(db, sql);
  await sqlite3.close(db);
  const store = storeOf(t);
  const facts = new Facts(store);
  const script = logScriptOf(
    store,
    facts.get(wals)[0]!,
    facts.get(checkpoints),
    facts.get(askedCheckpoints),
    facts.get(accesses),
  );
  if (typeof script === 'string') throw new Error(script);
  return { counted: script.recorded, promised: facts.get(checkpointChoices)[0]! };
}

const builds = (...names: Build[]): Setting[] =>
  names.map((build) => ({
    build,
    synchronous: 'full',
    characteristics: 0,
    sector: 512,
    pageSize: 4096,
  }));
const SETTINGS: Setting[] = [
  ...builds('journey-sync', 'wa1-async'),
  ...(['full', 'normal', 'off'] as const).flatMap((synchronous) =>
    [4096, 16_384].map((sector) => ({
      build: 'journey-sync' as const,
      synchronous,
      characteristics: sector === 4096 ? POWERSAFE_OVERWRITE : 0,
      sector,
      pageSize: sector / 4,
    })),
  ),
  ...builds('journey-async', 'wa1-sync'),
];
const OTHERS = [100, 250, 1000, 0];

describe.each(some(SETTINGS, 3))(
  '$build, synchronous=$synchronous, sectors of $sector, pages of $pageSize',
  (setting) => {
    test('each recording predicts what every other distance costs', async () => {
      const runs = new Map<number, Awaited<ReturnType<typeof run>>>();
      for (const distance of OTHERS) runs.set(distance, await run(setting, distance));
      const seen = [...runs.values()].map(({ counted }) => counted.checkpoints);
      expect(new Set(seen).size).toBeGreaterThan(2); // the distances make a difference
      for (const [from, { promised }] of runs) {
        expect(promised.differing, `recorded at ${from}`).toEqual([]);
        for (const [to, { counted }] of runs) {
          const choice = promised.choices.find((c) => c.autocheckpoint === to)!;
          const { autocheckpoint: _, recorded: _own, hotReads: _hot, ...counts } = choice;
          expect(counts, `recorded at ${from}, promised for ${to}`).toEqual(counted);
        }
      }
    });
  },
);
