/**
 * A page and its worker in WebKit that record themselves with one import each, without an extension
 * or an injected script.
 */
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { summaryOf, type Summary } from '../../src/analysis/report/summary.ts';
import { serveFolders, type Served } from '../../src/terminal/serve.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { launchWebKit, type DrivenWebKit } from './minibrowser.ts';

const folder = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
let served: Served;
let driven: DrivenWebKit;
beforeAll(async () => {
  const folders = {
    '/app/': folder('tests/webkit/embedded'),
    '/lib/': folder(`${process.env['VFSCOPE_DIST'] ?? 'dist'}/lib`),
    '/node_modules/': folder('node_modules'),
  };
  [served, driven] = await Promise.all([serveFolders(folders), launchWebKit()]);
});
afterAll(async () => {
  await driven?.close();
  await served?.close();
});

declare const heard: unknown[];
declare const say: (text: string) => void;
declare const vfscope: { stop(): Promise<void>; start(): void; save(): Promise<Blob> };

/** Sends a text to the worker. Resolves when it has answered. */
async function tell(text: string): Promise<void> {
  const { page } = driven;
  const before = await page.evaluate(() => heard.length);
  await page.evaluate((one: string) => say(one), text);
  await page.waitForFunction((n: number) => heard.length > n, {}, before);
}

/** Runs in the page: the bytes of a Blob, as base64. */
const AS_TEXT = `blob => new Promise(done => {
  const reader = new FileReader();
  reader.onload = () => done(reader.result.split(',')[1]);
  reader.readAsDataURL(blob);
})`;
async function traceOf(blob: string): Promise<Summary> {
  const text = await driven.page.evaluate<[], Promise<string>>(
    `(async () => (${AS_TEXT})(await ${blob}))()`,
  );
  const { store } = await readTrace(new Uint8Array(Buffer.from(text, 'base64')));
  return summaryOf(store);
}

test('if the page and its worker import it, one trace has both', async () => {
  const { page } = driven;
  await page.goto(`${served.url}/app/`);
  await page.waitForFunction(() => typeof say === 'function');
  await tell('status');
  await tell('a note');
  // while the page is busy, its worker first learns from its own port that the recording is over,
  // and later from the page
  await page.evaluate(() => {
    const stopped = vfscope.stop();
    for (const end = performance.now() + 500; performance.now() < end;);
    return stopped;
  });
  const summary = await traceOf('vfscope.save()');
  expect(summary.threads.map(({ kind, layers }) => [kind, layers])).toEqual([
    ['page', ['web']],
    ['worker', ['sql', 'vfs', 'web']],
  ]);
  await tell('status');
  expect(await page.evaluate(() => heard)).toEqual(['elsewhere', '1 of a note', 'elsewhere']);
  // CREATE and INSERT
  expect([summary.commits, summary.dropped, summary.threads[1]!.note]).toEqual([2, 0, null]);

  await page.evaluate(() => vfscope.start());
  await tell('another');
  await page.evaluate(() => vfscope.stop());
  expect((await traceOf('vfscope.save()')).threads.map(({ kind }) => kind)).toEqual(['page']);
});

test('if only the worker imports it, it has its own trace, and the app receives nothing from it', async () => {
  const { page } = driven;
  await page.goto(`${served.url}/app/?worker`);
  await page.waitForFunction(() => typeof say === 'function');
  for (const text of ['status', 'a note', 'save']) await tell(text);
  expect(await page.evaluate(() => heard.slice(0, 2))).toEqual(['recording', '3 of a note']);
  const summary = await traceOf('heard[2]');
  expect(summary.threads.map(({ kind, layers }) => [kind, layers])).toEqual([
    ['worker', ['sql', 'vfs', 'web']],
  ]);
  expect(summary.commits).toBe(1); // INSERT: the table already existed
});
