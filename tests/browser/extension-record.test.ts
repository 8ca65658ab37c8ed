/**
 * `vfscope record` and `vfscope open` with the built extension: their files, output, and exit
 * codes.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { open } from '../../src/cli/open.ts';
import { record, type RecordArgs } from '../../src/cli/record.ts';
import { Facts } from '../../src/analysis/core/graph.ts';
import { answerOf, answerReport, type Answer } from '../../src/analysis/report/answer-report.ts';
import { summaryOf, type Summary } from '../../src/analysis/report/summary.ts';
import { reportText } from '../../src/terminal/report-text.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { createServer, type AppServer } from '../server/server.mjs';
import { EXTENSION } from './extension-harness.ts';
import { longTest } from './long-test.ts';

let server: AppServer;
let folder: string;
let out: string;
let said = '';
let printed = '';

beforeAll(async () => {
  server = await createServer();
  folder = await mkdtemp(path.join(tmpdir(), 'vfscope-'));
  out = path.join(folder, 'trace.vfst');
});
afterAll(async () => {
  await server?.close();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => {
  said = printed = '';
  vi.spyOn(console, 'error').mockImplementation((line: string) => void (said += `${line}\n`));
  vi.spyOn(process.stdout, 'write').mockImplementation((text, ...rest: unknown[]) => {
    printed += String(text);
    (rest.at(-1) as () => void)?.();
    return true;
  });
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => Boolean((said += String(text))));
});
afterEach(async () => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  await rm(out, { force: true });
});

const recordIt = (args: Partial<RecordArgs> & { url: string }): Promise<number> =>
  record({ out, extension: EXTENSION, ...args });
const DONE = "document.body?.dataset.state === 'done'";
const RUN = '/journeyapps-wa-sqlite/?vfs=OPFSCoopSync&run=own-sql&n=50';

async function written(): Promise<Summary> {
  const { store, warnings } = await readTrace(await readFile(out));
  expect(warnings).toEqual([]);
  return summaryOf(store);
}

/** Width and height of a PNG. */
async function sizeOf(file: string): Promise<[width: number, height: number]> {
  const png = await readFile(file);
  return [png.readUInt32BE(16), png.readUInt32BE(20)];
}

describe('record', () => {
  test('writes a trace of the page, and a picture of the panel', async () => {
    const screenshot = path.join(folder, 'panel.png');
    const url = server.origin('record') + RUN;
    expect(await recordIt({ url, until: DONE, screenshot, requireSqlite: true }), said).toBe(0);
    const { store } = await readTrace(await readFile(out));
    const answer = answerOf(new Facts(store));
    expect(answer.actions.map(({ rule }) => rule)).toContain('F01');
    const size = (await stat(out)).size;
    expect(printed).toBe(`${reportText(answerReport(answer, out))}\n${out} ${size} bytes\n`);
    const summary = await written();
    expect(summary.dropped).toBe(0);
    expect(summary.commits).toBeGreaterThanOrEqual(51);
    expect(summary.engines.map(({ name }) => name)).toEqual(['@journeyapps/wa-sqlite']);
    // the browser was asked about the page's storage when the recording began and stopped
    const { storage } = summary.environment;
    expect(storage).toMatchObject({ origin: server.origin('record'), persisted: false });
    expect(storage!.quota).toBeGreaterThan(1 << 20);
    expect(storage!.grownBytes).toBeGreaterThan(4096);
    // the page was timed, and no DevTools were open
    const { conditions } = summary.environment;
    expect(conditions).toMatchObject({ devtools: false, slowed: false });
    expect(conditions.wasmFactor).toBeGreaterThan(0);
    expect(await sizeOf(screenshot)).toEqual([1280, 800]);

    const picture = path.join(folder, 'opened.png');
    expect(await open({ file: out, screenshot: picture, extension: EXTENSION }), said).toBe(0);
    expect((await stat(picture)).size).toBeGreaterThan(5000);
  });

  test('needs no app and no name: the bundled demo, from an empty folder', async () => {
    const vfscope = path.resolve(EXTENSION, '../cli/vfscope.mjs');
    const { stdout } = await promisify(execFile)(process.execPath, [vfscope, 'demo', '--json'], {
      cwd: folder,
    });
    const { answer, actions, file, bytes } = JSON.parse(stdout) as Answer & {
      file: string;
      bytes: number;
    };
    expect(answer).toMatch(/^SQLite kept the worker worker\.js busy for /);
    expect(actions.map(({ rule }) => rule)).toContain('F07');
    expect([file, bytes]).toEqual([
      'vfscope-demo.vfst',
      (await stat(path.join(folder, 'vfscope-demo.vfst'))).size,
    ]);
  });

  test('with DevTools open, which slow the page down', async () => {
    const screenshot = path.join(folder, 'devtools.png');
    const options = { url: server.origin('record-devtools') + RUN, until: DONE };
    expect(await recordIt({ ...options, devtools: true, screenshot }), said).toBe(0);
    const { conditions } = (await written()).environment;
    expect(conditions).toMatchObject({ devtools: true, slowed: true });
    expect(conditions.awaitExtraNs).toBeGreaterThan(0);
    expect(await sizeOf(screenshot)).toEqual([1280, 773]); // DevTools' own tab bar takes 27 px
  });

  longTest('is driven by a script', async () => {
    const script = path.join(folder, 'steps.mjs');
    await writeFile(
      script,
      `export default async (page) => {
        await page.waitForFunction(() => document.body.dataset.state === 'ready', { polling: 50 });
        await page.evaluate(() => window.run('own-sql', { n: 7 }));
      };`,
    );
    expect(await recordIt({ url: `${server.origin('script')}/sql-js/`, script }), said).toBe(0);
    expect((await written()).commits).toBeGreaterThanOrEqual(7);
  });

  test("saves what it has if the condition isn't met in time", async () => {
    expect(
      await recordIt({
        url: server.origin('late') + RUN,
        until: 'document.title === "never"',
        seconds: 3,
      }),
    ).toBe(3);
    expect(said).toMatch(/condition "document.title === \\"never\\"" was not met within 3 s/);
    expect((await written()).events).toBeGreaterThan(100);
  });

  test('names a page without SQLite, and its unrecorded workers; fails if SQLite is required', async () => {
    const url = `${server.origin('record-none')}/hook-cases/threads/`;
    const script = path.join(folder, 'data-worker.mjs');
    await writeFile(script, `export default (page) => page.evaluate(() => start.data());`);
    expect(await recordIt({ url, script }), said).toBe(0);
    expect(said).toMatch(
      /vfscope: 1 worker isn't recorded: .* a data: URL: a data: URL has no origin/,
    );
    expect(said).toMatch(/vfscope: No SQLite was seen on this page\./);
    expect(await recordIt({ url, script, requireSqlite: true })).toBe(1);
  });

  longTest('says what failed when the page fails to load', async () => {
    expect(await recordIt({ url: `${server.url}/no-such-app/` })).toBe(3);
    expect(said).toMatch(/no-such-app\/ doesn't load: the server answered 404/);
    expect(await recordIt({ url: 'http://localhost:1/' })).toBe(3);
    expect(said).toMatch(/http:\/\/localhost:1\/ doesn't load: .*Is its server running/);
  });

  test('explains how to get a browser if there is none', async () => {
    vi.stubEnv('CHROMIUM', path.join(folder, 'no-browser'));
    expect(await recordIt({ url: server.url })).toBe(3);
    expect(said).toMatch(/There is no browser at .*no-browser.*apt-get install chromium/);
  });

  test.each<[string, Partial<RecordArgs>, RegExp]>([
    ['an unknown browser', { browser: 'lynx' }, /Unknown browser "lynx"/],
    ['no web address', { url: 'file:///etc/hosts' }, /isn't a web address/],
    ['no folder', { out: '/no/such/folder/t.vfst' }, /no folder \/no\/such\/folder/],
    ['no script', { script: 'no-such-steps.mjs' }, /no-such-steps.mjs can.t be loaded/],
  ])('refuses %s', async (_what, args, message) => {
    expect(await recordIt({ url: 'http://localhost:1/', ...args })).toBe(2);
    expect(said).toMatch(message);
    expect(printed).toBe('');
  });
});

describe('open', () => {
  test("names a file that doesn't exist", async () => {
    const opening = open({ file: path.join(folder, 'none.vfst'), extension: EXTENSION });
    await expect(opening).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(/none\.vfst: there is no such file/) as string,
    });
  });
});
