// The Lab's page as a user drives it: a grid with cancel and resume, results and ratios, claims,
// the trace in the viewer, own files.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ElementHandle } from 'puppeteer-core';
import { expect, it } from 'vitest';
import { finished, lab, page, polling, press, texts, useLabPage } from './lab-harness.ts';

/** A database file with an index, written by another engine. */
async function shop(): Promise<Uint8Array> {
  const init = createRequire(import.meta.url)('sql.js') as () => Promise<{
    Database: new () => { run(sql: string): void; export(): Uint8Array };
  }>;
  const db = new (await init()).Database();
  db.run(`CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, price REAL);
WITH RECURSIVE n(x) AS (VALUES(0) UNION ALL SELECT x+1 FROM n WHERE x<499) INSERT INTO item SELECT x,'thing '||(x%50),x*0.5 FROM n;
CREATE INDEX item_name ON item(name);`);
  return db.export();
}

useLabPage();

/** Numbers in the cells of a table row. */
const row = (counter: string): Promise<number[]> =>
  page.$$eval(
    '[data-testid="results"] tbody tr',
    (rows, name) =>
      [
        ...(rows
          .find((r) => r.querySelector('th')!.textContent === name)
          ?.querySelectorAll('.number') ?? []),
      ].map((e) => Number(e.textContent!.replace(/[, ms]/g, ''))),
    counter,
  );

it("a workload's parameters are selected like settings: a column for each value", async () => {
  await press('offer-read-poll');
  expect(await texts('lab-command')).toEqual(['npx vfscope lab run read-poll --count']);
  for (const reads of ['10', '100']) await press(`parameter-reads-${reads}`);
  expect(await texts('lab-command')).toEqual([
    'npx vfscope lab run read-poll --count --config reads=10,100',
  ]);
  expect(await texts('lab-run')).toEqual(['Run 2 configurations']);
  await press('lab-run');
  await finished(2);
  const calls = await row('vfs.calls');
  expect(calls[1]!).toBeGreaterThan(5 * calls[0]!);
  expect(
    await page.$$eval('[data-testid="results"] .heading', (all) => all.map((e) => e.textContent)),
  ).toEqual(['10 reads', '100 reads']);
});

it('loads and stores are counted with instructions, with the command that does the same', async () => {
  await press('offer-onetx');
  await press('lab-run');
  await finished(1);
  const plain = await row('instructions');
  await press('count-memory');
  expect(await texts('lab-command')).toEqual(['npx vfscope lab run onetx --memory --count']);
  await press('lab-run');
  await page.waitForFunction(
    () =>
      [...document.querySelectorAll('[data-testid="results"] tbody th')].some(
        (name) => name.textContent === 'memory.stores',
      ),
    { polling },
  );
  expect(await row('instructions')).toEqual(plain);
  const [[loads], [stores]] = [await row('memory.loads'), await row('memory.stores')];
  expect(loads!).toBeGreaterThan(stores!);
  expect(stores!).toBeGreaterThan(plain[0]! / 100);
});

it('a grid over IndexedDB and OPFS resumes after a cancel, shows counts with ratios, and leaves storage clean', async () => {
  await press('offer-own-sql');
  for (const knob of ['vfs-BlockIDB', 'vfs-AccessHandlePool', 'pageSize-4096', 'pageSize-8192'])
    await press(`knob-${knob}`);
  await press('mode-time');
  expect(await texts('lab-run')).toEqual(['Run 4 configurations']);
  await press('lab-run');
  await page.waitForFunction(
    () =>
      /^[1-9]\d* of 24/.test(
        document.querySelector('[data-testid="lab-progress"]')?.textContent ?? '',
      ),
    {
      polling,
    },
  );
  await press('lab-cancel');
  await page.waitForSelector('[data-testid="lab-resume"]');
  const done = Number(/^\d+/.exec((await texts('lab-progress'))[0]!)![0]);
  expect(done).toBeGreaterThan(0);
  expect(done).toBeLessThan(24);
  expect(await texts('run-state')).toContain('canceled');
  expect(await lab.storage()).toEqual([]);
  await press('lab-resume');
  await finished(4);
  expect(await row('ms')).toHaveLength(4);
  await press('mode-count');
  await press('lab-run');
  await finished(4);
  const writes = await row('vfs.xWrite');
  expect(writes[0]).toBe(writes[2]);
  expect(writes[1]).toBeLessThan(writes[0]!);
  expect(await row('block.put')).toHaveLength(2);
  expect(await lab.storage()).toEqual([]);
});

it('the trace of a run opens in the viewer, over the Lab, and closes again', async () => {
  await press('offer-own-sql');
  await press('knob-vfs-BlockIDB');
  await press('lab-run');
  await finished(1);
  await press('open-trace');
  await page.waitForFunction(
    () =>
      Number(
        document.querySelector('[data-testid="live-events"]')?.textContent?.replace(/\D/g, '') ?? 0,
      ) > 100,
    { polling },
  );
  await press('lab-back');
  await page.waitForFunction(() => document.querySelector('[data-testid="lab-trace"]') === null, {
    polling,
  });
  expect(await texts('open-trace')).toHaveLength(1);
});

it('an experiment: its variants run, and its claims are decided', async () => {
  await press('offer-cpu-counts');
  await press('lab-run');
  await page.waitForSelector('[data-testid="verdicts"]', { timeout: 100_000 });
  const verdicts = await page.$$eval('[data-testid="verdicts"] .verdict', (all) =>
    all.map((e) => e.textContent!.trim()),
  );
  expect(verdicts.length).toBeGreaterThan(2);
  expect(verdicts).toContain('holds');
  expect(verdicts).not.toContain('fails');
});

it("a user's script and database file, with the query plans", async () => {
  const folder = mkdtempSync(join(tmpdir(), 'vfscope-lab-'));
  try {
    const database = join(folder, 'shop.db');
    writeFileSync(database, await shop());
    const script = join(folder, 'ask.sql');
    writeFileSync(script, "SELECT count(*), sum(price) FROM item WHERE name = 'thing 7';");
    await press('offer-own-sql');
    const input = (await page.$('[data-testid="own-file"]')) as ElementHandle<HTMLInputElement>;
    await input.uploadFile(script);
    await input.uploadFile(database);
    await page.waitForSelector('[data-testid="own-database"]');
    await press('explain');
    await page.waitForSelector('[data-testid="plan"], [data-testid="lab-error"]');
    expect(await texts('lab-error')).toEqual([]);
    expect((await texts('plan'))[0]).toMatch(/SEARCH item USING (?:COVERING )?INDEX item_name/);
    expect(await texts('scan-hint')).toEqual([]);
    await press('lab-run');
    await finished(1);
    expect((await row('rows'))[0]).toBe(1);
    writeFileSync(join(folder, 'none.db'), 'not a database');
    await input.uploadFile(join(folder, 'none.db'));
    await page.waitForSelector('[data-testid="lab-error"]');
    expect((await texts('lab-error'))[0]).toMatch(/isn't a SQLite database/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
it("a recording's statements, explained on the selected database and not run", async () => {
  await press('offer-own-sql');
  const input = (await page.$('[data-testid="own-file"]')) as ElementHandle<HTMLInputElement>;
  await input.uploadFile(join(import.meta.dirname, '..', 'traces', 'golden', 'memory-delete.vfst'));
  await page.waitForSelector('[data-testid="plan"] .step, [data-testid="lab-error"]');
  expect(await texts('lab-error')).toEqual([]);
  // its table isn't in an empty database
  expect((await texts('plan'))[0]).toMatch(/INSERT INTO[\s\S]*no plan: no such table/i);
});
it('fits from 400 to 2400 px: nothing is cut off sideways', async () => {
  for (const width of [400, 800, 1400, 2400]) {
    await page.setViewport({ width, height: 900 });
    await page.waitForFunction((w) => innerWidth === w, { polling }, width);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(
      true,
    );
    const cut = await page.$$eval(
      'button',
      (all) => all.filter((b) => b.getBoundingClientRect().right > innerWidth + 1).length,
    );
    expect([width, cut]).toEqual([width, 0]);
  }
});

it('a tab that closes keeps the completed passes: the next Lab shows them, and runs the rest', async () => {
  const shown = (): Promise<unknown> => page.waitForSelector('[data-testid="unfinished"]');
  const until = (n: number): Promise<unknown> =>
    page.waitForFunction(
      (least) =>
        Number(
          /^\d+/.exec(
            document.querySelector('[data-testid="lab-progress"]')?.textContent ?? '',
          )?.[0],
        ) >= least,
      { polling },
      n,
    );
  await press('offer-read-poll');
  await press('mode-time');
  for (const reads of ['100', '1000']) await press(`parameter-reads-${reads}`);
  await press('lab-run');
  await until(4);
  await page.reload();
  await shown();
  expect((await texts('unfinished'))[0]).toMatch(
    /^Your last run ended after \d+ of 12 passes: its tab closed\./,
  );
  await press('unfinished-show');
  expect(await texts('unfinished')).toEqual([]);
  const ms = await row('ms');
  expect(ms.length).toBe(2);
  await press('lab-resume');
  await finished(2);
  await page.reload();
  await page.waitForSelector('[data-testid="place-experiments"]');
  expect(await texts('unfinished')).toEqual([]);
});

it("a closed tab's run on your own database keeps results, settings, name, and size, and none of its bytes", async () => {
  const folder = mkdtempSync(join(tmpdir(), 'vfscope-own-'));
  const file = join(folder, 'shop.db');
  const bytes = await shop();
  writeFileSync(file, bytes);
  const open = async (): Promise<void> => {
    const input = (await page.$('[data-testid="own-file"]')) as ElementHandle<HTMLInputElement>;
    await input.uploadFile(file);
    await page.waitForSelector('[data-testid="own-database"]');
  };
  const stored = (): Promise<string | null> =>
    page.evaluate(() => localStorage.getItem('vfscope-lab-unfinished'));
  try {
    await press('offer-own-database');
    await open();
    await press('mode-time');
    const chosen = ['AccessHandlePool', 'OPFSCoopSync', 'IDBBatchAtomic', 'BlockIDB'];
    for (const vfs of chosen) await press(`knob-vfs-${vfs}`);
    await press('lab-run');
    await page.waitForFunction(
      () =>
        Number(
          /^\d+/.exec(
            document.querySelector('[data-testid="lab-progress"]')?.textContent ?? '',
          )?.[0],
        ) >= 9,
      { polling, timeout: 60_000 },
    );
    await page.reload();
    await page.waitForSelector('[data-testid="unfinished"]');
    expect(await stored()).toContain(`"files":[{"name":"shop.db","bytes":${bytes.length}}]`);
    expect(await stored()).not.toContain('thing');
    await press('unfinished-show');
    expect(await texts('missing-files')).toEqual([
      `These results are of shop.db (${bytes.length / 1024} KiB). Your files aren't stored: to run the rest, open it again and press Run.`,
    ]);
    expect(await page.$('[data-testid="lab-resume"]')).toBeNull();
    expect((await row('ms')).length).toBe(4);
    await open();
    expect(await texts('lab-run')).toEqual(['Run 4 configurations']);
  } finally {
    rmSync(folder, { recursive: true });
  }
}, 100_000);
