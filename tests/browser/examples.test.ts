/**
 * The examples as documented: each runs in an installed browser, and its recording matches what the
 * app did.
 */
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { createServer, type HtmlTagDescriptor, type ViteDevServer } from 'vite';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Browser, Page } from 'puppeteer-core';
import { findChromium } from '../../src/drive/find-browser.mjs';
import { summaryOf, type Summary } from '../../src/analysis/report/summary.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { launchPlainBrowser } from '../oracle/browser.ts';

const run = promisify(execFile);
const env = { ...process.env, CHROMIUM: findChromium()!, NO_COLOR: '1' };
let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'vfscope-examples-'))));
afterAll(() => rm(folder, { recursive: true, force: true }));

const summaryOfFile = async (bytes: Uint8Array): Promise<Summary> =>
  summaryOf((await readTrace(bytes)).store);
const kinds = ({ threads }: Summary): string[] => threads.map(({ kind }) => kind);

test('Playwright: the test passes, and its trace and answer are attached', async () => {
  const { stdout } = await run(
    resolve('node_modules/.bin/playwright'),
    ['test', '--project', 'chromium', '--reporter', 'json', '--output', join(folder, 'results')],
    { cwd: 'examples/playwright', env },
  );
  const [result] = JSON.parse(stdout).suites[0].specs[0].tests[0].results as {
    status: string;
    attachments: { name: string; body?: string; path?: string }[];
  }[];
  expect(result!.status).toBe('passed');
  const attached = (name: string) => result!.attachments.find((one) => one.name === name)!;
  const summary = await summaryOfFile(await readFile(attached('trace.vfst').path!));
  // CREATE TABLE and INSERT
  expect([kinds(summary), summary.commits, summary.dropped]).toEqual([['page', 'worker'], 2, 0]);
  const answer = Buffer.from(attached('vfscope').body!, 'base64').toString();
  expect(answer).toMatch(/^SQLite kept .*\n/);
  // its commands name an existing file
  await summaryOfFile(await readFile(/vfscope open (.*)/.exec(answer)![1]!));
});

test('Vitest in browser mode: the test passes', async () => {
  const report = join(folder, 'vitest.json');
  await run(
    resolve('node_modules/.bin/vitest'),
    ['run', '--reporter=json', `--outputFile=${report}`],
    { cwd: 'examples/vitest', env },
  );
  const { success, numPassedTests } = JSON.parse(await readFile(report, 'utf8')) as Record<
    string,
    unknown
  >;
  expect([success, numPassedTests]).toEqual([true, 1]);
});

describe('in a page', () => {
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    browser = await launchPlainBrowser();
    page = await browser.newPage();
  });
  afterAll(() => browser.close());

  const saveNote = async (): Promise<void> => {
    await page.waitForSelector('button:enabled');
    await page.type('input', 'Buy milk');
    await page.click('button');
    await page.waitForSelector('li');
  };

  test('Vite: page and worker of the development server are recorded, and a build contains nothing of vfscope', async () => {
    const configFile = resolve('examples/vite/vite.config.js');
    const root = resolve('examples/app');
    const server: ViteDevServer = await createServer({
      ...{ configFile, root, logLevel: 'error' },
      server: { port: 0, host: '127.0.0.1' },
    });
    try {
      await server.listen();
      const [url] = server.resolvedUrls!.local;
      await page.goto(url!);
      await saveNote();
      await page.evaluate('vfscope.stop()');
      const answer = await fetch(`${url}__vfscope/trace.vfst`);
      const summary = await summaryOfFile(new Uint8Array(await answer.arrayBuffer()));
      expect([kinds(summary), summary.commits, summary.dropped]).toEqual([
        ['page', 'worker'],
        2,
        0,
      ]);
      const out = 'examples/vite/notes.vfst';
      await rm(out);
      const exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never);
      process.listeners('SIGINT').at(-1)!('SIGINT'); // Ctrl+C
      await expect.poll(() => exit.mock.calls).toEqual([[130]]);
      exit.mockRestore();
      expect((await summaryOfFile(await readFile(out))).commits).toBe(2);
      const elsewhere = { method: 'POST', headers: { origin: 'https://evil.example' }, body: '{}' };
      expect((await fetch(`${url}__vfscope/stream`, elsewhere)).status).toBe(403);
    } finally {
      await server.close();
      await rm('examples/vite/notes.vfst', { force: true });
    }
    const { build } = await import('vite');
    const output = await build({
      ...{ configFile, root, logLevel: 'error' },
      build: { write: false },
    });
    expect(JSON.stringify(output)).not.toMatch(/__?vfscope/);
  });

  const dist = process.env['VFSCOPE_DIST'] ?? 'dist';
  /** Uses the app with this script element before its own. */
  async function useWith(tag: HtmlTagDescriptor): Promise<void> {
    const server = await createServer({
      ...{ configFile: 'examples/app/vite.config.js', root: 'examples/app', logLevel: 'error' },
      server: { port: 0, host: '127.0.0.1', fs: { strict: false } },
      plugins: [
        { name: 'script', transformIndexHtml: () => [{ ...tag, injectTo: 'head-prepend' }] },
      ],
    });
    try {
      await server.listen();
      await page.goto(server.resolvedUrls!.local[0]!);
      await saveNote();
      await page.evaluate('vfscope.stop()');
    } finally {
      await server.close();
    }
  }
  /** Recorded by separate scripts: the page sends its worker three requests. */
  const ALL = { isCounted: true, requests: 3, unanswered: 0 };
  const extra = ({ instructions = 0, requests }: Summary): typeof ALL => ({
    isCounted: instructions > 0,
    requests: requests!.count,
    unanswered: requests!.unanswered,
  });

  test('vfscope listen: a page loads the hook with one script element, and its trace is saved on Ctrl+C', async () => {
    const out = join(folder, 'listened.vfst');
    const command = spawn(process.execPath, [
      ...[`${dist}/cli/vfscope.mjs`, 'listen', '--out', out],
      ...['--messages', '--instructions'],
    ]);
    let said = '';
    command.stderr.on('data', (text: Buffer) => (said += text.toString()));
    const ended = new Promise<number | null>((done) => command.once('exit', done));
    await expect.poll(() => said).toContain('Recording, until Ctrl+C.');
    const [, script] = /src="([^"]+)"/.exec(said)!;
    await useWith({ tag: 'script', attrs: { src: script! } });
    command.kill('SIGINT');
    expect(await ended).toBe(0);
    const summary = await summaryOfFile(await readFile(out));
    expect([kinds(summary), summary.commits, summary.dropped]).toEqual([['page', 'worker'], 2, 0]);
    expect(extra(summary)).toEqual(ALL);
  });

  test('a page that imports messages and instructions before the hook records both', async () => {
    const lib = `/@fs${resolve(dist)}/lib`;
    const files = ['capture/messages.js', 'capture/instructions.js', 'hook.js'];
    const children = files.map((file) => `import '${lib}/${file}';`).join('');
    await useWith({ tag: 'script', attrs: { type: 'module' }, children });
    const bytes = await page.evaluate(
      `vfscope.save().then((file) => file.arrayBuffer()).then((bytes) => [...new Uint8Array(bytes)])`,
    );
    const summary = await summaryOfFile(Uint8Array.from(bytes as number[]));
    expect([kinds(summary), summary.commits]).toEqual([['page', 'worker'], 2]);
    expect(extra(summary)).toEqual(ALL);
    expect(await page.evaluate(`Symbol.for('vfscope.capture') in globalThis`)).toBe(false);
  });
});
