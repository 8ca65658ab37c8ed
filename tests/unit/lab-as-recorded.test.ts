/** "Try it" on a recording: which of its statements run, with which settings, and what a finding's advice changes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Facts } from '../../src/analysis/core/graph.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { asRecorded, type AsRecorded } from '../../src/lab/as-recorded/as-recorded.ts';
import { Copy } from '../../src/lab/advisor/copy.ts';
import { cacheFit } from '../../src/lab/as-recorded/cache-fit.ts';
import { changesOf } from '../../src/lab/as-recorded/change.ts';
import { nodeSurroundings } from '../../src/lab/command/node.ts';
import { experimentFor } from '../../src/lab/experiments/documents/tries.ts';
import type { RunResult } from '../../src/lab/experiments/model/result-types.ts';
import { runOf } from '../../src/lab/experiments/plan.ts';
import { measureEach } from '../../src/lab/experiments/run.ts';
import { inOneTransaction } from '../../src/lab/experiments/workloads/grouped.ts';
import { workloadOf } from '../../src/lab/experiments/workloads/index.ts';
import { runsOfRecorded } from '../../src/lab/page/grid.ts';
import { beforeAndAfter } from '../../src/lab/results/tried.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { NOTES, recordedStatements } from '../traces/recorded-statements.ts';
import { createRequire } from 'node:module';

const around = nodeSurroundings();
const GOLDEN = join(import.meta.dirname, '..', 'traces', 'golden');
const tried = (
  store: TraceStore,
  experiment: string,
  rule: string,
  database: Blob | null = null,
): Promise<AsRecorded> =>
  asRecorded(around.engines, new Facts(store), {
    experiment: experimentFor(experiment)!,
    rule,
    vfs: 'MemoryVFS',
    database: database && { name: 'notes.db', file: database },
  });
const golden = async (file: string, experiment: string, rule: string): Promise<AsRecorded> => {
  const { store } = await readTrace(new Blob([readFileSync(join(GOLDEN, `${file}.vfst`))]));
  return tried(store, experiment, rule);
};
/** Both ways, counted, on an in-memory VFS. */
async function bothWays(
  { config, own }: AsRecorded,
  database?: Blob,
): Promise<{ name: string; result: RunResult }[]> {
  const input = database && { name: 'notes.db', file: database };
  const ways = runsOfRecorded(own!, { ...config, vfs: 'MemoryVFS' }, input);
  const results = await measureEach(
    ways.map(({ run }) => ({ ...run, mode: 'count' as const, repeats: 1 })),
    around,
  );
  return results.map((result, i) => {
    if (result instanceof Error) throw result;
    return { name: ways[i]!.heading, result };
  });
}

describe("a finding, tried with the recording's own statements", () => {
  it('a page cache that was too small: rows replace folded values, and the folded cache size is estimated', async () => {
    const found = await golden('cache-thrash', 'cache-thrash', 'F11');
    expect(found.config).toMatchObject({ pageSize: 4096, journalMode: 'delete' });
    expect(found.config.cacheSize).toBeLessThan(100);
    expect(found.notes).toEqual([
      expect.stringMatching(
        /^The recording folded the value of PRAGMA cache_size\. With \d+ pages the statements read [\d,]+ pages of the database here, and 1,007 in your app, so this stands in\.$/,
      ),
    ]);
    const { own } = found;
    expect(own!.changes.map(({ heading }) => heading)).toEqual(['cache 414 KiB']);
    expect(own!.says).toEqual([
      "Statements are your app's: 61 of 61 recorded statements run, in their order.",
      "Your database isn't here: its tables come from your CREATE statements.",
      expect.stringMatching(/^[\d,]+ made-up rows replace yours\.$/),
      expect.stringMatching(/^The recording has no values of 51 statements\. /),
      '58 of 58 queries return as many rows as in your app.',
    ]);
    const [before, after] = await bothWays(found);
    expect(before!.result.totals['vfs.xRead']).toBeGreaterThan(500);
    expect(after!.result.totals['vfs.xRead']).toBeLessThan(200);
    expect(beforeAndAfter([before!, after!])).toEqual([
      expect.stringMatching(/^Before, as recorded: [\d,]+ VFS calls, [\d,]+ reads, /),
      expect.stringMatching(/^After, cache 414 KiB: [\d,]+ VFS calls, [\d,]+ reads, /),
    ]);
  });

  it('a transaction for each row: one around all', async () => {
    const found = await golden('opfs-coop-sync', 'autocommit-1000', 'F01');
    expect(found.own!.says[0]).toBe(
      "Statements are your app's: 104 of 104 recorded statements run, in their order.",
    );
    const [before, after] = await bothWays(found);
    expect(after!.name).toBe('one transaction');
    expect(before!.result.totals['vfs.xSync']).toBeGreaterThan(100);
    expect(after!.result.totals['vfs.xSync']).toBeLessThan(10);
    expect(after!.result.totals['rows']).toBe(before!.result.totals['rows']);
  });

  it("a finding's own SQL takes precedence over the experiment's variants", async () => {
    const { own } = await golden('opfs-coop-sync', 'journal-modes', 'F07');
    expect(own!.changes).toMatchObject([
      { config: { lockingMode: 'exclusive', journalMode: 'wal' }, grouped: false },
    ]);
    const storm = await golden('checkpoint-storm', 'checkpointing', 'F41');
    expect(storm.own!.changes.map(({ config }) => config)).toEqual([{ walAutocheckpoint: 1000 }]);
    // the app's own value was folded in the recording, so its checkpoints' size replaces it: the
    // default is the advice
    expect(storm.config.walAutocheckpoint).toBeLessThan(10);
    expect(storm.notes).toEqual([
      expect.stringMatching(
        /^The recording folded the value of PRAGMA wal_autocheckpoint\. \d explains its checkpoints, so this stands in\.$/,
      ),
    ]);
  });

  it('on a copy of the database: values come from its rows, and what it lacks is left out', async () => {
    type Database = { run(sql: string): void; export(): Uint8Array<ArrayBuffer> };
    const init = createRequire(import.meta.url)('sql.js') as () => Promise<{
      Database: new () => Database;
    }>;
    const db = new (await init()).Database();
    db.run(NOTES);
    const file = new Blob([db.export()]);
    const store = recordedStatements([
      ['SELECT title FROM note WHERE id = ?', 3, 1],
      ['SELECT title FROM note WHERE id = ?1', 1, 1, ['17']],
      ['INSERT INTO note(folder, title) VALUES (?, ?)', 2, 0],
      ['SELECT x FROM gone WHERE y = ?', 1, 0],
      ["ATTACH 'other.db' AS other", 1, 0],
    ]);
    const found = await tried(store, 'page-size', 'F21', file);
    expect(found.own!.says).toEqual([
      "Statements are your app's: 6 of 8 recorded statements run, in their order.",
      'They run on your copy of notes.db.',
      'The recording has no values of 5 statements. The Lab uses values from the tables, or made-up ones.',
      '4 of 4 queries return as many rows as in your app.',
      'Left out: 1 statement, such as SELECT x FROM gone WHERE y = ?. SQLite refuses it here: no such table: gone.',
      "Left out: 1 statement, such as ATTACH 'other.db' AS other. Try it runs on one database.",
    ]);
    expect(found.own!.sql).toContain('SELECT title FROM note WHERE id = 17;');
    expect(new Set(found.own!.sql.match(/id = \d+/g)).size).toBe(4); // each run reads other rows
  });

  it("reports why none of them can run, and why one connection isn't enough", async () => {
    const lost = await tried(
      recordedStatements([['SELECT x FROM gone', 4, 1]]),
      'page-size',
      'F21',
    );
    expect(lost.own).toBeNull();
    expect(lost.why).toBe(
      "None of your app's 4 recorded statements runs here. Left out: 4 statements, such as SELECT x FROM gone. SQLite refuses it here: no such table: gone.",
    );
    const shared = await golden('idb-two-tabs', 'writers-and-readers', 'F17');
    expect(shared.own).toBeNull();
    expect(shared.why).toBe("This experiment changes what one connection alone can't show.");
    const none = await tried(recordedStatements([]), 'page-size', 'F21');
    expect(none.why).toMatch(/^The recording has no SQL text\./);
  });
});

describe('what the trial allows of the statements', () => {
  const empty = (): Promise<Copy> => Copy.open(around.engines, new Blob([]));
  const COUNTS = (n: number): string =>
    `WITH RECURSIVE n(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM n WHERE x < ${n}) SELECT count(*) FROM n`;

  it("PRAGMAs for one schema are settings, in the recording as in a finding's SQL", async () => {
    const { config, own } = await tried(
      recordedStatements([
        ['PRAGMA main.cache_size=50', 1, 0],
        ['PRAGMA main.journal_mode', 1, 1],
        ['CREATE TABLE t(a)', 1, 0],
        ['SELECT a FROM t', 2, 0],
      ]),
      'page-size',
      'F21',
    );
    expect(config.cacheSize).toBe(50);
    expect(own!.sql).not.toMatch(/pragma/i);
    expect(own!.says[0]).toMatch(/: 3 of 3 recorded statements run/);
    expect(
      changesOf(experimentFor('durability')!, 'PRAGMA main.synchronous = normal;', {}),
    ).toMatchObject([{ config: { synchronous: 'normal' } }]);
  });

  it('a transaction that the recording cuts off is committed', async () => {
    const { own } = await tried(
      recordedStatements([
        ['CREATE TABLE t(a)', 1, 0],
        ['BEGIN', 1, 0],
        ['INSERT INTO t VALUES(?)', 3, 0],
      ]),
      'page-size',
      'F21',
    );
    expect(own!.sql).toMatch(/BEGIN;\n(?:INSERT.*;\n){3}COMMIT;\n$/);
    expect(own!.says).toContain("Your app's last transaction has no end here, so this commits it.");
  });

  it('a transaction that SQLite rolls back is also rolled back in the script', async () => {
    const { own } = await tried(
      recordedStatements([
        ['CREATE TABLE t(a UNIQUE ON CONFLICT ROLLBACK)', 1, 0],
        ['BEGIN', 1, 0],
        ['INSERT INTO t SELECT 1', 2, 0],
        ['COMMIT', 1, 0],
        ['INSERT INTO t SELECT 2', 1, 0],
      ]),
      'page-size',
      'F21',
    );
    expect(own!.sql).toMatch(
      /BEGIN;\nINSERT INTO t SELECT 1;\nROLLBACK;\nINSERT INTO t SELECT 2;\n$/,
    );
  });

  it("rows of several statements in one text aren't compared with those of one", async () => {
    const { own } = await tried(
      recordedStatements([
        ['CREATE TABLE t(a)', 1, 0],
        ['SELECT count(*) FROM t; SELECT count(*), max(a) FROM t', 1, 2],
        ['SELECT min(a) FROM t', 1, 1],
      ]),
      'page-size',
      'F21',
    );
    expect(own!.says).toContain('1 of 1 query return as many rows as in your app.');
  });

  it('steps are added up over all statements, and one can be stopped after fewer', async () => {
    const copy = await empty();
    for (let i = 0; i < 3; i++) await copy.rowsOf(COUNTS(10_000));
    const { steps } = copy;
    expect(steps).toBeGreaterThan(300_000);
    expect(steps).toBeLessThan(1_000_000);
    await expect(copy.rowsOf(COUNTS(1_000_000), 2_000_000)).rejects.toThrow('interrupted');
    expect(Math.floor((copy.steps - steps) / 1_000_000)).toBe(3);
    await copy.close();
  });

  it('the estimated cache has the reads of the statements, without those of the added rows', async () => {
    const setup = `CREATE TABLE t(a, b);\nINSERT INTO t SELECT x, printf('%0500d', x) FROM (${COUNTS(2000).replace('count(*)', 'x')});\nSELECT max(b) FROM t;\n`;
    const scan = 'SELECT sum(length(b)) FROM t;\n';
    const reads = async (sql: string): Promise<number> =>
      (await cacheFit(empty, { setup, steps: sql }, 0)).reads;
    expect(await reads('SELECT 1;\n')).toBe(0);
    const one = await cacheFit(empty, { setup, steps: scan }, 250);
    expect(one.reads).toBeGreaterThan(200);
    expect(one.reads).toBeLessThan(320);
  });
});

describe('before and after', () => {
  it('a side without a result keeps its place', async () => {
    const { own, config } = await tried(
      recordedStatements([
        ['CREATE TABLE t(a)', 1, 0],
        ['INSERT INTO t VALUES(?)', 3, 0],
      ]),
      'autocommit-1000',
      'F01',
    );
    const [before, after] = await bothWays({ own, config, notes: [], why: '' });
    expect(beforeAndAfter([{ ...before!, result: null }, after!])).toEqual([
      'Before, as recorded: no result.',
      expect.stringMatching(/^After, one transaction: \d+ VFS calls, /),
    ]);
    expect(beforeAndAfter([before!, after!].map((way) => ({ ...way, result: null })))).toEqual([]);
  });
});

describe('what an experiment changes of a recorded run', () => {
  const headings = (id: string, before = {}): string[] =>
    changesOf(experimentFor(id)!, undefined, before).map(({ heading }) => heading);

  it('is what its variants set, without what the app has already or what its VFS lacks', () => {
    expect(headings('durability', { synchronous: 'full' })).toEqual(['sync normal', 'sync off']);
    expect(headings('temp-store')).toEqual(['temporary tables in memory']);
    expect(headings('idb-transactions', { vfs: 'IDBBatchAtomic' })).toEqual([
      'memory',
      'one transaction',
    ]);
    expect(headings('idb-durability', { vfs: 'IDBBatchAtomic' })).toEqual([]);
    expect(headings('idb-durability', { vfs: 'BlockIDB' })).toEqual(['durability relaxed']);
    expect(headings('writable-streams', { vfs: 'OPFSAnyContext' })).toEqual(['AccessHandlePool']);
  });
});

describe('a script', () => {
  it("in one transaction: what can't be inside one, and what is rolled back, is outside it", () => {
    expect(
      inOneTransaction(
        'INSERT INTO t VALUES(1); BEGIN IMMEDIATE; INSERT INTO t VALUES(2); COMMIT; PRAGMA optimize; SELECT 1; BEGIN; DELETE FROM t; ROLLBACK; SELECT 2; BEGIN; SAVEPOINT a; DELETE FROM t; ROLLBACK TO a; END; VACUUM; BEGIN; SELECT 3',
      ).split(';\n'),
    ).toEqual(
      [
        [
          'BEGIN',
          'INSERT INTO t VALUES(1)',
          'INSERT INTO t VALUES(2)',
          'COMMIT',
          'PRAGMA optimize',
        ],
        ['BEGIN', 'SELECT 1', 'COMMIT', 'BEGIN', 'DELETE FROM t', 'ROLLBACK'],
        ['BEGIN', 'SELECT 2', 'SAVEPOINT a', 'DELETE FROM t', 'ROLLBACK TO a', 'COMMIT', 'VACUUM'],
        ['BEGIN', 'SELECT 3', ''],
      ].flat(),
    );
  });

  it('runs unchanged if a stored run has no parameters', async () => {
    const [ran] = await measureEach(
      [
        {
          ...runOf(workloadOf('own-sql'), {}, { mode: 'count', repeats: 1 }),
          parameters: {},
          sql: 'SELECT 1; SELECT 2;',
        },
      ],
      around,
    );
    expect((ran as RunResult).totals['statements']).toBe(2);
  });

  it("has a setup that isn't a step", () => {
    const own = workloadOf('own-sql', '-- setup\nCREATE TABLE t(a);\n-- step one\nSELECT 1;\n');
    expect([...own.setup({ grouped: 0 })].map((step) => step.id)).toEqual(['setup']);
    expect([...own.steps({ grouped: 0 })].map((step) => step.id)).toEqual(['one']);
  });
});
