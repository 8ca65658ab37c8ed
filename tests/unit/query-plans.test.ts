// Plans of recorded statements: on a copy of the schema they are those of the database itself,
// missing parts of the schema are named, and nothing in it runs.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { Facts } from '../../src/analysis/core/graph.ts';
import { recordedSchemas } from '../../src/analysis/statements/recorded-schema.ts';
import { statementTable } from '../../src/analysis/statements/statement-table.ts';
import { BUILDS, buildFor, loadSqlite, type SqliteBuild } from '../../src/plan/load-sqlite.ts';
import { Planner } from '../../src/plan/planner.ts';
import { lineFacts, runFacts } from '../../src/plan/plan-words.ts';
import { readSchema } from '../../src/plan/read-schema.ts';
import { SchemaCopy } from '../../src/plan/schema-copy.ts';
import type { SchemaSource } from '../../src/plan/schema-source.ts';
import type { StatementPlan } from '../../src/plan/types.ts';
import { opened } from '../../src/sqlite/folded-lists.ts';
import { namesIn, type PlanStep } from '../../src/sqlite/query-plan.ts';
import { schemaStatementOf, withStandIns } from '../../src/sqlite/schema-statement.ts';
import { statementsIn } from '../../src/sqlite/sql-text.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';

const wasmOf = (build: SqliteBuild): { wasmBinary: Uint8Array } => ({
  wasmBinary: readFileSync(createRequire(import.meta.url).resolve(`${build}/dist/wa-sqlite.wasm`)),
});
const wasm = wasmOf('wa-sqlite');

/** A database made by a script, its results, and its file. */
async function database(script: string): Promise<{
  rowsOf(sql: string): Promise<unknown[][]>;
  file(): Blob;
}> {
  const { sqlite3 } = await loadSqlite(wasm);
  const { MemoryVFS } = (await import('wa-sqlite/src/examples/MemoryVFS.js')) as unknown as {
    MemoryVFS: new () => { mapNameToFile: Map<string, { size: number; data: ArrayBuffer }> };
  };
  const vfs = new MemoryVFS();
  sqlite3.vfs_register(vfs as unknown as SQLiteVFS);
  const db = await sqlite3.open_v2('made.db', undefined, 'memory');
  await sqlite3.exec(db, script);
  return {
    async rowsOf(sql) {
      const rows: unknown[][] = [];
      await sqlite3.exec(db, sql, (row) => void rows.push(row));
      return rows;
    },
    file() {
      const { size, data } = vfs.mapNameToFile.get('made.db')!;
      return new Blob([data.slice(0, size)]);
    },
  };
}
async function copyOf(source: Partial<SchemaSource>): Promise<SchemaCopy> {
  const { sqlite3 } = await loadSqlite(wasm);
  return SchemaCopy.of(sqlite3, {
    ...{ from: 'page', database: 'made.db', statements: [], statistics: null },
    ...{ samples: false, foreignKeys: false, ...source },
  });
}
const textsOf = (script: string): SchemaSource['statements'] =>
  statementsIn(script).flatMap((sql) => {
    const statement = schemaStatementOf(sql);
    return statement ? [{ ...statement, sql }] : [];
  });
const stepsOf = async (copy: SchemaCopy, sql: string): Promise<readonly PlanStep[]> => {
  const explained = await copy.explain(sql);
  if ('refused' in explained) throw new Error(`${sql}: ${explained.refused}`);
  return explained.steps;
};

/** Tables whose statistics change plans: `kind` has two values, `code` one for each row. */
const SCHEMA = `
CREATE TABLE notes(id INTEGER PRIMARY KEY, kind TEXT NOT NULL DEFAULT 'plain', code TEXT, body, folder REFERENCES folders(id) ON DELETE CASCADE);
CREATE TABLE folders(id INTEGER PRIMARY KEY, name TEXT UNIQUE, parent);
CREATE TABLE tags(note, tag TEXT COLLATE NOCASE, PRIMARY KEY(tag, note)) WITHOUT ROWID;
CREATE TABLE "odd name"(a, "b c", CHECK (a IN (1, 2, 3)));
CREATE INDEX notes_kind ON notes(kind, body);
CREATE INDEX notes_code ON notes(code DESC);
CREATE INDEX notes_lower ON notes(lower(body));
CREATE INDEX notes_plain ON notes(folder) WHERE kind = 'plain';
CREATE INDEX "odd index" ON "odd name"("b c");
CREATE VIEW pinned AS SELECT n.id, f.name FROM notes n JOIN folders f ON f.id = n.folder WHERE n.kind = 'pinned';
CREATE TRIGGER notes_gone AFTER DELETE ON notes BEGIN DELETE FROM tags WHERE note = old.id; END;
`;
const ROWS = `
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
  INSERT INTO notes SELECT i, iif(i % 2, 'plain', 'pinned'), 'c' || i, 'Body ' || (i % 50), i % 20 FROM n;
INSERT INTO folders SELECT DISTINCT folder, 'f' || folder, NULL FROM notes;
INSERT INTO tags SELECT id, 'tag' || (id % 9) FROM notes;
`;
const TURNED = 'SELECT * FROM notes WHERE kind = ? AND body = ? AND code = ?';
const STATEMENTS = [
  'SELECT * FROM notes',
  TURNED,
  'SELECT body FROM notes WHERE kind = ?',
  'SELECT id FROM notes WHERE lower(body) = ?',
  'SELECT id FROM notes WHERE folder = ?',
  "SELECT id FROM notes WHERE folder = ? AND kind = 'plain'",
  'SELECT n.id, f.name FROM notes AS n JOIN folders f ON n.folder = f.id WHERE f.name = ? ORDER BY n.code',
  'SELECT * FROM notes JOIN folders ON notes.body = folders.parent WHERE notes.kind = ?',
  'SELECT kind, count(*) FROM notes GROUP BY kind ORDER BY 2',
  'SELECT DISTINCT body FROM notes ORDER BY folder LIMIT ?',
  'SELECT * FROM pinned WHERE name = ?',
  'SELECT note FROM tags WHERE tag = ? UNION SELECT id FROM notes WHERE code > ?',
  'SELECT * FROM notes WHERE id IN (?, ?, ?) OR code = ?',
  'SELECT * FROM notes WHERE id IN (SELECT note FROM tags WHERE tag = ?)',
  'SELECT a FROM "odd name" WHERE "b c" = ?',
  'WITH RECURSIVE up(id) AS (SELECT ? UNION SELECT parent FROM folders JOIN up USING(id)) SELECT * FROM up JOIN folders USING(id)',
  'UPDATE notes SET body = ? WHERE code = ?',
  'INSERT INTO notes(kind, code) SELECT kind, code FROM notes WHERE folder = ?',
  'INSERT INTO notes VALUES (?, ?, ?, ?, ?)',
  'DELETE FROM folders WHERE parent = ?',
  'SELECT value FROM json_each(?) JOIN notes ON notes.id = value',
];

describe("a plan on the copied schema is the database's", () => {
  it.each([
    ['without statistics', '', false],
    ['with sqlite_stat1', 'ANALYZE;', false],
    ['where foreign keys are checked', 'ANALYZE; PRAGMA foreign_keys=on;', true],
  ])('%s', async (_, last, foreignKeys) => {
    const { rowsOf, file } = await database(SCHEMA + ROWS + last);
    const read = await readSchema(wasm, { main: file(), wal: null });
    expect(read.statistics === null).toBe(last === '');
    const copy = await copyOf({ ...read, foreignKeys });
    for (const sql of STATEMENTS) {
      const expected = (await rowsOf(`EXPLAIN QUERY PLAN ${sql}`)).map(
        ([id, parent, , detail]) => ({
          ...{ id, parent, detail },
        }),
      );
      expect([sql, await stepsOf(copy, sql)]).toEqual([sql, expected]);
    }
    expect((await rowsOf('SELECT count(*) FROM notes'))[0]).toEqual([3000]);
  });

  it('statistics change one of these plans', async () => {
    const plans: string[] = [];
    for (const last of ['', 'ANALYZE;']) {
      const { file } = await database(SCHEMA + ROWS + last);
      const copy = await copyOf(await readSchema(wasm, { main: file(), wal: null }));
      plans.push((await stepsOf(copy, TURNED)).map(({ detail }) => detail).join());
    }
    expect(plans[0]).not.toBe(plans[1]);
  });
});

describe('what a schema may do', () => {
  it('is creating tables, indexes, and views, and nothing else', async () => {
    const copy = await copyOf({
      statements: textsOf(`
CREATE TABLE t(a, b DEFAULT (hostile()), CHECK (checked(a) > 0));
CREATE TRIGGER t_gone AFTER DELETE ON t BEGIN SELECT 1; DELETE FROM t; END;
CREATE VIRTUAL TABLE found USING fts5(body);
CREATE VIRTUAL TABLE other USING no_such_module(body);
CREATE TABLE made AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n;
CREATE TABLE broken(a, b;
CREATE INDEX nowhere ON missing(a);
CREATE VIEW v AS SELECT t.a FROM t, missing;
CREATE TABLE sqlite_forged(a);
`),
    });
    expect([...copy.names.keys()].sort()).toEqual(['t', 'v']);
    expect(copy.leftOut.map(({ cause, statement }) => `${cause}: ${statement.name}`)).toEqual([
      'trigger: t_gone',
      'virtual table: found',
      'virtual table: other',
      'query: made',
      'refused: broken',
      'refused: nowhere',
      'refused: sqlite_forged',
    ]);
    expect(await copy.explain('SELECT a FROM v')).toEqual({
      refused: 'no such table: main.missing',
    });
    expect(await copy.explain('SELECT own(a) FROM t')).toMatchObject({ standIns: ['own'] });
    await copy.close();
  });

  it.each([
    "CREATE TABLE a(b); ATTACH 'x.db' AS x",
    'CREATE TABLE a(b); PRAGMA writable_schema=on',
    'CREATE TABLE a(b); INSERT INTO a VALUES (1)',
  ])('one text is one statement: %s', async (sql) => {
    const copy = await copyOf({ statements: [{ ...textsOf('CREATE TABLE a(b)')[0]!, sql }] });
    expect(copy.leftOut.map(({ cause }) => cause)).toEqual(['refused']);
    expect(copy.size).toBe(0);
  });

  it("a plan never runs the statement, and can't contain another one", async () => {
    const copy = await copyOf({ statements: textsOf('CREATE TABLE t(a); CREATE TABLE u(a)') });
    await stepsOf(copy, 'INSERT INTO t VALUES (1)');
    await stepsOf(copy, 'DELETE FROM t');
    expect(await copy.explain('SELECT 1; DROP TABLE t')).toHaveProperty('refused');
    expect(await copy.explain("SELECT load_extension('x') FROM t")).toHaveProperty('standIns');
    expect((await stepsOf(copy, 'SELECT * FROM t'))[0]).toMatchObject({ detail: 'SCAN t' });
  });

  it('views of views that grow without end are stopped', async () => {
    const views = Array.from(
      { length: 40 },
      (_, i) => `CREATE VIEW v${i + 1} AS SELECT x.a FROM v${i} x, v${i} y;`,
    );
    const copy = await copyOf({
      statements: textsOf(`CREATE TABLE v0(a); ${views.join('\n')}`),
    });
    expect(await copy.explain('SELECT * FROM v40')).toHaveProperty('refused');
  }, 30_000);

  it('a file whose statistics are a view gives none', async () => {
    const { rowsOf, file } = await database('CREATE TABLE t(a); CREATE TABLE stat(a)');
    await rowsOf(`PRAGMA writable_schema=on;
      UPDATE sqlite_schema SET type='view', name='sqlite_stat1', tbl_name='sqlite_stat1', rootpage=0,
        sql='CREATE VIEW sqlite_stat1 AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT i tbl, i idx, i stat FROM n' WHERE name='stat'`);
    const read = await readSchema(wasm, { main: file(), wal: null });
    expect(read).toMatchObject({ statistics: null, samples: false });
    expect(read.statements.map(({ name }) => name)).toEqual(['t']);
  });

  it("a file that isn't a database is rejected with the cause", async () => {
    await expect(
      readSchema(wasm, { main: new Blob([new Uint8Array(8192).fill(7)]), wal: null }),
    ).rejects.toThrow(/can't read the schema of this copy: .*not a database/);
  });
});

describe('SQL text', () => {
  it('a schema statement is recognized by its words', () => {
    const of = (sql: string): unknown[] => {
      const found = schemaStatementOf(sql);
      return found ? [found.verb, found.what, found.schema, found.name, found.table] : [];
    };
    expect(of('CREATE TABLE IF NOT EXISTS "a ""b"""(c)')).toEqual([
      'create',
      'table',
      null,
      'a "b"',
      null,
    ]);
    expect(of('/* 1 */ create unique index aux.[i j] on t (a)')).toEqual([
      'create',
      'index',
      'aux',
      'i j',
      't',
    ]);
    expect(of('DROP VIEW IF EXISTS v')).toEqual(['drop', 'view', null, 'v', null]);
    expect(of("ALTER TABLE 't' ADD COLUMN c")).toEqual(['alter', 'table', null, 't', null]);
    expect(of('CREATE TRIGGER x AFTER INSERT ON t BEGIN SELECT 1; END')).toEqual([
      'create',
      'trigger',
      null,
      'x',
      't',
    ]);
    expect(of('SELECT 1')).toEqual([]);
    expect(schemaStatementOf('CREATE TABLE a AS SELECT 1')).toMatchObject({ fromQuery: true });
    expect(schemaStatementOf('CREATE VIRTUAL TABLE f USING FTS5(a)')).toMatchObject({
      what: 'virtual table',
      module: 'fts5',
    });
  });

  it('a script is split into its statements, a trigger with its body', () => {
    expect(
      statementsIn(
        "SELECT ';'; CREATE TRIGGER x AFTER INSERT ON t BEGIN SELECT 1; END; -- end\n SELECT 2; -- none",
      ),
    ).toEqual([
      "SELECT ';'",
      'CREATE TRIGGER x AFTER INSERT ON t BEGIN SELECT 1; END',
      '-- end\n SELECT 2',
    ]);
  });

  it('folded lists expand, and folded values get their own placeholders', () => {
    expect(opened('SELECT 1 FROM t WHERE a IN (?, ...); ')).toBe(
      'SELECT 1 FROM t WHERE a IN (?, ?, ?)',
    );
    expect(opened('INSERT INTO t VALUES (?, ?), ...')).toBe('INSERT INTO t VALUES (?, ?)');
    expect(withStandIns('CREATE TABLE t(a VARCHAR(?) DEFAULT ?)')).toEqual({
      sql: 'CREATE TABLE t(a VARCHAR(1000001) DEFAULT 1000002)',
      folded: true,
    });
    expect(withStandIns('CREATE VIEW v AS SELECT a FROM t ORDER BY ?').sql).toBe(
      'CREATE VIEW v AS SELECT a FROM t ORDER BY +1000001',
    );
    expect(withStandIns('CREATE INDEX i ON t(a)').folded).toBe(false);
  });

  it('a line names its table, or an alias, and its index', () => {
    const known = ['notes', 'n', 'odd name'];
    const of = (detail: string): unknown[] => Object.values(namesIn(detail, known));
    expect(of('SCAN notes')).toEqual(['notes', null, false]);
    expect(of('SCAN odd name USING INDEX odd index')).toEqual(['odd name', 'odd index', false]);
    expect(of('SEARCH n USING COVERING INDEX by_x (x=? AND y>?) LEFT-JOIN')).toEqual([
      'n',
      'by_x',
      true,
    ]);
    expect(of('SEARCH n USING AUTOMATIC COVERING INDEX (x=?)')).toEqual(['n', null, false]);
    expect(of('SEARCH n USING INTEGER PRIMARY KEY (rowid=?)')).toEqual(['n', null, false]);
    expect(of('USE TEMP B-TREE FOR ORDER BY')).toEqual([null, null, false]);
  });
});

/**
 * An app that creates its schema, fills it, and scans it three times, each time reading 19 rows of
 * 4 pages to find one.
 * @param attached path of another database that its connection reads
 */
function recorded(
  more: readonly string[] = [],
  last = 'SELECT * FROM notes n WHERE code = ?',
  sqliteVersion: string | null = null,
  attached: string | null = null,
): TraceStore {
  const store = newStore();
  const t = new ThreadBuilder(store);
  t.say({
    ...{ kind: 'engine', id: 999, name: 'wa-sqlite', sqliteVersion, sourceId: null, note: null },
    ...{ suspension: 'none', layers: { vfs: true, sql: true, counters: true } },
  });
  const file = t.file('/made.db');
  const other = attached === null ? null : t.file(attached);
  let instance = 0;
  const run = (text: string, rows = 0, inside = (): void => {}, scanned = 0): number => {
    const call = { object: t.define({ kind: 'sql', text }), aux: ++instance, context: 7 };
    let seq = 0;
    for (let i = 0; i < rows; i++) {
      seq = t.call('sqlStep', { ...call, result: 100 }, i ? undefined : inside);
    }
    seq = t.call('sqlStep', { ...call, result: 101 }, rows ? undefined : inside);
    t.call('sqlStmtStatus', { ...call, offset: scanned, length: 2 * scanned + 9, dur: 0 });
    t.call('sqlReset', call);
    return seq;
  };
  const read = (page: number, type: number): number =>
    t.call('xRead', {
      object: file,
      offset: (page - 1) * 4096,
      length: 4096,
      aux2: type,
      context: 7,
    });
  run(
    'CREATE TABLE notes(id INTEGER PRIMARY KEY, code VARCHAR(?), size DEFAULT ?)',
    0,
    () => void read(1, 13),
  );
  for (const text of more) run(text);
  let at = 0;
  for (let i = 0; i < 3; i++)
    run(
      last,
      1,
      () => {
        for (const page of [2, 4, 5, 6]) at = read(page, page === 2 ? 5 : 13);
        read(3, 10);
        if (other !== null) t.call('xRead', { object: other, offset: 0, length: 4096, context: 7 });
      },
      19,
    );
  t.say({ kind: 'b-tree-pages', id: 1000, file, at, page: 2, children: [4, 5, 6] });
  t.say({
    ...{ kind: 'b-tree-names', id: 1001, file, at, page: 1 },
    roots: [2, 3],
    names: ['notes', 'notes_code'],
    tables: ['', 'notes'],
  });
  t.send();
  return store;
}
async function planIn(
  store: TraceStore,
  text = 'select * from notes n where code = ?',
  read: SchemaSource | null = null,
): Promise<StatementPlan> {
  const facts = new Facts(store);
  const row = facts.get(statementTable)!.rows.find((one) => one.text === text)!;
  expect(row, text).toBeDefined();
  return (await new Planner(wasmOf).planOf(facts, row, {}, () => read))!;
}

describe('a recorded statement', () => {
  it('has its plan from the recorded CREATE statements, next to pages, steps, and rows', async () => {
    const plan = await planIn(recorded());
    expect(plan).toMatchObject({
      lines: [
        {
          ...{ depth: 0, detail: 'SCAN n', hint: 'full scan: every row is read', scanSteps: 57 },
          pages: [{ name: 'notes', reads: 12 }],
        },
      ],
      source: { from: 'recording', database: 'made.db', tables: 1 },
      runs: { runs: 3, rows: 3, steps: { runs: 3, scan: 57, vm: 3 * 47 } },
      release: '3.44.0',
    });
    expect(lineFacts(plan.lines![0]!, plan.runs)).toBe(
      '12 pages of notes, 57 scan steps for 3 rows',
    );
    expect(runFacts(plan.runs)).toBe('3 runs: 3 rows, 57 scan steps, 141 VM steps');
  });

  it("is planned by the app's release if it is available, otherwise by the nearest", async () => {
    const made = async (sqliteVersion: string, last?: string): Promise<[string, string]> => {
      const store = recorded([], last, sqliteVersion);
      const { release, notes } = await planIn(store, last);
      return [release, notes[0]!];
    };
    expect(await made('3.53.0')).toEqual([
      '3.53.0',
      "SQLite 3.53.0 made this plan, the same release as your app's.",
    ]);
    expect((await made('3.44.0'))[1]).toMatch(/3\.44\.0 made this plan, the same release/);
    const nearest: Record<string, string> = {
      ...{ '3.54.1': '3.53.0', '3.50.4': '3.53.0', '3.49.2': '3.53.0' },
      ...{ '3.46.1': '3.44.0', '3.39.0': '3.44.0' },
    };
    for (const [release, by] of Object.entries(nearest))
      expect(BUILDS[buildFor([release])], release).toBe(by);
    expect(buildFor(['3.44.0', '3.53.0'])).toBe('@journeyapps/wa-sqlite');
    expect(buildFor([])).toBe('wa-sqlite');
  });

  it.each(Object.keys(BUILDS) as SqliteBuild[])(
    '%s is of the release that it claims to be',
    async (build) => {
      const { sqlite3 } = await loadSqlite(wasmOf(build), build);
      expect(sqlite3.libversion()).toBe(BUILDS[build]);
    },
  );

  it('reports what the recording lacks: an earlier index, statistics, the release', async () => {
    expect((await planIn(recorded())).notes).toEqual([
      "SQLite 3.44.0 made this plan. Your app's release isn't known.",
      'A recording has no statistics (sqlite_stat1), so the plan uses none.',
      "This index was made before the recording, so the plan can't use it: notes_code.",
    ]);
    const store = recorded(['CREATE INDEX notes_code ON notes(code)', 'ANALYZE']);
    const plan = await planIn(store);
    expect(plan.lines).toMatchObject([
      {
        detail: 'SEARCH n USING INDEX notes_code (code=?)',
        pages: [
          { name: 'notes', reads: 12 },
          { name: 'notes_code', reads: 3 },
        ],
        scanSteps: null,
      },
    ]);
    expect(plan.notes).toContain(
      'Your app ran ANALYZE. A recording has no statistics, so the plan uses none.',
    );
  });

  it('pages of a table that two lines read count for neither, and scan steps for no line if a trigger may scan', async () => {
    const sql = 'SELECT a.id FROM notes a JOIN notes b ON a.id = b.size';
    const twice = await planIn(recorded([], sql), sql.toLowerCase());
    expect(twice.lines!.map(({ detail, pages }) => [detail, pages])).toEqual([
      ['SCAN b', null],
      ['SEARCH a USING INTEGER PRIMARY KEY (rowid=?)', null],
    ]);
    expect(twice.notes).toContain('Several lines read notes: 12 pages together.');
    const change = 'UPDATE notes SET size = ? WHERE code = ?';
    const stepsOf = async (...more: string[]): Promise<(number | null)[]> =>
      (await planIn(recorded(more, change), change.toLowerCase())).lines!.map(
        ({ scanSteps }) => scanSteps,
      );
    expect(await stepsOf()).toEqual([57]);
    expect(
      await stepsOf('CREATE TRIGGER t AFTER UPDATE ON notes BEGIN DELETE FROM notes; END'),
    ).toEqual([null]);
  });

  it('follows DROP and ALTER, and ignores statements that failed', async () => {
    const store = recorded([
      'CREATE INDEX notes_code ON notes(code)',
      'ALTER TABLE notes ADD COLUMN extra TEXT DEFAULT ?',
      'ALTER TABLE notes RENAME TO old',
      'CREATE TABLE notes(code)',
      'DROP TABLE IF EXISTS old',
    ]);
    const plan = await planIn(store);
    expect(plan.lines!.map(({ detail }) => detail)).toEqual(['SCAN n']);
    expect(plan.source!.tables).toBe(1);
    expect(new Facts(store).get(recordedSchemas)[0]!.statements).toHaveLength(6);
  });

  it('is n/a if its table existed earlier', async () => {
    const plan = await planIn(recorded([], 'SELECT * FROM elsewhere'), 'select * from elsewhere');
    expect(plan).toMatchObject({
      ...{ lines: null, lacksSchema: true, database: 'made.db' },
      cause: 'The recording has no CREATE statement of elsewhere.',
    });
  });

  it.each(['3.44.0', '3.53.0'])(
    'has a plan from a copied database then, with its statistics: %s',
    async (release) => {
      const { file } = await database(
        'CREATE TABLE elsewhere(a); CREATE INDEX elsewhere_a ON elsewhere(a); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900) INSERT INTO elsewhere SELECT i FROM n; ANALYZE',
      );
      const schema = await readSchema(wasm, { main: file(), wal: null });
      const store = recorded([], 'SELECT a FROM elsewhere WHERE a = ?', release);
      const plan = await planIn(store, 'select a from elsewhere where a = ?', {
        ...{ from: 'page', database: 'made.db', foreignKeys: false },
        ...schema,
      });
      expect(plan.lines!.map(({ detail }) => detail)).toEqual([
        'SEARCH elsewhere USING COVERING INDEX elsewhere_a (a=?)',
      ]);
      expect(plan.source).toEqual({ from: 'page', database: 'made.db', tables: 1 });
      expect(plan.release).toBe(release);
      expect(plan.notes).toContain(
        'It uses the statistics of your database (1 row of sqlite_stat1).',
      );
    },
  );

  it('shows where unknown values matter', async () => {
    const sql = 'SELECT code FROM notes WHERE code LIKE ? AND size IN (?, ...) ORDER BY ?';
    const store = recorded(
      [
        'CREATE INDEX notes_some ON notes(code) WHERE size = ?',
        'CREATE TRIGGER t AFTER DELETE ON notes BEGIN SELECT 1; END',
      ],
      sql,
    );
    const { notes } = await planIn(store, sql.toLowerCase().replace('(?, ...)', '(?, ...)'));
    expect(notes.slice(3)).toEqual([
      'ORDER BY ? or GROUP BY ? may be the number of a column. Then a sort is missing here.',
      "The pattern of LIKE or GLOB isn't known. With it, SQLite may use an index.",
      "SQLite needs the statement's values to use notes_some (a partial index).",
      'Lists of values are planned with three values.',
      'The plan leaves out what triggers run: t.',
    ]);
  });

  it('has none if it neither reads nor changes rows, or is a script', async () => {
    const facts = new Facts(recorded([], 'PRAGMA user_version'));
    const row = facts.get(statementTable)!.rows.find(({ text }) => text === 'pragma user_version')!;
    expect(await new Planner(wasmOf).planOf(facts, row, {}, () => null)).toBeNull();
    const script = 'SELECT a FROM t; SELECT b FROM t';
    expect(await planIn(recorded([], script), script.toLowerCase())).toMatchObject({
      ...{ lines: null, lacksSchema: false },
      cause: 'This script has 2 statements. SQLite plans one at a time.',
    });
  });
});

describe('attached databases', () => {
  it('plans what the app created there as the database itself does', async () => {
    const script = `${SCHEMA} ATTACH ':memory:' AS aux; CREATE TABLE aux.marks(note, mark); CREATE INDEX aux.marks_note ON marks(note);`;
    const { rowsOf } = await database(script);
    const copy = await copyOf({ statements: textsOf(script) });
    for (const sql of [
      'SELECT * FROM aux.marks WHERE note = ?',
      'SELECT mark FROM marks JOIN notes ON notes.id = marks.note WHERE notes.code = ?',
      'DELETE FROM marks WHERE mark = ?',
    ]) {
      const expected = (await rowsOf(`EXPLAIN QUERY PLAN ${sql}`)).map(([, , , detail]) => detail);
      expect((await stepsOf(copy, sql)).map(({ detail }) => detail)).toEqual(expected);
    }
  });

  it('has what was recorded there next to a schema that was read', async () => {
    const { file } = await database('CREATE TABLE notes(id INTEGER PRIMARY KEY, code, size)');
    const main = await readSchema(wasm, { main: file(), wal: null });
    const sql = 'select * from aux.marks join notes on notes.id = mark';
    const store = recorded(['CREATE TABLE aux.marks(mark)'], sql);
    const plan = await planIn(store, sql, {
      ...{ from: 'page', database: 'made.db', foreignKeys: false },
      ...main,
    });
    expect(plan.lines!.map(({ detail }) => detail)).toEqual([
      'SCAN aux.marks',
      'SEARCH notes USING INTEGER PRIMARY KEY (rowid=?)',
    ]);
  });

  it('has no pages for a line whose table may belong to either', async () => {
    const { lines } = await planIn(recorded(['CREATE TABLE aux.notes(code)']));
    expect(lines).toMatchObject([{ detail: 'SCAN n', pages: null, scanSteps: 57 }]);
    const sql = 'select * from main.notes where code = ?';
    expect((await planIn(recorded([], sql), sql)).lines).toMatchObject([
      { detail: 'SCAN main.notes', pages: [{ name: 'notes', reads: 12 }] },
    ]);
  });

  it('is n/a with its cause if the schema of an attached database may be needed', async () => {
    const alone = 'vfscope reads the schema of main databases alone.';
    const named = 'select * from aux.elsewhere';
    expect(await planIn(recorded([], named), named)).toMatchObject({
      ...{ lines: null, lacksSchema: false },
      cause: `aux is an attached database. The recording has no CREATE statement of its table elsewhere, and ${alone}`,
    });
    const plain = 'select * from elsewhere';
    const store = recorded([], plain, null, '/other.db');
    const elsewhere = `Your app attached other.db, and it may be there: ${alone}`;
    expect(await planIn(store, plain)).toMatchObject({
      ...{ lines: null, lacksSchema: true },
      cause: `The recording has no CREATE statement of elsewhere. ${elsewhere}`,
    });
    const { file } = await database('CREATE TABLE notes(id)');
    const read = await readSchema(wasm, { main: file(), wal: null });
    expect(
      await planIn(store, plain, {
        ...{ from: 'page', database: 'made.db', foreignKeys: false },
        ...read,
      }),
    ).toMatchObject({
      ...{ lines: null, lacksSchema: false },
      cause: `made.db has no table elsewhere. ${elsewhere}`,
    });
  });
});
