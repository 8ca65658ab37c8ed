/**
 * What a run stored is read back and compared: a VFS that loses a transaction is found, without
 * false positives.
 */
import { describe, expect, it } from 'vitest';
import { nodeSurroundings } from '../../src/lab/command/node.ts';
import { memoryVfs, type VfsMaker } from '../../src/lab/experiments/engine/open-host.ts';
import { runOf } from '../../src/lab/experiments/plan.ts';
import { experimentResult } from '../../src/lab/experiments/run-experiment.ts';
import { measure, sampleOf } from '../../src/lab/experiments/run.ts';
import { storedVerdicts } from '../../src/lab/experiments/storage-verdicts.ts';
import type { PlacedExperiment } from '../../src/lab/experiments/on-vfs.ts';
import type { Config, Run } from '../../src/lab/experiments/model/types.ts';
import type { RunResult } from '../../src/lab/experiments/model/result-types.ts';
import { workloadOf } from '../../src/lab/experiments/workloads/index.ts';

const around = nodeSurroundings();
const own = (sql: string, config: Partial<Config> = {}, more: Partial<Run> = {}): Run => ({
  ...runOf(workloadOf('own-sql', sql), { config }, { mode: 'count', repeats: 1, sql }),
  ...more,
});
const SQL = `CREATE TABLE t(a INTEGER PRIMARY KEY, b);
CREATE TABLE u(k TEXT PRIMARY KEY, v) WITHOUT ROWID;
INSERT INTO u VALUES('x',1),('a',x'00ff');
INSERT INTO t VALUES(1,'one');
INSERT INTO t VALUES(2,'two');
`;
/** Drops what the last transaction writes to the database, and reports success. */
const forgetful: VfsMaker = async (config, module) => {
  const made = (await memoryVfs(config, module))!;
  const vfs = made.vfs as Record<string, (...args: number[]) => number>;
  const databases = new Set<number>();
  let journals = 0;
  const [open, write] = [vfs.xOpen!, vfs.xWrite!];
  vfs.xOpen = (pVfs, zName, pFile, flags, pOut) => {
    if (flags! & 0x100) databases.add(pFile!);
    if (flags! & 0x800) journals++;
    return open.call(vfs, pVfs!, zName!, pFile!, flags!, pOut!);
  };
  vfs.xWrite = (...args) =>
    journals === 5 && databases.has(args[0]!) ? 0 : write.apply(vfs, args);
  return made;
};

const resultsOf = async (runs: readonly Run[], makeVfs?: VfsMaker): Promise<RunResult[]> =>
  measure(runs, { ...around, ...(makeVfs ? { makeVfs } : {}) });
const verdicts = (...results: RunResult[]) =>
  storedVerdicts(results.map((result, i) => ({ name: 'ABCDEFG'[i]!, result })));

describe('the stored data', () => {
  it('is the same for one script on every VFS, build, version, page size, and journal', async () => {
    const configs: Partial<Config>[] = [
      {},
      { vfs: 'memory' },
      { vfs: 'MemoryAsyncVFS', build: 'asyncify' },
      { engine: 'wa-sqlite-1.0.0' },
      { pageSize: 1024, journalMode: 'wal', lockingMode: 'exclusive' },
      { journalMode: 'memory', cacheSize: 0 },
    ];
    const results = await resultsOf(configs.map((config) => own(SQL, config)));
    expect(verdicts(...results)).toEqual([
      {
        text: 'own-sql: what is stored at the end is the same in all 6',
        holds: true,
        left: null,
        right: null,
      },
    ]);
    expect(Object.keys(results[0]!.stored!.tables)).toEqual(['sqlite_schema', 't', 'u']);
    expect(results[0]!.stored!.tables['t']).toMatch(/^[0-9a-f]{8}\/2$/);
  });

  it('a VFS that loses the last transaction: reported by table, and the others still hold', async () => {
    const [fine] = await resultsOf([own(SQL)]);
    const [wrong] = await resultsOf([own(SQL)], forgetful);
    expect(wrong!.stored!.tables['t']).toMatch(/\/1$/);
    const [verdict, ...more] = verdicts(fine!, wrong!);
    expect(more).toEqual([]);
    expect(verdict).toMatchObject({ holds: false });
    expect(verdict!.why).toMatch(
      /^B differs from A in t \(2 rows, digest \w+ and 1 rows, digest \w+\); random\(\)/,
    );
    const experiment = { id: 'e', expectations: [] as unknown } as PlacedExperiment;
    const { verdicts: told } = experimentResult(
      experiment,
      new Map([
        ['good', fine!],
        ['bad', wrong!],
      ]),
      {},
    );
    expect(told.map(({ holds }) => holds)).toEqual([false]);
  });

  it("other scripts and parameters aren't compared, and a single one isn't either", async () => {
    const [a, b] = await resultsOf([own(SQL), own(`${SQL} `)]);
    expect(verdicts(a!, b!)).toEqual([]);
    expect(verdicts(a!)).toEqual([]);
  });

  it('is what was committed, without an open transaction', async () => {
    for (const vfs of ['memory', 'MemoryVFS'] as const) {
      const [open, none] = await resultsOf([
        own(`${SQL}BEGIN; DELETE FROM t;`, { vfs }),
        own(SQL, { vfs }),
      ]);
      expect(open!.stored).toEqual(none!.stored);
    }
  });

  it('virtual tables are read instead of their shadow tables; beyond 200 tables they are summarized together', async () => {
    const tables = Array.from(
      { length: 203 },
      (_, i) => `CREATE TABLE n${String(i).padStart(3, '0')}(a);`,
    ).join('');
    const [result] = await resultsOf([
      own(`CREATE VIRTUAL TABLE docs USING fts5(body); INSERT INTO docs VALUES('word'); ${tables}`),
    ]);
    const names = Object.keys(result!.stored!.tables);
    expect(names.filter((name) => /^docs/.test(name))).toEqual(['docs']);
    expect([names.length, names.at(-1)]).toEqual([202, '(all other tables)']);
  });

  it('reading back adds nothing to the counts, and can be skipped', async () => {
    const [with1, without] = [
      await sampleOf(own(SQL), around),
      await sampleOf(own(SQL, {}, { readBack: false }), around),
    ];
    expect(without.stored).toBeUndefined();
    expect(with1.steps).toEqual(without.steps);
    expect(with1.settings).toEqual(without.settings);
  });

  it('a failed read-back is reported, and leaves the comparison open', async () => {
    const broken = `${SQL}PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql='CREATE TABLE nonsense(' WHERE name='t';`;
    const [a, b] = await resultsOf([own(broken), own(broken, { pageSize: 8192 })]);
    expect(a!.notes).toEqual([
      expect.stringMatching(/^What was stored could not be read back: .*malformed/),
    ]);
    expect(verdicts(a!, b!)).toMatchObject([{ holds: null, why: 'not read back: A, B' }]);
  });

  it('a timed run reads it back in the uncounted pass, and only there', async () => {
    const [result] = await resultsOf([{ ...own(SQL), mode: 'time', repeats: 2 }]);
    expect(result!.stored!.tables['t']).toMatch(/\/2$/);
    expect([result!.totalMs!.passes.length, typeof result!.warmUpMs]).toEqual([2, 'number']);
  });
});

it("an engine's trap is reported, and it has no count", async () => {
  // a VFS that traps like wasm, in the middle of a statement
  const trapping: VfsMaker = async (config, module) => {
    const made = (await memoryVfs(config, module))!;
    const vfs = made.vfs as Record<string, (...args: number[]) => number>;
    const truncated = new Uint8Array([
      0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 7, 5, 1, 1, 116, 0, 0, 10, 5, 1,
      3, 0, 0, 11,
    ]);
    const trap = new WebAssembly.Instance(new WebAssembly.Module(truncated)).exports[
      't'
    ] as () => void;
    vfs.xWrite = () => {
      trap();
      return 0;
    };
    return made;
  };
  await expect(sampleOf(own(SQL), { ...around, makeVfs: trapping })).rejects.toThrow(
    /step "script": .*unreachable\. The engine trapped, so there is no count/,
  );
});
