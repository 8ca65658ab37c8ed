// How the Lab's page shows results: growth along a sweep, shares, skipped passes, functions, stored
// results, and an export of everything.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { RunResult } from '../../src/lab/experiments/model/result-types.ts';
import { driven, finished, page, polling, press, useLabPage, wordsOf } from './lab-harness.ts';

useLabPage();

const type = async (sql: string): Promise<void> => {
  await page.$eval(
    '[data-testid="own-sql"]',
    (area, text) => {
      (area as HTMLTextAreaElement).value = text;
      area.dispatchEvent(new Event('input', { bubbles: true }));
    },
    sql,
  );
};
/** Rows of a table by their headings. */
const table = async (id: string): Promise<Record<string, string[]>> => {
  const rows = await page.$$eval(`[data-testid="${id}"] tbody tr`, (all) =>
    all.map((row) =>
      [...row.children].map((cell) => cell.textContent!.replace(/\s+/g, ' ').trim()),
    ),
  );
  return Object.fromEntries(rows.map(([head, ...cells]) => [head, cells]));
};

it('a sweep of rows: a curve for each step on logarithmic axes, with its slope', async () => {
  await press('offer-kv-sweep');
  for (const items of ['100', '1000', '10000']) await press(`parameter-items-${items}`);
  await press('lab-run');
  await finished(3);
  expect(
    await page.$eval('[data-testid="sweep-counter"]', (e) => (e as HTMLSelectElement).value),
  ).toBe('instructions');
  const slopes = await table('sweep-slopes');
  // counts: the same every time
  expect([slopes['insert']![4], slopes['sum-1']![4]]).toEqual(['linear', 'linear']);
  expect(Number(slopes['insert']![2])).toBeCloseTo(0.98, 1);
  const curves = Object.keys(slopes).length;
  expect(await page.$$eval('[data-testid="sweep-chart"] circle', (all) => all.length)).toBe(
    3 * curves,
  );
  expect(
    await page.$$eval('[data-testid="sweep-chart"] .tick', (all) => all.length),
  ).toBeGreaterThan(2);
  expect((await wordsOf('[data-testid="sweep"]'))[0]).toContain('both axes logarithmic');
  await page.select('[data-testid="sweep-counter"]', 'vfs.xRead');
  await page.waitForFunction(
    () =>
      document
        .querySelector('[data-testid="sweep-slopes"] thead')!
        .textContent!.includes('vfs.xRead at'),
    {
      polling,
    },
  );
  expect(Object.keys(await table('sweep-slopes'))).toContain('sum-1');
});

it('in time mode the raw twin has its own curve', async () => {
  await press('offer-kv-sweep');
  await press('mode-time');
  for (const items of ['100', '1000', '10000']) await press(`parameter-items-${items}`);
  await press('lab-run');
  await finished(3);
  const steps = Object.keys(await table('sweep-slopes'));
  for (const step of ['insert', 'raw-put', 'raw-cursor']) expect(steps).toContain(step);
}, 120_000);

it('a pass is excluded with a written reason, shown struck through, next to the table, and in the saved file; then included again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'vfscope-lab-'));
  try {
    const session = await driven.browser.target().createCDPSession();
    await session.send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: folder });
    await press('offer-own-sql');
    await press('mode-time');
    await press('lab-run');
    await finished(1);
    await page.click('[data-testid="passes"] summary');
    await press('leave-out-0-2');
    await press('leave-out-confirm');
    expect(await wordsOf('[data-testid="left-out"]')).toEqual([]); // the field is required
    await page.type('[data-testid="leave-out-reason"]', 'a <b>backup</b> ran');
    await page.keyboard.press('Enter');
    await page.waitForSelector('[data-testid="left-out"]');
    expect(await wordsOf('[data-testid="left-out"] li')).toEqual([
      'pass 2 is left out: a <b>backup</b> ran',
    ]);
    expect(await page.$$eval('[data-testid="passes"] .out', (all) => all.length)).toBe(1);
    expect(
      await page.$eval('[data-testid="results"] .number', (e) => (e as HTMLElement).title),
    ).toMatch(/ms in 4 of 5 passes: /);
    await press('save-results');
    const saved = (): string[] => readdirSync(folder).filter((name) => name.endsWith('.json'));
    await expect.poll(saved, { timeout: 30_000 }).toEqual(['vfscope-lab-own-sql.json']);
    const [result] = JSON.parse(readFileSync(join(folder, saved()[0]!), 'utf8')) as RunResult[];
    expect(result!.leftOut).toEqual([{ pass: 2, reason: 'a <b>backup</b> ran' }]);
    expect([result!.totalMs!.n, result!.totalMs!.passes.length]).toEqual([4, 5]);
    expect(result!.warmUpMs).toBeGreaterThan(0);
    await press('take-in-0-2');
    await page.waitForFunction(() => document.querySelector('[data-testid="left-out"]') === null, {
      polling,
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('two that stored different data are reported in red, by table; two that stored the same hold', async () => {
  await press('offer-own-sql');
  await type('CREATE TABLE chance(a); INSERT INTO chance VALUES(random());');
  for (const size of [4096, 8192]) await press(`knob-pageSize-${size}`);
  await press('mode-time'); // unseeded
  await press('lab-run');
  await finished(2);
  expect(await wordsOf('[data-testid="verdicts"] .broken')).toEqual(['fails']);
  expect((await wordsOf('[data-testid="verdicts"] li'))[0]).toMatch(
    /stored at the end is the same in all 2.*differs from 4 KiB pages in chance \(1 rows/,
  );
  await press('mode-count');
  await press('lab-run');
  await finished(2);
  expect(await wordsOf('[data-testid="verdicts"] .held')).toEqual(['holds']);
});

it("builds and durability are settings like others, and a build that can't run leaves no column", async () => {
  await press('offer-own-sql');
  for (const build of ['sync', 'asyncify', 'jspi']) await press(`knob-build-${build}`);
  expect(await wordsOf('[data-testid="lab-run"]')).toEqual(['Run 3 configurations']);
  await press('knob-vfs-BlockIDB');
  expect(await wordsOf('[data-testid="lab-run"]')).toEqual(['Run 2 configurations']);
  for (const durability of ['relaxed', 'strict']) await press(`knob-durability-${durability}`);
  await press('lab-run');
  await finished(4);
  expect(await wordsOf('[data-testid="results"] .heading')).toEqual([
    'asyncify, durability relaxed',
    'asyncify, durability strict',
    'jspi, durability relaxed',
    'jspi, durability strict',
  ]);
  const { instructions } = await table('results');
  const [asyncify, , jspi] = instructions!.map((cell) =>
    Number(/[\d,]+/.exec(cell)![0].replaceAll(',', '')),
  );
  expect(asyncify!).toBeGreaterThan(1.3 * jspi!);
});

it('shares of begin, work, and commit, with a bar for each run; instructions by function, with the difference of two', async () => {
  await press('offer-sequential-write');
  await press('parameter-transactions-10');
  for (const journal of ['delete', 'memory']) await press(`knob-journalMode-${journal}`);
  await press('lab-run');
  await finished(2);
  const shares = await wordsOf('[data-testid="shares"] .numbers');
  expect(shares).toHaveLength(2);
  for (const words of shares) {
    const parts = [...words.matchAll(/(\d+\.\d) %/g)].map((m) => Number(m[1]));
    expect(parts).toHaveLength(3);
    expect(parts.reduce((a, b) => a + b)).toBeCloseTo(100, 0);
  }
  await press('count-functions');
  await page.waitForSelector('[data-testid="detail-functions"] tbody tr');
  const functions = await table('detail-functions');
  expect(functions['sqlite3_step']).toEqual([
    expect.stringMatching(/^[\d,]+$/),
    expect.stringMatching(/^[\d,]+$/),
    expect.stringMatching(/^[+−]?[\d,]+$/),
  ]);
});
