/**
 * The answers to the questions at the top of the Lab's page: sentences, bars, and tables from
 * hand-made results.
 */
import { describe, expect, it } from 'vitest';
import {
  CRASH_VFSS,
  crashConfigs,
  DEFAULT_OPTIONS,
  type CrashResult,
} from '../../src/lab/crash/model.ts';
import { experimentFor } from '../../src/lab/experiments/documents/tries.ts';
import { resultOf } from '../../src/lab/experiments/model/aggregate.ts';
import type { RunResult } from '../../src/lab/experiments/model/result-types.ts';
import { onVfs } from '../../src/lab/experiments/on-vfs.ts';
import { runsOf } from '../../src/lab/experiments/plan.ts';
import { workloadOf } from '../../src/lab/experiments/workloads/index.ts';
import { QUESTION_OFFERS } from '../../src/lab/page/catalog.ts';
import { answerOf, type Answer } from '../../src/lab/results/answers.ts';
import { crashAnswer } from '../../src/lab/results/crash.ts';
import { crashCsv, crashHtml, crashSvg } from '../../src/lab/results/crash-report.ts';

/** Results of an experiment's variants in a browser; three passes whose times are 90 %, 100 %, and 110 % of `ms`, or farther apart by `scatter`. null: it didn't run. */
function resultsOf(
  id: string,
  measured: (
    variant: string,
  ) => { ms: number; commit?: number; syncs?: number; scatter?: number } | null,
): Record<string, RunResult> {
  const experiment = onVfs(experimentFor(id)!, [], 'browser');
  const runs = [...runsOf(experiment, {}, { mode: 'time', repeats: 3 })];
  return Object.fromEntries(
    runs.flatMap(([variant, run]) => {
      const found = measured(variant);
      if (!found) return [];
      const { ms, commit = 0, syncs = 0, scatter = 0.1 } = found;
      const samples = [1 - scatter, 1, 1 + scatter].map((factor) => ({
        steps: [
          {
            ...{ id: 'run', title: 'run' },
            counters: {
              ms: ms * factor,
              'begin.ms': 0,
              'body.ms': (ms - commit) * factor,
              'commit.ms': commit * factor,
              'vfs.xSync': syncs,
              'vfs.xWrite': 100,
            },
          },
        ],
        ...{ digest: 'd', notes: [], settings: {} },
      }));
      return [[variant, resultOf(run, workloadOf(run.workload), samples, {})] as const];
    }),
  );
}
const rowsOf = ({ table }: Answer): readonly (readonly string[])[] => table!.rows;

describe('Which VFS suits my app?', () => {
  /** ms of 50 transactions. */
  const WRITES: Record<string, number> = { AccessHandlePool: 50, OPFSCoopSync: 100, BlockIDB: 500 };
  const answer = (writes = WRITES): Answer | null =>
    answerOf(
      'which-vfs',
      resultsOf('which-vfs', (variant) => {
        const [vfs, what] = variant.split('-') as [string, string];
        const ms = writes[vfs];
        return ms === undefined ? null : { ms: what === 'write' ? ms : ms / 10, syncs: 150 };
      }),
    );

  it('names the fastest, and the fastest that several tabs can share', () => {
    expect(answer()!.sentences).toEqual([
      'AccessHandlePool commits fastest: 1 ms per transaction.',
      'Only one tab at a time can use AccessHandlePool.',
      'For several tabs, use OPFSCoopSync: 2 ms per transaction.',
      'AccessHandlePool reads fastest: 100 µs per transaction.',
      'The crash test shows which of them can lose commits.',
    ]);
  });
  it('draws a bar for each VFS with its range, the fastest first', () => {
    const [writes, reads] = answer()!.charts;
    expect(writes!.bars.map(({ label, text }) => [label, text])).toEqual([
      ['AccessHandlePool (OPFS)', '1 ms'],
      ['OPFSCoopSync (OPFS)', '2 ms'],
      ['BlockIDB (IndexedDB)', '10 ms'],
    ]);
    expect(writes!.bars[0]!.range).toEqual([expect.closeTo(0.9), expect.closeTo(1.1)]);
    expect(reads!.bars).toHaveLength(3);
    expect(rowsOf(answer()!)[0]).toEqual([
      ...['AccessHandlePool', 'OPFS', 'no', '1 ms', '3', '100 µs'],
    ]);
  });
  it("doesn't rank what the noise doesn't separate", () => {
    const { sentences } = answer({ AccessHandlePool: 50, OPFSCoopSync: 52, BlockIDB: 500 })!;
    expect(sentences.slice(0, 2)).toEqual([
      'AccessHandlePool commits fastest: 1 ms per transaction.',
      'Within the noise of the passes: OPFSCoopSync.',
    ]);
    expect(answer({ OPFSCoopSync: 50 })!.sentences.slice(0, 2)).toEqual([
      'OPFSCoopSync commits fastest: 1 ms per transaction.',
      'Several tabs can share OPFSCoopSync.',
    ]);
    expect(answer({ BlockIDB: 50 })!.sentences[2]).toBe(
      'No tested VFS can be shared by several tabs.',
    );
  });
  it('does not call a VFS equal that is slower than one beyond the noise, however its passes scatter', () => {
    const passes: Record<string, { ms: number; scatter: number }> = {
      AccessHandlePool: { ms: 50, scatter: 0.02 },
      OPFSCoopSync: { ms: 51, scatter: 0.02 },
      OPFSWriteAhead: { ms: 80, scatter: 0.02 },
      BlockIDB: { ms: 100, scatter: 0.4 },
    };
    const scattered = answerOf(
      'which-vfs',
      resultsOf('which-vfs', (variant) => passes[variant.split('-')[0]!] ?? null),
    )!;
    expect(scattered.sentences.slice(0, 3)).toEqual([
      'AccessHandlePool commits fastest: 1 ms per transaction.',
      'Within the noise of the passes: OPFSCoopSync.',
      'The passes of BlockIDB scatter too much to tell.',
    ]);
  });
  it('has no answer where nothing ran', () => expect(answer({})).toBeNull());
});

describe('What does a commit cost?', () => {
  const answer = answerOf(
    'commit-cost',
    resultsOf('commit-cost', (variant) =>
      /IDB|Coop/.test(variant)
        ? null
        : variant.startsWith('one')
          ? { ms: 100, commit: 90, syncs: 150 }
          : { ms: 200, commit: 100, syncs: 150 },
    ),
  )!;
  it('reports how long a commit takes, and how much less a row costs in a large transaction', () => {
    // 2 ms per row, compared with 4 ms per 100 rows
    expect(answer.sentences).toEqual([
      'A commit takes 1.8 ms on AccessHandlePool.',
      'In transactions of 100 rows, a row costs 50 times less.',
    ]);
  });
  it('of several VFSs: the commits from the fastest on, and the range in which a row costs less', () => {
    const { sentences } = answerOf(
      'commit-cost',
      resultsOf('commit-cost', (variant) =>
        /Block/.test(variant)
          ? { ms: variant.startsWith('one') ? 10 : 2000, commit: 5, syncs: 150 }
          : /IDB/.test(variant)
            ? null
            : variant.startsWith('one')
              ? { ms: /Coop/.test(variant) ? 50 : 100, commit: 40, syncs: 150 }
              : { ms: 200, commit: 100, syncs: 150 },
      ),
    )!;
    expect(sentences).toEqual([
      'A commit takes 100 µs on BlockIDB, 800 µs on AccessHandlePool, and 800 µs on OPFSCoopSync.',
      'In transactions of 100 rows, a row costs 25 to 50 times less.',
      'In transactions of 100 rows, a row costs no less on BlockIDB.',
    ]);
  });
  it('reports for runs in memory that nothing was stored', () => {
    const one = resultsOf('commit-cost', () => ({ ms: 100, commit: 90, syncs: 150 }));
    const inMemory = Object.fromEntries(
      Object.entries(one).map(([id, result]) => {
        const config = { ...result.run.config, vfs: 'MemoryVFS' as const };
        return [id, { ...result, run: { ...result.run, config } }];
      }),
    );
    expect(answerOf('commit-cost', one)!.sentences.join()).not.toMatch('Nothing was stored');
    expect(answerOf('commit-cost', inMemory)!.sentences.at(-1)).toMatch(/^Nothing was stored\. /);
  });
  it('draws begin, work, and commit as parts that add up to the time', () => {
    const [chart] = answer.charts;
    expect(chart!.key).toEqual(['begin', 'work', 'commit']);
    expect(chart!.bars.map(({ label, text, parts }) => [label, text, parts])).toEqual([
      ['AccessHandlePool (OPFS), 1 row', '2 ms', [0, expect.closeTo(0.2), 1.8]],
      ['AccessHandlePool (OPFS), 100 rows', '4 ms', [0, 2, 2]],
    ]);
    expect(rowsOf(answer)[1]).toEqual([
      ...['AccessHandlePool', '100', '4 ms', '2 ms', '40 µs', '2', '3'],
    ]);
  });
});

describe('Is WAL worth it?', () => {
  const answer = (wal: number, exclusive = 90): Answer =>
    answerOf(
      'wal-worth',
      resultsOf('wal-worth', (variant) => {
        if (variant.endsWith('BlockIDB')) return null;
        const [way, what] = variant.split('@')[0]!.split('-');
        if (what === 'read') return { ms: way === 'journal' ? 20 : 10 };
        return { ms: way === 'wal' ? wal : way === 'exclusive' ? exclusive : 100 };
      }),
    )!;
  it('compares WAL with the journal, and shows what exclusive locking alone does', () => {
    expect(answer(50).sentences).toEqual([
      'On AccessHandlePool, WAL writes 2 times as fast: 1 ms against 2 ms.',
      'Exclusive locking alone takes 1.8 ms.',
      'With the same locking, reads differ by less than the noise.',
      "WAL didn't sync at commits here: power loss can undo them.",
      'Here, WAL needs exclusive locking: one connection, one tab.',
    ]);
    expect(answer(50).charts.map(({ bars }) => bars.length)).toEqual([3, 3]);
  });
  it('reports that it gains nothing', () => {
    expect(answer(105).sentences[0]).toBe(
      'On AccessHandlePool, the passes scatter too much to tell: 2.1 ms against 2 ms.',
    );
    expect(answer(400).sentences[0]).toBe(
      'On AccessHandlePool, WAL writes 4 times slower: 8 ms against 2 ms.',
    );
  });
});

it('every question has an experiment with an answer', () => {
  expect(QUESTION_OFFERS.map(({ id }) => id)).toEqual(['which-vfs', 'commit-cost', 'wal-worth']);
  for (const { id } of QUESTION_OFFERS)
    expect(
      answerOf(
        id,
        resultsOf(id, () => ({ ms: 50, commit: 20, syncs: 1 })),
      ),
      id,
    ).not.toBeNull();
});

describe('Will I lose data?', () => {
  const [coop, pool] = crashConfigs({
    vfs: [CRASH_VFSS[0], CRASH_VFSS[1]],
    journalMode: ['delete'],
    synchronous: ['full'],
    durability: ['strict'],
  });
  const kept: CrashResult['powerLoss'] = {
    level: 'kept',
    mostLost: 0,
    lostCommits: [],
    first: { lost: null, half: null, corrupt: null },
    ...{ states: 10, points: 5, sampledPoints: 1 },
  };
  const breach = {
    afterCall: 24,
    call: 'truncate t.db-journal to 0 bytes',
    nextCall: null,
    phase: 'commit 1',
    lost: [],
    acknowledged: 1,
    recovered: 0,
    cause: null,
  };
  const result = (config: CrashResult['config'], powerLoss = kept): CrashResult => ({
    ...{ config, calls: 40, commits: 4, processDeath: kept, powerLoss, notes: [] },
    engine: { package: 'a', version: '1.0.0', variant: 'sync', sqlite: '3.50.0', wasmBytes: 1 },
    environment: { runtime: 'Node 20.0.0' },
  });
  const losing = {
    ...kept,
    level: 'lost',
    mostLost: 1,
    first: { ...kept.first, lost: breach },
  } as const;
  const broken = { ...kept, level: 'corrupt', first: { ...kept.first, corrupt: breach } } as const;

  it('reports which VFSs keep all commits, and draws what survives the worst crash', () => {
    const { sentences, charts, table } = crashAnswer([result(coop!, losing), result(pool!)]);
    expect(sentences).toEqual([
      'With journal_mode=delete and synchronous=full, no commit is lost on AccessHandlePool.',
      'Commits can be lost on OPFSCoopSync.',
    ]);
    expect(charts[0]!.bars.map(({ value, text }) => [value, text])).toEqual([
      [3, '3 of 4 commits after power loss'],
      [4, '4 of 4 commits'],
    ]);
    expect(table!.head.at(-1)).toBe('first call that breaks it');
    expect(table!.rows.map((row) => row.at(-1))).toEqual([
      'after call 24: truncate t.db-journal to 0 bytes (commit 1)',
      '',
    ]);
  });
  it('as files: the answer, its chart, the environment, and a line for each kind of crash', () => {
    const tests = {
      options: DEFAULT_OPTIONS,
      outcomes: [result(coop!, losing), { config: pool!, cause: 'refused' }],
    };
    const html = crashHtml(tests);
    for (const words of [
      'every tested VFS can lose commits.',
      'after call 24: truncate t.db-journal to 0 bytes',
      'refused',
      'close() stores nothing.',
      '<tr><td>SQLite</td><td>3.50.0</td></tr>',
      '<tr><td>Runtime</td><td>Node 20.0.0</td></tr>',
    ])
      expect(html).toContain(words);
    expect(crashSvg(tests)).toContain('3 of 4 commits after power loss');
    expect(crashCsv(tests).split('\n').slice(1)).toEqual([
      'OPFSCoopSync,delete,full,,process death,kept,0,10,5,1,',
      'OPFSCoopSync,delete,full,,power loss,lost,1,10,5,1,',
      'AccessHandlePool,delete,full,,process death,,,,,,refused',
      'AccessHandlePool,delete,full,,power loss,,,,,,refused',
      '',
    ]);
  });
  it('a damaged database keeps nothing, and untested VFSs have their cause', () => {
    const { sentences, charts, table } = crashAnswer([
      result(coop!, broken),
      { config: pool!, cause: 'refused' },
    ]);
    expect(sentences).toEqual([
      'With journal_mode=delete and synchronous=full, every tested VFS can lose commits.',
      'The database can be damaged on OPFSCoopSync.',
    ]);
    expect(charts[0]!.bars.map(({ value, text }) => [value, text])).toEqual([
      [0, 'corrupt after power loss'],
    ]);
    expect(table!.rows[1]!.slice(-3)).toEqual(['n/a', 'n/a', 'refused']);
  });
});
