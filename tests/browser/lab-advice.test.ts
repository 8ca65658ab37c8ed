// The index advisor on the Lab's page: takes a database and a recording, and shows a ranked answer
// with its CREATE INDEX to copy.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ElementHandle } from 'puppeteer-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { saveTrace } from '../../src/trace/file/write.ts';
import { NOTES, recordedStatements } from '../traces/recorded-statements.ts';
import { serious } from './lab-axe.ts';
import { page, press, texts, useLabPage, wordsOf } from './lab-harness.ts';

let folder: string;
const file = (name: string): string => join(folder, name);
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vfscope-advice-'));
  const init = createRequire(import.meta.url)('sql.js') as () => Promise<{
    Database: new () => { run(sql: string): void; export(): Uint8Array };
  }>;
  const db = new (await init()).Database();
  db.run(NOTES);
  writeFileSync(file('notes.db'), db.export());
  const save = async (name: string, statements: Parameters<typeof recordedStatements>[0]) =>
    writeFileSync(
      file(name),
      new Uint8Array(await (await saveTrace(recordedStatements(statements))).arrayBuffer()),
    );
  await save('app.vfst', [
    ['SELECT id, title FROM note WHERE folder = ? ORDER BY updated DESC LIMIT ?', 50, 10],
    ['UPDATE note SET body = ? WHERE title = ?', 5, 0],
    ['INSERT INTO note(folder, title) VALUES (?, ?)', 20, 0],
    ['SELECT count(*) FROM folder', 3, 1],
  ]);
  await save('none.vfst', [['SELECT title FROM note WHERE id = ?', 5, 1]]);
});
afterAll(() => rmSync(folder, { recursive: true }));
useLabPage();

async function open(...names: string[]): Promise<void> {
  const input = (await page.$('[data-testid="own-file"]')) as ElementHandle<HTMLInputElement>;
  for (const name of names) {
    await input.uploadFile(file(name));
    await page.waitForSelector(
      name.endsWith('.db') ? '[data-testid="own-database"]' : '[data-testid="plan"] .step',
    );
  }
}
const answered = (): Promise<unknown> =>
  page.waitForSelector('[data-testid="advice-answer"], [data-testid="advice-error"]', {
    timeout: 110_000,
  });

it('finds indexes, ranked, with what each changes and costs; its text is copied', async () => {
  await press('offer-own-database');
  expect(await texts('advice-needs')).toEqual(['Choose a database first.']);
  await open('notes.db');
  expect(await texts('advice-needs')).toEqual(['Open a recording (.vfst) of your app below.']);
  expect(await page.$('[data-testid="find-indexes"]:disabled')).not.toBeNull();
  await open('app.vfst');
  expect((await texts('recorded'))[0]).toBe(
    'recorded: 50 runs, pages per run n/a, rows per run 10',
  );
  await press('find-indexes');
  await answered();
  expect(await texts('advice-error')).toEqual([]);
  expect(await texts('advice-answer')).toEqual(['2 indexes help 2 of 3 recorded statements.']);
  expect(await wordsOf('[data-testid="advised-index"] code')).toEqual([
    'CREATE INDEX note_folder_updated_idx ON note(folder, updated);',
    'CREATE INDEX note_title_idx ON note(title);',
  ]);
  const [effects] = await wordsOf('[data-testid="advice-effects"] tbody');
  expect(effects).toMatch(
    /^select id, title from note where folder = \? order by updated desc limit \? ?50 ?[\d,]+ → [\d,]+ \(×0\.0\d+\) ?\d+ → \d+ ?19,999 → 0 ?1 → 0/,
  );
  expect((await wordsOf('[data-testid="advised-index"] dl'))[0]).toMatch(
    /Saves [\d,]+ instructions .*Size \d+ KiB.*Each INSERT \+[\d.]+ KiB written, \+[\d,]+ instructions \(20 INSERTs recorded\)/,
  );
  expect((await wordsOf('[data-testid="advised-index"] details'))[0]).toMatch(
    /before: SCAN note; USE TEMP B-TREE FOR ORDER BY: .*after: SEARCH note USING INDEX note_folder_updated_idx/,
  );
  await press('copy-index');
  await page.waitForFunction(
    () => document.querySelector('[data-testid="copy-index"]')!.textContent === 'Copied',
    { polling: 50 },
  );
});

it('axe finds nothing serious in the answer, light and dark', async () => {
  await press('offer-own-database');
  await open('notes.db', 'app.vfst');
  await press('find-indexes');
  await answered();
  await page.$$eval('[aria-label="Index advisor"] details', (all) =>
    all.forEach((one) => one.setAttribute('open', '')),
  );
  for (const value of ['light', 'dark']) {
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value }]);
    expect(await serious(page)).toEqual([]);
  }
});

it('says that no index helps, and shows the statements as they are', async () => {
  await press('offer-own-database');
  await open('notes.db', 'none.vfst');
  await press('find-indexes');
  await answered();
  expect(await texts('advice-answer')).toEqual([
    'No index helps. 1 recorded statement gave no candidate.',
  ]);
  expect(await wordsOf('[data-testid="advice-statements"] li')).toEqual([
    expect.stringMatching(
      /^SELECT title FROM note WHERE id = 10001 ?SEARCH note USING INTEGER PRIMARY KEY \(rowid=\?\): \d pages, 0 scan steps for 1 row ?recorded: 5 runs, pages per run n\/a, rows per run 1$/,
    ),
  ]);
});

it('can be canceled, answers with what it tried, and finds again', async () => {
  await press('offer-own-database');
  await open('notes.db', 'app.vfst');
  await press('find-indexes');
  await press('advice-cancel');
  await page.waitForSelector('[data-testid="find-indexes"]:not(:disabled)');
  expect(await texts('advice-error')).toEqual([]);
  expect((await texts('advice-answer'))[0]).toMatch(
    /^Interrupted while .* done\. (Of what was tried: |No index was tried\.$)/,
  );
  await press('find-indexes');
  await page.waitForSelector('[data-testid="advised-index"]', { timeout: 110_000 });
  await answered();
  expect(await texts('advised-index')).toHaveLength(2);
  expect((await texts('environment'))[0]).toMatch(/Runtime\s+Chrom/);
  expect(await texts('save-html')).toHaveLength(1);
});

it('its tab closed: the next Lab shows the indexes that were counted, and stores no value', async () => {
  const stored = (): Promise<string | null> =>
    page.evaluate(() => localStorage.getItem('vfscope-lab-unfinished'));
  await press('offer-own-database');
  await open('notes.db', 'app.vfst');
  await press('find-indexes');
  await page.waitForFunction(
    () => localStorage.getItem('vfscope-lab-unfinished')?.includes('"effects"'),
    { polling: 50, timeout: 110_000 },
  );
  await page.reload();
  await page.waitForSelector('[data-testid="unfinished"]');
  expect((await texts('unfinished'))[0]).toMatch(
    /^Your last index search ended while (?:trying indexes beside|counting exactly).* done: its tab closed\./,
  );
  const text = (await stored())!;
  expect(text).toContain('"values":"copy"');
  expect(text).not.toMatch(/folder = \d|LIMIT \d|title = '/i);
  await press('unfinished-show');
  expect((await texts('advice-answer'))[0]).toMatch(
    /^Interrupted while .* done\. Of what was tried: [12] index/,
  );
  expect((await wordsOf('[data-testid="advised-index"] code'))[0]).toBe(
    'CREATE INDEX note_folder_updated_idx ON note(folder, updated);',
  );
  expect((await texts('advice-left-of'))[0]).toMatch(
    /^This advice is of notes\.db \(.*\) and app\.vfst \(.*\)\. Your files and their values aren't stored: /,
  );
  await open('notes.db', 'app.vfst');
  expect(await texts('advice-left-of')).toEqual([]);
  await press('find-indexes');
  await answered();
  expect(await texts('advised-index')).toHaveLength(2);
  expect(await stored()).toBeNull();
});
