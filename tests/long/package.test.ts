/** The package as npm makes it, installed in an empty folder: `npx vfscope` works there, and says what it is. */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { findChromium, findFirefox } from '../../src/drive/find-browser.mjs';
import type { Answer } from '../../src/analysis/report/answer-report.ts';

const run = promisify(execFile);
const folders: string[] = [];
const empty = async (): Promise<string> => {
  folders.push(await mkdtemp(join(tmpdir(), 'vfscope-package-')));
  return folders.at(-1)!;
};
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

const { version, devDependencies } = JSON.parse(await readFile('package.json', 'utf8')) as {
  version: string;
  devDependencies: Record<string, string>;
};
/** A folder with the tarball installed, and packages as they are pinned here. */
async function installed(...packages: string[]): Promise<string> {
  const [packed, app] = [await empty(), await empty()];
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', packed]);
  const [tarball] = await readdir(packed);
  await writeFile(join(app, 'package.json'), '{}');
  const pinned = packages.map((name) => `${name}@${devDependencies[name]}`);
  const install = ['install', join(packed, tarball!), ...pinned, '--no-audit', '--no-fund'];
  const env = { ...process.env, PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD: '1' };
  await run('npm', install, { cwd: app, env });
  return app;
}

test('from an empty folder with only the packed tarball, the demo answers', async () => {
  const app = await installed();
  expect((await run('npx', ['vfscope', '--version'], { cwd: app })).stdout).toBe(`${version}\n`);
  const { stdout } = await run('npx', ['vfscope', 'demo', '--json'], { cwd: app });
  const { answer, actions } = JSON.parse(stdout) as Answer;
  expect(answer).toMatch(/^SQLite kept the worker worker\.js busy for /);
  expect(actions.map(({ rule }) => rule)).toContain('F07');
}, 300_000);

test('from the packed tarball, the examples pass: Playwright in Chromium and Firefox, Vitest in Chromium', async () => {
  const app = await installed(
    ...['vite', 'vitest', '@vitest/browser-playwright', '@playwright/test', 'playwright'],
  );
  const examples = join(app, 'examples');
  await cp('examples', examples, { recursive: true });
  const env = { ...process.env, CHROMIUM: findChromium()!, FIREFOX: findFirefox()! };
  const tested = await run('npx', ['playwright', 'test', '--reporter', 'json'], {
    ...{ cwd: join(examples, 'playwright'), env },
  });
  const { stats } = JSON.parse(tested.stdout) as { stats: Record<string, number> };
  expect([stats['expected'], stats['unexpected'], stats['skipped']]).toEqual([2, 0, 0]);

  const report = join(app, 'report.json');
  await run('npx', ['vitest', 'run', '--reporter=json', `--outputFile=${report}`], {
    ...{ cwd: join(examples, 'vitest'), env },
  });
  const { success, numPassedTests } = JSON.parse(await readFile(report, 'utf8')) as object & {
    success: boolean;
    numPassedTests: number;
  };
  expect([success, numPassedTests]).toEqual([true, 1]);
}, 900_000);
