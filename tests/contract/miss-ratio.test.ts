// The curve recorded with cache_size=0, compared with real caches of many sizes for the same
// statements.
import { afterEach, describe, expect, it } from 'vitest';
import { missRatioAt, type MissRatio } from '../../src/analysis/cache/miss-ratio.ts';
import { cutTo } from '../../src/analysis/report/cut.ts';
import { Op } from '../../src/event/event.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { some } from '../full.ts';
import { storeOf } from './helpers/store.ts';
import { Traced } from './helpers/traced.ts';
import { loadWaSqlite } from './helpers/wa-sqlite.ts';
import {
  cacheReport,
  connectionCaches,
  findingsOf,
  missRatiosOf,
  pagesOf,
} from '../traces/analyses.ts';

let traced: Traced | undefined;
afterEach(() => traced?.restore());

const ROWS = 30_000;
const FILL = `CREATE TABLE t(id INTEGER PRIMARY KEY, k INT, b TEXT);
  WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM c WHERE x<${ROWS})
  INSERT INTO t SELECT x, (x*7919)%${ROWS}, printf('%050d',x) FROM c; CREATE INDEX tk ON t(k);`;

type Load = (i: number, u: number) => string;
const zipf: Load = (_, u) => `SELECT b FROM t WHERE id=${Math.floor(ROWS * u ** 6) + 1}`;
const mixed: Load = (i, u) =>
  i % 8 === 0
    ? `SELECT sum(k) FROM t WHERE k BETWEEN ${Math.floor(u * 29_000)} AND ${Math.floor(u * 29_000) + 500}`
    : zipf(i, u);

/** A fresh engine: fills, then runs the load with one cache size. Range: only the load. */
async function run(
  load: Load,
  cacheSize: number | string,
): Promise<{ store: TraceStore; range: { fromUs: number } }> {
  traced?.restore();
  const t = (traced = new Traced());
  const { sqlite3 } = await loadWaSqlite('journey-sync');
  const db = await sqlite3.open_v2('app.db');
  await sqlite3.exec(db, FILL);
  await sqlite3.close(db);
  const again = await sqlite3.open_v2('app.db');
  await sqlite3.exec(again, `PRAGMA cache_size=${cacheSize}; SELECT count(*) FROM sqlite_schema`);
  const mark = t.mark();
  let seed = 42;
  for (let i = 0; i < 1700; i++) {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    await sqlite3.exec(again, load(i, seed / 2 ** 32));
  }
  const first = t.since(mark)[0]!;
  const store = storeOf(t);
  return {
    store,
    range: { fromUs: store.threads[0]!.events.t0[store.threads[0]!.events.rowOfSeq(first.seq)]! },
  };
}
const curveOf = ({ store, range }: Awaited<ReturnType<typeof run>>): MissRatio =>
  missRatiosOf(cutTo(store, [[range.fromUs, Infinity]]).store)[0]!;

const LOADS = [
  ['ranges mixed in', mixed],
  ['point reads', zipf],
] as const;
describe.each(some(LOADS))('%s', (_, load) => {
  it('the curve is within one point of the measured hit rates, from 20 pages up', async () => {
    const all = await run(load, 0);
    const curve = curveOf(all);
    expect(curve.kind).toBe('exact');
    expect(connectionCaches(all.store, all.range)[0]).toMatchObject({
      hits: 0,
      misses: curve.requests,
    });
    for (const size of [20, 30, 50, 100, 200, 400]) {
      const at = await run(load, size);
      const measured = connectionCaches(at.store, at.range)[0]!;
      expect(measured.hits + measured.misses, `requests at ${size}`).toBe(curve.requests);
      // every miss is a page read, and there are no other page reads
      expect(pagesOf(at.store, at.range)[0]!.reads).toBe(measured.misses);
      const wrong = Math.abs(missRatioAt(curve, size)! - (1 - measured.hitRate!));
      expect(
        wrong,
        `cache_size=${size}: ${missRatioAt(curve, size)} against ${1 - measured.hitRate!}`,
      ).toBeLessThan(0.01);
      const bound = curveOf(at);
      expect(bound.kind).toBe('at most');
      // without the first statement, whose counters have no earlier ones to compare with
      expect(bound.seenShare).toBeCloseTo(measured.misses / curve.requests, 2);
    }
    // the recommended size keeps its promise, also in KiB
    const goal = curve.goal!;
    const tried = await run(load, -goal.kib!);
    const reached = connectionCaches(tried.store, tried.range)[0]!;
    expect(Math.abs(reached.hitRate! - goal.hitRate)).toBeLessThan(0.015);
  }, 60_000);
});

const zipfByKey: Load = (_, u) => `SELECT b FROM t WHERE k=${Math.floor(ROWS * u ** 2) + 1}`;
const updates: Load = (i, u) =>
  i % 3 === 0 ? `UPDATE t SET k=k+1 WHERE id=${Math.floor(ROWS * u ** 3) + 1}` : zipfByKey(i, u);
const oneLarge: Load = (i, u) => (i === 300 ? "UPDATE t SET b = b || 'x'" : zipfByKey(i, u));

/** The results for a whole recording: its largest curve, and F11. */
function saidOf(store: TraceStore): { curve: MissRatio; advice: string | undefined } {
  const curve = missRatiosOf(store).find(({ connection }) => connection !== 0)!;
  return { curve, advice: findingsOf(store).find(({ rule }) => rule === 'F11')?.advice };
}

const SMALL = [
  ['reads by an index', zipfByKey, 100],
  ['updates between reads', updates, -1000],
  ['one large update', oneLarge, 30],
  ['point reads', zipf, 30],
  ['ranges mixed in', mixed, 30],
] as const;
describe.each(some(SMALL, 2))('%s through a small cache', (_, load, cacheSize) => {
  it('a larger one reads no more than predicted, and the advised one reads so few that F11 is silent', async () => {
    const { curve, advice } = saidOf((await run(load, cacheSize)).store);
    for (const size of [150, 300, 500]) {
      const said = missRatioAt(curve, size);
      if (said === null) continue;
      const { reads } = saidOf((await run(load, size)).store).curve;
      expect(reads, `cache_size=${size}`).toBeLessThanOrEqual(said * curve.requests + 0.5);
    }
    const set = /cache_size=(-\d+)/.exec(advice!)![1]!;
    const followed = saidOf((await run(load, set)).store);
    expect(followed.curve.reads).toBeLessThanOrEqual(curve.reads - curve.goal!.avoided);
    expect(followed.advice).toBeUndefined();
  }, 60_000);
});

it.each([
  [4096, 500, [192, 0]],
  [4096, 20, [192, 193]],
  [8192, 500, [96, 0]],
  [32768, 500, [23, 0]],
])(
  '20,000 rows summed up twice, pages of %i bytes and %i of them cached: misses of %j',
  async (pageSize, cacheSize, misses) => {
    const t = (traced = new Traced());
    const { sqlite3 } = await loadWaSqlite('journey-sync');
    const db = await sqlite3.open_v2('kv.db');
    await sqlite3.exec(
      db,
      `PRAGMA page_size=${pageSize}; CREATE TABLE kv(key TEXT, value REAL);
     WITH RECURSIVE n(i) AS (VALUES(0) UNION ALL SELECT i+1 FROM n WHERE i<19999)
     INSERT INTO kv SELECT printf('large-uuid-string-%08d', i), ((i*7919)%20000)/2.0 FROM n;`,
    );
    await sqlite3.close(db);
    const again = await sqlite3.open_v2('kv.db');
    await sqlite3.exec(again, `PRAGMA cache_size=${cacheSize}; SELECT 1 FROM kv LIMIT 1`);
    const marks = [];
    for (let i = 0; i < 2; i++) {
      marks.push(t.mark());
      await sqlite3.exec(again, 'SELECT sum(value) FROM kv');
    }
    const store = storeOf(t);
    const { events } = store.threads[0]!;
    const from = marks.map((mark) => events.t0[events.rowOfSeq(t.since(mark)[0]!.seq)]!);
    for (const [i, range] of [{ fromUs: from[0], toUs: from[1] }, { fromUs: from[1] }].entries()) {
      expect(connectionCaches(store, range)[0]!.misses, `sum ${i + 1}`).toBe(misses[i]);
      expect(pagesOf(store, range)[0]?.reads ?? 0, `sum ${i + 1}`).toBe(misses[i]);
    }
  },
);

it('the counters and the page reads agree for any statements', async () => {
  const { store } = await run(mixed, 40);
  const thread = store.threads[0]!;
  const pageReads = pagesOf(store)[0]!.reads;
  let calls = 0;
  for (let row = 0; row < thread.events.count; row++)
    if (thread.events.op[row] === Op.xRead && thread.events.length[row] === 4096) calls++;
  expect(pageReads).toBe(calls);
  expect(cacheReport(store).pageCache!.misses).toBe(pageReads);
});
