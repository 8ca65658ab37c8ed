/**
 * The page-size estimate compared with reality: one workload run at several page sizes, and the
 * estimate from one of these runs.
 */
import { beforeAll, expect, it } from 'vitest';
import { nodeSurroundings } from '../../src/lab/command/node.ts';
import { memoryVfs } from '../../src/lab/experiments/engine/open-host.ts';
import { DEFAULT_CONFIG } from '../../src/lab/experiments/model/types.ts';
import {
  PAGE_SIZES,
  PAGE_SIZES_NOTE,
  type PageSizeEstimate,
} from '../../src/analysis/pages/page-sizes.ts';
import { instrument, startRecording } from '../../src/vfs-instrumented/library/index.ts';
import { pageSizesOf } from '../traces/analyses.ts';

/** Rows of about 110 bytes, and the page cache through which they are read. */
interface Size {
  readonly rows: number;
  readonly cacheKib: number;
}
const LARGE: Size = { rows: 30_000, cacheKib: 1024 };
const SMALL: Size = { rows: 6000, cacheKib: 256 };
const mixOn = (rows: number): string => `
  SELECT sum(length(b)) FROM t;
  WITH RECURSIVE n(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM n WHERE x<${rows / 15})
    SELECT sum(length((SELECT b FROM t WHERE a = 1 + (x*7919) % ${rows}))) FROM n;
  UPDATE t SET c=c+1 WHERE a BETWEEN 100 AND 900;
  UPDATE t SET c=c+1 WHERE a % 997 = 0;
`;
const SCAN = 'SELECT sum(length(b)) FROM t;';

/** What `sql` does to a database with this page size and an empty cache of `kib` KiB. */
async function run(
  pageSize: number,
  sql: string,
  { rows, cacheKib } = LARGE,
): Promise<readonly PageSizeEstimate[]> {
  const { sqlite3, module } = await nodeSurroundings().engines.open(
    { engine: 'wa-sqlite-2.0.6', build: 'sync' },
    'none',
  );
  const made = await memoryVfs({ ...DEFAULT_CONFIG, vfs: 'MemoryVFS' }, module);
  (sqlite3 as unknown as { vfs_register(vfs: object, asDefault: boolean): number }).vfs_register(
    made!.vfs,
    true,
  );
  const fill = await sqlite3.open_v2('t.db');
  await sqlite3.exec(
    fill,
    `PRAGMA page_size=${pageSize}; CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, c INT);
     WITH RECURSIVE n(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM n WHERE x<${rows}) INSERT INTO t SELECT x, printf('%0100d', x), x FROM n;`,
  );
  await sqlite3.close(fill);
  const recording = startRecording({ keep: { kind: 'everything' } });
  instrument(made!.vfs, recording);
  const db = await sqlite3.open_v2('t.db');
  await sqlite3.exec(db, `PRAGMA cache_size=-${cacheKib}; ${sql}`);
  await sqlite3.close(db);
  const [only] = pageSizesOf(recording.store());
  return only!.sizes;
}
const measured = (sizes: readonly PageSizeEstimate[]): PageSizeEstimate =>
  sizes.find(({ recorded }) => recorded)!;

const SIZES = PAGE_SIZES.filter((size) => size >= 1024 && size <= 16384);
const scans = new Map<number, readonly PageSizeEstimate[]>();
const mixes = new Map<number, readonly PageSizeEstimate[]>();
beforeAll(async () => {
  for (const size of SIZES) {
    scans.set(size, await run(size, SCAN));
    mixes.set(size, await run(size, mixOn(LARGE.rows)));
  }
}, 60_000);

it('a scan at 2, 4, and 16 times the page size: the minimum is within 10 % of the actual reads', () => {
  for (const times of [2, 4, 16]) {
    const estimate = scans.get(1024)!.find((s) => s.pageSize === 1024 * times)!.reads;
    const truth = measured(scans.get(1024 * times)!).reads.least;
    expect(estimate.least / truth).toBeGreaterThan(0.9);
    expect(estimate.least / truth).toBeLessThan(1.1);
    expect(estimate.most).toBeGreaterThanOrEqual(truth);
  }
});

it('scan, random reads, and updates: the actual value is in between, within 10 % up to twice the page size, 20 % at 4 times, 40 % beyond', () => {
  for (const [from, sizes] of mixes)
    for (const { pageSize, reads, writes } of sizes) {
      const real = mixes.get(pageSize);
      if (!real) continue;
      const truth = measured(real);
      const times = pageSize / from;
      const more = times > 4 ? 1.4 : times > 2 ? 1.2 : 1.1; // random reads use less of a large page
      expect
        .soft(truth.reads.least, `reads at ${pageSize} from ${from}`)
        .toBeGreaterThanOrEqual(reads.least * 0.9);
      expect
        .soft(truth.reads.least, `reads at ${pageSize} from ${from}`)
        .toBeLessThanOrEqual(reads.most * more);
      expect
        .soft(truth.writes.least, `writes at ${pageSize} from ${from}`)
        .toBeGreaterThanOrEqual(writes.least * 0.9);
      expect
        .soft(truth.writes.least, `writes at ${pageSize} from ${from}`)
        .toBeLessThanOrEqual(writes.most * 1.1);
    }
});

it('is too low, as its note says, if a cache of as many bytes holds few large pages', async () => {
  const [from, to] = await Promise.all(
    [4096, 16384].map((size) => run(size, mixOn(SMALL.rows), SMALL)),
  ); // 64 pages, then 16
  expect(measured(to!).reads.least).toBeGreaterThan(
    from!.find((s) => s.pageSize === 16384)!.reads.most,
  );
  expect(PAGE_SIZES_NOTE).toMatch(/too low where such a cache holds fewer than 20 pages/);
});
