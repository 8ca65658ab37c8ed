// A recording goes from the real panel to the Lab without a file, while it runs and after it
// stopped; a closed panel is reported.
import { showView } from './show-view.ts';
import type { Page } from 'puppeteer-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { DrivenBrowser } from '../../src/drive/browser.ts';
import type { Panel } from '../../src/drive/panel.ts';
import { startRecording, stopRecording } from '../../src/drive/session.ts';
import { createServer, type AppServer } from '../server/server.mjs';
import { launch, recorded, state } from './extension-harness.ts';

const polling = 50;
let server: AppServer;
let driven: DrivenBrowser;
let app: Page;
let panel: Panel;
beforeAll(async () => {
  [server, driven] = await Promise.all([createServer(), launch()]);
  app = await driven.firstPage();
  panel = (await driven.openPanel(app)) as Panel;
});
afterAll(async () => {
  await driven?.close();
  await server?.close();
});

async function openFromPanel(): Promise<Page> {
  await showView(panel, 'files');
  // the link is elsewhere before that
  await panel.frame.waitForSelector('[data-testid="file-row"]');
  const link = await panel.frame.waitForSelector('[data-testid="replay-in-lab"]');
  const known = new Set(driven.browser.targets());
  await link!.click();
  const target = await driven.browser.waitForTarget(
    (t) => !known.has(t) && t.url().includes('/lab/lab.html?trace='),
  );
  const lab = (await target.page())!;
  await lab.waitForSelector('[data-testid="replay-facts"], [data-testid="replay-error"]');
  return lab;
}
const textIn = (lab: Page, id: string): Promise<string> =>
  lab.evaluate(
    (selector) => document.querySelector<HTMLElement>(selector)?.innerText.trim() ?? '',
    `[data-testid="${id}"]`,
  );
const callsIn = async (lab: Page): Promise<number> =>
  Number(
    /: ([\d,]+) VFS calls/
      .exec((await textIn(lab, 'replay-facts')).replace(/\s+/g, ' '))![1]!
      .replaceAll(',', ''),
  );
const inserts = (n: number): Promise<unknown> =>
  app.evaluate(
    (rows) =>
      (window as unknown as { run(w: string, o: object): Promise<unknown> }).run('own-sql', {
        n: rows,
      }),
    n,
  );
const writesShown = async (): Promise<number> =>
  Number((await panel.textOf('live-writes')).replaceAll(',', ''));

it('while it records, again when it has more, and after it stopped: replayed without a file', async () => {
  await startRecording(panel);
  await driven.load(app, `${server.origin('hand-over')}/journeyapps-wa-sqlite/?vfs=OPFSCoopSync`);
  await recorded(app);
  await state(app, 'ready');
  await inserts(20);
  await panel.frame.waitForFunction(
    () => Number(document.querySelector('[data-testid="live-writes"]')?.textContent ?? 0) > 40,
    {
      polling,
    },
  );
  const lab = await openFromPanel();
  expect(await textIn(lab, 'replay-error')).toBe('');
  expect(await textIn(lab, 'replay-from')).toMatch(
    /^\([\d.,]+ [KM]iB from the panel, which records it, as it was at \d\d:\d\d:\d\d\)$/,
  );
  expect(await textIn(lab, 'replay-facts')).toContain(
    'It was made on OPFSCoopSync (temporary files',
  );
  const first = await callsIn(lab);
  expect(first).toBeGreaterThan(40);

  await app.bringToFront();
  const before = await writesShown();
  await app.evaluate(() =>
    (window as unknown as { run(w: string, o: object): Promise<unknown> }).run('sql', {
      sql: ['CREATE TABLE more(a)', [30, 'INSERT INTO more VALUES($i)']],
    }),
  );
  await panel.frame.waitForFunction(
    (least) =>
      Number(
        document.querySelector('[data-testid="live-writes"]')?.textContent?.replaceAll(',', '') ??
          0,
      ) >= least,
    { polling },
    before + 60,
  );
  await stopRecording(panel);
  await lab.bringToFront();
  await lab.$eval('[data-testid="replay-panel"]', (e) => (e as HTMLElement).click());
  await lab.waitForFunction(
    () =>
      /from the panel, at \d/.test(
        document.querySelector('[data-testid="replay-from"]')?.textContent ?? '',
      ),
    {
      polling,
    },
  );
  expect(await callsIn(lab)).toBeGreaterThan(first + 60);

  await lab.$eval('[data-testid="replay-vfs-OPFSCoopSync"]', (e) => (e as HTMLElement).click());
  await lab.$eval('[data-testid="replay-run"]', (e) => (e as HTMLElement).click());
  await lab.waitForSelector('[data-testid="replay-table"], [data-testid="replay-error"]', {
    timeout: 60_000,
  });
  expect(await textIn(lab, 'replay-error')).toBe('');
  expect(await textIn(lab, 'replay-error-words')).toMatch(
    /made on \(temporary files .*\), 0 of \d+ VFS counts differ/,
  );
  await lab.close();
}, 180_000);

it('a closed panel is reported', async () => {
  const lab = await driven.browser.newPage();
  await lab.goto(
    `chrome-extension://${driven.extensionId}/lab/lab.html?trace=${crypto.randomUUID()}`,
  );
  await lab.waitForSelector('[data-testid="replay-error"]');
  expect(await textIn(lab, 'replay-error')).toMatch(/doesn't answer. If you closed it/);
  await lab.close();
});
