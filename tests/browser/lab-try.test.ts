// From a finding in the real panel to the Lab, which runs the pattern both ways.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ElementHandle } from 'puppeteer-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { DrivenBrowser } from '../../src/drive/browser.ts';
import { openLab } from '../../src/lab/drive/lab.ts';
import { launch } from './extension-harness.ts';

const polling = 50;
let driven: DrivenBrowser;
let folder: string;
beforeAll(async () => {
  driven = await launch();
  folder = mkdtempSync(path.join(tmpdir(), 'vfscope-try-'));
});
afterAll(async () => {
  await driven.close();
  rmSync(folder, { recursive: true });
});

/** The recording's table, with rows. @returns its path */
async function database(): Promise<string> {
  const init = createRequire(import.meta.url)('sql.js') as () => Promise<{
    Database: new () => { run(sql: string): void; export(): Uint8Array };
  }>;
  const db = new (await init()).Database();
  db.run(`CREATE TABLE t(id INTEGER PRIMARY KEY, body TEXT);
    WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
      INSERT INTO t SELECT i, printf('%0100d', i) FROM n;`);
  const file = path.join(folder, 'app.db');
  writeFileSync(file, db.export());
  return file;
}

it("“Try it” runs the recording's statements both ways at once, and then on a copy of the database", async () => {
  const panel = await driven.openPanel(await driven.firstPage());
  await panel.open(path.join(import.meta.dirname, '..', 'traces', 'golden', 'cache-thrash.vfst'));
  const title = '[data-testid="finding"][data-rule="F11"] [data-testid="finding-title"]';
  await (await panel.frame.waitForSelector(title))!.click();
  const link = await panel.frame.waitForSelector('[data-rule="F11"] [data-testid="finding-try"]');
  await link!.click();
  const target = await driven.browser.waitForTarget((t) =>
    t.url().includes('/lab/lab.html?try=cache-thrash&rule=F11&'),
  );
  const page = (await target.page())!;
  const answer = async (): Promise<string[]> => {
    await page.waitForSelector('[data-testid="tried-answer"]', { timeout: 100_000 });
    return page.$$eval('[data-testid="tried-answer"] li', (all) => all.map((e) => e.textContent));
  };
  const tried = (): Promise<string> => page.$eval('[data-testid="tried"]', (e) => e.textContent);
  const counts =
    '[\\d.,]+ \\S?s \\(.+\\), ([\\d,]+) VFS calls, ([\\d,]+) reads, .+ read, .+ writes, .+ written, .+ syncs';
  const lines = await answer();
  expect(lines).toEqual([
    expect.stringMatching(new RegExp(`^Before, as recorded: ${counts}\\.$`)),
    expect.stringMatching(
      new RegExp(
        `^After, cache 414 KiB: ${counts}\\.(?: The times differ by less than the noise\\.)?$`,
      ),
    ),
  ]);
  const reads = lines.map((line) => Number(/([\d,]+) reads/.exec(line)![1]!.replaceAll(',', '')));
  expect(reads[1]! * 2).toBeLessThan(reads[0]!);
  expect(await tried()).toMatch(
    /^This runs on OPFSCoopSync \(OPFS\), as your app does\. Pragmas are your app's: page_size=4096, journal_mode=delete, cache_size=\d+\. .+ Statements are your app's: 61 of 61 recorded statements run, in their order\. /,
  );
  const verdicts = await page.$$eval('[data-testid="verdicts"] .verdict', (all) =>
    all.map((e) => e.textContent!.trim()),
  );
  expect(verdicts).toEqual(['holds']); // both ways stored the same
  const marked = await page.$$eval('[data-testid^="knob-vfs-"].own', (all) =>
    all.map((e) => e.getAttribute('data-testid')),
  );
  expect(marked).toEqual(['knob-vfs-OPFSCoopSync']);
  // the user's database, opened in the Lab
  await page.$eval('[data-testid="offer-own-database"]', (e) => (e as HTMLElement).click());
  const input = (await page.waitForSelector(
    '[data-testid="own-file"]',
  )) as ElementHandle<HTMLInputElement>;
  await input.uploadFile(await database());
  await (await page.waitForSelector('[data-testid="try-again"]'))!.click();
  await page.waitForFunction(
    () => document.querySelector('[data-testid="tried"]')?.textContent?.includes('app.db'),
    { polling },
  );
  // its script has values of rows, so nothing of it is stored while it runs
  await page.waitForFunction(
    () => /^[1-9]/.test(document.querySelector('[data-testid="lab-progress"]')?.textContent ?? ''),
    { polling },
  );
  expect(await page.evaluate(() => localStorage.getItem('vfscope-lab-unfinished'))).toBeNull();
  expect((await answer()).length).toBe(2);
  expect(await tried()).toMatch(/ They run on your copy of app\.db\. /);
  // the recording with the finding is available for replay
  await page.$eval('[data-testid="offer-replay"]', (e) => (e as HTMLElement).click());
  await page.waitForFunction(
    () =>
      /^cache-thrash\.vfst/.test(
        document.querySelector('[data-testid="replay-facts"]')?.textContent ?? '',
      ),
    {
      polling,
    },
  );
});

it('an address with an invalid name is reported', async () => {
  const page = await driven.browser.newPage();
  await openLab(page, driven.extensionId);
  await page.goto(`chrome-extension://${driven.extensionId}/lab/lab.html?try=%3Cb%3E`);
  await page.waitForFunction(() => document.querySelector('[data-testid="lab-error"]') !== null, {
    polling,
  });
  expect(await page.$eval('[data-testid="lab-error"]', (e) => e.textContent)).toBe(
    'The Lab has no experiment “<b>”.',
  );
});
