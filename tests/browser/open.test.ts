/** `vfscope open`: the viewer that any web server can host, served to the user's browser. The rest of it: tests/long/site.test.ts. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchPlainBrowser } from '../oracle/browser.ts';

const GOLDEN = 'tests/traces/golden/idb-batch-atomic.vfst';
let browser: Browser;
beforeAll(async () => {
  browser = await launchPlainBrowser();
});
afterAll(() => browser?.close());

test('shows the trace in any browser until Ctrl+C, and stores nothing there', async () => {
  const args = ['dist/cli/vfscope.mjs', 'open', GOLDEN, '--no-browser'];
  const command = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [line] = (await once(createInterface(command.stdout), 'line')) as [string];
    const url = /^Open (\S+) in a browser on this machine to see /.exec(line)![1]!;
    const page = await browser.newPage();
    const faults: unknown[] = [];
    page.on('pageerror', (e) => faults.push(e));
    await page.goto(url);
    const answer = await page.waitForSelector(
      '[data-testid="answer-view"][aria-busy="false"] [data-testid="answer"]',
    );
    expect(await answer!.evaluate((element) => element.textContent)).toMatch(
      /SQLite kept the worker worker\.js busy for 880 ms/,
    );
    expect(faults).toEqual([]);
    expect(
      await page.evaluate(async () => [
        (await navigator.serviceWorker.getRegistrations()).length,
        (await caches.keys()).length,
      ]),
    ).toEqual([0, 0]);
    await page.close();
  } finally {
    const ended = once(command, 'exit');
    command.kill('SIGINT');
    expect(await ended).toEqual([0, null]);
  }
});
