// From a finding in the real panel to the Lab, which runs the pattern both ways.
import { showView } from './show-view.ts';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { DrivenBrowser } from '../../src/drive/browser.ts';
import { openLab } from '../../src/lab/drive/lab.ts';
import { launch } from './extension-harness.ts';

const polling = 50;
let driven: DrivenBrowser;
beforeAll(async () => {
  driven = await launch();
});
afterAll(() => driven.close());

it('“Try it” opens the Lab in a tab, and the experiment runs there at once', async () => {
  const panel = await driven.openPanel(await driven.firstPage());
  await panel.open(path.join(import.meta.dirname, '..', 'traces', 'golden', 'cache-thrash.vfst'));
  await showView(panel, 'answer');
  const title = '[data-testid="finding"][data-rule="F11"] [data-testid="finding-title"]';
  await (await panel.frame.waitForSelector(title))!.click();
  const link = await panel.frame.waitForSelector('[data-rule="F11"] [data-testid="finding-try"]');
  await link!.click();
  const target = await driven.browser.waitForTarget((t) =>
    t.url().includes('/lab/lab.html?try=cache-thrash&'),
  );
  const page = (await target.page())!;
  await page.waitForSelector('[data-testid="verdicts"]', { timeout: 100_000 });
  const verdicts = await page.$$eval('[data-testid="verdicts"] .verdict', (all) =>
    all.map((e) => e.textContent!.trim()),
  );
  expect(await page.$eval('[data-testid="tried"]', (e) => e.textContent)).toBe(
    "This runs on OPFSCoopSync (OPFS), as your app does. Statements and pragmas are the experiment's, not your app's.",
  );
  // before and after, in milliseconds and in counts
  const rows = await page.$$eval('[data-testid="results"] tbody th', (all) =>
    all.map((e) => e.textContent),
  );
  expect(rows).toContain('ms');
  expect(rows).toContain('vfs.xReadBytes');
  expect(verdicts).toEqual(['holds', 'holds', 'holds']); // two expectations, and that both ways stored the same
  expect(
    await page.$eval('nav.offers [aria-current="true"]', (e) => e.textContent!.trim()),
  ).toMatch(/small and a large page cache/);
  // and the recording with the finding is there to be replayed
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

it('an address with a name that is none says so', async () => {
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
