// Tables that a query reads, found in its text.
import { expect, test } from 'vitest';
import { fingerprint } from '../../src/sqlite/sql-text.ts';
import { tablesRead } from '../../src/sqlite/tables-read.ts';

const TABLES = new Set(['notes', 'tags', 'note tags', 'late']);
const read = (sql: string): string[] | null => {
  const found = tablesRead(fingerprint(sql), (name) => TABLES.has(name));
  return found && [...found].sort();
};

test.each([
  ['SELECT * FROM notes', ['notes']],
  [
    'SELECT * FROM Notes n, "note tags" AS t WHERE n.id = t.note ORDER BY 1, 2',
    ['note tags', 'notes'],
  ],
  ['SELECT a, b FROM [notes] LEFT JOIN main.tags USING (a, b) GROUP BY a, b', ['notes', 'tags']],
  ['SELECT (SELECT max(id) FROM tags), x FROM notes', ['notes', 'tags']],
  ['SELECT * FROM (notes JOIN tags ON notes.id = tags.note)', ['notes', 'tags']],
  ['SELECT * FROM (SELECT id FROM notes WHERE id IN tags), tags', ['notes', 'tags']],
  ['SELECT * FROM notes WHERE id IN (SELECT note FROM tags)', ['notes', 'tags']],
  ['SELECT id FROM notes UNION ALL SELECT note FROM tags LIMIT 3', ['notes', 'tags']],
  [
    'WITH x(a, b) AS (SELECT a, b FROM notes), y AS (SELECT * FROM x) SELECT * FROM y, tags',
    ['notes', 'tags'],
  ],
  ['WITH RECURSIVE n(i) AS (VALUES(1) UNION SELECT i + 1 FROM n) SELECT i FROM n', []],
  // one of its names is also a table's, so the table counts as read
  ['WITH late AS (SELECT * FROM notes) SELECT * FROM late', ['late', 'notes']],
  ['SELECT value FROM notes, json_each(notes.tags)', ['notes']],
  ['SELECT * FROM notes WHERE a IS NOT DISTINCT FROM b', ['notes']],
  ["SELECT /* FROM hidden */ 'FROM other' FROM notes -- JOIN more", ['notes']],
] satisfies [string, string[]][])('%s', (sql, tables) => expect(read(sql)).toEqual(tables));

test.each([
  ['a view, or a table that is not known', 'SELECT * FROM some_view'],
  ['a view behind a comma', 'SELECT * FROM notes AS n, some_view'],
  ['a view inside IN', 'SELECT * FROM notes WHERE id IN some_view'],
  ['another schema', 'SELECT * FROM temp.notes'],
  ['a function that reads anything', "SELECT * FROM pragma_table_info('notes')"],
  ['a text in place of a name', "SELECT * FROM 'notes'"],
  ['a script', 'SELECT * FROM notes; SELECT * FROM tags'],
  [
    'a name that another query defines',
    'SELECT * FROM x UNION SELECT * FROM (WITH x AS (SELECT 1) SELECT * FROM x)',
  ],
])('not known: %s', (_, sql) => expect(read(sql)).toBeNull());
