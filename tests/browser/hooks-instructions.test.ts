/**
 * Instructions of a live app in Chromium: equal to the Lab's count; an app that checks its own
 * bytes still works; none are counted by default.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packageFile } from '../../src/lab/command/node.ts';
import { COUNTER } from '../../src/lab/meter/meter.ts';
import { inTheLab } from '../contract/helpers/in-the-lab.ts';
import { launchPlainBrowser } from '../oracle/browser.ts';
import { createServer, type AppServer } from '../server/server.mjs';
import {
  buildCarried,
  buildHook,
  collectUntil,
  injectHook,
  type SeenEvent,
  type SeenThread,
} from './hooks-harness.ts';
import { labWorkload } from './lab-workload.ts';

let server: AppServer;
let browser: Browser;
let hook: string;
let instructions: string;
beforeAll(async () => {
  [server, browser, hook, instructions] = await Promise.all([
    createServer(),
    launchPlainBrowser(),
    buildHook(),
    buildCarried('instructions'),
  ]);
});
afterAll(async () => {
  await browser.close();
  await server.close();
});

const COUNTED = 'sqlite3_instructions';
let labels = 0;
async function recorded(
  script: string,
  how?: string,
  integrity?: string,
): Promise<[SeenThread[], unknown]> {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  await injectHook(page, script);
  await page.goto(`${server.origin(`instructions-${++labels}`)}/hook-cases/`);
  const answer: unknown = await page.evaluate(labWorkload(how, integrity));
  await page.evaluate(() => performance.mark('after'));
  const all = (threads: SeenThread[]): SeenEvent[] => threads.flatMap(({ events }) => events);
  const threads = await collectUntil(page, (seen) =>
    ['mark', 'sqlite3_close'].every((op) => all(seen).some((event) => event.op === op)),
  );
  await context.close();
  return [threads, answer];
}
function beforeClose(threads: readonly SeenThread[]): number[] {
  return threads.flatMap(({ events }) => {
    const close = events.find(({ op }) => op === 'sqlite3_close');
    return events
      .filter(({ op, aux }) => op === COUNTED && aux === close?.seq)
      .map((e) => e.offset);
  });
}
const faultsOf = (threads: readonly SeenThread[]): unknown[] =>
  threads.filter(({ dropped, faults, notes }) => dropped || faults || notes.length);

test.each([
  ...[undefined, 'untyped', 'data', 'compiled', 'synchronous'],
  'in a worker', // it receives the module in a message
])("the Lab's workload, from instantiation: the Lab's own count; loaded %s", async (how) => {
  const [atClose] = await inTheLab({ vfs: 'MemoryVFS' }, 'total');
  const [threads] = await recorded(instructions + hook, how);
  expect(beforeClose(threads)).toEqual([atClose]);
  expect(faultsOf(threads)).toEqual([]);
});

test('an app that checks the bytes of its module finds them unchanged', async () => {
  const bytes = await readFile(packageFile('@journeyapps/wa-sqlite/dist/wa-sqlite.wasm'));
  const digest = createHash('sha384').update(bytes).digest();
  const [threads, checked] = await recorded(
    instructions + hook,
    'checked',
    `sha384-${digest.toString('base64')}`,
  );
  const names = WebAssembly.Module.exports(new WebAssembly.Module(bytes)).map(({ name }) => name);
  expect(checked).toEqual([...digest, ...names]);
  expect(names).not.toContain(COUNTER);
  expect(beforeClose(threads)).toHaveLength(1);
  expect(faultsOf(threads)).toEqual([]);
});

test('without the script nothing is counted', async () => {
  const [threads] = await recorded(hook);
  expect(threads.flatMap(({ events }) => events).filter(({ op }) => op === COUNTED)).toEqual([]);
});
