/** What `vfscope lab` prints and how it ends, in Node. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommandFailure } from '../../src/cli/drive/failure.ts';
import { labCommand, type LabOptions } from '../../src/cli/lab.ts';
import { nodeSurroundings } from '../../src/cli/lab-node.ts';

const DEFAULTS: LabOptions = {
  ...{ verb: 'run', what: undefined, config: [], compare: [], count: true, statements: false, functions: false, node: true },
  ...{ json: false, repeats: 2, sql: undefined, database: undefined, headed: false, browser: 'chromium' },
};
afterEach(() => vi.restoreAllMocks());

async function lab(options: Partial<LabOptions>): Promise<{ code: number; out: string }> {
  let out = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((text, done?: unknown) => {
    out += String(text);
    if (typeof done === 'function') (done as () => void)();
    return true;
  });
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const code = await labCommand({ ...DEFAULTS, ...options });
  vi.restoreAllMocks();
  return { code, out };
}
const failure = async (options: Partial<LabOptions>): Promise<[number, string]> => {
  try {
    await lab(options);
  } catch (e) {
    if (e instanceof CommandFailure) return [e.exitCode, e.message];
    throw e;
  }
  throw new Error('nothing failed');
};

describe('lab run', () => {
  it('two variants, with the exact difference', async () => {
    const { code, out } = await lab({ what: 'ac60', compare: ['engine=wa-sqlite-1.0.0'] });
    expect(code).toBe(0);
    expect(out).toMatch(/^ +ac60 +instructions +1,491,318 +7,611,740 +\+6,120,422 +5\.104$/m);
  });
  it('by statement and between calls, which sum up to the total', async () => {
    const { out } = await lab({ what: 'ac60', statements: true, config: ['vfs=MemoryVFS'], compare: ['pageSize=8192'] });
    const difference = (line: RegExp): number => Number(line.exec(out)![1]!.replaceAll(',', ''));
    const total = difference(/ac60 +instructions +[\d,]+ +[\d,]+ +([-+][\d,]+)/);
    const table = out.split('statement (literals folded)')[1]!.split('between VFS calls')[0]!;
    const parts = [...table.matchAll(/ ([-+]?[\d,]+)$/gm)].map((m) => Number(m[1]!.replaceAll(',', '')));
    expect(parts.length).toBeGreaterThan(2);
    expect(parts.reduce((a, b) => a + b, 0)).toBe(total);
    expect(out).toMatch(/^ +xWrite journal +[\d,]+ +[\d,]+ +[\d,]+ +[\d,]+ +[-+]?[\d,]+$/m);
  });
  it('by function of the engine, with the exact difference', async () => {
    const { out } = await lab({ what: 'ac60', functions: true, compare: ['vfs=MemoryVFS'] });
    const total = /ac60 +instructions +([\d,]+) +([\d,]+) +([-+][\d,]+)/.exec(out)!;
    expect(out).toMatch(/^ +function +instructions A +instructions B +B - A$/m);
    expect(out).toMatch(/^ +sqlite3_step +[\d,]+ +[\d,]+ +[-+]?[\d,]+$/m);
    expect(total[1]).toBe('1,491,318');
    const { out: json } = await lab({ what: 'ac60', functions: true, json: true });
    const [result] = JSON.parse(json) as { steps: { functions: { instructions: number }[] }[] }[];
    expect(result!.steps[0]!.functions.reduce((sum, f) => sum + f.instructions, 0)).toBe(1_491_318);
  });
  it('two that stored another thing: told, in --json too, and the exit code is 1', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'vfscope-stored-'));
    try {
      const sql = join(folder, 'chance.sql');
      writeFileSync(sql, 'CREATE TABLE t(a); INSERT INTO t VALUES(random());');
      const asked = { what: 'own-sql', sql, count: false, compare: ['pageSize=8192'] }; // unseeded
      const text = await lab(asked);
      expect(text.code).toBe(1);
      expect(text.out).toMatch(/FAILS {2}B: own-sql: what is stored at the end is the same in all 2: B differs from A in t \(1 rows/);
      const { code, out } = await lab({ ...asked, json: true });
      const [, b] = JSON.parse(out) as { verdicts: { holds: boolean; why: string }[]; stored: { tables: Record<string, string> } }[];
      expect([code, b!.verdicts.map(({ holds }) => holds), b!.stored.tables['t']]).toEqual([1, [false], expect.stringMatching(/\/1$/)]);
      expect((await lab({ ...asked, count: true })).code).toBe(0); // seeded
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
  it('the same bytes twice', async () => {
    const first = await lab({ what: 'cold-start' });
    expect(first.out).toContain('rows 9f2db24b/2');
    expect((await lab({ what: 'cold-start' })).out).toBe(first.out);
  });
  it('shares of begin, work and commit', async () => {
    const { out } = await lab({ what: 'sequential-write', config: ['transactions=20'] });
    expect(out).toMatch(/share of instructions \(run\): begin \d+\.\d %, body \d+\.\d %, commit \d+\.\d %/);
  });
  it('timed runs say how often and from where to where, and count no instructions', async () => {
    const { out } = await lab({ what: 'cold-start', count: false });
    expect(out).toContain('timed: unmetered, median of 2 after one that warms up');
    expect(out).toMatch(/passes: \[\d+\.\d\d\], \d+\.\d\d, \d+\.\d\d ms\n {2}in brackets first: the pass that warms up\n/);
    expect(out).not.toContain('instructions');
  });
  it('--json is the results', async () => {
    const { out } = await lab({ what: 'mix', json: true });
    expect((JSON.parse(out) as { totals: { instructions: number } }[])[0]!.totals.instructions).toBe(75_164_869);
  });
  it('an experiment says what could not run, and why', async () => {
    const { code, out } = await lab({ what: 'write-policy' });
    expect(code).toBe(0);
    expect(out).toContain('dropped-8k-through: not run, the VFS BlockIDB is not to be had here');
  });
});

describe('wrong use ends with 2 and says what is right', () => {
  it.each([
    [{ what: 'ac60', count: false, statements: true }, /--statements is for one workload with --count/],
    [{ what: 'nothing' }, /there is no experiment or workload "nothing"; there are .*checkpointing.*own-sql/],
    [{ what: undefined }, /the name of an experiment or a workload is missing/],
    [{ what: 'mix', config: ['journalMode=fast'] }, /expected one of delete, truncate/],
    [{ what: 'speedtest1', config: ['size=1000'] }, /from 1 to 100/],
    [{ what: 'own-database', node: true }, /own-database needs --file DATABASE and --sql FILE/],
    [{ what: 'mix', database: 'no-such-file' }, /--file DATABASE is for own-database/],
    [{ what: 'own-sql' }, /own-sql needs --sql FILE/],
    [{ what: 'own-sql', sql: 'no-such-file.sql' }, /no-such-file\.sql/],
    [{ what: 'cpu-counts', compare: ['pageSize=512'] }, /--compare is for one workload/],
    [{ what: 'contention' }, /it needs workers/],
    [{ what: 'mix', config: ['vfs=BlockIDB'] }, /BlockIDB is not to be had here/],
    [{ verb: 'walk' }, /expected list, run or replay/],
  ] satisfies [Partial<LabOptions>, RegExp][])('%o', async (options, expected) => {
    const [code, message] = await failure(options);
    expect(code).toBe(2);
    expect(message).toMatch(expected);
  });
});

it('lab list names all of them', async () => {
  const { out } = await lab({ verb: 'list' });
  for (const id of ['write-policy', 'checkpointing', 'sql-speed', 'own-sql']) expect(out).toMatch(new RegExp(`^  ${id} `, 'm'));
});

describe('lab run own-database', () => {
  /** A database whose rows are in its log only, as a process leaves it that ends without closing. */
  async function walOnly(folder: string): Promise<string> {
    const { sqlite3, module } = await nodeSurroundings().engines.open({ engine: 'wa-sqlite-2.0.6', build: 'sync' }, 'none');
    const { MemoryVFS } = (await import('@journeyapps/wa-sqlite/src/examples/MemoryVFS.js')) as unknown as {
      MemoryVFS: { create(name: string, module: object): Promise<{ mapNameToFile: Map<string, { size: number; data: ArrayBuffer }> }> };
    };
    const vfs = await MemoryVFS.create('lab-cli', module);
    (sqlite3 as unknown as { vfs_register(vfs: object, asDefault: boolean): number }).vfs_register(vfs, true);
    const db = await sqlite3.open_v2('shop.db');
    await sqlite3.exec(db, 'PRAGMA locking_mode=exclusive; PRAGMA journal_mode=wal; PRAGMA wal_autocheckpoint=0');
    await sqlite3.exec(db, 'CREATE TABLE t(a); INSERT INTO t VALUES(1),(2),(3)');
    const path = join(folder, 'shop.sqlite');
    for (const suffix of ['', '-wal']) {
      const { data, size } = vfs.mapNameToFile.get(`/shop.db${suffix}`)!;
      writeFileSync(path + suffix, new Uint8Array(data, 0, size));
    }
    await sqlite3.close(db);
    return path;
  }

  it('the log beside the file is part of it, and neither is written', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'vfscope-lab-cli-'));
    try {
      const database = await walOnly(folder);
      const sql = join(folder, 'ask.sql');
      writeFileSync(sql, 'SELECT a FROM t;');
      const before = ['', '-wal'].map((suffix) => readFileSync(database + suffix));
      const { out } = await lab({ what: 'own-database', database, sql, json: true });
      expect((JSON.parse(out) as { totals: object }[])[0]!.totals).toMatchObject({ rows: 3, statements: 1 });
      expect(['', '-wal'].map((suffix) => readFileSync(database + suffix))).toEqual(before);
      expect(readdirSync(folder).sort()).toEqual(['ask.sql', 'shop.sqlite', 'shop.sqlite-wal']);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
