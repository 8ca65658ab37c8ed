/**
 * Engines from outside: three installed packages, wasm files by path, and rejected ones with the
 * reason.
 */
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { OutsideEngines } from '../../src/lab/command/engines/outside.ts';
import { nodeSurroundings } from '../../src/lab/command/node.ts';
import { labCommand } from '../../src/lab/command/lab.ts';
import { hindrance, measure } from '../../src/lab/experiments/run.ts';
import { runOf } from '../../src/lab/experiments/plan.ts';
import type { Config, Mode } from '../../src/lab/experiments/model/types.ts';
import type { RunResult } from '../../src/lab/experiments/model/result-types.ts';
import { workloadOf } from '../../src/lab/experiments/workloads/index.ts';
import { SQLITE_ORG } from '../../src/lab/experiments/model/engine-names.ts';
import { NODE_VFS } from '../../src/lab/experiments/model/vfs-facts.ts';
import { IN_MEMORY, ON_SQLITE_ORG } from './lab-counts.ts';

const SQL_JS = 'node_modules/sql.js/dist/sql-wasm';
const folder = mkdtempSync(join(tmpdir(), 'vfscope-engines-'));
afterAll(() => rmSync(folder, { recursive: true }));
const outside = new OutsideEngines({
  cache: join(folder, 'cache'),
  npm: ([command]) => Promise.reject(new Error(`npm ${command} failed: no network`)),
  say: () => {},
});
const around = nodeSurroundings(undefined, outside);

const run = (workload: string, config: Partial<Config>, mode: Mode = 'count') =>
  runOf(workloadOf(workload), { config }, { mode, repeats: 1 });
async function result(
  workload: string,
  engine: Config['engine'],
  mode?: Mode,
  config: Partial<Config> = {},
): Promise<RunResult> {
  const asked = run(workload, { engine, ...config }, mode);
  await outside.prepare([asked.config]);
  expect(hindrance(asked, around)).toBeNull();
  return (await measure([asked], around))[0]!;
}
async function refusal(engine: Config['engine'], config: Partial<Config> = {}): Promise<string> {
  const asked = runOf(
    workloadOf('ac60'),
    { config: { engine, ...config } },
    { mode: 'count', repeats: 1 },
  );
  await outside.prepare([asked.config]);
  return hindrance(asked, around) ?? 'it runs';
}

/** Instructions of ac60, which are exact, so every machine must count the same. */
const COUNTS: readonly (readonly [engine: Config['engine'], sqlite: string, ac60: number])[] = [
  ['sql.js@1.16.0', '3.54.1', 1_528_187],
  ['@sqlite.org/sqlite-wasm@3.54.1-build1', '3.54.1', 1_744_456],
  ['wa-sqlite@1.0.0', '3.44.0', IN_MEMORY.ac60![1]],
  ['@journeyapps/wa-sqlite@2.0.6', '3.53.0', IN_MEMORY.ac60![0]],
];

describe('a release', () => {
  it.each(COUNTS)('%s counts exactly, the same twice', async (engine, sqlite, ac60) => {
    const first = await result('ac60', engine);
    expect(first.engine?.sqlite).toBe(sqlite);
    expect(`${first.engine?.package}@${first.engine?.version}`).toBe(engine);
    expect(first.totals.instructions).toBe(ac60);
    expect((await result('ac60', engine)).totals.instructions).toBe(ac60);
  });
  it.each(COUNTS)('%s gives the same random values each time it is counted', async (engine) => {
    const sql = 'SELECT hex(randomblob(16)), random();\n';
    const asked = runOf(
      workloadOf('own-sql', sql),
      { config: { engine, vfs: 'memory' } },
      { mode: 'count', repeats: 1, sql },
    );
    await outside.prepare([asked.config]);
    const [first, second] = [await measure([asked], around), await measure([asked], around)];
    expect(second[0]!.digest).toBe(first[0]!.digest);
    expect(second[0]!.totals).toEqual(first[0]!.totals);
  });
  it.each(COUNTS)('%s computes and stores what the bundled engine does', async (engine) => {
    for (const workload of ['mix', 'speedtest1']) {
      const [here, bundled] = [
        await result(workload, engine),
        await result(workload, 'wa-sqlite-2.0.6'),
      ];
      expect([workload, here.digest, here.stored]).toEqual([
        workload,
        bundled.digest,
        bundled.stored,
      ]);
      expect(here.totals.statements).toBe(bundled.totals.statements);
    }
  });
  it('also runs unmetered, and reports its size', async () => {
    const timed = await result('ac60', 'sql.js', 'time');
    expect(timed.totalMs?.n).toBe(1);
    expect(timed.engine).toMatchObject({ package: 'sql.js', version: '1.16.0' });
    expect(timed.engine!.wasmBytes).toBe(688197);
  });
});

describe('on a VFS', () => {
  it("sqlite.org's build has the counts of the browser tests", async () => {
    for (const [vfs, ac60] of ON_SQLITE_ORG)
      if (NODE_VFS.includes(vfs))
        expect((await result('ac60', SQLITE_ORG, 'count', { vfs })).totals.instructions).toBe(ac60);
  });
  it.each(COUNTS)('%s stores the same on MemoryVFS as the bundled engine', async (engine) => {
    const onVfs = { vfs: 'MemoryVFS', pageSize: 4096, cacheSize: 20 } as const;
    for (const workload of ['ac60', 'mix']) {
      const [first, second, bundled] = [
        await result(workload, engine, 'count', onVfs),
        await result(workload, engine, 'count', onVfs),
        await result(workload, 'wa-sqlite-2.0.6', 'count', onVfs),
      ];
      expect([workload, first.digest, first.stored]).toEqual([
        workload,
        bundled.digest,
        bundled.stored,
      ]);
      expect(first.totals).toEqual(second.totals);
      for (const name of ['xSync', 'xLock', 'xUnlock', 'main-db.xWriteBytes'])
        expect([name, first.totals[`vfs.${name}`]]).toEqual([name, bundled.totals[`vfs.${name}`]]);
    }
  });
  it('a WAL is written, checkpointed, and read again', async () => {
    const wal = { vfs: 'MemoryVFS', journalMode: 'wal', lockingMode: 'exclusive' } as const;
    for (const engine of ['sql.js@1.16.0', '@sqlite.org/sqlite-wasm@3.54.1-build1'] as const) {
      const { totals, settings, notes } = await result('checkpoint-anatomy', engine, 'count', wal);
      expect([engine, notes, settings?.journal_mode]).toEqual([engine, [], 'wal']);
      expect(totals['checkpoint.count']).toBeGreaterThan(0);
      expect(totals['checkpoint.walReads']).toBe(totals['checkpoint.dbWrites']);
    }
  });
});

describe('a wasm file', () => {
  it('runs on its own if its imports have names, like its release', async () => {
    const engine = 'node_modules/@sqlite.org/sqlite-wasm/dist/sqlite3.wasm';
    const own = await result('ac60', engine);
    const release = await result('ac60', '@sqlite.org/sqlite-wasm@3.54.1-build1');
    expect(own.totals).toEqual(release.totals);
    expect(own.engine?.package).toBe('sqlite3.wasm');
    expect(own.engine?.version).toMatch(/^SHA-256 [\da-f]{12}$/);
  });
  it('runs with the JavaScript next to it, like its release', async () => {
    const own = await result('ac60', `${SQL_JS}.wasm`);
    expect(own.totals).toEqual((await result('ac60', 'sql.js@1.16.0')).totals);
    const wa = await result('ac60', 'node_modules/wa-sqlite/dist/wa-sqlite.wasm');
    expect(wa.totals).toEqual((await result('ac60', 'wa-sqlite@1.0.0')).totals);
  });
});

describe('rejected with its reason', () => {
  it("a missing file, or one that isn't a module", async () => {
    expect(await refusal('gone.wasm')).toMatch(/gone\.wasm: there is no such file$/);
    const text = join(folder, 'text.wasm');
    writeFileSync(text, 'no module');
    expect(await refusal(text as 'x.wasm')).toMatch(/text\.wasm isn't a wasm file/);
  });
  it('missing imports, by name', async () => {
    const alone = join(folder, 'sql-wasm.wasm') as 'x.wasm';
    copyFileSync(`${SQL_JS}.wasm`, alone);
    expect(await refusal(alone)).toMatch(
      /imports a\.a, a\.b, .*, and \d+ more, which vfscope doesn't provide, and there is no sql-wasm\.js or sql-wasm\.mjs beside it$/,
    );
  });
  it("a module that isn't SQLite", async () => {
    const empty = join(folder, 'empty.wasm');
    writeFileSync(empty, new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]));
    expect(await refusal(empty as 'x.wasm')).toMatch(
      /doesn't export sqlite3_prepare_v2, sqlite3_step, /,
    );
  });
  it('a release that npm lacks, a build that it lacks, a VFS', async () => {
    expect(await refusal('sql.js@1.0.0')).toBe('npm pack failed: no network');
    expect(await refusal('sql.js@1.16.0', { build: 'asyncify' })).toBe(
      'sql.js has no asyncify build',
    );
    expect(await refusal('sql.js@1.16.0', { vfs: 'MemoryAsyncVFS' })).toBe(
      'sql.js@1.16.0 has no VFS MemoryAsyncVFS: it runs on memory, MemoryVFS, AccessHandlePool',
    );
  });
});

it("lab run --engine: a line for each release, with the cause if one can't run, also without --node", async () => {
  let out = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((text, done?: unknown) => {
    out += String(text);
    if (typeof done === 'function') (done as () => void)();
    return true;
  });
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const code = await labCommand({
    ...{ verb: 'run', what: 'ac60', config: [], compare: [], count: true, statements: false },
    ...{ functions: false, node: false, json: false, repeats: 1, sql: undefined },
    ...{ database: undefined, headed: false, browser: 'chromium', cache: join(folder, 'cache') },
    engines: ['sql.js@1.16.0', 'wa-sqlite@1.0.0', 'wa-sqlite-2.0.6', 'gone.wasm'],
  });
  vi.restoreAllMocks();
  expect(code).toBe(0);
  expect(out).toMatch(/sql\.js@1\.16\.0 .*\d/);
  expect(out).toMatch(/wa-sqlite@1\.0\.0 .*7,611,740/);
  expect(out).toMatch(/wa-sqlite-2\.0\.6 .*1,491,318/);
  expect(out).toMatch(/gone\.wasm: not run, .*there is no such file/);
});
