// One VFS on OPFS whose process dies during its commits, in a real browser;
// tests/long/process-death.test.ts has the others, and more deaths.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { DrivenBrowser } from '../../src/drive/browser.ts';
import { createServer, type AppServer } from '../server/server.mjs';
import { launch } from './extension-harness.ts';
import { broken, configOf, deathsOf } from './process-death.ts';

let server: AppServer;
let driven: DrivenBrowser;
beforeAll(async () => {
  [server, driven] = await Promise.all([createServer(), launch()]);
});
afterAll(async () => {
  await driven?.close();
  await server?.close();
});

it('OPFSCoopSync keeps every acknowledged commit when its worker dies', async () => {
  const { calls, deaths } = await deathsOf(driven, server, configOf('OPFSCoopSync'), 6);
  expect(calls).toBeGreaterThan(30);
  expect(broken(deaths)).toEqual([]);
  // some of them midway
  expect(new Set(deaths.map(({ commits }) => commits)).size).toBeGreaterThan(2);
});
