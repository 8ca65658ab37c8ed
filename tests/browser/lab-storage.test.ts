// Storage experiments on the page: which VFS, duration, measurements, conclusion, and environment;
// saved and compared.
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ElementHandle } from 'puppeteer-core';
import { expect, it } from 'vitest';
import type { ExperimentResult } from '../../src/lab/experiments/model/result-types.ts';
import { serious } from './lab-axe.ts';
import { driven, finished, lab, page, press, texts, useLabPage, wordsOf } from './lab-harness.ts';

useLabPage();

const headings = (): Promise<string[]> => wordsOf('[data-testid="results"] .heading');
const saved = async (folder: string, button: string, name: string): Promise<string> => {
  await press(button);
  // Chromium reserves the name with an empty file, which the finished file replaces
  const size = (): number => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0;
  await expect.poll(size, { timeout: 30_000 }).toBeGreaterThan(0);
  return readFileSync(join(folder, name), 'utf8');
};
const downloadsTo = async (folder: string): Promise<void> => {
  const session = await driven.browser.target().createCDPSession();
  await session.send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: folder });
};

it('an experiment about storage runs on OPFS and IndexedDB, announces that, and its VFS can be selected', async () => {
  await press('offer-durability');
  const title = async (): Promise<string> => (await wordsOf('.question h2'))[0]!;
  expect(await title()).toMatch(/, on AccessHandlePool \(OPFS\) and BlockIDB \(IndexedDB\)$/);
  expect((await texts('takes'))[0]).toMatch(/^36 passes\. Expect (?:a few seconds|up to )/);
  expect(await texts('conclusion')).toEqual([]); // there is no conclusion before it ran
  await press('experiment-vfs-OPFSCoopSync');
  expect(await title()).toMatch(/, on OPFSCoopSync \(OPFS\)$/);
  expect(await texts('lab-command')).toEqual([
    'npx vfscope lab run durability --config vfs=OPFSCoopSync',
  ]);
  await press('experiment-vfs-OPFSCoopSync');
  await press('lab-run');
  await finished(6, 220_000);
  expect(await headings()).toEqual([
    'synchronous=full, AccessHandlePool (OPFS)',
    'synchronous=normal, AccessHandlePool (OPFS)',
    'synchronous=off, AccessHandlePool (OPFS)',
    'synchronous=full, BlockIDB (IndexedDB)',
    'synchronous=normal, BlockIDB (IndexedDB)',
    'synchronous=off, BlockIDB (IndexedDB)',
  ]);
  const claims = await wordsOf('[data-testid="verdicts"] li');
  expect(claims[0]).toMatch(
    /^holds synchronous=normal syncs less than full \(AccessHandlePool\): \d+ syncs against \d+\.$/,
  );
  expect((await texts('conclusion'))[0]).toMatch(/All 5 claims hold\.\s+Each level saves syncs\./);
  const environment = (await wordsOf('[data-testid="environment"]'))[0]!;
  for (const words of [
    /SQLite 3\.\d+/,
    /Wasm size 1/,
    /Runtime Chrom\w+ \d+/,
    /Cores \d+/,
    /Clock step/,
    /after 1 that warms up/,
  ])
    expect(environment).toMatch(words);
  expect(await serious(page)).toEqual([]);
  expect(await lab.storage()).toEqual([]);
}, 240_000);

it('a result is saved as JSON, HTML, SVG, and CSV, and compared with the next one', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'vfscope-lab-'));
  try {
    await downloadsTo(folder);
    await press('offer-journal-modes');
    await press('experiment-vfs-MemoryVFS');
    await press('lab-run');
    await finished(5);
    const name = 'vfscope-lab-journal-modes';
    const result = JSON.parse(
      await saved(folder, 'save-results', `${name}.json`),
    ) as ExperimentResult;
    expect([result.on, Object.keys(result.results).length]).toEqual([['MemoryVFS'], 5]);
    const html = await saved(folder, 'save-html', `${name}.html`);
    expect(html).toContain('<svg');
    expect(html).toMatch(/The log syncs least: \d+ syncs? against \d+\./);
    expect(html).not.toMatch(/<script/);
    expect(await saved(folder, 'save-svg', `${name}.svg`)).toMatch(/^<\?xml/);
    expect(await saved(folder, 'save-csv', `${name}.csv`)).toMatch(
      /^run,vfs,step,counter,value,min,max,passes\n/,
    );
    // the saved file as baseline, the shown one as change: counts are the same
    await press('offer-diff');
    const input = (await page.$('[data-testid="diff-a"]')) as ElementHandle<HTMLInputElement>;
    await input.uploadFile(join(folder, `${name}.json`));
    await press('diff-b-shown');
    await page.waitForSelector('[data-testid="diff"], [data-testid="diff-error"]');
    expect(await texts('diff-error')).toEqual([]);
    expect((await texts('diff-equal'))[0]).toMatch(/^[\d,]+ counts are equal\. 0 counts differ\.$/);
    expect(await serious(page)).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}, 120_000);
