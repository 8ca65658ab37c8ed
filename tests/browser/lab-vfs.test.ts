// The Lab's worker in the extension: every VFS on every build that it supports, the same counts as
// in Node, and clean storage afterwards.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FULL, some } from '../full.ts';
import { openLab } from '../../src/lab/drive/lab.ts';
import type { LabPage } from '../../src/lab/drive/lab-page.ts';
import type { DrivenBrowser } from '../../src/drive/browser.ts';
import { Engines } from '../../src/lab/experiments/engine/open-engine.ts';
import { EXPERIMENTS } from '../../src/lab/experiments/documents/index.ts';
import { PATTERNS } from '../../src/lab/experiments/documents/patterns.ts';
import { onVfs } from '../../src/lab/experiments/on-vfs.ts';
import { ABSURD_SQL_JS, SQLITE_ORG } from '../../src/lab/experiments/model/engine-names.ts';
import { ownJournalOf } from '../../src/lab/experiments/model/vfs-facts.ts';
import { readWords, runOf, runsOf } from '../../src/lab/experiments/plan.ts';
import { experimentResult } from '../../src/lab/experiments/run-experiment.ts';
import { sampleOf } from '../../src/lab/experiments/run.ts';
import {
  DEFAULT_CONFIG,
  VFS_NAMES,
  type Config,
  type Mode,
  type Run,
  type VfsName,
} from '../../src/lab/experiments/model/types.ts';
import { workloadOf } from '../../src/lab/experiments/workloads/index.ts';
import { verdictSentence } from '../../src/lab/results/verdicts.ts';
import { summaryOf } from '../../src/analysis/report/summary.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import {
  IN_MEMORY,
  ON_MEMORY_VFS,
  ON_STORAGE,
  ON_STORAGE_JSPI,
  PATTERNS_OF_BROWSERS,
} from '../contract/lab-counts.ts';
import { launch } from './extension-harness.ts';

let driven: DrivenBrowser;
let lab: LabPage;
beforeAll(async () => {
  driven = await launch();
  lab = await openLab(await driven.firstPage(), driven.extensionId);
});
afterAll(() => driven.close());

const SQL = `CREATE TABLE t(a INTEGER PRIMARY KEY,b TEXT);
BEGIN;
WITH RECURSIVE n(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM n WHERE x<2000) INSERT INTO t SELECT x,'row '||x FROM n;
COMMIT;
UPDATE t SET b=b||'!' WHERE a%7=0;
-- step read
SELECT count(*),max(b) FROM t;
PRAGMA integrity_check;
`;
const own = (config: Partial<Config>, mode: Mode = 'count', sql = SQL): Run => ({
  ...{
    workload: 'own-sql',
    parameters: {},
    mode,
    repeats: mode === 'time' ? 2 : 1,
    seed: 1,
    readRows: true,
    sql,
  },
  config: { ...DEFAULT_CONFIG, ...config },
});

const GRID: [VfsName, Config['build'], Config['engine']][] = [
  ['MemoryVFS', 'sync', 'wa-sqlite-2.0.6'],
  ['MemoryVFS', 'sync', 'wa-sqlite-1.0.0'],
  ['MemoryAsyncVFS', 'jspi', 'wa-sqlite-2.0.6'],
  ['BlockIDB', 'jspi', 'wa-sqlite-2.0.6'],
  ['BlockIDB', 'asyncify', 'wa-sqlite-2.0.6'],
  ['IDBBatchAtomic', 'jspi', 'wa-sqlite-2.0.6'],
  ['IDBBatchAtomic', 'asyncify', 'wa-sqlite-1.0.0'],
  ['IDBMirror', 'jspi', 'wa-sqlite-2.0.6'],
  ['AccessHandlePool', 'sync', 'wa-sqlite-2.0.6'],
  ['AccessHandlePool', 'asyncify', 'wa-sqlite-1.0.0'],
  ['OPFSCoopSync', 'sync', 'wa-sqlite-2.0.6'],
  ['OPFSAdaptive', 'jspi', 'wa-sqlite-2.0.6'],
  ['OPFSAnyContext', 'jspi', 'wa-sqlite-2.0.6'],
  ['OPFSPermuted', 'jspi', 'wa-sqlite-2.0.6'],
  ['OPFSPermuted', 'asyncify', 'wa-sqlite-2.0.6'],
  ['OPFSWriteAhead', 'sync', 'wa-sqlite-2.0.6'],
  ['opfs-sahpool', 'sync', SQLITE_ORG],
  ['opfs', 'sync', SQLITE_ORG],
  ['opfs-wl', 'sync', SQLITE_ORG],
  ['absurd-sql', 'sync', ABSURD_SQL_JS],
  ['MemoryVFS', 'sync', SQLITE_ORG],
  ['AccessHandlePool', 'sync', SQLITE_ORG],
];

describe('every VFS', () => {
  let [digest, stored] = ['', ''];
  it.each(GRID)(
    '%s, %s, %s: the same rows, counted, and nothing left in storage',
    async (vfs, build, engine) => {
      const journalMode = ownJournalOf(vfs);
      const [outcome] = await lab.run([own({ vfs, build, engine, journalMode, pageSize: 4096 })], {
        patienceMs: 60_000,
      });
      expect(outcome!.message).toBe('');
      const { result, left } = outcome!;
      digest ||= result!.digest;
      expect(result!.digest).toBe(digest);
      stored ||= result!.stored?.digest ?? '';
      expect(result!.notes).toEqual([]);
      expect(result!.stored?.digest).toBe(stored);
      expect(result!.steps.map((s) => s.id)).toEqual(['script', 'read']);
      expect(result!.totals['instructions']).toBeGreaterThan(1_000_000);
      expect(result!.totals['vfs.xWrite']).toBeGreaterThan(5);
      expect(result!.environment).toMatchObject({
        runtime: expect.stringMatching(/^Chrom/) as string,
        crossOriginIsolated: true,
        cores: expect.any(Number) as number,
        clockStepUs: expect.any(Number) as number,
      });
      expect(result!.engine).toMatchObject({
        version: engine.replace(/^(?:wa-sqlite-|.*@)/, ''),
        variant: build,
        sqlite: expect.stringMatching(/^3\./) as string,
      });
      if (vfs === 'BlockIDB') expect(result!.totals['block.put']).toBeGreaterThan(5);
      if (vfs.includes('IDB') || vfs === 'absurd-sql')
        expect(result!.totals['idb.put']).toBeGreaterThan(5);
      if (vfs.startsWith('OPFS') || vfs === 'AccessHandlePool' || vfs === 'opfs-sahpool')
        expect(result!.totals['opfs.writes']).toBeGreaterThan(5);
      expect(left).toEqual([]);
      expect(await lab.storage()).toEqual([]);
    },
  );
});

it('absurd-sql: a journal is rejected, in settings and in a script', async () => {
  const on = { vfs: 'absurd-sql', build: 'sync', engine: ABSURD_SQL_JS } as const;
  const outcomes = await lab.run(
    [
      own({ ...on, journalMode: 'delete' }),
      own({ ...on, journalMode: 'memory' }, 'count', `PRAGMA journal_mode=delete;${SQL}`),
    ],
    { patienceMs: 60_000 },
  );
  expect(outcomes.map(({ message, left }) => ({ message, left }))).toEqual([
    {
      message: 'absurd-sql stores no journal: it runs with journal_mode=memory or off.',
      left: [],
    },
    { message: expect.stringContaining('unable to open database file') as string, left: [] },
  ]);
});

it("MemoryVFS: counts in the browser are exactly Node's, to the last instruction", async () => {
  const require = createRequire(import.meta.url);
  const engines = new Engines((path) =>
    Promise.resolve(new Uint8Array(readFileSync(require.resolve(path)))),
  );
  for (const engine of ['wa-sqlite-2.0.6', 'wa-sqlite-1.0.0'] as const) {
    const run: Run = { ...own({ engine }), memory: true }; // also loads and stores
    const node = await sampleOf(run, { engines, environment: {} });
    const [outcome] = await lab.run([run]);
    expect(outcome!.result!.steps.map((s) => s.counters)).toEqual(
      node.steps.map((s) => s.counters),
    );
    expect(outcome!.result!.digest).toBe(node.digest);
  }
});

it('the golden counts: every text on :memory:, and on VFSs, exactly', async () => {
  const golden = (workload: string, config: Partial<Config> = {}, readRows = true): Run => ({
    ...runOf(workloadOf(workload), { config }, { mode: 'count', repeats: 1 }),
    readRows,
  });
  const texts = Object.entries(IN_MEMORY);
  const onVfs = [...ON_MEMORY_VFS, ...ON_STORAGE, ...ON_STORAGE_JSPI];
  const outcomes = await lab.run([
    ...texts.flatMap(([id]) => [golden(id), golden(id, { engine: 'wa-sqlite-1.0.0' })]),
    ...onVfs.flatMap(([config]) => [golden('ac60', config, false), golden('mix', config, false)]),
  ]);
  expect(outcomes.map(({ message }) => message).filter(Boolean)).toEqual([]);
  expect(outcomes.map(({ result }) => result!.totals['instructions'])).toEqual([
    ...texts.flatMap(([, counts]) => [...counts]),
    ...onVfs.flatMap(([, ...counts]) => counts),
  ]);
});

it.each(
  some(
    EXPERIMENTS.filter(({ id }) => id === 'write-policy' || id === 'sql-over-storage').map(
      (e) => [e.id, e] as const,
    ),
  ),
)(
  '%s on storage: no expectation about its counts is broken, all variants of a start store the same',
  async (_, experiment) => {
    const small = { rows: 5000, items: 2000 };
    const runs = [...runsOf(experiment, { parameters: small }, { mode: 'count', repeats: 1 })];
    const outcomes = await lab.run(runs.map(([, run]) => run));
    expect(outcomes.map(({ message }) => message).filter(Boolean)).toEqual([]);
    const { verdicts } = experimentResult(
      onVfs(experiment, [], 'browser'),
      new Map(runs.map(([id], i) => [id, outcomes[i]!.result!])),
      {},
    );
    expect(verdicts.filter(({ holds }) => holds === false)).toEqual([]);
    const open = verdicts.filter(({ holds }) => holds === null);
    // times, which a count doesn't have
    expect(open.every(({ why }) => / ms$/.test(why ?? ''))).toBe(true);
    expect(verdicts.filter(({ text, holds }) => /what is stored/.test(text) && holds).length).toBe(
      experiment.id === 'write-policy' ? 3 : 1,
    );
    expect(await lab.storage()).toEqual([]);
  },
);

it.each(
  some(
    PATTERNS.filter(({ id }) => PATTERNS_OF_BROWSERS.includes(id) || id === 'spill').map(
      (e) => [e.id, e] as const,
    ),
    2,
  ),
)(
  'what a finding offers to try shows what the finding says, on storage: %s',
  async (_, experiment) => {
    const runs = [...runsOf(experiment, {}, { mode: 'count', repeats: 1 })];
    const outcomes = await lab.run(runs.map(([, run]) => run));
    expect(outcomes.map(({ message }) => message).filter(Boolean)).toEqual([]);
    const { verdicts } = experimentResult(
      onVfs(experiment, [], 'browser'),
      new Map(runs.map(([id], i) => [id, outcomes[i]!.result!])),
      {},
    );
    const decided = experiment.expectations
      .filter(({ left }) => left.counter !== 'ms')
      .map(({ text }) => text);
    const held = verdicts.filter(({ holds }) => holds === true).map(({ text }) => text);
    expect(held).toEqual(expect.arrayContaining(decided));
    expect(verdicts.filter(({ holds }) => holds === false)).toEqual([]);
    expect(await lab.storage()).toEqual([]);
  },
);

it.each([
  ['@journeyapps/wa-sqlite', 'vfscope-lab', { vfs: 'BlockIDB', build: 'jspi', blockSize: 8192 }],
  ['@sqlite.org/sqlite-wasm', 'opfs-sahpool', { vfs: 'opfs-sahpool', engine: SQLITE_ORG }],
] as const)(
  'the trace of a run has all layers, and the numbers of the run: %s',
  async (name, vfs, config) => {
    const run = own(config);
    const [counted] = await lab.run([run]);
    const { store } = await readTrace(await lab.trace(run));
    const summary = summaryOf(store);
    expect(summary.engines).toEqual([expect.objectContaining({ name, vfs: [vfs] })]);
    expect(summary.engines[0]!.layers).toEqual({
      web: true,
      vfs: true,
      sql: true,
      counters: true,
      query: true,
    });
    expect(summary.files.find((f) => f.kind === 'main-db')!.vfs.xWrite).toBe(
      counted!.result!.totals['vfs.main-db.xWrite'],
    );
    expect([summary.dropped, summary.faults]).toEqual([0, 0]);
    const { totals } = counted!.result!;
    expect(summary.web.idb.put).toBeGreaterThanOrEqual(totals['block.put'] ?? 0);
    expect(summary.web.opfs.writes).toBeGreaterThanOrEqual(totals['opfs.writes'] ?? 0);
    expect(await lab.storage()).toEqual([]);
  },
);

it("kv-sweep runs on every VFS, with its twin's requests, and none of them in a total", async () => {
  const vfs = VFS_NAMES.filter((name) => name !== 'memory' && name !== 'MemoryAsyncVFS');
  const runs = vfs.map((name) =>
    runOf(
      workloadOf('kv-sweep'),
      { config: { vfs: name }, parameters: { items: 500 } },
      { mode: 'count', repeats: 1 },
    ),
  );
  const outcomes = await lab.run(runs, { patienceMs: 60_000 });
  expect(outcomes.map(({ message }) => message).filter(Boolean)).toEqual([]);
  for (const { result } of outcomes) {
    const counters = (id: string) => result!.steps.find((s) => s.id === id)!.counters;
    expect([counters('raw-put'), counters('raw-cursor'), counters('raw-get-all')]).toMatchObject([
      { rows: 500, 'idb.put': 500, 'idb.transactions': 1 },
      { rows: 500, 'idb.cursor': 1, 'idb.cursorContinue': 500, 'idb.transactions': 1 },
      { rows: 500, 'idb.getAll': 1, 'idb.transactions': 1 },
    ]);
    expect(counters('raw-put')).not.toHaveProperty('ms');
    const bySql = result!.steps.filter(({ twin }) => !twin);
    expect(bySql).toHaveLength(result!.steps.length - 3);
    expect(result!.totals['idb.put'] ?? 0).toBe(
      bySql.reduce((sum, s) => sum + (s.counters['idb.put'] ?? 0), 0),
    );
  }
  const { totals } = outcomes[vfs.indexOf('BlockIDB')]!.result!;
  expect(totals['block.putBytes']).toBe(8192 * totals['block.put']!);
  expect(await lab.storage()).toEqual([]);
}, 120_000);

describe("runs that can't work", () => {
  it('one run that hangs, fails, or lacks its build is reported, and the others continue', async () => {
    const endless =
      'WITH RECURSIVE n(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM n) SELECT count(*) FROM n;';
    const runs = [
      own({}, 'time', endless),
      own({}, 'time', 'SELECT * FROM absent;'),
      own({ vfs: 'IDBMirror', build: 'sync' }),
      own({}, 'time'),
    ];
    const [hung, failed, wrong, fine] = await lab.run(runs, { patienceMs: 4000 });
    expect(hung!.message).toMatch(/did not finish within 4 s and was ended/);
    expect(failed!.message).toMatch(/no such table: absent/);
    expect(wrong!.message).toMatch(/IDBMirror is asynchronous/);
    expect([fine!.message, fine!.result?.totalMs?.n]).toEqual(['', 2]);
  });

  it('a full quota is reported, and what was stored is deleted', async () => {
    const browser = await launch(); // one that has no quota in its memory yet
    try {
      const page = await browser.firstPage();
      const own2 = await openLab(page, browser.extensionId);
      const session = await page.createCDPSession();
      const origin = `chrome-extension://${browser.extensionId}`;
      await session.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 200_000 });
      const rows = 'WITH RECURSIVE n(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM n WHERE x<400)';
      const big = `CREATE TABLE t(b);${rows} INSERT INTO t SELECT randomblob(8000) FROM n;`;
      const outcomes = await own2.run([
        own({ vfs: 'BlockIDB', build: 'jspi' }, 'time', big),
        own({ vfs: 'AccessHandlePool' }, 'time', big),
      ]);
      for (const { message } of outcomes)
        expect(message).toMatch(/Storage is full: the browser's quota/);
      expect(await own2.storage()).toEqual([]);
    } finally {
      await browser.close();
    }
  });
});

it('fault profiles in a real browser: three VFSs react to full storage in three ways, and every database is intact', async () => {
  const run = (words: string): Run =>
    runOf(
      workloadOf('sequential-write'),
      readWords([...words.split(' '), 'transactions=20', 'items=10']),
      { mode: 'count', repeats: 1 },
    );
  const done = await lab.run([
    run('vfs=OPFSCoopSync quota=40960'),
    run('vfs=AccessHandlePool quota=40960'),
    run('vfs=BlockIDB quota=40960'),
    run('vfs=OPFSAdaptive refusedHandle=2'),
    run('vfs=BlockIDB durability=strict slowFlush=5'),
    run('vfs=BlockIDB durability=relaxed slowFlush=5'),
  ]);
  expect(done.map(({ message, left }) => [message, ...left])).toEqual(done.map(() => ['']));
  const faults = done.map(({ result }) => result!.fault!);
  expect(faults.map(({ answer }) => answer && [answer.step, answer.code])).toEqual([
    ['run', 'SQLITE_IOERR'],
    ['run', null], // its xWrite throws through SQLite
    ['run', 'SQLITE_FULL'],
    ['create', 'SQLITE_CANTOPEN'],
    null,
    null,
  ]);
  expect(faults[3]!.answer!.message).toMatch(
    /NoModificationAllowedError: .*createSyncAccessHandle/,
  );
  expect(faults.map(({ whole }) => whole)).toEqual(faults.map(() => true));
  // the browser flushes strict transactions only
  expect([faults[4]!.flushes > 20, faults[5]!.flushes]).toEqual([true, 0]);
  expect(await lab.storage()).toEqual([]);
}, 60_000);

it.runIf(FULL)(
  'a full storage damages a database whose journal is in memory, where the VFS throws',
  async () => {
    const run = runOf(
      workloadOf('sequential-write'),
      readWords(
        'vfs=AccessHandlePool journalMode=memory quota=40000 transactions=20 items=10'.split(' '),
      ),
      { mode: 'count', repeats: 1 },
    );
    const [done] = await lab.run([run]);
    expect(done!.result!.fault).toMatchObject({
      answer: { step: 'run', code: null },
      whole: false,
      damage: expect.stringContaining('malformed'),
    });
  },
  60_000,
);

it.runIf(FULL)(
  'fault profiles reach the workers that a VFS stores in, and every connection',
  async () => {
    const run = (workload: string, words: string): Run =>
      runOf(workloadOf(workload), readWords(words.split(' ')), { mode: 'count', repeats: 1 });
    const write = (words: string): Run =>
      run('sequential-write', `transactions=20 items=10 ${words}`);
    const share = (words: string): Run =>
      run('contention', `writers=2 readers=1 iterations=20 ${words}`);
    const done = await lab.run(
      [
        write('vfs=opfs refusedHandle=2'),
        write('vfs=opfs-wl quota=40960'),
        write('vfs=absurd-sql quota=16000'),
        share('vfs=OPFSCoopSync slowFlush=2'),
        share('vfs=OPFSCoopSync quota=16000'),
        share('vfs=IDBBatchAtomic quota=16000'),
      ],
      { patienceMs: 30_000 },
    );
    expect(done.map(({ message, left }) => [message, ...left])).toEqual(done.map(() => ['']));
    const faults = done.map(({ result }) => result!.fault!);
    expect(
      faults.map(({ answer, whole }) => [answer && [answer.step, answer.code], whole]),
    ).toEqual([
      [null, true], // it retries
      [['run', 'SQLITE_IOERR'], true],
      [null, false], // SQLite isn't told about transactions that IndexedDB aborted
      [null, true],
      [['actors', 'SQLITE_IOERR'], true],
      [null, true],
    ]);
    expect([faults[0]!.refused, faults[1]!.overQuota, faults[4]!.overQuota]).toEqual([1, 1, 1]);
    expect(verdictSentence(done[0]!.result!.verdicts[0]!)).toMatch(
      /The browser refused access handle 2\. No statement failed\./,
    );
    // two writers with 20 transactions each, all of them flushed
    expect(faults[3]!.flushes).toBeGreaterThanOrEqual(40);
    expect(faults[4]!.answer!.message).toMatch(/^writer-[12]: .*QuotaExceededError/);
    const lost = (index: number): number | undefined =>
      done[index]!.result!.steps.find(({ id }) => id === 'actors')!.counters['rows.lost'];
    expect([lost(3), lost(4)]).toEqual([0, undefined]);
    expect(lost(5)).toBeGreaterThan(0); // with synchronous=normal no call waits for the transaction
    expect(await lab.storage()).toEqual([]);
  },
  120_000,
);

it('an interrupted run returns the completed passes', async () => {
  let tell = (): void => {};
  const interrupt = new Promise<void>((resolve) => (tell = resolve));
  const runs = [{ ...own({ vfs: 'AccessHandlePool' }, 'time'), repeats: 500 }];
  const [done] = await lab.run(runs, { onProgress: (n) => n >= 3 && tell(), interrupt });
  const { totalMs, notes } = done!.result!;
  expect(totalMs!.n).toBeGreaterThanOrEqual(2);
  expect(totalMs!.n).toBeLessThan(400);
  expect(notes).toEqual([`Interrupted after ${totalMs!.n + 1} of 501 passes.`]);
  expect(await lab.storage()).toEqual([]);
}, 60_000);
