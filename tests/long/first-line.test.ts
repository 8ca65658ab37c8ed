/**
 * How many pages of a recorded tab are hooked before their first line, for each way to navigate.
 * The panel lists the others. The number depends on the machine: the test requires that every page
 * is hooked, and most in time.
 */
import type { Page } from 'puppeteer-core';
import { expect, test } from 'vitest';
import { openPanel } from '../../src/drive/panel.ts';
import { startRecording } from '../../src/drive/session.ts';
import { launch, recorded } from '../browser/extension-harness.ts';
import { observe, serveOrigins } from '../browser/other-tabs.ts';

const LOADS = 50;

test('ways to navigate', async () => {
  const [origins, driven] = await Promise.all([serveOrigins(), launch()]);
  try {
    const page = await driven.browser.newPage();
    const app = origins.origin('app');
    await observe(page, `${app}/page`);
    await startRecording(await openPanel(page));
    await recorded(page);

    const seen = (): Promise<boolean> =>
      page.evaluate(() =>
        (globalThis as unknown as { seen: Promise<{ first: { step: boolean } }> }).seen.then(
          ({ first }) => first.step,
        ),
      );
    const go = (to: (i: number) => string) => async (tab: Page, i: number) =>
      void (await tab.goto(to(i)));
    const hop = (to: string): string => `/hop?to=${encodeURIComponent(to)}`;
    const ways: Record<string, (tab: Page, i: number) => Promise<void>> = {
      reload: async (tab) => void (await tab.reload()),
      'the same origin': go((i) => `${app}/${i}`),
      'an origin not seen before': go((i) => `${origins.origin(`new-${i}`)}/page`),
      'a chain of redirects': go(
        (i) =>
          origins.origin(`one-${i}`) +
          hop(origins.origin(`two-${i}`) + hop(`${origins.origin(`three-${i}`)}/page`)),
      ),
      'a link': async (tab, i) => {
        const to = `${origins.origin(`link-${i}`)}/page`;
        await Promise.all([
          tab.waitForNavigation(),
          tab.evaluate((href) => void (location.href = href), to),
        ]);
      },
      'meta refresh': async (tab, i) => {
        const to = `${origins.origin(`meta-${i}`)}/page`;
        const there = tab.waitForNavigation();
        await tab.evaluate((href) => {
          const meta = document.createElement('meta');
          meta.httpEquiv = 'refresh';
          meta.content = `0;url=${href}`;
          document.head.append(meta);
        }, to);
        await there;
      },
      'answered by a service worker': async (tab, i) => {
        if (i === 0) {
          await tab.goto(`${app}/sw/page`);
          await tab.evaluate(async () => {
            await navigator.serviceWorker.register('/sw/worker.js');
            await navigator.serviceWorker.ready;
          });
        }
        await tab.goto(`${app}/sw/${i}`);
      },
    };
    const told: string[] = [];
    for (const [way, load] of Object.entries(ways)) {
      let first = 0;
      for (let i = 0; i < LOADS; i++) {
        await load(page, i);
        if (await seen()) first++;
        await page.waitForFunction(() => '_sqlite3_step' in {}, { polling: 50, timeout: 30_000 });
      }
      told.push(`${way}: ${first} of ${LOADS}`);
      console.log(told.at(-1));
      expect(first, way).toBeGreaterThan(LOADS * 0.8);
    }
  } finally {
    await driven.close();
    origins.close();
  }
});
