/** The output and exit codes of `vfscope lab`, in Node. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommandFailure } from '../../src/terminal/failure.ts';
import { checkResultCommand } from '../../src/lab/command/check.ts';
import { labCommand } from '../../src/lab/command/lab.ts';
import type { LabOptions } from '../../src/lab/command/order.ts';
import type { GridResult, RunResult } from '../../src/lab/experiments/model/result-types.ts';
import { showCommand } from '../../src/lab/command/show.ts';
import { nodeSurroundings } from '../../src/lab/command/node.ts';

const DEFAULTS: LabOptions = {
  ...{
    verb: 'run',
    what: undefined,
    config: [],
    compare: [],
    count: true,
    statements: false,
    functions: false,
    node: true,
  },
  ...{
    json: false,
    repeats: 2,
    sql: undefined,
    database: undefined,
    headed: false,
    browser: 'chromium',
  },
};
afterEach(() => vi.restoreAllMocks());

const lab = (options: Partial<LabOptions>): Promise<{ code: number; out: string }> =>
  printed(() => labCommand({ ...DEFAULTS, ...options }));
const show = (
  file: string,
  leaveOut: readonly string[] = [],
  json = false,
): Promise<{ code: number; out: string }> => printed(() => showCommand({ file, leaveOut, json }));
async function printed(command: () => Promise<number>): Promise<{ code: number; out: string }> {
  let out = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((text, done?: unknown) => {
    out += String(text);
    if (typeof done === 'function') (done as () => void)();
    return true;
  });
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const code = await command();
  vi.restoreAllMocks();
  return { code, out };
}
const failure = (options: Partial<LabOptions>): Promise<[number, string]> =>
  failureOf(() => lab(options));
const failureOf = async (command: () => Promise<unknown>): Promise<[number, string]> => {
  try {
    await command();
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
    expect(out).toMatch(/^ +ac60 +instructions +1,491,318 +7,611,740 +\+6,120,422 +×5\.1$/m);
  });
  it('loads and stores next to the instructions, which stay the same', async () => {
    const { out } = await lab({ what: 'ac60', memory: true });
    expect(out).toMatch(/^ +step .*instructions.*memory\.loads +memory\.stores/m);
    expect(out).toMatch(/^ +ac60 +1,491,318 +[1-9][\d,]+ +[1-9][\d,]+$/m);
    expect(await failure({ what: 'ac60', memory: true, count: false })).toEqual([
      2,
      expect.stringMatching(/--memory needs --count/),
    ]);
    expect(await failure({ what: 'ac60', memory: true, functions: true })).toEqual([
      2,
      expect.stringMatching(/--memory needs a separate run/),
    ]);
  });
  it('by statement and between calls, adding up to the total', async () => {
    const { out } = await lab({
      what: 'ac60',
      statements: true,
      config: ['vfs=MemoryVFS'],
      compare: ['pageSize=8192'],
    });
    const difference = (line: RegExp): number => Number(line.exec(out)![1]!.replaceAll(',', ''));
    const total = difference(/ac60 +instructions +[\d,]+ +[\d,]+ +([-+][\d,]+)/);
    const table = out.split('statement (literals folded)')[1]!.split('between VFS calls')[0]!;
    const parts = [...table.matchAll(/ ([-+]?[\d,]+)$/gm)].map((m) =>
      Number(m[1]!.replaceAll(',', '')),
    );
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
  it('two that stored different data: reported, also in --json, and the exit code is 1', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'vfscope-stored-'));
    try {
      const sql = join(folder, 'chance.sql');
      writeFileSync(sql, 'CREATE TABLE t(a); INSERT INTO t VALUES(random());');
      const asked = { what: 'own-sql', sql, count: false, compare: ['pageSize=8192'] }; // unseeded
      const text = await lab(asked);
      expect(text.code).toBe(1);
      expect(text.out).toMatch(
        /FAILS {2}B: own-sql: what is stored at the end is the same in all 2: B differs from A in t \(1 rows/,
      );
      const { code, out } = await lab({ ...asked, json: true });
      const [, b] = JSON.parse(out) as {
        verdicts: { holds: boolean; why: string }[];
        stored: { tables: Record<string, string> };
      }[];
      expect([code, b!.verdicts.map(({ holds }) => holds), b!.stored.tables['t']]).toEqual([
        1,
        [false],
        expect.stringMatching(/\/1$/),
      ]);
      expect((await lab({ ...asked, count: true })).code).toBe(0); // seeded
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
  it('is byte for byte the same twice', async () => {
    const first = await lab({ what: 'cold-start' });
    expect(first.out).toContain('rows 9f2db24b/2');
    expect((await lab({ what: 'cold-start' })).out).toBe(first.out);
  });
  it('shares of begin, work, and commit', async () => {
    const { out } = await lab({ what: 'sequential-write', config: ['transactions=20'] });
    expect(out).toMatch(
      /share of instructions \(run\): begin [\d.]+ %, body [\d.]+ %, commit [\d.]+ %/,
    );
  });
  it('timed runs report the number of passes and the range, and count no instructions', async () => {
    const { out } = await lab({ what: 'cold-start', count: false });
    expect(out).toContain('timed: unmetered, median of the passes after one that warms up');
    expect(out).toMatch(
      /passes: \[[\d.]+ \S+\], [\d.]+ \S+, [\d.]+ \S+\n {2}in brackets first: the pass that warms up\n/,
    );
    expect(out).not.toContain('instructions');
  });
  it('--json is the results', async () => {
    const { out } = await lab({ what: 'mix', json: true });
    expect(
      (JSON.parse(out) as { totals: { instructions: number } }[])[0]!.totals.instructions,
    ).toBe(75_164_869);
  });
  it("an experiment reports what couldn't run, and why", async () => {
    const { code, out } = await lab({ what: 'temp-store', config: ['vfs=MemoryVFS,BlockIDB'] });
    expect(code).toBe(0);
    expect(out).toMatch(/^ {2}\S+: not run, BlockIDB isn't available here/m);
  });
  it('an experiment in which nothing can run is a failure, with the reason', async () => {
    expect(await failure({ what: 'write-policy' })).toEqual([
      3,
      "write-policy ran with none of its 24 variants: BlockIDB isn't available here, only memory, MemoryVFS, MemoryAsyncVFS.",
    ]);
  });
  it('the duration is only shown if something can run', async () => {
    const told = async (options: Partial<LabOptions>): Promise<string> => {
      let err = '';
      vi.spyOn(process.stdout, 'write').mockImplementation((_, done?: unknown) => {
        (done as () => void)();
        return true;
      });
      vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
        err += String(text);
        return true;
      });
      await labCommand({ ...DEFAULTS, json: true, ...options }).catch((e: unknown) => {
        if (!(e instanceof CommandFailure)) throw e;
      });
      vi.restoreAllMocks();
      return err;
    };
    expect(await told({ what: 'write-policy' })).not.toContain('Expect');
    expect(await told({ what: 'ac60', config: ['vfs=BlockIDB'] })).not.toContain('Expect');
    expect(await told({ what: 'ac60', config: ['vfs=BlockIDB,MemoryVFS'] })).toMatch(
      /: 1 pass\. Expect /,
    );
  });
  it("a question's experiment answers it", async () => {
    const { out } = await lab({ what: 'wal-worth', count: false, repeats: 1 });
    expect(out).toMatch(
      /\n\nAnswer\n {2}On MemoryVFS, .*\n(?: {2}.*\n)* {2}Here, WAL needs exclusive locking: one connection, one tab\.\n {2}Nothing was stored\. .*\n\n/,
    );
  });
});

describe('every combination of several values', () => {
  const grid = { what: 'kv-sweep', config: ['items=100,1000,10000', 'vfs=MemoryVFS'] };
  it('a line for each run, and how each step grows, with the fitted slope', async () => {
    const { code, out } = await lab(grid);
    expect(code).toBe(0);
    const runs = [...out.matchAll(/^ {2}\d\. ([\d,]+) items +([\d,]+) /gm)].map((m) => [
      m[1],
      m[2],
    ]);
    expect(runs.map(([items]) => items)).toEqual(['100', '1,000', '10,000']);
    expect(new Set(runs.map(([, instructions]) => instructions)).size).toBe(3);
    expect(out).toMatch(/^Growth over items \(slope = b of a \* items\^b/m);
    // counts: the same every time
    expect(out).toMatch(
      /^ {2}insert +instructions +100 +[\d,]+ +10,000 +[\d,]+ +1\.00 +1\.00 {2}linear$/m,
    );
    expect(out).toMatch(/^ {2}reopen +instructions +100 .* does not grow$/m);
    expect(out).toMatch(/^ {2}engine=wa-sqlite-2\.0\.6 build=sync vfs=MemoryVFS/m);
  });
  it('in --json the points and the slopes, with a curve for each configuration if runs differ in more', async () => {
    const { out } = await lab({
      ...grid,
      json: true,
      config: [...grid.config, 'pageSize=4096,8192'],
    });
    const { runs, growth } = JSON.parse(out) as GridResult;
    expect(runs).toHaveLength(6);
    const { over, curves } = growth.find(({ counter }) => counter === 'instructions')!;
    expect([over, curves.map(({ name }) => name).sort()]).toEqual([
      'items',
      ['4 KiB pages', '8 KiB pages'],
    ]);
    for (const { name, points, slope } of curves) {
      expect(points.map(({ x }) => x)).toEqual([100, 1000, 10_000]);
      const [first] = runs.filter(({ run }) => `${run.config.pageSize! / 1024} KiB pages` === name);
      expect(points[0]!.y).toBe(first!.totals['instructions']);
      expect(slope).toBeGreaterThan(0.8);
    }
  });
  it("configurations that can't run here are named, and the others continue; if none can run, that is a failure", async () => {
    const { code, out } = await lab({ what: 'ac60', config: ['vfs=BlockIDB,MemoryVFS'] });
    expect(code).toBe(0);
    expect(out).toMatch(
      /^ {2}BlockIDB, jspi: not run, BlockIDB isn't available here, only memory/m,
    );
    expect(out).toMatch(/^ {2}1\. MemoryVFS +[\d,]+/m);
    expect(await failure({ what: 'ac60', config: ['vfs=BlockIDB,IDBMirror'] })).toEqual([
      3,
      expect.stringMatching(/with none of 2/),
    ]);
  });
  it("a failing one doesn't affect the others, and its error is reported", async () => {
    const folder = mkdtempSync(join(tmpdir(), 'vfscope-fails-'));
    try {
      const sql = join(folder, 'picky.sql');
      writeFileSync(
        sql,
        'CREATE TABLE t(ok CHECK(ok)); INSERT INTO t SELECT page_size > 512 FROM pragma_page_size;',
      );
      const { code, out } = await lab({ what: 'own-sql', sql, config: ['pageSize=512,1024,2048'] });
      expect(code).toBe(0);
      expect(out).toMatch(/^ {2}512 B pages: not run, .*CHECK constraint failed/m);
      expect(out).toMatch(/^ {2}2\. 2 KiB pages +[\d,]+/m);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('lab show', () => {
  const saved = async (
    options: Partial<LabOptions>,
    work: (file: string) => Promise<void>,
  ): Promise<void> => {
    const folder = mkdtempSync(join(tmpdir(), 'vfscope-saved-'));
    try {
      const file = join(folder, 'result.json');
      writeFileSync(file, (await lab({ ...options, json: true })).out);
      await work(file);
    } finally {
      rmSync(folder, { recursive: true });
    }
  };
  it('a check has the environment of the result that it checks', () =>
    saved({ what: 'ac60' }, async (file) => {
      const budget = `${file}.budget`;
      writeFileSync(budget, '{"total/instructions": {"max": 1}}');
      const check = (json: boolean): ReturnType<typeof printed> =>
        printed(() => checkResultCommand({ file, budget, json }));
      const { code, out } = await check(false);
      expect(code).toBe(1);
      expect(out).toMatch(/^1 of 1 limits broken\n[^]+\nEnvironment\n {2}Workload +ac60 \(/);
      expect(JSON.parse((await check(true)).out)).toMatchObject({
        ok: false,
        environment: expect.arrayContaining([
          { label: 'SQLite', values: [{ text: expect.stringMatching(/^3\./), of: null }] },
        ]),
      });
    }));
  it('a saved result is shown like the run', () =>
    saved({ what: 'ac60' }, async (file) => {
      const { out } = await lab({ what: 'ac60' });
      expect((await show(file)).out).toBe(out);
    }));
  it('a pass is excluded with its reason, from the median but not from the passes, also from --json to --json', () =>
    saved({ what: 'cold-start', count: false, repeats: 3 }, async (file) => {
      const { out } = await show(file, ['2=a backup ran']);
      expect(out).toMatch(/passes: \[[\d.]+ \S+\], [\d.]+ \S+, \[[\d.]+ \S+\], [\d.]+ \S+\n/);
      expect(out).toContain('  pass 2 is left out: a backup ran\n');
      const [result] = JSON.parse((await show(file, ['2=a backup ran'], true)).out) as RunResult[];
      expect([result!.leftOut, result!.totalMs!.n, result!.totalMs!.passes.length]).toEqual([
        [{ pass: 2, reason: 'a backup ran' }],
        2,
        3,
      ]);
      const [one, , three] = result!.totalMs!.passes;
      expect(result!.totalMs!.median).toBe((one! + three!) / 2);
      writeFileSync(file, JSON.stringify([result]));
      const again = JSON.parse((await show(file, ['1=the disk slept'], true)).out) as RunResult[];
      expect(again[0]!.leftOut.map(({ pass }) => pass)).toEqual([1, 2]);
    }));
  it('of several runs, the named one', async () => {
    await saved({ what: 'cold-start', count: false, compare: ['pageSize=8192'] }, async (file) => {
      expect(await failureOf(() => show(file, ['2=x']))).toEqual([
        2,
        expect.stringMatching(/of which run, as in A:2=x; there are A, B/),
      ]);
      const { out } = await show(file, ['B:2=a backup ran']);
      expect(out).toContain('  B: pass 2 is left out: a backup ran\n');
      expect(out).toMatch(/holds +B: cold-start: what is stored at the end is the same in all 2/);
    });
    await saved(
      { what: 'cold-start', count: false, config: ['pageSize=1024,2048,4096'] },
      async (file) => {
        const { growth, runs } = JSON.parse(
          (await show(file, ['3:1=a backup ran'], true)).out,
        ) as GridResult;
        expect(runs.map(({ leftOut }) => leftOut.length)).toEqual([0, 0, 1]);
        const points = growth
          .find(({ counter }) => counter === 'ms')!
          .curves.flatMap((curve) => curve.points);
        // one pass is left
        expect(points.filter(({ x, from, to }) => x === 4096 && from !== to)).toEqual([]);
      },
    );
  });
  it('a count has no pass to exclude; a reason is needed; another file is rejected with a message', () =>
    saved({ what: 'ac60' }, async (file) => {
      expect(await failureOf(() => show(file, ['1=x']))).toEqual([
        2,
        expect.stringMatching(/Only passes of a timed run/),
      ]);
      expect(await failureOf(() => show(file, ['1']))).toEqual([
        2,
        expect.stringMatching(/expected PASS=REASON/),
      ]);
      const [result] = JSON.parse(readFileSync(file, 'utf8')) as [RunResult];
      const refused = async (value: unknown): Promise<string> => {
        writeFileSync(file, typeof value === 'string' ? value : JSON.stringify(value));
        const [code, message] = await failureOf(() => show(file));
        expect(code).toBe(2);
        return message;
      };
      expect(await refused('{')).toMatch(/isn't JSON/);
      expect(await refused({})).toMatch(/isn't the result of a run/);
      expect(await refused([{ ...result, steps: [{ id: 1 }] }])).toMatch(
        /isn't the result of a run/,
      );
      expect(await refused([{ ...result, version: 99 }])).toMatch(
        /of version 99 .*has version 1\. Run it again/,
      );
      expect(await refused([{ ...result, run: { ...result.run, workload: 'gone' } }])).toMatch(
        /"gone"; this vfscope does not have it/,
      );
      expect(await failureOf(() => show(`${file}-none`))).toEqual([
        2,
        expect.stringMatching(/there is no such file/),
      ]);
    }));
});

describe('invalid use exits with 2 and names the valid use', () => {
  it.each([
    [
      { what: 'ac60', count: false, statements: true },
      /--statements is for one workload with --count/,
    ],
    [
      { what: 'nothing' },
      /unknown experiment or workload "nothing": expected one of .*checkpointing.*own-sql/,
    ],
    [{ what: undefined }, /the name of an experiment or a workload is missing/],
    [{ what: 'mix', config: ['journalMode=fast'] }, /expected one of delete, truncate/],
    [{ what: 'speedtest1', config: ['size=1000'] }, /from 1 to 100/],
    [{ what: 'own-database', node: true }, /own-database needs --file DATABASE and --sql FILE/],
    [{ what: 'mix', database: 'no-such-file' }, /--file DATABASE is for own-database/],
    [{ what: 'cpu-counts', config: ['pageSize=512,1024'] }, /several values are for one workload/],
    [
      { what: 'mix', config: ['pageSize=512,1024'], compare: ['cacheSize=9'] },
      /several values cannot be combined with --compare/,
    ],
    [{ what: 'mix', config: ['pageSize=512,'] }, /a value between two commas is missing/],
    [
      {
        what: 'mix',
        config: [
          'pageSize=512,1024,2048,4096,8192,16384',
          'synchronous=off,normal,full,extra',
          'cacheSize=1,2,3,4,5,6,7,8,9,10,11',
        ],
      },
      /more than 256 combinations/,
    ],
    [{ what: 'own-sql' }, /own-sql needs --sql FILE/],
    [{ what: 'own-sql', sql: 'no-such-file.sql' }, /no-such-file\.sql/],
    [{ what: 'cpu-counts', compare: ['pageSize=512'] }, /--compare is for one workload/],
    [{ what: 'contention' }, /it needs workers/],
    [{ what: 'mix', config: ['vfs=BlockIDB'] }, /BlockIDB isn't available here/],
  ] satisfies [Partial<LabOptions>, RegExp][])('%o', async (options, expected) => {
    const [code, message] = await failure(options);
    expect(code).toBe(2);
    expect(message).toMatch(expected);
  });
});

it('lab list names all of them', async () => {
  const { out } = await lab({ verb: 'list' });
  for (const id of ['write-policy', 'checkpointing', 'sql-speed', 'own-sql'])
    expect(out).toMatch(new RegExp(`^  ${id} `, 'm'));
});

describe('lab run own-database', () => {
  /**
   * A database whose rows are only in its log, as a process leaves it that exits without closing
   * it.
   */
  async function walOnly(folder: string): Promise<string> {
    const { sqlite3, module } = await nodeSurroundings().engines.open(
      { engine: 'wa-sqlite-2.0.6', build: 'sync' },
      'none',
    );
    const { MemoryVFS } =
      (await import('@journeyapps/wa-sqlite/src/examples/MemoryVFS.js')) as unknown as {
        MemoryVFS: {
          create(
            name: string,
            module: object,
          ): Promise<{ mapNameToFile: Map<string, { size: number; data: ArrayBuffer }> }>;
        };
      };
    const vfs = await MemoryVFS.create('lab-cli', module);
    (sqlite3 as unknown as { vfs_register(vfs: object, asDefault: boolean): number }).vfs_register(
      vfs,
      true,
    );
    const db = await sqlite3.open_v2('shop.db');
    await sqlite3.exec(
      db,
      'PRAGMA locking_mode=exclusive; PRAGMA journal_mode=wal; PRAGMA wal_autocheckpoint=0',
    );
    await sqlite3.exec(db, 'CREATE TABLE t(a); INSERT INTO t VALUES(1),(2),(3)');
    const path = join(folder, 'shop.sqlite');
    for (const suffix of ['', '-wal']) {
      const { data, size } = vfs.mapNameToFile.get(`/shop.db${suffix}`)!;
      writeFileSync(path + suffix, new Uint8Array(data, 0, size));
    }
    await sqlite3.close(db);
    return path;
  }

  it('the log next to the file belongs to it, and neither is written', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'vfscope-lab-cli-'));
    try {
      const database = await walOnly(folder);
      const sql = join(folder, 'ask.sql');
      writeFileSync(sql, 'SELECT a FROM t;');
      const before = ['', '-wal'].map((suffix) => readFileSync(database + suffix));
      const { out } = await lab({ what: 'own-database', database, sql, json: true });
      expect((JSON.parse(out) as { totals: object }[])[0]!.totals).toMatchObject({
        rows: 3,
        statements: 1,
      });
      expect(['', '-wal'].map((suffix) => readFileSync(database + suffix))).toEqual(before);
      expect(readdirSync(folder).sort()).toEqual(['ask.sql', 'shop.sqlite', 'shop.sqlite-wal']);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('an interrupted run', () => {
  const interruptAt = (line: string): void => {
    let sent = false;
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
      if (sent || !String(text).includes(line)) return true;
      sent = true;
      return process.emit('SIGINT');
    });
  };
  /** Like `printed`, with the errors. */
  async function interrupted(line: string, options: Partial<LabOptions>) {
    let out = '';
    vi.spyOn(process.stdout, 'write').mockImplementation((text, done?: unknown) => {
      out += String(text);
      if (typeof done === 'function') (done as () => void)();
      return true;
    });
    interruptAt(line);
    const code = await labCommand({ ...DEFAULTS, ...options });
    vi.restoreAllMocks();
    return { code, out };
  }

  it('prints the completed passes, and exits with 3', async () => {
    const listeners = process.listenerCount('SIGINT');
    const { code, out } = await interrupted('2 of 9', {
      what: 'read-poll',
      config: ['reads=10'],
      count: false,
      repeats: 9,
    });
    expect(code).toBe(3);
    expect(out).toContain('! Interrupted after 3 of 10 passes.');
    expect(process.listenerCount('SIGINT')).toBe(listeners);
  });
  it('of an experiment has the completed variants, and names the others', async () => {
    const { code, out } = await interrupted('sequential-write (MemoryVFS', {
      what: 'journal-modes',
      config: ['transactions=5'],
    });
    expect(code).toBe(3);
    expect(out).toMatch(/^ {2}\S+: not run, interrupted before a pass was done$/m);
    expect(out).toMatch(/^ {2}delete .*\d/m);
  });
});
