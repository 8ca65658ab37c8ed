/**
 * The demo on IndexedDB in WebKit: the same actions give the same numbers as in Chromium and
 * Firefox.
 */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { buildHook, injectHook } from '../browser/hooks-harness.ts';
import { DEMO, demoNumbers, useDemo } from '../oracle/demo-run.ts';
import { createServer } from '../server/server.mjs';
import { collectedStore, endRecording } from './hooked-app.ts';
import { launchWebKit } from './minibrowser.ts';

test('the demo on IndexedDB: calls and bytes', { timeout: 180_000 }, async () => {
  const { numbers } = JSON.parse(
    await readFile(new URL('../oracle/demo-idb.json', import.meta.url), 'utf8'),
  ) as { numbers: object };
  const [server, driven] = await Promise.all([createServer(), launchWebKit()]);
  try {
    const page = driven.page.asPuppeteer();
    await injectHook(page, await buildHook());
    await page.goto(server.origin('demo-idb') + DEMO);
    await useDemo(page);
    await endRecording(driven.page);
    expect(demoNumbers(await collectedStore(driven.page))).toEqual(numbers);
  } finally {
    await driven.close();
    await server.close();
  }
});
