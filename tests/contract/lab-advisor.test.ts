// The Lab's index advisor on a real engine: finds a missing index, suggests none if none helps, and
// its counts are reproducible.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Advice } from '../../src/lab/advisor/advice.ts';
import { advise } from '../../src/lab/advisor/advise.ts';
import { countingScript } from '../../src/lab/advisor/exact.ts';
import { recordedOf } from '../../src/lab/advisor/recorded.ts';
import { adviceNotes, answerWords } from '../../src/lab/results/advice.ts';
import { adviseCommand } from '../../src/lab/command/advise.ts';
import { nodeSurroundings } from '../../src/lab/command/node.ts';
import { runOf } from '../../src/lab/experiments/plan.ts';
import { sampleOf } from '../../src/lab/experiments/run.ts';
import { workloadOf } from '../../src/lab/experiments/workloads/index.ts';
import { saveTrace } from '../../src/trace/file/write.ts';
import { Facts } from '../../src/analysis/core/graph.ts';
import { shellStat, sqliteShell } from './helpers/sqlite-shell.ts';
import { NOTES, recordedStatements } from '../traces/recorded-statements.ts';

const around = nodeSurroundings();
type Database = { run(sql: string): void; export(): Uint8Array<ArrayBuffer> };
const init = createRequire(import.meta.url)('sql.js') as () => Promise<{
  Database: new (bytes?: Uint8Array) => Database;
}>;
async function database(ddl: string, from?: Blob): Promise<Blob> {
  const { Database } = await init();
  const db = from ? new Database(new Uint8Array(await from.arrayBuffer())) : new Database();
  db.run(ddl);
  return new Blob([db.export()]);
}

type Statements = Parameters<typeof recordedStatements>[0];
const adviceOn = (file: Blob, statements: Statements): Promise<Advice> =>
  advise(around, file, recordedOf(new Facts(recordedStatements(statements))));

let notes: Blob;
let folder: string;
beforeAll(async () => {
  notes = await database(NOTES);
  folder = mkdtempSync(join(tmpdir(), 'vfscope-advisor-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const planWords = (out: string): string[] =>
  out
    .split('\n')
    .filter((line) => /--|`/.test(line))
    .map((line) => line.replace(/^[|` -]+/, ''));

describe('a missing index', () => {
  const SELECT = 'SELECT id, title FROM note WHERE folder = ? ORDER BY updated DESC LIMIT ?';
  const INSERT = 'INSERT INTO note(folder, title) VALUES (?, ?)';
  let advice: Advice;
  beforeAll(async () => {
    advice = await adviceOn(notes, [
      [SELECT, 50, 10],
      [INSERT, 20, 0],
      ['SELECT count(*) FROM folder', 3, 1],
    ]);
  }, 120_000);

  it('is found, with its savings and its cost', () => {
    expect(advice.indexes).toHaveLength(1);
    const [index] = advice.indexes;
    expect(index!.sql).toBe('CREATE INDEX note_folder_updated_idx ON note(folder, updated);');
    expect(index!.sizeBytes).toBeGreaterThan(200_000);
    expect(index!.sizeBytes % 4096).toBe(0);
    expect(index!.recordedInserts).toBe(20);
    expect(index!.insert).toMatchObject({ bytes: expect.any(Number) });
    expect((index!.insert as { bytes: number }).bytes).toBeGreaterThanOrEqual(4096);
    const [effect] = index!.effects;
    expect(effect).toMatchObject({
      runs: 50,
      planBefore: ['SCAN note', 'USE TEMP B-TREE FOR ORDER BY'],
      planAfter: ['SEARCH note USING INDEX note_folder_updated_idx (folder=?)'],
      before: { scanSteps: 19_999, sorts: 1, rows: 10 },
      after: { scanSteps: 0, sorts: 0, rows: 10 },
    });
    expect(effect!.after.instructions * 20).toBeLessThan(effect!.before.instructions);
    expect(effect!.after.pagesRead).toBeLessThan(20);
    expect(advice.leftOut).toEqual([]);
    expect(advice.statements).toHaveLength(2);
    expect(advice.statements[0]).toMatchObject({ values: 'copy', recordedRows: 500, runs: 50 });
  });

  it('by a second count: the index created by hand, counted by the Lab, and by the sqlite3 shell', async () => {
    const [index] = advice.indexes;
    const [effect] = index!.effects;
    const applied = await database(index!.sql, notes);
    for (const [file, counts, plan] of [
      [notes, effect!.before, effect!.planBefore],
      [applied, effect!.after, effect!.planAfter],
    ] as const) {
      const sql = countingScript(effect!.sql);
      const { steps } = await sampleOf(
        runOf(
          workloadOf('own-database', sql),
          {},
          {
            mode: 'count',
            repeats: 1,
            sql,
            database: { name: 'again', file },
          },
        ),
        around,
      );
      expect(steps[1]!.counters).toMatchObject({
        instructions: counts.instructions,
        'cache.miss': counts.pagesRead,
        rows: counts.rows,
      });
      const out = await sqliteShell(file, `.stats on\n${sql}`);
      if (out === null) continue; // no sqlite3 shell on this machine
      expect(shellStat(out, 'Fullscan Steps')[1]).toBe(counts.scanSteps);
      expect(shellStat(out, 'Sort Operations')[1]).toBe(counts.sorts);
      expect(shellStat(out, 'Page cache misses')[1]).toBe(counts.pagesRead);
      const explained = await sqliteShell(file, `EXPLAIN QUERY PLAN ${effect!.sql};`);
      expect(planWords(explained!)).toEqual(plan.map((line) => line.trim()));
    }
  }, 60_000);

  it('gives exactly the same answer again', async () => {
    const again = await adviceOn(notes, [
      [SELECT, 50, 10],
      [INSERT, 20, 0],
      ['SELECT count(*) FROM folder', 3, 1],
    ]);
    expect(again).toEqual(advice);
  }, 120_000);
});

it("no index helps: a query that reads everything, one that has its index, and one whose index the planner doesn't use", async () => {
  const advice = await adviceOn(notes, [
    ['SELECT * FROM note WHERE id = ?', 100, 1],
    ['SELECT count(*), sum(length(body)) FROM note', 10, 1],
    ['SELECT id FROM note WHERE title LIKE ?', 10, 5],
    ['SELECT * FROM folder WHERE id > ?', 10, 20],
  ]);
  expect(advice.indexes).toEqual([]);
  expect(advice.candidates).toBeGreaterThan(0);
  expect(advice.statements).toHaveLength(4);
}, 60_000);

it('a join, an UPDATE, and a DELETE, whose changes are undone', async () => {
  const advice = await adviceOn(notes, [
    ['SELECT n.title FROM folder f JOIN note n ON n.folder = f.id WHERE f.name = ?', 10, 100],
    ['UPDATE note SET body = ? WHERE title = ?', 10, 0],
    ['DELETE FROM note WHERE title = ?', 5, 0],
  ]);
  expect(advice.indexes.map(({ sql }) => sql).sort()).toEqual([
    'CREATE INDEX note_folder_idx ON note(folder);',
    'CREATE INDEX note_title_idx ON note(title);',
  ]);
  const title = advice.indexes.find(({ name }) => name === 'note_title_idx')!;
  expect(title.effects.map(({ before }) => before.scanSteps)).toEqual([19_999, 19_999]);
}, 120_000);

describe('statements that a DELETE, an UPDATE, or an INSERT fires', () => {
  let linked: Blob;
  beforeAll(async () => {
    linked = await database(
      `CREATE TABLE link(id INTEGER PRIMARY KEY, note INT REFERENCES note, label TEXT);
       CREATE TABLE tally(label TEXT, n INT);
       INSERT INTO link SELECT id, id, 'label ' || id FROM note;
       INSERT INTO tally SELECT label, 0 FROM link WHERE id <= 5000;
       CREATE TRIGGER counted AFTER INSERT ON link BEGIN UPDATE tally SET n = n + 1 WHERE label = NEW.label; END;
       CREATE TRIGGER tallied AFTER INSERT ON tally BEGIN SELECT n FROM tally WHERE label = NEW.label; END;
       CREATE TRIGGER moved AFTER UPDATE OF title ON note BEGIN UPDATE link SET label = NEW.title WHERE label = OLD.title; END`,
      notes,
    );
  });
  const DELETE = 'DELETE FROM note WHERE id = ?';
  const ON = 'PRAGMA foreign_keys=ON';

  it("a child's key, if foreign keys were checked", async () => {
    const checked = await adviceOn(linked, [
      [ON, 1, 0],
      [DELETE, 30, 0],
    ]);
    expect(checked.indexes.map(({ sql }) => sql)).toEqual([
      'CREATE INDEX link_note_idx ON link(note);',
    ]);
    const [effect] = checked.indexes[0]!.effects;
    expect(effect).toMatchObject({
      fingerprint: DELETE.toLowerCase(),
      before: { scanSteps: 19_999 },
      after: { scanSteps: 0 },
    });
    expect(effect!.after.instructions * 20).toBeLessThan(effect!.before.instructions);
    const unchecked = await adviceOn(linked, [[DELETE, 30, 0]]);
    expect(unchecked.indexes).toEqual([]);
    expect(unchecked.candidates).toBe(0);
    const applied = await adviceOn(await database(checked.indexes[0]!.sql, linked), [
      [ON, 1, 0],
      [DELETE, 30, 0],
    ]);
    expect(applied.indexes).toEqual([]);
  }, 120_000);

  it('lookups of triggers, counted once', async () => {
    const INSERT = 'INSERT INTO link(note, label) VALUES (?, ?)';
    const UPDATE = 'UPDATE note SET title = ? WHERE id = ?';
    const advice = await adviceOn(linked, [
      [INSERT, 50, 0],
      [UPDATE, 20, 0],
      ['INSERT INTO tally(label) VALUES (?)', 10, 0],
    ]);
    expect(advice.indexes.map(({ sql }) => sql).sort()).toEqual([
      'CREATE INDEX link_label_idx ON link(label);',
      'CREATE INDEX tally_label_idx ON tally(label);',
    ]);
    for (const { table, saved, effects, insert } of advice.indexes) {
      const sum = effects.reduce(
        (all, { runs, before, after }) => all + runs * (before.instructions - after.instructions),
        0,
      );
      // INSERTs into tally also ran on their own
      const inserts = table === 'link' ? 50 * (insert as { instructions: number }).instructions : 0;
      expect(saved, table).toBe(sum - inserts);
    }
    const [byLabel] = advice.indexes.filter(({ table }) => table === 'link');
    expect(byLabel!.effects.map(({ fingerprint }) => fingerprint)).toContain(UPDATE.toLowerCase());
    expect(advice.leftOut).toEqual([]);
  }, 120_000);
});

const indexesBeside = async (insert: string): Promise<Advice['indexes']> =>
  (
    await adviceOn(notes, [
      ['SELECT title FROM note WHERE updated = ?', 1, 1],
      [insert, 100_000, 0],
    ])
  ).indexes;
it.each(['note', 'main."note"'])(
  'an index that writes cost more than it saves is none: INSERT INTO %s',
  async (table) => {
    expect(await indexesBeside(`INSERT INTO ${table}(updated) VALUES (?)`)).toEqual([]);
  },
  120_000,
);
it('INSERTs into a table of an attached database add no index cost to the copy', async () => {
  expect(await indexesBeside('INSERT INTO aux.note(updated) VALUES (?)')).toHaveLength(1);
}, 60_000);

it('a statement whose rows differ from run to run is left out once, however many candidates it has', async () => {
  const RANDOM = 'SELECT id FROM note WHERE folder > 0 AND updated > abs(random() % 20000)';
  const advice = await adviceOn(notes, [[RANDOM, 5, 10]]);
  expect(advice.used).toBeGreaterThan(1);
  expect(advice.leftOut.map(({ why, statements }) => [why, statements])).toEqual([
    ['It returned another number of rows when it ran again', 1],
  ]);
}, 120_000);

it("uses the recording's values if it has them, and only literals", async () => {
  const run = async (value: string): Promise<Advice> =>
    adviceOn(notes, [
      ['SELECT title FROM note WHERE folder = ? AND updated > ?', 5, 3, [value, '19000']],
    ]);
  expect((await run('17')).statements[0]).toMatchObject({
    values: 'recorded',
    sql: 'SELECT title FROM note WHERE folder = 17 AND updated > 19000',
  });
  expect((await run('1 OR 1=1')).statements[0]!.values).toBe('copy');
}, 60_000);

it('a folded list expands; a table that the copy lacks, and several statements, are left out with the cause', async () => {
  const advice = await adviceOn(notes, [
    ['SELECT title FROM note WHERE folder IN (?, ...) -- why', 5, 3],
    ['SELECT * FROM gone WHERE a = ?', 5, 3],
    ['SELECT title FROM aux.note WHERE folder = ?', 5, 3],
    ['SELECT 1; SELECT 2', 5, 3],
  ]);
  expect(advice.statements[0]!.sql).toMatch(
    /^SELECT title FROM note WHERE folder IN \(\d+, \d+, \d+\)$/,
  );
  expect(advice.leftOut.map(({ why, statements }) => [why, statements])).toEqual([
    ['SQLite refuses it on this copy: no such table: gone', 1],
    ["The advisor can't read it: several statements", 1],
    ['It names an attached database, which the copy lacks', 1],
  ]);
  const example = `SELECT\n${'a, '.repeat(100)}b FROM gone`;
  expect(
    adviceNotes({ ...advice, leftOut: [{ why: 'Why', statements: 1, example }] }).at(-1),
  ).toMatch(/^1 statement left out\. Why\. It is: SELECT a, .{80,95}…$/);
}, 60_000);

it('gives the answer so far, from the runs without an index to each exact count', async () => {
  const recorded = recordedOf(
    new Facts(
      recordedStatements([
        ['SELECT title FROM note WHERE updated = ?', 50, 1],
        ['UPDATE note SET body = ? WHERE title = ?', 5, 0],
      ]),
    ),
  );
  const parts: Advice[] = [];
  const whole = await advise(around, notes, recorded, { onSoFar: (part) => parts.push(part) });
  const [first] = parts;
  expect(first).toMatchObject({ indexes: [], candidates: 0, leading: null });
  expect(first!.statements).toEqual(whole.statements);
  expect(answerWords(first!)).toMatch(/ 0 of \d+ done\. No index was tried\.$/);

  const uncounted = parts.find(({ leading }) => leading !== null)!;
  expect(uncounted.leading).toBe('CREATE INDEX note_updated_idx ON note(updated);');
  expect(answerWords(uncounted)).toMatch(
    /^Interrupted while .* done\. The best so far isn't counted exactly: CREATE INDEX note_updated_idx/,
  );
  const counted = parts.find(({ indexes }) => indexes.length === 1)!;
  expect(counted.indexes).toEqual(whole.indexes.slice(0, 1));
  expect(counted.interruptedAt).toMatchObject({ what: 'Trying indexes beside 1', done: 0 });
  expect(answerWords(counted)).toMatch(/ Of what was tried: 1 index helps 1 of 2 recorded/);

  expect(whole.indexes).toHaveLength(2);
  expect(whole).toMatchObject({ leading: null, interruptedAt: null });
  expect(whole.candidates).toBe(parts.at(-1)!.candidates);
}, 60_000);

describe('the command', () => {
  const files = async (): Promise<{ trace: string; notesFile: string }> => {
    const [trace, notesFile] = [join(folder, 'app.vfst'), join(folder, 'notes.db')];
    const store = recordedStatements([['SELECT title FROM note WHERE updated = ?', 5, 1]]);
    const saved = await saveTrace(store);
    writeFileSync(trace, new Uint8Array(await saved.arrayBuffer()));
    writeFileSync(notesFile, new Uint8Array(await notes.arrayBuffer()));
    return { trace, notesFile };
  };
  it('prints the answer, and saves it as JSON', async () => {
    const { trace, notesFile } = await files();
    const out = join(folder, 'advice.json');
    let said = '';
    vi.spyOn(process.stdout, 'write').mockImplementation((text, done?: unknown) => {
      said += String(text);
      if (typeof done === 'function') (done as () => void)();
      return true;
    });
    vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const reports = { html: join(folder, 'a.html'), csv: join(folder, 'a.csv') };
    const code = await adviseCommand({
      file: trace,
      database: notesFile,
      json: false,
      out,
      files: reports,
    });
    vi.restoreAllMocks();
    expect(code).toBe(0);
    const html = readFileSync(reports.html, 'utf8');
    for (const text of [said, html]) expect(text).toMatch(/Runtime(?:<\/td><td>| +)Node \d/);
    expect(html).toMatch(/note_updated_idx: instructions of one run/);
    expect(html).not.toMatch(/<script|https?:/);
    expect(readFileSync(reports.csv, 'utf8')).toMatch(
      /^note_updated_idx,[^\n]*,scanSteps,19999,0$/m,
    );
    expect(said).toMatch(
      /^Index advice for notes\.db: 1 index helps 1 of 1 recorded statement\.\n\n1\. CREATE INDEX note_updated_idx ON note\(updated\);\n/,
    );
    expect(said).toMatch(/before: SCAN note: \d+ pages, 19,999 scan steps for 1 row\n/);
    const { indexes } = JSON.parse(readFileSync(out, 'utf8')) as Advice;
    expect(indexes[0]!.effects[0]!.after.scanSteps).toBe(0);
  }, 60_000);
  it.each([
    ['Running the statements (', /Interrupted while running .* done\. No index was tried\.\n/],
    [
      'Trying indexes (',
      /^Index advice for notes\.db: Interrupted while trying indexes, 0 of \d+ done\. No index was tried\./,
    ],
    [
      'Counting exactly (',
      /Interrupted while counting exactly, 0 of 1 done\. Of what was tried: 1 index helps 1 of 1 /,
    ],
  ])(
    'interrupted at “%s…”, prints what was tried, and exits with 3',
    async (line, words) => {
      const { trace, notesFile } = await files();
      const listeners = process.listenerCount('SIGINT');
      let said = '';
      vi.spyOn(process.stdout, 'write').mockImplementation((text, done?: unknown) => {
        said += String(text);
        if (typeof done === 'function') (done as () => void)();
        return true;
      });
      let complaints = '';
      vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
        complaints += String(text);
        return String(text).includes(line) ? process.emit('SIGINT') : true;
      });
      const code = await adviseCommand({
        file: trace,
        database: notesFile,
        json: false,
        out: undefined,
      });
      vi.restoreAllMocks();
      expect(code).toBe(3);
      expect(said).toMatch(words);
      // the statements that ran
      if (line.startsWith('Running')) expect(said).not.toContain('Statements without a new index');
      else expect(said).toMatch(/Statements without a new index\n {2}\S/);
      expect(complaints).toMatch(/interrupted: the answer has what was tried\./);
      expect(process.listenerCount('SIGINT')).toBe(listeners);
    },
    60_000,
  );
  it('reports errors', async () => {
    const { trace } = await files();
    await expect(
      adviseCommand({ file: trace, database: trace, json: false, out: undefined }),
    ).rejects.toThrow(/isn't a SQLite database/);
  });
});
