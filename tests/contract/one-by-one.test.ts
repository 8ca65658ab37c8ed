/**
 * F01 on a real engine: commits of a dozen pages for a full-text index, batches of rows, and the
 * calls that one transaction for all of them really makes.
 */
import { afterEach, expect, it } from 'vitest';
import { Op } from '../../src/event/event.ts';
import { opName } from '../../src/event/operations.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { findingContextOf, findingsOf } from '../traces/analyses.ts';
import { storeOf } from './helpers/store.ts';
import { Traced } from './helpers/traced.ts';
import { loadWaSqlite } from './helpers/wa-sqlite.ts';

const open: Traced[] = [];
afterEach(() => {
  for (const t of open.splice(0)) t.restore();
});

const SCHEMA = `CREATE TABLE notes(id INTEGER PRIMARY KEY, title, body, tag);
  CREATE INDEX notes_by_tag ON notes(tag, title);
  CREATE VIRTUAL TABLE search USING fts5(title, body, content='notes', content_rowid='id', prefix='2 3');
  CREATE TRIGGER added AFTER INSERT ON notes BEGIN
    INSERT INTO search(rowid, title, body) VALUES (new.id, new.title, new.body);
  END;`;
const words = (seed: number, n: number): string =>
  Array.from({ length: n }, (_, i) => `w${(seed * 7919 + i * 104_729) % 2000}`).join(' ');
const note = (i: number): string =>
  `INSERT INTO notes(title, body, tag) VALUES ('${words(i, 4)}', '${words(i + 5, 40)}', 't${i % 7}');`;
const NOTES = 60;
const APART = ['', ''] as const;
const TOGETHER = ['BEGIN;', 'COMMIT;'] as const;

const ROWS = `CREATE TABLE rows(id INTEGER PRIMARY KEY, body);`;
/** Writes about one page for each row. */
const batch = (rows: number) => (): string =>
  `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
   INSERT INTO rows(body) SELECT printf('%03000d', i) FROM n`;
const BATCHES = 30;

async function recorded(
  [before, after]: readonly [string, string],
  schema = SCHEMA,
  [one, times]: readonly [(i: number) => string, number] = [note, NOTES],
): Promise<TraceStore> {
  const t = new Traced({}, { salt: 1 });
  open.push(t);
  const { sqlite3 } = await loadWaSqlite('journey-sync');
  const first = await sqlite3.open_v2('app.db');
  await sqlite3.exec(first, `BEGIN; ${schema} COMMIT;`);
  await sqlite3.close(first);
  const db = await sqlite3.open_v2('app.db');
  await sqlite3.exec(db, before);
  for (let i = 0; i < times; i++) await sqlite3.exec(db, one(i));
  await sqlite3.exec(db, after);
  await sqlite3.close(db);
  return storeOf(t);
}

it('finds commits that write a full-text index, and predicts no call that one transaction makes', async () => {
  const [apart, together] = [await recorded(APART), await recorded(TOGETHER)];
  const found = findingsOf(apart).filter(({ rule }) => rule === 'F01');
  expect(found.map(({ title }) => title)).toEqual([
    expect.stringMatching(/^\d+ commits of up to 1\d pages each, one after another, on app\.db: /),
  ]);
  expect(findingsOf(together).filter(({ rule }) => rule === 'F01')).toEqual([]);
  const [{ confidence, evidence, avoids = [] }] = found as [(typeof found)[0]];
  expect(confidence).toBe('likely');
  expect(evidence.count).toBeGreaterThan(0.85 * NOTES);
  expect(avoids.length).toBeGreaterThan(5);
  const [a, b] = [apart, together].map(findingContextOf);
  for (const { op, kind, calls } of avoids) {
    const less = (a!.cost(op, kind)?.calls ?? 0) - (b!.cost(op, kind)?.calls ?? 0);
    // a few commits write more pages than are listed, and count for nothing
    expect(calls, `${kind} ${opName(op)}`).toBeLessThanOrEqual(less);
    expect(calls, `${kind} ${opName(op)}`).toBeGreaterThan(0.8 * less);
  }
});

/** Changes syncs in memory, which take no time, to take `us`. */
function syncsTake(us: number, store: TraceStore): TraceStore {
  for (const { events } of store.threads)
    for (let row = 0; row < events.count; row++)
      if (events.op[row] === Op.xSync) events.dur[row] = us;
  return store;
}

it("of batches predicts a commit's fixed calls, and is silent if they take little time", async () => {
  const fast = findingsOf(syncsTake(0.001, await recorded(APART, ROWS, [batch(400), BATCHES])));
  expect(fast.filter(({ rule }) => rule === 'F01')).toEqual([]);
  const of = [ROWS, [batch(40), BATCHES]] as const;
  const apart = syncsTake(1000, await recorded(APART, ...of));
  const together = await recorded(TOGETHER, ...of);
  const [found] = findingsOf(apart).filter(({ rule }) => rule === 'F01');
  expect(found!.title).toMatch(
    /^30 commits of up to 4\d pages each, one after another, on app\.db: /,
  );
  expect(found!.advice).toMatch(/^Put the 30 runs of "WITH RECURSIVE .*" in one transaction\.$/);
  expect(found!.confidence).toBe('likely');
  expect(findingsOf(together).filter(({ rule }) => rule === 'F01')).toEqual([]);
  const [a, b] = [apart, together].map(findingContextOf);
  const calls = (found!.avoids ?? []).map(({ op, kind, calls }) => {
    const less = (a!.cost(op, kind)?.calls ?? 0) - (b!.cost(op, kind)?.calls ?? 0);
    return [`${kind} ${opName(op)}`.trim(), calls, less] as const;
  });
  const fixed = BATCHES - 1;
  // it is unknown which of the journal's pages are written twice, because only headers are recorded
  for (const [name, predicted, less] of calls.filter(([name]) => name !== 'journal xWrite'))
    // more pages than fit in the page cache: some are written early, and then the journal syncs
    expect(predicted - less, name).toBeLessThanOrEqual(name === 'journal xSync' ? 2 : 0);
  expect(Object.fromEntries(calls.map(([name, predicted]) => [name, predicted]))).toMatchObject({
    'main-db xSync': fixed,
    'journal xSync': 2 * fixed,
    'journal xWrite': 2 * fixed,
    'journal xDelete': fixed,
  });
});

it('advises fewer transactions if a BEGIN opens them, and one for single statements', async () => {
  const inOne = (): string => `BEGIN; ${batch(2)()}; ${batch(3)()}; COMMIT;`;
  const advice = async (sql: () => string): Promise<string[]> =>
    findingsOf(syncsTake(1000, await recorded(APART, ROWS, [sql, BATCHES])))
      .filter(({ rule }) => rule === 'F01')
      .map((found) => found.advice);
  expect(await advice(inOne)).toEqual(['Commit several of these transactions as one.']);
  expect(await advice(batch(2))).toEqual([
    expect.stringMatching(/^Put the 30 runs of "WITH RECURSIVE .*" in one transaction\.$/),
  ]);
});
