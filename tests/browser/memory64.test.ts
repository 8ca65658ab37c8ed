/**
 * An engine with 64-bit addresses: skipped with a note, and the app gets its instance. Node 20 has
 * no memory64; browsers do.
 */
import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { memory64Module } from '../contract/helpers/rewrite-wasm.ts';
import { launchPlainBrowser } from '../oracle/browser.ts';
import { buildHook, collectUntil, openCases, serveCases } from './hooks-harness.ts';

let browser: Browser;
let server: Awaited<ReturnType<typeof serveCases>>;
let hook: string;
beforeAll(async () => {
  [browser, server, hook] = await Promise.all([launchPlainBrowser(), serveCases(), buildHook()]);
});
afterAll(async () => {
  await browser.close();
  await server.close();
});

test('memory64 is skipped with a note', async () => {
  const page = await openCases(browser, server.url('plain'), hook);
  const seen = await page.evaluate(
    async (bytes) => {
      const { instance } = await WebAssembly.instantiate(new Uint8Array(bytes));
      const memory = instance.exports.m as WebAssembly.Memory;
      return [
        Object.keys(instance.exports).join(),
        new TextDecoder().decode(new Uint8Array(memory.buffer, 10, 15)),
      ];
    },
    [...memory64Module()],
  );
  expect(seen).toEqual(['m,t', 'SQLite format 3']);
  const [thread] = await collectUntil(
    page,
    ([t]) => t?.definitions.some((d) => d.kind === 'engine') ?? false,
  );
  const engine = thread!.definitions.find((d) => d.kind === 'engine');
  expect(engine).toMatchObject({
    layers: { vfs: false, sql: false, counters: false },
    note: expect.stringContaining('memory64') as string,
  });
  expect(thread!.faults).toBe(0);
  await page.browserContext().close();
});
