// Diff of two traces, budgets, and their commands.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { baselineOf, checkCommand } from '../../src/cli/check.ts';
import { diffCommand } from '../../src/cli/diff.ts';
import { Flag, type OpName } from '../../src/event/event.ts';
import type { Definition } from '../../src/event/definitions.ts';
import { BudgetError, checkBudget, parseBudget } from '../../src/analysis/report/budget.ts';
import type { StatementDiff, TraceDiff } from '../../src/analysis/report/diff.ts';
import {
  changeOfShares,
  changeText,
  shownStatements,
  numberDiffColumns,
  statementDiffColumns,
  verdictLines,
} from '../../src/analysis/report/diff-table.ts';
import { totalVerdict } from '../../src/analysis/report/total-verdict.ts';
import { numberName } from '../../src/analysis/report/number-names.ts';
import { NUMBERS } from '../../src/analysis/numbers/headline-numbers.ts';
import { numbersOf, selectNumber } from '../../src/analysis/report/summary-numbers.ts';
import { Facts } from '../../src/analysis/core/graph.ts';
import { summary, summaryOf, type Summary } from '../../src/analysis/report/summary.ts';
import { storeOf } from '../contract/helpers/store.ts';
import { Traced } from '../contract/helpers/traced.ts';
import { CREATE_T, insertT, loadWaSqlite } from '../contract/helpers/wa-sqlite.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';
import { sampleStore } from '../traces/sample.ts';
import { expectCheap, MANY } from './cpu-limit.ts';
import { syntheticStore } from '../traces/synthetic.ts';
import { diffOf, statementTable } from '../traces/analyses.ts';

const SAMPLE = 'tests/traces/v1-sample.vfst';
const folder = mkdtempSync(join(tmpdir(), 'vfscope-diff-'));
afterAll(() => rmSync(folder, { recursive: true }));
let traced: Traced | null = null;
let stdout = '';
let stderr = '';
beforeEach(() => {
  stdout = stderr = '';
  const into = (add: (text: string) => void) => (text: unknown, done?: unknown) => {
    add(String(text));
    if (typeof done === 'function') (done as () => void)();
    return true;
  };
  vi.spyOn(process.stdout, 'write').mockImplementation(
    into((t) => (stdout += t)) as typeof process.stdout.write,
  );
  vi.spyOn(process.stderr, 'write').mockImplementation(
    into((t) => (stderr += t)) as typeof process.stderr.write,
  );
});
afterEach(() => {
  vi.restoreAllMocks();
  traced?.restore();
  traced = null;
});

/** One statement run often: each run takes so long and reads so many pages. */
function runs(
  times: readonly number[],
  pages: (k: number) => number = () => 1,
  { clockStepUs = 0, sql = 'SELECT * FROM t WHERE id=?' } = {},
): ReturnType<typeof newStore> {
  const store = newStore();
  const t = new ThreadBuilder(store);
  if (clockStepUs)
    t.say({
      ...{ kind: 'environment', id: 0, url: '', threadKind: 'worker', crossOriginIsolated: false },
      ...{ clockStepUs, userAgent: '', hidden: null },
      capture: { capture: 1, layers: ['sql', 'vfs', 'web'], buffer: 1024 },
    } as Definition);
  const file = t.file('/app.db');
  const text = t.define({ kind: 'sql', text: sql });
  times.forEach((us, k) => {
    const n = pages(k);
    t.call('sqlStep', { object: text, aux: k + 1, result: 101, dur: us - n }, () => {
      for (let i = 0; i < n; i++) t.call('xRead', { object: file, offset: 4096 * i, length: 4096 });
    });
  });
  t.send();
  return store;
}
const first = (d: TraceDiff): StatementDiff => d.statements[0]!;

describe('diff', () => {
  test('a trace and itself: nothing changed', () => {
    const d = diffOf(sampleStore(), sampleStore());
    expect(d.numbers.length).toBeGreaterThan(60);
    expect(d.totals.numbers).toMatchObject({ changed: 0, unknown: 0, 'only a': 0, 'only b': 0 });
    expect(d.totals.statements).toEqual({
      same: 1,
      changed: 0,
      noise: 0,
      unknown: 0,
      'only a': 0,
      'only b': 0,
    });
    expect(d.warnings).toEqual(
      [
        "A: 3 events didn't fit in the buffer, or got lost. The real counts are higher.",
        "B: 3 events didn't fit in the buffer, or got lost. The real counts are higher.",
      ].flatMap((lost) => [lost, expect.stringMatching(`^${lost[0]}: 1 worker isn't recorded`)]),
    );
  });

  test('times within their spread are noise, beyond it a change, of too few runs unknown', () => {
    const wide = [100, 180, 120, 160, 140];
    const other = [150, 120, 170, 110, 180];
    expect(first(diffOf(runs(wide), runs(other))).verdict).toBe('noise');
    const slower = first(diffOf(runs(wide), runs(wide.map((t) => t + 400))));
    expect(slower).toMatchObject({
      countsVerdict: 'same',
      verdict: 'changed',
      time: {
        a: 140,
        b: 540,
        totalA: 700,
        totalB: 2700,
        pairs: { count: 5, faster: 0, slower: 5 },
      },
    });
    expect(first(diffOf(runs([100, 110]), runs([500, 510])))).toMatchObject({
      verdict: 'unknown',
      time: { spreadUs: null },
    });
  });

  /** As measured on a clock of such a step: the begin falls anywhere in it. */
  const onClock = (stepUs: number, times: readonly number[]): number[] =>
    times.map((us, k) => {
      const begin = (k * 0.618) % 1;
      return stepUs * Math.floor(begin + us / stepUs);
    });
  /** Commits of 100 inserts each take most of the time. */
  const inserts = (commitUs: number): number[] =>
    Array.from({ length: 5112 }, (_, k) =>
      k % 100 === 99 ? commitUs * (0.8 + ((k * 0.377) % 0.4)) : 20 + (k % 7),
    );
  const coarse = (times: readonly number[], clockStepUs = 1000) =>
    runs(onClock(clockStepUs, times), () => 0, { clockStepUs });

  test('totals are judged, not medians, which are equal on a coarse clock', () => {
    const d = diffOf(coarse(inserts(157_950)), coarse(inserts(48_000)));
    const { verdict, time } = first(d);
    expect([time.a, time.b]).toEqual([0, 0]);
    expect([verdict, time.verdict, d.whole.verdict]).toEqual(['changed', 'changed', 'changed']);
    expect(time.pairs).toEqual({ count: 5112, faster: 51, slower: 0 });
    expect(verdictLines(d)[0]).toBe('Time in SQL: 7.97 s → 2.5 s (3.19× faster)');
    expect(shownStatements(d)).toHaveLength(1);
    const { change } = statementDiffColumns(d);
    expect(change.value(first(d))).toBe('3.19× faster: 7.97 s → 2.5 s');
    const unlike = { ...d, unlike: 'recorded in different ways' };
    const unjudged = { ...first(d), time: { ...time, verdict: 'unknown' } } as const;
    expect(change.value(unjudged)).toBe('7.97 s → 2.5 s');
    const number = { path: 'time.cpuUs', a: 10, b: 30, delta: 20, verdict: 'unknown' } as const;
    const changes = [d, unlike].flatMap((of) =>
      (['time', 'count'] as const).map((kind) =>
        numberDiffColumns(of).change.value({ ...number, kind }),
      ),
    );
    expect(changes).toEqual(['3× more', '3× more', 'n/a', '3× more']);
  });

  test('of the same work, few are called changed: any number of runs, long waits, a coarse clock', () => {
    const normal = () => Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random());
    let seed = 1;
    const random = (): number => ((seed = (seed * 1664525 + 1013904223) >>> 0) + 0.5) / 2 ** 32;
    const group = (n: number, one: () => number, step: number) => {
      const timeUs = Float64Array.from({ length: n }, () =>
        step ? step * Math.floor(random() + one() / step) : one(),
      );
      const totalUs = timeUs.reduce((sum, us) => sum + us, 0);
      return { fingerprint: '', executions: n, counts: new Float64Array(0), timeUs, totalUs };
    };
    for (const one of [
      () => 1000 + 100 * normal(),
      () => 300 * Math.exp(normal()),
      () => (random() < 0.01 ? 100_000 * (0.5 + random()) : 30 + 5 * random()),
    ])
      for (const step of [0, 1000])
        for (const [a, b] of [
          [3, 3],
          [10, 10],
          [300, 300],
          [30, 30],
          [30, 31],
        ] as const) {
          let changed = 0;
          for (let i = 0; i < 1000; i++) {
            const { verdict } = totalVerdict(
              group(a, one, step),
              group(b, () => (one() * a) / b, step),
              step,
            );
            if (verdict === 'changed') changed++;
          }
          expect(changed).toBeLessThan(80);
        }
  });

  test('on a coarse clock the same work is noise, and a shift below its step shows in the total', () => {
    const times = (mean: number, salt: number) =>
      Array.from({ length: 4000 }, (_, k) => mean * (0.5 + ((k * salt) % 1)));
    const one = coarse(times(400, 0.7548));
    expect(first(diffOf(one, coarse(times(400, 0.5698)))).time.verdict).toBe('noise');
    const { time } = first(diffOf(one, coarse(times(300, 0.5698))));
    expect(time).toMatchObject({ a: 0, b: 0, verdict: 'changed' });
  });

  test('one long wait is no change of the statement, and hides none', () => {
    const times = Array.from({ length: 200 }, (_, k) => 1000 + ((k * 37) % 100));
    const waited = runs(times.map((us, k) => (k === 20 ? 500_000 : us)));
    const again = first(diffOf(waited, runs(times)));
    expect(again.time).toMatchObject({ verdict: 'noise', pairs: { faster: 1, slower: 0 } });
    // the total falls, and every other run is slower
    const slower = first(diffOf(waited, runs(times.map((us) => 1.2 * us))));
    expect(slower.time.totalB).toBeLessThan(slower.time.totalA);
    expect(slower.time).toMatchObject({
      ...{ verdict: 'changed', slower: true },
      pairs: { faster: 1, slower: 199 },
    });
    expect(verdictLines(diffOf(waited, runs(times.map((us) => 1.2 * us)))).at(-1)).toBe(
      'Beyond noise, 0 statements are faster and 1 slower.',
    );
  });

  test('runs are paired: parameters may differ more than the traces do', () => {
    const sizes = Array.from({ length: 8 }, (_, k) => 100 * 3 ** k);
    const faster = sizes.map((us, k) => us * (0.9 + 0.01 * (k % 3)));
    expect(first(diffOf(runs(sizes), runs(faster))).time.pairs).toMatchObject({ faster: 8 });
    const even = Array.from({ length: 40 }, (_, k) => 10_000 * (1 + (k % 10)));
    const shifted = even.map((us, k) => us - 900 - 10 * (k % 5));
    expect(first(diffOf(runs(even), runs(shifted))).time.verdict).toBe('changed');
    // without a counterpart for each run the parameters are noise
    const { time } = first(diffOf(runs(even), runs([...shifted, 46_000])));
    expect(time).toMatchObject({ pairs: null, verdict: 'noise' });
  });

  test('what moved the whole by more than 1 % is shown first, noise or not', () => {
    const wait = Array.from({ length: 100 }, (_, k) => (k === 50 ? 300_000 : 1000 + (k % 10)));
    const calm = wait.map((us) => Math.min(us, 1010));
    const d = diffOf(runs(wait), runs(calm));
    expect(first(d).verdict).toBe('noise');
    expect(Math.abs(first(d).time.share)).toBeGreaterThan(0.7);
    expect(shownStatements(d)).toEqual([first(d)]);
    const little = diffOf(runs(calm), runs(calm.map((us, k) => us + ((k % 3) - 1))));
    expect(first(little).verdict).toBe('noise');
    expect(shownStatements(little)).toEqual([]);
  });

  test('all statements together: a single run proves nothing, many that agree do', () => {
    const some = (count: number, us: number) => {
      const store = newStore();
      const t = new ThreadBuilder(store);
      for (let i = 0; i < count; i++) {
        const object = t.define({ kind: 'sql', text: `SELECT * FROM t${'abcdefghij'[i]}` });
        t.call('sqlStep', { object, aux: i + 1, result: 101, dur: us });
      }
      t.send();
      return store;
    };
    expect(diffOf(some(1, 500), some(1, 100)).whole.verdict).toBe('unknown');
    expect(verdictLines(diffOf(some(1, 500), some(1, 100)))).toEqual([
      'Time in SQL: 500 µs → 100 µs (5× faster)',
      'All statements, without preparing them: 500 µs → 100 µs (5× faster).',
      'Too few runs to tell this from noise.',
      'No statement moved beyond noise.',
    ]);
    expect(diffOf(some(10, 500), some(10, 100)).whole.verdict).toBe('changed');
    expect(verdictLines(diffOf(some(2, 500), newStore()))).toEqual(['Only A has statements: 1 ms']);
    expect(verdictLines(diffOf(some(1, 500), runs([100, 100])))).toEqual([
      'A and B have no statement in common',
      'Statements only in A: 500 µs. Statements only in B: 200 µs.',
    ]);
    expect(verdictLines(diffOf(newStore(), newStore()))).toEqual([
      'No statement is recorded in A or B.',
    ]);
  });

  test('the statements of both are judged: others are other work', () => {
    /** Runs of a common statement, and one of another. */
    const work = (common: number, table: string, us: number) => {
      const store = newStore();
      const t = new ThreadBuilder(store);
      const [both, own] = ['both', table].map((name) =>
        t.define({ kind: 'sql', text: `SELECT * FROM ${name}` }),
      );
      for (let i = 1; i <= 10; i++)
        t.call('sqlStep', { object: both, aux: i, result: 101, dur: common });
      if (us) t.call('sqlStep', { object: own, aux: 99, result: 101, dur: us });
      t.send();
      return store;
    };
    // as fast, and A does more besides
    const more = diffOf(work(1000, 'a', 9000), work(1000, 'b', 0));
    expect(more.whole).toEqual({
      ...{ totalA: 10_000, totalB: 10_000, onlyA: 9000, onlyB: 0 },
      verdict: 'same',
    });
    expect(verdictLines(more)).toEqual([
      'Time in SQL: 19 ms → 10 ms (1.9× faster)',
      'Statements of both, without preparing them: 10 ms in both.',
      'Statements only in A: 9 ms. Statements only in B: 0.',
      'Their total is the same.',
      'No statement moved beyond noise.',
    ]);
    expect(verdictLines(diffOf(work(1000, 'a', 70_000), work(1000, 'b', 1000)))).toEqual([
      'A and B spent most of their time in different statements',
      'Time in SQL: 80 ms → 11 ms (7.27× faster).',
      'Statements only in A: 70 ms. Statements only in B: 1 ms.',
      'In statements of both, A spent 10 ms and B 10 ms.',
    ]);
  });

  test('clocks of other steps are a caveat', () => {
    const d = diffOf(coarse([3000, 4000, 5000]), coarse([3000, 4000, 5000], 20));
    expect(d.warnings).toEqual(['The clock steps differ: 1 ms and 20 µs.']);
    expect(d.stepUs).toEqual({ a: 1000, b: 20 });
  });

  test('numbers have names; those of a headline number are its title', () => {
    const paths = [...numbersOf(summaryOf(sampleStore())).keys()];
    expect(paths.filter((path) => numberName(path) === path)).toEqual([]);
    const titles: Record<string, keyof typeof NUMBERS> = {
      ...{ durationUs: 'duration', 'statements.count': 'statements', commits: 'commits' },
      ...{ 'statements.distinct': 'distinctStatements', syncs: 'syncs' },
      ...{ 'transactions.read': 'transactionsRead', 'transactions.write': 'transactionsWrite' },
      ...{ 'transactions.rolledBack': 'rolledBack', syncsPerCommit: 'syncsPerCommit' },
      ...{ instructions: 'instructions' },
    };
    for (const [path, id] of Object.entries(titles))
      expect(numberName(path)).toBe(NUMBERS[id].title);
    expect(
      [
        'files[kind=main-db,path=/a,b].db].web.readBytes',
        'files[kind=wal].vfs.xWrite',
        'web.idb.readwriteTransactions',
        'threads[kind=worker,name=db,url=https://a.test/w.js].unknownTailUs',
        'constructor',
      ].map(numberName),
    ).toEqual([
      '/a,b].db: bytes read',
      '(no path): xWrite',
      'IndexedDB readwrite transactions',
      'worker db,https://a.test/w.js: time not recorded',
      'constructor',
    ]);
  });

  test.each([
    [300, 0, 'less'],
    [0, 300, 'more'],
    [100, 104, '4 % more'],
    [100, 250, '2.5× more'],
    [7, 7, 'equal'],
    [null, 7, 'n/a'],
  ])('from %s to %s: %s', (a, b, text) => expect(changeText(a, b)).toBe(text));

  test.each([
    [0.5, 0.461, '3.9 points less'],
    [0.25, 0.26, '1 point more'],
    [0.5, 0.5001, '<0.1 points more'],
    [0.5, 0.5, 'equal'],
    [null, 0.5, 'n/a'],
  ])('a share from %s to %s: %s', (a, b, text) => expect(changeOfShares(a, b)).toBe(text));

  test('a rate among the numbers differs in points, too', () => {
    const number = { kind: 'count', a: 0.5, b: 0.45, delta: -0.05, verdict: 'changed' } as const;
    const { change } = numberDiffColumns({ unlike: null });
    expect(change.value({ ...number, path: 'pageCache.hitRate' })).toBe('5 points less');
    expect(change.value({ ...number, path: 'commits' })).toBe('1.11× less');
  });

  test('one read more in one run of a thousand is a change, and which run is said', () => {
    const times = Array.from({ length: 1000 }, (_, i) => 100 + (i % 7));
    const d = diffOf(
      runs(times),
      runs(times, (k) => (k === 777 ? 2 : 1)),
    );
    expect(first(d)).toMatchObject({
      verdict: 'changed',
      countsVerdict: 'changed',
      firstDifference: 777,
      differing: 1,
    });
    expect(first(d).counts.reads).toEqual({ a: 1000, b: 1001 });
    expect(
      d.numbers.find((n) => n.path === 'files[kind=main-db,path=/app.db].vfs.xRead'),
    ).toMatchObject({
      a: 1000,
      b: 1001,
      delta: 1,
      verdict: 'changed',
    });
  });

  test('the median is that of the table of statements, of an even number of runs too', () => {
    const store = runs([100, 110, 180, 200]);
    const { a, b } = first(diffOf(store, store)).time;
    expect([a, b, statementTable(store)!.rows[0]!.p50Us]).toEqual([110, 110, 110]);
  });

  test('a step that threw failed, and what is known of a run that never ended counts, as in the table of statements', () => {
    const store = newStore();
    const t = new ThreadBuilder(store);
    const object = t.define({ kind: 'sql', text: 'SELECT * FROM t' });
    t.call('sqlStep', { object, aux: 1, flags: Flag.threw, dur: 50 });
    t.call('sqlStep', { object, aux: 2, result: 100, dur: 1000 });
    t.call('sqlStep', { object, aux: 2, open: true });
    t.send();
    const { counts, time } = first(diffOf(store, store));
    expect(counts.errors).toEqual({ a: 1, b: 1 });
    expect(time).toMatchObject({ a: 50, totalA: 1050, totalB: 1050 });
    expect(statementTable(store)!.rows[0]).toMatchObject({ failed: 1, totalUs: 1050, p50Us: 50 });
  });

  test('calls under the reset that ends a run are its own; the in-memory journal is no file', () => {
    const store = newStore();
    const t = new ThreadBuilder(store);
    const file = t.file('/app.db');
    const object = t.define({ kind: 'sql', text: 'SELECT * FROM t' });
    t.call('sqlStep', { object, aux: 1, result: 100 }, () => {
      t.call('xRead', { object: file, offset: 0, length: 4096 });
      t.call('xWrite', { object: file, offset: 0, length: 512, flags: Flag.memoryJournal });
    });
    t.call('sqlReset', { object, aux: 1 }, () => t.call('xUnlock', { object: file }));
    t.send();
    expect(first(diffOf(store, store)).counts).toMatchObject({
      ...{ steps: { a: 1 }, vfs: { a: 2 }, writes: { a: 0 } },
    });
    expect(statementTable(store)!.rows[0]).toMatchObject({ vfsCalls: 2 });
  });

  test('a held lock and an event of IndexedDB are no calls of the web; a notification is one', () => {
    const under = (...ops: OpName[]): ReturnType<typeof newStore> => {
      const store = newStore();
      const t = new ThreadBuilder(store);
      t.call('sqlStep', { object: t.define({ kind: 'sql', text: 'SELECT 1' }), aux: 1 }, () => {
        for (const op of ops) t.call(op);
      });
      t.send();
      return store;
    };
    const { counts } = first(
      diffOf(
        under('idbGet', 'atomicsNotify', 'lockRequest'),
        under('lockHeld', 'idbBlocked', 'idbVersionChange'),
      ),
    );
    expect(counts.web).toEqual({ a: 3, b: 0 });
  });

  test('a statement that one trace lacks; what cannot be known is no change', () => {
    const d = diffOf(runs([10, 10, 10]), newStore());
    expect(first(d)).toMatchObject({ verdict: 'only a', executionsA: 3, executionsB: 0 });
    expect(d.numbers.find((n) => n.path === 'statements.count')).toMatchObject({
      a: 3,
      b: null,
      delta: null,
      verdict: 'unknown',
    });
    expect(d.warnings).toEqual(['The layers differ: sql, vfs and none.']);
  });

  test('any two runs: verdicts are symmetric, sums are those of the parts', () => {
    const some = fc.array(fc.record({ us: fc.integer({ min: 10, max: 500 }), pages: fc.nat(3) }), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(some, some, (x, y) => {
        const make = (r: { us: number; pages: number }[]) =>
          runs(
            r.map((e) => e.us),
            (k) => r[k]!.pages,
          );
        const [ab, ba] = [diffOf(make(x), make(y)), diffOf(make(y), make(x))];
        const turned: Record<string, string> = { 'only a': 'only b', 'only b': 'only a' };
        expect(ba.statements.map((s) => s.verdict)).toEqual(
          ab.statements.map((s) => turned[s.verdict] ?? s.verdict),
        );
        if (x.length) expect(first(ab).counts.reads.a).toBe(x.reduce((n, e) => n + e.pages, 0));
        for (const row of ab.numbers)
          if (row.delta !== null) expect(row.verdict === 'same').toBe(row.delta === 0);
      }),
      { numRuns: 100 },
    );
  });

  test('golden: the same SQL twice has the same counts; another journal mode changes them, rows stay aligned', async () => {
    const record = async (pragmas: string) => {
      traced = new Traced();
      const { sqlite3 } = await loadWaSqlite('journey-sync');
      const db = await sqlite3.open_v2('app.db');
      await sqlite3.exec(db, pragmas + CREATE_T);
      for (let i = 0; i < 100; i++) await sqlite3.exec(db, insertT(i));
      await sqlite3.exec(db, 'SELECT count(*) FROM t');
      await sqlite3.close(db);
      const store = storeOf(traced);
      traced.restore();
      return store;
    };
    const [one, two] = [await record(''), await record('')];
    const same = diffOf(one, two);
    // memory is read by time, and each reading is an event
    const counts = same.numbers.filter(
      ({ kind, path }) => kind === 'count' && !/events$/.test(path),
    );
    expect(counts.filter(({ verdict }) => verdict !== 'same')).toEqual([]);
    expect(same.statements.map((s) => s.countsVerdict)).toEqual(same.statements.map(() => 'same'));
    const wal = diffOf(one, await record('PRAGMA locking_mode=exclusive;PRAGMA journal_mode=wal;'));
    const insert = wal.statements.find((s) => s.fingerprint.startsWith('insert'))!;
    expect(insert).toMatchObject({
      executionsA: 100,
      executionsB: 100,
      verdict: 'changed',
      firstDifference: 0,
      differing: 100,
    });
    expect(insert.counts.syncs.a).toBe(300);
    expect(insert.counts.syncs.b).toBe(0);
    expect(
      wal.statements.find((s) => s.fingerprint.startsWith('pragma journal_mode'))!.verdict,
    ).toBe('only b');
  });

  test('many events', { timeout: 60_000 }, () => {
    const store = syntheticStore({ events: MANY });
    const from = process.cpuUsage();
    const d = diffOf(store, store);
    expectCheap(from, (20 * MANY) / 1e6);
    expect(d.totals.statements).toMatchObject({ same: 4, changed: 0 });
  });
});

describe('numbers by path', () => {
  const s = summaryOf(sampleStore());
  test.each([
    ['commits', 3],
    ['web.idb.get', 3],
    ['files[kind=main-db].vfs.xWrite', 3],
    ['files[kind=main-db,path=/app.db].web.readBytes', 12288],
    ['threads[kind=worker].events', 55],
  ])('%s = %d', (path, value) => expect(selectNumber(s, path)).toEqual({ value, cause: null }));

  test.each([
    ['commit', true, /no "commit" in the summary; known: .*commits/],
    ['files.vfs', true, /is a list/],
    ['commits[kind=x]', true, /isn't a list/],
    ['files[type=wal].vfs.xRead', true, /have no "type"/],
    ['files[kind=wal].vfs.xRead', false, /no files\[kind=wal\]/],
    ['web.opfs', true, /isn't a number/],
    ['web..opfs', true, /cannot be read/],
    ['', true, /cannot be read/],
  ])('%s: says what is wrong', (path, unknownPath, cause) => {
    const found = selectNumber(s, path);
    expect(found).toMatchObject({ value: null, unknownPath });
    expect(found.cause).toMatch(cause);
  });

  test('every number has a path, and the path gives it back', () => {
    for (const [path, value] of numbersOf(s))
      expect([path, selectNumber(s, path).value]).toEqual([path, value]);
  });
});

describe('budget', () => {
  const sample = summaryOf(sampleStore());
  const unrecordedWorkers = sample.unrecordedWorkers.map((w) => ({ ...w, kind: 'data' as const }));
  const whole: Summary = { ...sample, dropped: 0, losses: [], unrecordedWorkers };
  test('limits hold, break, and what is missing or not known fails with its cause unless optional', () => {
    const budget = parseBudget({
      commits: { max: 3, min: 1 },
      'web.idb.get': { max: 2 },
      'files[kind=wal].vfs.xWrite': { max: 0 },
      'files[kind=temp].vfs.xWrite': { max: 0, optional: true },
      'web.idb.put': { min: 2 },
    });
    const rows = checkBudget({ ...whole }, budget);
    expect(rows.map((r) => [r.value, r.ok, r.cause])).toEqual([
      [3, true, '1 worker not recorded'],
      [3, false, 'above 2'],
      [null, false, 'the recording has no files[kind=wal]'],
      [null, true, 'the recording has no files[kind=temp]: optional'],
      [1, false, 'below 2'],
    ]);
    const unknown = checkBudget({ ...whole, commits: null }, { commits: { max: 3 } });
    expect(unknown).toMatchObject([{ ok: false, cause: "the recording can't show it (n/a)" }]);
  });

  test('with events dropped a maximum is not proven, a minimum is', () => {
    const rows = checkBudget(
      { ...whole, dropped: 7, losses: ["7 events didn't fit in the buffer, or got lost"] },
      { commits: { max: 3 }, 'web.idb.get': { min: 1 }, dropped: { max: 10 } },
    );
    expect(rows.map((r) => r.ok)).toEqual([false, true, true]);
    expect(rows[0]!.cause).toMatch(
      /7 events didn't fit in the buffer, or got lost: it is a lower bound/,
    );
  });

  test('nor is it where a worker that may own a database is not recorded', () => {
    const [worker] = whole.unrecordedWorkers;
    const budget = { commits: { max: 3, min: 1 }, 'web.idb.put': { min: 1 }, dropped: { max: 0 } };
    const ok = (kind: 'any' | 'service' | 'data'): boolean[] =>
      checkBudget({ ...whole, unrecordedWorkers: [{ ...worker!, kind }] }, budget).map((r) => r.ok);
    expect(ok('any')).toEqual([false, true, true]);
    expect(ok('service')).toEqual([true, true, true]);
  });

  test.each([
    [[], /object of limits/],
    [{}, /no limit/],
    [{ commits: 3 }, /"commits": expected an object/],
    [{ commits: {} }, /neither/],
    [{ commits: { max: '3' } }, /must be a number/],
    [{ commits: { maximum: 3 } }, /unknown "maximum"/],
    [{ commits: { min: 4, max: 3 } }, /above/],
    [{ commits: { max: 1, optional: 'yes' } }, /true or false/],
  ])('%j is refused', (json, message) => {
    expect(() => parseBudget(json)).toThrow(BudgetError);
    expect(() => parseBudget(json)).toThrow(message);
  });
});

describe('commands', () => {
  const write = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };

  test('diff prints a table or one object', async () => {
    expect(await diffCommand({ a: SAMPLE, b: SAMPLE, json: true })).toBe(0);
    expect((JSON.parse(stdout) as TraceDiff).totals.statements.same).toBe(1);
    stdout = '';
    expect(await diffCommand({ a: SAMPLE, b: SAMPLE, json: false })).toBe(0);
    expect(stdout).toMatch(/\nCounts: 0 of \d\d+ differ\n/);
    expect(stdout).toMatch(/^Time in SQL: 432 µs in both\n/);
    expect(stdout).toContain('Statements: 0 to look at, 1 the same, 0 within noise');
    expect(stdout).toContain('Findings: none in either');
    stdout = '';
    const [journal, wal] = ['opfs-coop-sync', 'wal-exclusive'].map((name) =>
      join('tests/traces/golden', `${name}.vfst`),
    );
    expect(await diffCommand({ a: journal!, b: wal!, json: false })).toBe(0);
    expect(stdout).toMatch(
      /Findings: 3 solved, 0 new, 2 in both[\s\S]*F01 .* in both\n[\s\S]*F07 .* solved\n/,
    );
    expect(stdout).toMatch(/^Time in SQL: 806 ms → 410 ms \(1\.97× faster\)\n/);
    expect(stdout).toContain(
      'Statements of both, without preparing them: 653 ms → 187 ms (3.49× faster).',
    );
    expect(stdout).toMatch(
      /\n {2}3\.51× faster: 628 ms → 179 ms +100 → 300 .*\n {4}insert into t values\(\?,\?,\?\)\n {4}VFS calls 3,500 → 1,206, syncs 300 → 0, bytes/,
    );
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(120);
    expect(stdout).toContain('eyapps-wa-sqlite/worker.js: events');
    // a file of one trace alone: its zeros are counted, not listed
    expect(stdout).toMatch(/only B +test-1\.db-wal: xWrite +n\/a +611/);
    expect(stdout).not.toMatch(/only B .* n\/a +0 +n\/a\n/);
    expect(stdout).toMatch(/\.\.\. and \d+ that one recording lacks and that are 0 in the other/);
    await expect(
      diffCommand({ a: SAMPLE, b: join(folder, 'none.vfst'), json: true }),
    ).rejects.toThrow(/no such file/);
  });

  test('check against a baseline: no count may be above its own, and a budget comes before it', async () => {
    const larger = 'tests/traces/golden/idb-batch-atomic.vfst';
    expect(await checkCommand({ file: larger, baseline: larger })).toBe(0);
    stdout = '';
    expect(await checkCommand({ file: larger, baseline: SAMPLE })).toBe(1);
    expect(stdout).toMatch(/commits +\d+ +\d+ +BROKEN/);
    const budget = write('wide.json', '{"commits": {"max": 1000}}');
    stdout = '';
    await checkCommand({ file: larger, baseline: SAMPLE, budget });
    expect(stdout).not.toMatch(/commits .*BROKEN/);
    await expect(checkCommand({ file: SAMPLE })).rejects.toThrow(/needs --budget/);
  });

  test('statements that only open and close transactions are no growth over a baseline; others are', () => {
    const of = (texts: readonly string[]): Facts => {
      const store = newStore();
      const t = new ThreadBuilder(store);
      for (const sql of texts) {
        const text = t.define({ kind: 'sql', text: sql });
        t.call('sqlStep', { object: text, aux: text, result: 101, dur: 1 });
      }
      t.send();
      return new Facts(store);
    };
    const inserts = ['INSERT INTO t VALUES(1)', 'INSERT INTO t VALUES(2)'];
    const before = of(inserts);
    const broken = (texts: readonly string[]): string[] => {
      const after = of(texts);
      return checkBudget(after.get(summary), baselineOf(before, after))
        .filter(({ ok }) => !ok)
        .map(({ path, cause }) => `${path} ${cause}`);
    };
    expect(broken(['BEGIN IMMEDIATE', ...inserts, '/* all */ COMMIT;'])).toEqual([]);
    expect(broken(['SAVEPOINT a', ...inserts, 'ROLLBACK TO a'])).toEqual([
      'statements.count above 3', // what is rolled back to was work
    ]);
    expect(broken(['BEGIN', ...inserts, 'SELECT 1', 'COMMIT'])).toEqual([
      'statements.count above 4',
    ]);
    expect(broken(['BEGIN; DELETE FROM t; COMMIT', ...inserts])).toEqual([
      'statements.count above 2',
    ]);
  });

  test('check: 0 when all holds, 1 with a table of what broke, 2 where the budget is bad', async () => {
    const good = write('good.json', '{"commits": {"min": 3}}');
    expect(await checkCommand({ file: SAMPLE, budget: good })).toBe(0);
    expect(stdout).toContain('All 1 limits hold');
    stdout = '';
    expect(
      await checkCommand({
        file: SAMPLE,
        budget: write('tight.json', '{"commits": {"min": 3}, "web.idb.get": {"max": 2}}'),
      }),
    ).toBe(1);
    expect(stdout).toMatch(/1 of 2 limits broken/);
    expect(stdout).toMatch(/web\.idb\.get +3 +2 +BROKEN +above 2/);
    stdout = '';
    for (const [name, text, message] of [
      ['text.json', 'commits < 10', /isn't JSON/],
      ['shape.json', '{"commits": 10}', /expected an object/],
      ['path.json', '{"web.opfs.flush": {"max": 1}}', /no "flush" in web\.opfs; known: .*flushes/],
    ] as const) {
      stderr = '';
      expect(await checkCommand({ file: SAMPLE, budget: write(name, text) })).toBe(2);
      expect(stderr).toMatch(message);
      expect(stdout).toBe('');
    }
    for (const missing of [
      { file: SAMPLE, budget: join(folder, 'none.json') },
      { file: join(folder, 'none.vfst'), budget: good },
    ])
      await expect(checkCommand(missing)).rejects.toMatchObject({ exitCode: 2 });
  });
});
