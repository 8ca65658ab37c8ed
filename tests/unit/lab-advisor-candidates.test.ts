// Candidates of the Lab's index advisor, from statements and a schema: what is used, and what is
// ignored.
import { describe, expect, it } from 'vitest';
import { candidatesOf } from '../../src/lab/advisor/candidates.ts';
import { readSchema, type Schema } from '../../src/lab/advisor/schema.ts';
import { usesOf } from '../../src/lab/advisor/uses.ts';
import { nodeSurroundings } from '../../src/lab/command/node.ts';

const { sqlite3 } = await nodeSurroundings().engines.open(
  { engine: 'wa-sqlite-2.0.6', build: 'sync' },
  'none',
);
async function schemaOf(ddl: string): Promise<Schema> {
  const db = await sqlite3.open_v2(':memory:');
  await sqlite3.exec(db, ddl);
  const schema = await readSchema(async (sql) => {
    const rows: unknown[][] = [];
    await sqlite3.exec(db, sql, (row) => void rows.push(row));
    return rows;
  });
  await sqlite3.close(db);
  return schema;
}
const schema = await schemaOf(`
CREATE TABLE note(id INTEGER PRIMARY KEY, folder INT, title TEXT, updated INT, body TEXT);
CREATE TABLE folder(id TEXT PRIMARY KEY, name TEXT, "Sort Order" INT);
CREATE TABLE tag(note INT, name TEXT, PRIMARY KEY(note, name)) WITHOUT ROWID;
CREATE TABLE done(a INT, b INT, c INT); CREATE INDEX done_a_b ON done(a, b); CREATE INDEX done_c ON done(c) WHERE b > 0;
CREATE VIEW alive AS SELECT n.id, n.title AS heading, n.folder AS place, n.updated FROM note n WHERE n.body IS NOT NULL;
CREATE VIRTUAL TABLE search USING fts5(text);`);

/** Columns of the candidates of one statement, each as `table(a, b DESC)`. */
function found(sql: string): string[] {
  const uses = usesOf(sql, schema);
  const { candidates } = candidatesOf(schema, [{ tables: uses!.tables, weight: 1 }]);
  return candidates.map(({ sql }) => /ON (.*);$/.exec(sql)![1]!);
}

describe('what a statement uses', () => {
  it.each<[string, string[]]>([
    ['SELECT * FROM note WHERE folder = ?', ['note(folder)']],
    ['SELECT * FROM note AS n WHERE ?1 = n.folder', ['note(folder)']],
    ['SELECT * FROM main.note n WHERE n."folder" IN (?, ?)', ['note(folder)']],
    [
      'SELECT * FROM note WHERE (folder = ? AND (title = ?)) AND updated > ?',
      [
        'note(folder, title)',
        'note(folder, title, updated)',
        'note(folder)',
        'note(title)',
        'note(updated)',
        'note(folder, updated)',
        'note(title, updated)',
      ],
    ],
    ['SELECT * FROM note WHERE updated BETWEEN ? AND ?', ['note(updated)']],
    [
      'SELECT * FROM note WHERE folder = ? ORDER BY updated DESC LIMIT ?',
      ['note(folder)', 'note(folder, updated)'],
    ],
    ['SELECT * FROM note ORDER BY folder, updated DESC', ['note(folder, updated DESC)']],
    ['SELECT * FROM note ORDER BY updated DESC, folder DESC', ['note(updated, folder)']],
    ['SELECT folder, count(*) FROM note GROUP BY 1', ['note(folder)']],
    ['SELECT DISTINCT title FROM note', ['note(title)']],
    ['SELECT max(updated) FROM note', ['note(updated)']],
    ['SELECT * FROM note ORDER BY title COLLATE NOCASE', ['note(title COLLATE NOCASE)']],
    ['SELECT * FROM note WHERE title GLOB ?', ['note(title)']],
    ['SELECT * FROM note WHERE folder = ? OR folder = ?', ['note(folder)']],
    ['SELECT * FROM folder WHERE "Sort Order" = ?', ['folder("Sort Order")']],
    ['SELECT * FROM folder WHERE [sort order] < ?', ['folder("Sort Order")']],
    ['SELECT * FROM note WHERE (folder, updated) > (?, ?)', ['note(folder)']],
    ['UPDATE note SET body = ? WHERE title = ?', ['note(title)']],
    ['UPDATE OR IGNORE note AS n SET body = ? WHERE n.title = ?', ['note(title)']],
    ['DELETE FROM note WHERE folder = ?', ['note(folder)']],
    ['SELECT * FROM tag WHERE name = ?', ['tag(name)']],
  ])('%s', (sql, expected) => expect(found(sql).sort()).toEqual([...expected].sort()));

  it('a join, by ON and by USING', () => {
    expect(
      found('SELECT * FROM folder f LEFT JOIN note n ON n.folder = f.id WHERE f.name = ?'),
    ).toEqual(expect.arrayContaining(['note(folder)', 'folder(name)']));
    expect(found('SELECT * FROM tag JOIN folder USING (name)')).toEqual(
      expect.arrayContaining(['tag(name)', 'folder(name)']),
    );
  });
  it('subqueries, common table expressions, and views, down to their tables', () => {
    expect(found('SELECT heading FROM alive WHERE place = ? ORDER BY updated')).toEqual(
      expect.arrayContaining(['note(folder)', 'note(folder, updated)']),
    );
    expect(found('WITH x(p) AS (SELECT folder FROM note) SELECT * FROM x WHERE p = ?')).toEqual([
      'note(folder)',
    ]);
    expect(
      found(
        'SELECT * FROM (SELECT title AS t FROM note UNION ALL SELECT name FROM tag) WHERE t = ?',
      ),
    ).toEqual(expect.arrayContaining(['note(title)', 'tag(name)']));
    expect(
      found('SELECT name FROM folder f WHERE EXISTS (SELECT 1 FROM note WHERE folder = f.id)'),
    ).toEqual(expect.arrayContaining(['note(folder)']));
    expect(
      found(
        'WITH RECURSIVE up(id) AS (SELECT ? UNION SELECT n.folder FROM note n JOIN up ON n.title = up.id) SELECT * FROM up',
      ),
    ).toEqual(['note(title)']);
  });
});

describe('what it ignores', () => {
  it.each([
    'SELECT * FROM note WHERE id = ?',
    'SELECT * FROM note WHERE rowid > ?',
    'SELECT * FROM note WHERE lower(title) = ?',
    'SELECT * FROM note WHERE +folder = ?',
    'SELECT * FROM note WHERE folder <> ? AND title IS NOT NULL AND updated NOT IN (?, ?)',
    'SELECT * FROM note WHERE folder = ? OR title = ?',
    'SELECT * FROM note WHERE folder = updated',
    'SELECT * FROM folder WHERE id = ?',
    'SELECT * FROM tag WHERE note = ?',
    'SELECT * FROM done WHERE a = ? AND b = ?',
    'SELECT * FROM done WHERE a = ? ORDER BY b DESC',
    'SELECT * FROM search WHERE text = ?',
    'SELECT * FROM nowhere WHERE a = ?',
    'SELECT * FROM json_each(?) WHERE value = ?',
    'SELECT title IS DISTINCT FROM ? FROM note',
  ])('%s', (sql) => expect(found(sql).filter((one) => one !== 'done(b)')).toEqual([]));

  it("a partial index doesn't serve other statements", () =>
    expect(found('SELECT * FROM done WHERE c = ?')).toEqual(['done(c)']));
  it("changes to no stored row, several statements, and text that isn't SQL", () => {
    expect(usesOf('INSERT INTO note(title) VALUES (?)', schema)!.tables).toEqual([]);
    expect(usesOf('PRAGMA page_size', schema)).toBeNull();
    expect(() => usesOf('SELECT 1; SELECT 2', schema)).toThrow(/several statements/);
    expect(() => usesOf('SELECT (1', schema)).toThrow(/not closed/);
  });
});

describe('statements that a change fires', () => {
  const FIRED = `
CREATE TABLE author(id INTEGER PRIMARY KEY, name TEXT UNIQUE, kind INT);
CREATE TABLE book(id INTEGER PRIMARY KEY, author INT REFERENCES author ON DELETE CASCADE, title TEXT);
CREATE TABLE page(book INT REFERENCES book(id), n INT);
CREATE TABLE alias(of TEXT REFERENCES author(name), other TEXT);
CREATE TABLE log(kind INT, title TEXT);
CREATE VIEW titles AS SELECT title FROM book;
CREATE TRIGGER kinds AFTER UPDATE OF kind ON author WHEN NEW.kind <> OLD.kind BEGIN
  UPDATE log SET kind = CASE WHEN NEW.kind > 1 THEN NEW.kind ELSE 0 END WHERE kind = OLD.kind; SELECT 1; END;
CREATE TRIGGER titled AFTER INSERT ON book BEGIN
  DELETE FROM log WHERE title = NEW.title; INSERT INTO log(title) SELECT name FROM author WHERE kind = NEW.author; END;
CREATE TRIGGER logged AFTER DELETE ON log BEGIN UPDATE book SET title = OLD.title WHERE title = OLD.title; END;
CREATE TRIGGER untitled INSTEAD OF DELETE ON titles BEGIN DELETE FROM page WHERE n = OLD.title; END;`;
  const uses = async (sql: string, foreignKeys: boolean): Promise<string[]> =>
    usesOf(sql, await schemaOf(FIRED), foreignKeys)!
      .tables.filter(({ fired }) => fired)
      .flatMap(({ table, equal }) => equal.map(({ column }) => `${table.name}.${column}`));
  it.each<[string, string[], string[]]>([
    ['DELETE FROM author WHERE id = ?', [], ['book.author', 'page.book', 'alias.of']],
    ['UPDATE author SET name = ? WHERE id = ?', [], ['alias.of']],
    ['UPDATE author SET kind = ? WHERE id = ?', ['log.kind'], []],
    ['UPDATE author SET id = ? WHERE id = ?', [], ['book.author']],
    ['INSERT INTO book(title) VALUES (?)', ['log.title', 'book.title', 'author.kind'], []],
    ['DELETE FROM titles WHERE title = ?', ['page.n'], []],
    ['DELETE FROM page', [], []],
    ['SELECT * FROM author', [], []],
  ])('%s', async (sql, byTriggers, byForeignKeys) => {
    expect(await uses(sql, false)).toEqual(byTriggers);
    expect((await uses(sql, true)).sort()).toEqual([...byTriggers, ...byForeignKeys].sort());
  });
});

it('names are unused ones, and the number of candidates is limited', () => {
  const wide = usesOf(
    `SELECT * FROM note WHERE ${['folder', 'title', 'updated', 'body'].map((c) => `${c} = ?`).join(' AND ')}`,
    schema,
  )!;
  const twice = { ...schema, names: new Set(['note_folder_idx']) };
  const { candidates } = candidatesOf(twice, [{ tables: wide.tables, weight: 3 }]);
  expect(candidates.map(({ name }) => name)).toContain('note_folder_idx2');
  expect(candidates.every(({ weight }) => weight === 3)).toBe(true);
});

it('parameters are compared with columns', () => {
  const { parameters } = usesOf(
    'UPDATE note SET body = ? WHERE folder = :f AND updated BETWEEN ?3 AND ? AND lower(title) = ? AND title LIKE ?',
    schema,
  )!;
  expect(parameters.map(({ beside, role }) => [beside?.column, role])).toEqual([
    ['body', 'equal'],
    ['folder', 'equal'],
    ['updated', 'from'],
    ['updated', 'to'],
    ['title', 'equal'],
    ['title', 'pattern'],
  ]);
  const limits = usesOf('SELECT ?, title FROM note LIMIT ? OFFSET ?', schema)!.parameters;
  expect(limits.map(({ role }) => role)).toEqual(['unknown', 'limit', 'offset']);
});
