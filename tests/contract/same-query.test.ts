/**
 * F55 on real engines: writes between two runs of a query count by table, including triggers, if
 * the trace shows them.
 */
import { afterEach, expect, it } from 'vitest';
import type { Confidence } from '../../src/analysis/rules/types.ts';
import { Rc } from '../../src/sqlite/constants.ts';
import { findingsOf } from '../traces/analyses.ts';
import { storeOf } from './helpers/store.ts';
import { Traced } from './helpers/traced.ts';
import { loadWaSqlite, type Build } from './helpers/wa-sqlite.ts';

const open: Traced[] = [];
afterEach(() => {
  for (const t of open.splice(0)) t.restore();
});

const SETUP = `CREATE TABLE notes(id INTEGER PRIMARY KEY, body); CREATE TABLE tags(note, name);
  CREATE INDEX tags_name ON tags(name); CREATE TABLE log(at); CREATE VIEW seen AS SELECT * FROM notes;
  CREATE VIEW seen_late AS SELECT * FROM notes WHERE strftime('%f') >= 0;
  CREATE TRIGGER logged AFTER INSERT ON log BEGIN UPDATE notes SET body = body + 1 WHERE id = 1; END;
  INSERT INTO notes VALUES(1, 1), (2, 2), (3, 3); INSERT INTO tags VALUES(1, 'a');
  CREATE TABLE tags_like(id INTEGER PRIMARY KEY, name); INSERT INTO tags_like VALUES(1, 'a');
  CREATE TABLE events(date, time); INSERT INTO events VALUES(1, 2);
  CREATE TABLE pairs(k PRIMARY KEY, v) WITHOUT ROWID; INSERT INTO pairs VALUES(1, 1), (2, 2);
  CREATE TABLE owners(id INTEGER PRIMARY KEY); CREATE TABLE owned(owner REFERENCES owners ON DELETE CASCADE);
  INSERT INTO owners SELECT value FROM json_each('[1,2,3,4,5,6,7,8,9,10,11,12,13]'); INSERT INTO owned SELECT id FROM owners`;
const NOTES = 'SELECT body FROM notes WHERE id > 1';
const TAG = "INSERT INTO tags VALUES(2, 'b')";
const TIMES = 12;

interface Story {
  name: string;
  query?: string;
  /** Statements between two runs. */
  between: readonly string[];
  /** Statements around all runs. */
  around?: readonly [string, string];
  /** Whether another connection runs the statements between. */
  other?: boolean;
  /** How often the query is found to have run again. */
  again: number;
  /** The finding's confidence, `likely` by default. */
  confidence?: Confidence;
}
const ALL = TIMES - 1;
const STORIES: readonly Story[] = [
  { name: 'nothing is written', between: [], again: ALL },
  { name: 'another table is written', between: [TAG], again: ALL },
  {
    name: 'its table is written',
    between: ['UPDATE notes SET body = body + 1 WHERE id = 2'],
    again: 0,
  },
  { name: 'a trigger writes its table', between: ['INSERT INTO log VALUES(1)'], again: 0 },
  {
    name: 'a join reads the other table',
    query: `${NOTES} AND id IN (SELECT note FROM tags)`,
    between: [TAG],
    again: 0,
  },
  {
    name: 'what a view reads is not known',
    query: 'SELECT body FROM seen WHERE id > 1',
    between: [TAG],
    again: 0,
  },
  {
    name: 'a view may change by itself',
    query: 'SELECT body FROM seen_late WHERE id > 1',
    between: [],
    again: ALL,
    confidence: 'possible',
  },
  {
    name: 'a pragma is set',
    query: 'SELECT cache_size FROM pragma_cache_size',
    between: ['PRAGMA cache_size=50', 'PRAGMA cache_size=60'],
    again: 0,
  },
  {
    name: 'a pragma changes what LIKE finds',
    query: "SELECT id FROM tags_like WHERE name LIKE 'A'",
    between: ['PRAGMA case_sensitive_like=1', 'PRAGMA case_sensitive_like=0'],
    again: 0,
  },
  {
    name: 'columns have the names of functions',
    query: 'SELECT date, "time" FROM events WHERE date = 1',
    between: [TAG],
    again: ALL,
  },
  {
    name: 'a function of its own changes by itself',
    query: 'SELECT date(1) FROM events WHERE date < julianday()',
    between: [],
    again: 0,
  },
  {
    name: 'a function of the app may change by itself',
    query: 'SELECT body FROM notes WHERE id > own_clock(1)',
    between: [],
    again: ALL,
    confidence: 'possible',
  },
  {
    name: 'functions of SQLite do not',
    query: 'SELECT max(abs(id)), count(*) FROM notes WHERE (id) IN (1, 2) AND lower(body) = 1',
    between: [],
    again: ALL,
  },
  {
    name: 'a table of an attached database',
    query: 'SELECT x FROM other.far',
    between: ['UPDATE other.far SET x = x + 1'],
    around: [
      "ATTACH 'other.db' AS other; CREATE TABLE other.far(x); INSERT INTO other.far VALUES(1)",
      'DETACH other',
    ],
    again: 0,
  },
  {
    name: 'a table of words to search for',
    query: "SELECT rowid FROM words WHERE words MATCH 'a'",
    between: ["INSERT INTO words VALUES('a b')"],
    around: ['CREATE VIRTUAL TABLE words USING fts5(text)', 'DROP TABLE words'],
    again: 0,
  },
  {
    name: 'a table without rowids',
    query: 'SELECT v FROM pairs WHERE k > 0',
    between: ['UPDATE pairs SET v = v + 1'],
    again: 0,
  },
  {
    name: 'a table without rowids, and another is written',
    query: 'SELECT v FROM pairs WHERE k > 0',
    between: [TAG],
    again: ALL,
  },
  {
    name: 'a foreign key changes its table',
    query: 'SELECT owner FROM owned WHERE owner > 0',
    between: ['DELETE FROM owners WHERE id = (SELECT max(id) FROM owners)'],
    around: ['PRAGMA foreign_keys=ON', 'PRAGMA foreign_keys=OFF'],
    again: 0,
  },
  {
    name: 'an update changes no row',
    between: ['UPDATE notes SET body = 5 WHERE id = 99'],
    again: ALL,
  },
  {
    name: 'one transaction writes another table',
    between: [TAG],
    around: ['BEGIN', 'COMMIT'],
    again: ALL,
  },
  {
    name: 'a transaction that is taken back',
    between: [TAG],
    around: ['BEGIN', 'ROLLBACK'],
    again: 0,
  },
  {
    name: 'the schema changes',
    between: ['CREATE TABLE IF NOT EXISTS later(x)', 'DROP TABLE later'],
    again: 0,
  },
  {
    name: 'what is written is a temporary table that stands before its table',
    between: ['BEGIN', 'INSERT INTO temp.notes VALUES(2, 1)', TAG, 'COMMIT'],
    around: ['CREATE TEMP TABLE notes(id, body)', 'DROP TABLE temp.notes'],
    again: 0,
  },
  {
    name: 'a temporary trigger writes such a table',
    between: [TAG],
    around: [
      `CREATE TEMP TABLE notes(id, body);
       CREATE TEMP TRIGGER noted AFTER INSERT ON main.tags BEGIN INSERT INTO notes VALUES(new.note, 1); END`,
      'DROP TABLE temp.notes',
    ],
    again: 0,
  },
  {
    name: 'what it asks is whether another connection wrote',
    query: 'SELECT data_version FROM pragma_data_version',
    between: [],
    again: 0,
  },
  { name: 'another connection writes another table', between: [TAG], other: true, again: ALL },
  {
    name: 'another connection writes its table',
    between: ['UPDATE notes SET body = body + 1 WHERE id = 2'],
    other: true,
    again: 0,
  },
  {
    name: 'transactions of the other one',
    between: ['BEGIN', TAG, 'COMMIT'],
    other: true,
    again: ALL,
  },
];

const cases = (['journey-sync', 'journey-async'] satisfies Build[]).flatMap((build) =>
  STORIES.map((story) => ({ build, ...story })),
);

it.each(cases)(
  '$build: $name',
  async ({ build, query = NOTES, between, around, other, again, confidence = 'likely' }) => {
    const t = new Traced({}, { salt: 12_345 });
    open.push(t);
    const { sqlite3 } = await loadWaSqlite(build);
    const db = await sqlite3.open_v2('same.db');
    sqlite3.create_function(db, 'own_clock', 1, 1, 0, (context) => sqlite3.result(context, 0));
    await sqlite3.exec(db, SETUP);
    const writer = other ? await sqlite3.open_v2('same.db') : db;
    if (around) await sqlite3.exec(db, around[0]);
    for (let i = 0; i < TIMES; i++) {
      await sqlite3.exec(db, query);
      for (const sql of between) await sqlite3.exec(writer, sql);
    }
    if (around) await sqlite3.exec(db, around[1]);
    const found = findingsOf(storeOf(t)).filter(({ rule }) => rule === 'F55');
    expect(found.reduce((sum, { evidence }) => sum + evidence.count, 0)).toBe(again);
    for (const each of found) expect(each.confidence).toBe(confidence);
  },
);

/** Queries whose values differ each time, in ways that are hard to detect. */
interface Different {
  name: string;
  sql: (i: number) => string;
  values: (i: number) => unknown[];
  /** How often it is found to have run again if they are the same. */
  same: number;
}
const DIFFERENT: readonly Different[] = [
  {
    name: 'a parameter behind the hundredth',
    sql: () => `SELECT body FROM notes WHERE id IN (${Array(150).fill('?').join(', ')})`,
    values: (i) => Array.from({ length: 150 }, (_, n) => (n === 140 ? i : -n)),
    same: ALL,
  },
  ...[600, 5000].map((length) => ({
    same: length < 1000 ? ALL : 0, // longer values are unknown
    name: `the middle of ${length} characters`,
    sql: () => 'SELECT body FROM notes WHERE body = ?',
    values: (i: number) => [`${'a'.repeat(length / 2)}${i % 10}${'a'.repeat(length / 2)}`],
  })),
  {
    name: 'a literal at the end of a long text',
    sql: (i) => `SELECT body FROM notes WHERE body IN (${"'abcdefgh', ".repeat(1000)}${i % 10})`,
    values: () => [],
    same: 0,
  },
];

it.each(DIFFERENT)('values differ: $name', async ({ sql, values, same }) => {
  const again = async (at: (i: number) => number): Promise<number> => {
    const t = new Traced({}, { salt: 12_345 });
    open.push(t);
    const { sqlite3 } = await loadWaSqlite('journey-sync');
    const db = await sqlite3.open_v2('same.db');
    await sqlite3.exec(db, SETUP);
    for (let i = 0; i < TIMES; i++)
      for await (const stmt of sqlite3.statements(db, sql(at(i)))) {
        sqlite3.bind_collection(stmt, values(at(i)));
        while ((await sqlite3.step(stmt)) === Rc.row);
      }
    const found = findingsOf(storeOf(t)).filter(({ rule }) => rule === 'F55');
    open.pop()!.restore();
    return found.reduce((sum, { evidence }) => sum + evidence.count, 0);
  };
  expect(await again((i) => i)).toBe(0);
  expect(await again(() => 3)).toBe(same);
});

it('an UPDATE with RETURNING and a DELETE are checked for full scans', async () => {
  const t = new Traced({}, { salt: 1 });
  open.push(t);
  const { sqlite3 } = await loadWaSqlite('journey-sync');
  const db = await sqlite3.open_v2('scan.db');
  await sqlite3.exec(
    db,
    `CREATE TABLE n(id INTEGER PRIMARY KEY, name);
     WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 600) INSERT INTO n SELECT i, 'n' || i FROM c`,
  );
  for (let i = 0; i < 3; i++) {
    await sqlite3.exec(db, "UPDATE n SET name = 'm' WHERE name = 'n77' RETURNING id");
    await sqlite3.exec(db, "DELETE FROM n WHERE name = 'n78'");
  }
  const titles = findingsOf(storeOf(t)).flatMap(({ rule, title }) =>
    rule === 'F50' ? [title] : [],
  );
  // sorted by the time that they took
  expect(titles.sort()).toEqual([
    '3 runs of "DELETE FROM n WHERE name = ?" scanned 1,795 rows and changed at most 16',
    '3 runs of "UPDATE n SET name = ? WHERE name = ? RETURNING id" scanned 1,795 rows for 1 result row',
  ]);
});
