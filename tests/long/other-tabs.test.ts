/**
 * 200 loads of unrecorded tabs, the same as without any recording, in each browser; 100 loads of a
 * recorded tab while the background is stopped.
 */
import { expect, test } from 'vitest';
import { openPanel } from '../../src/drive/panel.ts';
import { startRecording } from '../../src/drive/session.ts';
import { launch, recorded } from '../browser/extension-harness.ts';
import { launchInFirefox } from '../browser/firefox-harness.ts';
import { beside, joined, observe, serveOrigins } from '../browser/other-tabs.ts';

test('other tabs, and a background that is stopped', async () => {
  const [origins, driven] = await Promise.all([serveOrigins(), launch()]);
  try {
    const ours = await driven.firstPage();
    await ours.goto(`chrome-extension://${driven.extensionId}/devtools/devtools.html`);
    const page = await driven.browser.newPage();
    const app = `${origins.origin('app')}/page`;
    const plain = await observe(page, app);
    await startRecording(await openPanel(page));
    await recorded(page);

    const other = await driven.browser.newPage();
    for (let i = 0; i < 200; i++)
      expect(
        await observe(other, `${origins.origin(`other-${i % 20}`)}/${i}`),
        `load ${i}`,
      ).toEqual(plain);
    for (let i = 0; i < 50; i++) {
      expect(beside(await observe(other, app)), `load ${i} of the recorded origin`).toEqual(plain);
      await joined(other);
    }
    await other.close();

    const session = await ours.createCDPSession();
    await session.send('ServiceWorker.enable');
    for (let i = 0; i < 100; i++) {
      const loaded = page.goto(`${origins.origin(`stopped-${i % 10}`)}/${i}`);
      await session.send('ServiceWorker.stopAllWorkers');
      await loaded;
      await page.waitForFunction(() => '_sqlite3_step' in {}, { polling: 50, timeout: 30_000 });
    }
  } finally {
    await driven.close();
    origins.close();
  }
});

test('other tabs of Firefox', async () => {
  const [origins, driven] = await Promise.all([serveOrigins(), launchInFirefox()]);
  try {
    const app = `${origins.origin('app')}/page`;
    const other = await driven.browser.newPage();
    const plain = await observe(other, app);
    const page = await driven.browser.newPage();
    await page.bringToFront();
    await page.goto(app);
    await startRecording(await driven.openPanel(page));
    await page.waitForFunction(() => '_sqlite3_step' in {});
    for (let i = 0; i < 200; i++)
      expect(
        await observe(other, `${origins.origin(`other-${i % 20}`)}/${i}`),
        `load ${i}`,
      ).toEqual(plain);
  } finally {
    await driven.close();
    origins.close();
  }
});
