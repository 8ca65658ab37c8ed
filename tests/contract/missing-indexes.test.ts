/**
 * The confidence of F50 to F52 on a real engine: what no index can speed up isn't a likely fault,
 * although SQLite's counters are the same.
 */
import { afterEach, expect, it } from 'vitest';
import { findingsOf } from '../traces/analyses.ts';
import { storeOf } from './helpers/store.ts';
import { Traced } from './helpers/traced.ts';
import { loadWaSqlite } from './helpers/wa-sqlite.ts';

const open: Traced[] = [];
afterEach(() => {
  for (const t of open.splice(0)) t.restore();
});

const ROWS = 600;
const TABLES = 150;
const SETUP = `PRAGMA foreign_keys=ON; CREATE TABLE notes(id INTEGER PRIMARY KEY, name, part, size); CREATE TABLE tags(note, name);
  CREATE TABLE log(note); CREATE TABLE added(name);
  CREATE TRIGGER seen AFTER INSERT ON added BEGIN UPDATE notes SET size = size + 1 WHERE name = new.name; END;
  CREATE TABLE folders(id INTEGER PRIMARY KEY); CREATE TABLE files(folder REFERENCES folders(id), name);
  WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < ${ROWS})
    INSERT INTO notes SELECT i, 'n' || i, i % 50, i * 7 % 13 FROM c;
  INSERT INTO tags SELECT name, id FROM notes;
  INSERT INTO folders SELECT id FROM notes; INSERT INTO files SELECT 600, name FROM notes;
  CREATE VIEW parts AS SELECT part, count(*) AS n FROM notes GROUP BY part;
  CREATE VIRTUAL TABLE texts USING fts5(body); INSERT INTO texts SELECT name || ' all' FROM notes;
  ${Array.from({ length: TABLES }, (_, i) => `CREATE TABLE other_${i}(a);`).join(' ')}`;
const RUNS = 12;

/** A query, and the findings for it. */
const QUERIES: Readonly<Record<string, readonly string[]>> = {
  'SELECT id FROM notes WHERE name = 7': ['F50 likely'],
  "SELECT id FROM notes WHERE lower(name) = 'n7'": ['F50 possible'],
  "SELECT id FROM notes WHERE name = 7 OR lower(name) = 'n7'": ['F50 possible'],
  "SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'other_7'": [],
  'WITH c AS MATERIALIZED (SELECT * FROM notes WHERE id > 0) SELECT * FROM c WHERE name = 7': [
    'F50 possible',
  ],
  'SELECT * FROM parts WHERE n > 1000': ['F50 possible', 'F52 possible'],
  'SELECT id FROM notes WHERE part = 7 EXCEPT SELECT id FROM notes WHERE size > 1000': [
    'F50 possible',
  ],
  'SELECT * FROM (SELECT id, row_number() OVER (PARTITION BY part ORDER BY size) AS r FROM notes) WHERE r = 1 AND id > 300':
    ['F50 possible', 'F52 possible'],
  'SELECT * FROM tags JOIN notes ON notes.name = tags.note WHERE tags.name < 50': ['F51 certain'],
  'SELECT a.id FROM notes a LEFT JOIN parts ON parts.part = a.size WHERE a.id < 300': [
    'F51 likely',
    'F52 possible',
  ],
  // what they change isn't returned, and by their steps it can't be much
  "UPDATE notes SET size = 0 WHERE name = 'n7'": ['F50 likely'],
  "DELETE FROM tags WHERE note = 'gone'": ['F50 likely'],
  "INSERT INTO log SELECT id FROM notes WHERE name = 'n7'": ['F50 likely'],
  'UPDATE notes SET size = 0 WHERE part = 7': [],
  'UPDATE notes SET size = 0 WHERE size >= 0': [],
  'INSERT INTO log SELECT id FROM notes WHERE part < 10': [],
  "INSERT INTO added VALUES('n7')": ['F50 possible'],
  'REPLACE INTO folders VALUES(7)': ['F50 possible'],
  'SELECT id FROM notes WHERE id > 1 ORDER BY name': ['F52 likely'],
  'SELECT n.id FROM notes n JOIN folders f ON f.id = n.id WHERE n.id > 1 ORDER BY n.part, n.name': [
    'F52 likely',
  ],
  'SELECT n.id FROM notes n JOIN folders f ON f.id = n.id WHERE n.id > 1 ORDER BY n.part, f.id': [
    'F52 possible',
  ],
  'SELECT part, count(*) AS n FROM notes WHERE id > 1 GROUP BY part ORDER BY n': ['F52 possible'],
  'SELECT id FROM notes WHERE id > 1 ORDER BY random() LIMIT 3': ['F52 possible'],
  "SELECT rowid FROM texts WHERE texts MATCH 'all' ORDER BY bm25(texts) LIMIT 3": ['F52 possible'],
};

it('what no index serves is possible at most, or not found', async () => {
  const t = new Traced({}, { salt: 1 });
  open.push(t);
  const { sqlite3 } = await loadWaSqlite('journey-sync');
  const found: Record<string, string[]> = {};
  const db = await sqlite3.open_v2('indexes.db');
  await sqlite3.exec(db, 'PRAGMA user_version');
  const opened = t.mark();
  await sqlite3.exec(db, SETUP);
  for (const sql of Object.keys(QUERIES)) {
    const from = t.mark();
    for (let i = 0; i < RUNS; i++) await sqlite3.exec(db, sql);
    // separately, because a rule names at most five statements
    const rows = [...t.all().slice(0, opened), ...t.since(from)];
    found[sql] = findingsOf(storeOf(t, rows)).flatMap(({ rule, confidence }) =>
      /^F5[012]$/.test(rule) ? [`${rule} ${confidence}`] : [],
    );
  }
  expect(found).toEqual(QUERIES);
});
