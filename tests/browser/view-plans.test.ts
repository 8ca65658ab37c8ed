// The query plan on a statement's page: for a real engine's recording, from its own CREATE
// statements and from the page's database.
import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { Facts } from '../../src/analysis/core/graph.ts';
import { bTrees } from '../../src/analysis/pages/b-trees.ts';
import { treeOf, treeUse } from '../../src/analysis/pages/tree-use.ts';
import {
  statementTable,
  type StatementRow,
} from '../../src/analysis/statements/statement-table.ts';
import { formatCount } from '../../src/text/numbers.ts';
import { saveTrace } from '../../src/trace/file/write.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { statementKey } from '../../src/viewer/ui/row-keys.ts';
import { storeOf } from '../contract/helpers/store.ts';
import { Traced } from '../contract/helpers/traced.ts';
import { loadWaSqlite, type Sqlite } from '../contract/helpers/wa-sqlite.ts';
import { ANY_IMPACT, serious } from './lab-axe.ts';
import { id, ViewerPage } from './viewer-page.ts';

const SCHEMA = [
  'CREATE TABLE notes(id INTEGER PRIMARY KEY, code TEXT, body TEXT)',
  'CREATE TABLE tags(note INT, tag TEXT)',
];
const ROWS = [
  "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) INSERT INTO notes SELECT i, 'c' || (i / 10), hex(zeroblob(60)) FROM n",
  "INSERT INTO tags SELECT id, 'tag' || (id % 100) FROM notes WHERE id <= 2000",
];
const SCAN = "SELECT id FROM notes WHERE code = 'c77'";
const JOIN =
  "SELECT notes.body FROM tags AS t JOIN notes ON notes.id = t.note WHERE t.tag = 'tag7' ORDER BY notes.code";

/** Runs a statement as an app does: prepared, and stepped to its end. */
async function run(sqlite3: Sqlite, db: number, sql: string): Promise<void> {
  for await (const stmt of sqlite3.statements(db, sql)) while ((await sqlite3.step(stmt)) === 100);
}
/** @param before statements that ran before the recording */
async function record(before: readonly string[], during: readonly string[]): Promise<TraceStore> {
  const t = new Traced();
  try {
    const { sqlite3 } = await loadWaSqlite('journey-sync');
    const db = await sqlite3.open_v2('notes.db');
    for (const sql of before) await run(sqlite3, db, sql);
    t.all();
    const from = t.rows.length;
    await sqlite3.exec(db, 'PRAGMA cache_size=10');
    for (const sql of during) await run(sqlite3, db, sql);
    await sqlite3.close(db);
    return storeOf(t, t.all().slice(from));
  } finally {
    t.restore();
  }
}
let whole: TraceStore;
const viewer = new ViewerPage(async () => {
  whole = await record([], [...SCHEMA, ...ROWS, SCAN, SCAN, JOIN, 'PRAGMA user_version']);
  const late = await record([...SCHEMA, ...ROWS], [SCAN]);
  const init = createRequire(import.meta.url)('sql.js') as () => Promise<{
    Database: new () => { run(sql: string): void; export(): Uint8Array<ArrayBuffer> };
  }>;
  const file = new (await init()).Database();
  for (const sql of [...SCHEMA, ...ROWS, 'CREATE INDEX notes_code ON notes(code)', 'ANALYZE'])
    file.run(sql);
  const bytes = async (store: TraceStore): Promise<Uint8Array> =>
    new Uint8Array(await (await saveTrace(store)).arrayBuffer());
  return {
    'whole.vfst': await bytes(whole),
    'late.vfst': await bytes(late),
    'notes.db': file.export(),
  };
});

const rowOf = (store: TraceStore, part: string): StatementRow =>
  new Facts(store).get(statementTable)!.rows.find(({ sql }) => sql?.startsWith(part))!;
async function open(trace: string, row: StatementRow, more = ''): Promise<void> {
  await viewer.open(
    `${more}open=/traces/${trace}.vfst#tab=statements&statements.chosen=${encodeURIComponent(statementKey(row))}`,
    1200,
    900,
  );
  await viewer.page.waitForSelector(id('statement-details'));
}
const textsOf = async (selector: string): Promise<string[]> => {
  await viewer.page.waitForSelector(selector);
  return viewer.page.$$eval(selector, (all) =>
    all.map((e) => e.textContent.replace(/\s+/g, ' ').trim()),
  );
};

describe("a statement's plan", () => {
  it('is shown next to its pages, steps, and rows', async () => {
    const row = rowOf(whole, 'SELECT id FROM notes');
    await open('whole', row);
    const facts = new Facts(whole);
    const pages = facts
      .get(treeUse)
      .filter(
        (use) => use.statement === row.text && treeOf(facts.get(bTrees), use)?.name === 'notes',
      )
      .reduce((sum, { reads }) => sum + reads, 0);
    expect(pages).toBeGreaterThan(100);
    expect(row.query!.scanned).toBe(2 * 19_999);
    expect(await textsOf(`${id('plan-lines')} li`)).toEqual([
      `SCAN notes ${formatCount(pages)} pages, 39,998 scan steps for 20 rows`,
    ]);
    // is above, with the engine's other counters
    expect(await viewer.page.$(id('plan-runs'))).toBeNull();
    expect(await serious(viewer.page, ANY_IMPACT)).toEqual([]);
    expect((await textsOf(`${id('plan-notes')} li`))[0]).toMatch(
      /^SQLite 3\.53\.0 made this plan, the same release as your app's\.$/,
    );
  });

  it('names the tables of aliases and the sort', async () => {
    await open('whole', rowOf(whole, 'SELECT notes.body'));
    const lines = await textsOf(`${id('plan-lines')} li`);
    expect(lines[0]).toMatch(/^SCAN t [\d,]+ pages? of tags, 1,999 scan steps for 20 rows$/);
    expect(lines[1]).toMatch(/^SEARCH notes USING INTEGER PRIMARY KEY \(rowid=\?\) [\d,]+ pages$/);
    expect(lines[2]).toBe('USE TEMP B-TREE FOR ORDER BY');
  });

  it('is missing if a statement has none', async () => {
    await open('whole', rowOf(whole, 'PRAGMA user_version'));
    await viewer.page.waitForSelector(id('run-histogram'));
    expect(await viewer.page.$(`${id('plan-lines')}, ${id('plan-cause')}`)).toBeNull();
  });

  it('is n/a if the recording has no schema, with what to do', async () => {
    await open('late', rowOf(whole, 'SELECT id FROM notes'));
    expect(await textsOf(id('plan-cause'))).toEqual([
      'n/a: The recording has no CREATE statement of notes. Plan it on a copy: vfscope plans FILE.vfst --database FILE',
    ]);
    expect(await viewer.page.$(id('read-schema'))).toBeNull();
    expect(await serious(viewer.page, ANY_IMPACT)).toEqual([]);
  });

  it("comes from the page's database in that case, on a click", async () => {
    await open('late', rowOf(whole, 'SELECT id FROM notes'), 'live&');
    await textsOf(id('plan-cause'));
    await viewer.page.click(id('read-schema'));
    expect(await textsOf(id('schema-error'))).toEqual([
      'This page stores no SQLite database that vfscope finds.',
    ]);
    await viewer.page.evaluate(async () => {
      const file = await (await fetch('/traces/notes.db')).blob();
      window.panel.app.files.set('notes.db', file).set('other.db', file);
    });
    await viewer.page.click(id('read-schema'));
    const lines = await textsOf(`${id('plan-lines')} li`);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('SEARCH notes USING COVERING INDEX notes_code (code=?)');
    expect(await textsOf(`${id('plan-notes')} li`)).toContain(
      'It uses the statistics of your database (2 rows of sqlite_stat1).',
    );
    await viewer.waitText(id('read-schema'), 'Read the schema again');
  });

  it('asks which database to use if none has the recorded name', async () => {
    await open('late', rowOf(whole, 'SELECT id FROM notes'), 'live&');
    await textsOf(id('plan-cause'));
    await viewer.page.evaluate(async () => {
      const file = await (await fetch('/traces/notes.db')).blob();
      window.panel.app.files.set('one.db', file).set('two.db', new Blob(['no database']));
    });
    await viewer.page.click(id('read-schema'));
    expect(await textsOf(`${id('page-databases')} button`)).toEqual(['one.db', 'two.db']);
    await viewer.page.click(`${id('page-databases')} li:nth-child(2) button`);
    expect((await textsOf(id('schema-error')))[0]).toMatch(/can't read the schema of this copy/);
    await viewer.page.click(id('read-schema'));
    await viewer.page.waitForSelector(id('page-databases'));
    expect(await serious(viewer.page, ANY_IMPACT)).toEqual([]);
    await viewer.page.click(`${id('page-databases')} button`);
    await viewer.page.waitForSelector(id('plan-lines'));
  });
});

describe('a finding about a scan', () => {
  const openFinding = async (trace: string, theme: string): Promise<void> => {
    await viewer.open(`theme=${theme}&open=/traces/${trace}.vfst#tab=answer`, 900, 900);
    const scan = `${id('finding')}[data-rule=F50]`;
    await viewer.page.waitForSelector(scan);
    await viewer.page.$eval(`${scan} ${id('finding-title')}`, (e) => (e as HTMLElement).click());
    await viewer.page.waitForSelector(id('finding-statement'));
  };
  it.each(['light', 'dark'])(
    'has the plan of its statement, as its page has it: %s',
    async (theme) => {
      await openFinding('whole', theme);
      const shown = await textsOf(`${id('finding-plan')} ${id('plan-lines')} li`);
      expect(shown[0]).toMatch(/^SCAN notes [\d,]+ pages, 39,998 scan steps for 20 rows$/);
      expect(await serious(viewer.page, ANY_IMPACT)).toEqual([]);
      await open('whole', rowOf(whole, 'SELECT id FROM notes'));
      // then those of the join
      expect(await textsOf(`${id('plan-lines')} li`)).toEqual(shown.slice(0, 1));
    },
  );

  it('has none if the recording has no schema', async () => {
    await openFinding('late', 'light');
    expect((await textsOf(id('finding-plan')))[0]).toMatch(
      /^n\/a: The recording has no CREATE statement of notes\. 1 run: /,
    );
    await viewer.page.click(id('finding-statement'));
    await viewer.page.waitForSelector(`${id('statement-details')} ${id('plan-cause')}`);
  });
});
