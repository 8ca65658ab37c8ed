// "Replay a recording" in the Lab's page as a user drives it: select, run, cancel, counts side by
// side, both traces in Compare, rejected recordings.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ElementHandle } from 'puppeteer-core';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { DEFAULT_CONFIG } from '../../src/lab/experiments/model/types.ts';
import { lab, page, polling, press, texts, useLabPage } from './lab-harness.ts';
import { longTest } from './long-test.ts';

const GOLDEN = path.join(import.meta.dirname, '..', 'traces', 'golden');
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'vfscope-whatif-'));
});
afterAll(() => rmSync(folder, { recursive: true }));
useLabPage();
beforeEach(() => press('offer-replay'));

const choose = async (file: string): Promise<void> => {
  const input = (await page.$('[data-testid="replay-file"]')) as ElementHandle<HTMLInputElement>;
  await input.uploadFile(file);
};
const replayed = (columns: number): Promise<unknown> =>
  page.waitForFunction(
    (n) =>
      document.querySelector('[data-testid="replay-error"]') ??
      document.querySelectorAll('[data-testid="replay-compare"]').length === n,
    { polling, timeout: 100_000 },
    columns,
  );
/** A row of the table: the recorded value, and each replay's. */
const row = (group: string, name: string): Promise<string[]> =>
  page.$$eval(
    `[data-testid="replay-table"] tbody[data-group="${group}"] tr`,
    (rows, wanted) =>
      [
        ...(rows
          .find((r) => r.querySelector('th')!.textContent === wanted)
          ?.querySelectorAll('td') ?? []),
      ].map((td) => (td.querySelector('.number') ?? td).textContent!.trim()),
    name,
  );

it('two block policies side by side with the measured error, then recording and replay in Compare', async () => {
  await choose(path.join(GOLDEN, 'opfs-coop-sync.vfst'));
  await page.waitForSelector('[data-testid="replay-facts"]');
  expect((await texts('replay-facts'))[0]).toMatch(
    /VFS calls of 1 thread .*It was made on OPFSCoopSync \(temporary files .*\); a replay there measures the error/s,
  );
  await press('replay-run'); // BlockIDB, 8 KiB, write-through
  await replayed(1);
  await press('replay-writePolicy-lazy');
  await press('replay-run');
  await replayed(2);
  expect(await texts('replay-error')).toEqual([]);
  const [recorded, through, lazy] = await row('VFS calls', 'journal.xWriteBytes');
  expect([recorded, through, lazy]).toEqual(['873,724', '873,724', '873,724']);
  const puts = (await row('Storage calls', 'block.put')).map((text) =>
    Number(text.replaceAll(',', '')),
  );
  expect(puts[0]).toBeNaN(); // the recording lacks this counter
  expect(puts[1]).toBeGreaterThanOrEqual(1004); // at least one per write
  expect(puts[2]).toBeLessThan(puts[1]!);
  expect(await row('Storage calls', 'opfs.writes')).toEqual(['1,004', '0', '0']);
  expect(await row('Error of the estimate', 'measured on')).toEqual([
    '',
    'OPFSCoopSync',
    'OPFSCoopSync',
  ]);
  expect(
    (await row('Error of the estimate', 'VFS counts that differ'))
      .slice(1)
      .every((text) => /^0 of \d+$/.test(text)),
  ).toBe(true);
  expect((await texts('replay-error-words'))[0]).toMatch(/0 of \d+ VFS counts differ/);
  expect(await lab.storage()).toEqual([]);
  expect((await texts('environment'))[0]).toMatch(/SQLite\s+3\.\d+.*Runtime\s+Chrome \d+/s);
  // of each replay; the what-ifs' are in collapsed boxes
  expect((await texts('save-csv')).filter(Boolean)).toEqual(['Save as CSV', 'Save as CSV']);

  await press('replay-compare');
  await page.waitForSelector('[data-testid="compare-headline"]');
  expect(await texts('compare-name')).toEqual(['replayed on BlockIDB, 8 KiB blocks, through']);
  await page.click('[data-testid="changed-only"]');
  await page.waitForFunction(
    () =>
      /xWrite/.test(document.querySelector('[data-testid="compare-numbers"]')?.textContent ?? ''),
    {
      polling,
    },
  );
  await press('lab-back');
  await page.waitForFunction(() => document.querySelector('[data-testid="lab-trace"]') === null, {
    polling,
  });
  await press('replay-forget');
  await page.waitForFunction(
    () => document.querySelectorAll('[data-testid="replay-compare"]').length === 1,
    { polling },
  );
});

it('canceled, or with its tab closed: shows the completed calls, leaves nothing in storage, and runs again', async () => {
  /** Resolves when calls have run and are stored. */
  const run = async (): Promise<void> => {
    await page.evaluate(() => localStorage.clear());
    await press('replay-run');
    await page.waitForFunction(() => localStorage.getItem('vfscope-lab-unfinished') !== null, {
      polling,
      timeout: 30_000,
    });
  };
  const interrupted = async (): Promise<void> => {
    await page.waitForSelector('[data-testid="replay-table"]');
    expect(await page.$eval('[aria-label="Replays"]', (e) => (e as HTMLElement).innerText)).toMatch(
      /Interrupted after [\d,]+ of [\d,]+ calls\./,
    );
    const [recorded, here] = await row('VFS calls', 'main-db.xWriteBytes');
    expect(here).toBe(recorded);
  };
  await choose(path.join(GOLDEN, 'memory-delete.vfst'));
  await run();
  await press('replay-cancel');
  await page.waitForSelector('[data-testid="replay-run"]:not(:disabled)');
  await interrupted();
  expect(await texts('replay-error')).toEqual([]);
  expect([await texts('replay-left'), await lab.storage()]).toEqual([[], []]);

  await run();
  await page.reload();
  await page.waitForSelector('[data-testid="unfinished"]');
  expect((await texts('unfinished'))[0]).toMatch(
    /^Your last replay ended after [\d,]+ of [\d,]+ calls: its tab closed\./,
  );
  await press('unfinished-show');
  await interrupted();
  expect((await texts('replay-left-of'))[0]).toContain('memory-delete.vfst');
  expect(await page.$('[data-testid="replay-compare"]')).toBeNull(); // its recording isn't here

  await choose(path.join(GOLDEN, 'memory-delete.vfst'));
  await page.waitForSelector('[data-testid="replay-facts"]');
  await press('replay-vfs-MemoryVFS');
  await press('replay-cacheSize-500');
  await press('replay-run');
  await replayed(1);
  expect(await row('VFS calls', 'main-db.xWriteBytes')).toEqual(['8,228,864', '8,228,864']);
});

it("what can't be replayed shows why, and what to do", async () => {
  const refusal = async (file: string): Promise<string> => {
    await choose(file);
    await page.waitForSelector('[data-testid="replay-error"]');
    const [said] = await texts('replay-error');
    expect(await page.$('[data-testid="replay-run"]:disabled')).not.toBeNull();
    return said!;
  };
  expect(await refusal(path.join(GOLDEN, 'turso-wal.vfst'))).toMatch(
    /no VFS call.*Record the page from its start/,
  );
  await choose(path.join(GOLDEN, 'memory-delete.vfst')); // a valid one removes the error
  await page.waitForSelector('[data-testid="replay-facts"]');
  expect(await texts('replay-error')).toEqual([]);
  const other = path.join(folder, 'shop.vfst');
  writeFileSync(other, 'SQLite format 3\0');
  expect(await refusal(other)).toMatch(/is a SQLite database/);
  const newer = readFileSync(path.join(GOLDEN, 'memory-delete.vfst'));
  newer.writeUInt32LE(newer.readUInt32LE(8) + 99, 8);
  writeFileSync(other, newer);
  expect(await refusal(other)).toMatch(/newer vfscope/);
});

it('other page sizes: the recorded values, with estimates next to them', async () => {
  await choose(path.join(GOLDEN, 'cold-warm.vfst'));
  await page.waitForSelector('[data-testid="page-sizes"]');
  await page.$eval('[data-testid="page-sizes"] summary', (e) => (e as HTMLElement).click());
  const cells = await page.$$eval('[data-testid="page-sizes-table"] tbody tr', (rows) =>
    rows.map((r) => [...r.querySelectorAll('th, td')].map((cell) => cell.textContent!)),
  );
  expect(cells.map(([size]) => size!.replace(/[^0-9]/g, ''))).toEqual([
    '512',
    '1024',
    '2048',
    '4096',
    '8192',
    '16384',
    '32768',
    '65536',
  ]);
  const recorded = cells.find(([size]) => size!.endsWith('recorded'))!;
  const [larger] = cells.slice(cells.indexOf(recorded) + 1);
  const reads = (row: string[]): number => Number(row[1]!.split(' to ')[0]!.replaceAll(',', ''));
  expect(reads(recorded)).toBeGreaterThan(0);
  expect(reads(larger!)).toBeLessThan(reads(recorded));
  expect((await texts('page-sizes'))[0]).toContain('An estimate: pages that adjoin become one');
});

it('other checkpoint distances: the recorded values, with counts next to them', async () => {
  await choose(path.join(GOLDEN, 'wal-begins-anew.vfst'));
  await page.waitForSelector('[data-testid="checkpoint-choices"]');
  const cells = await page.$$eval('[data-testid="checkpoint-choices-table"] tbody tr', (rows) =>
    rows.map((r) => [...r.querySelectorAll('th, td')].map((cell) => cell.textContent!.trim())),
  );
  // the log has equally many frames for each; longer distances have fewer checkpoints and writes
  expect(cells.find(([distance]) => distance === '1,000 (recorded)')!.slice(1, 4)).toEqual([
    '4',
    '4,218',
    '198',
  ]);
  expect(cells.find(([distance]) => distance === '2,000')!.slice(1, 4)).toEqual([
    '2',
    '4,218',
    '100',
  ]);
  expect((await texts('checkpoint-choices'))[0]).toContain('What if checkpoints');
});

it('an interrupted replay returns the completed calls', async () => {
  const trace = new Uint8Array(readFileSync(path.join(GOLDEN, 'memory-delete.vfst')));
  let interrupt = (): void => {};
  const first = new Promise<void>((resolve) => (interrupt = resolve));
  const config = { ...DEFAULT_CONFIG, vfs: 'IDBBatchAtomic' as const };
  const done = lab.replay(trace, config, { interrupt: first });
  // its storage exists, so calls are running
  await page.waitForFunction(async () => (await indexedDB.databases()).length > 0, {
    polling,
    timeout: 30_000,
  });
  interrupt();
  const { report, left } = await done;
  expect(report.calls).toBeLessThan(report.callsInAll);
  expect(report.errorWhy).toBe('the replay was interrupted.');
  expect(left).toEqual([]);
}, 60_000);

it('a recording in which several threads share a database reports what is left out, before it runs', async () => {
  await choose(path.join(GOLDEN, 'idb-two-tabs.vfst'));
  await page.waitForSelector('[data-testid="replay-facts"]');
  expect((await texts('replay-facts'))[0]).toMatch(/\d of [\d,]+ VFS calls of 1 thread on/);
  expect((await texts('replay-warning')).join()).toMatch(/several threads share/);
});

it('a button sends the trace of a Lab run to the box', async () => {
  await press('offer-own-sql');
  await press('knob-vfs-AccessHandlePool');
  await press('lab-run');
  await press('open-trace');
  await press('replay-trace');
  await page.waitForSelector('[data-testid="replay-facts"]');
  await press('replay-vfs-MemoryVFS');
  await press('replay-run');
  await replayed(1);
  expect(await texts('replay-error')).toEqual([]);
  const [recorded, here] = await row('VFS calls', 'main-db.xWrite');
  expect(Number(recorded!.replaceAll(',', ''))).toBeGreaterThan(0);
  expect(here).toBe(recorded);
});

longTest(
  'fits from 400 to 1400 px, with results on show: nothing is scrolled sideways',
  async () => {
    await choose(path.join(GOLDEN, 'cold-warm.vfst'));
    await press('replay-run'); // BlockIDB, 8 KiB blocks, write-through
    await replayed(1);
    await press('replay-vfs-MemoryVFS');
    await press('replay-run');
    await replayed(2);
    await press('replay-vfs-AccessHandlePool');
    await press('replay-run');
    await replayed(3);
    for (const width of [400, 800, 1400]) {
      await page.setViewport({ width, height: 900 });
      await page.waitForFunction((w) => innerWidth === w, { polling }, width);
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(
        true,
      );
      const over = (): Promise<number> =>
        page.$eval(
          '[data-testid="replay-table"]',
          (e) => e.parentElement!.scrollWidth - e.parentElement!.clientWidth,
        );
      await expect.poll(over, { message: `${width} px` }).toBeLessThanOrEqual(0);
      const cells = await page.$$eval('[data-testid="replay-table"] :is(td, .column)', (all) =>
        all
          .map((e) => e.getBoundingClientRect())
          .filter(({ width, right }) => width > 0 && right > innerWidth),
      );
      expect(cells, `${width} px`).toEqual([]);
    }
  },
);
