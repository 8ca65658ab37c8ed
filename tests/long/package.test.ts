/**
 * The npm package, installed in an empty folder: `npx vfscope` works there and prints its version.
 */
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
/** A folder with the tarball installed, and the packages in the versions pinned here. */
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

test('from an empty folder with only the packed tarball, the demo works', async () => {
  const app = await installed();
  expect((await run('npx', ['vfscope', '--version'], { cwd: app })).stdout).toBe(`${version}\n`);
  const { stdout } = await run('npx', ['vfscope', 'demo', '--json'], { cwd: app });
  const { answer, actions } = JSON.parse(stdout) as Answer;
  // the package has only a part of the extension for Firefox
  const firefox = ['vfscope', 'demo', '--browser', 'firefox', '--json'];
  const { actions: inFirefox } = JSON.parse(
    (await run('npx', firefox, { cwd: app })).stdout,
  ) as Answer;
  expect(inFirefox.map(({ rule }) => rule)).toContain('F07');
  expect(answer).toMatch(/^SQLite kept the worker worker\.js busy for /);
  expect(actions.map(({ rule }) => rule)).toContain('F07');
}, 300_000);

/** A test runner's output, even if tests fail. */
const outcome = (args: readonly string[], cwd: string): Promise<{ stdout: string }> =>
  run('npx', args, {
    ...{ cwd, maxBuffer: 64 << 20 },
    env: { ...process.env, CHROMIUM: findChromium()!, FIREFOX: findFirefox()! },
  }).catch((e: Error & { code?: number; stdout?: string }) => {
    if (e.code !== 1) throw e;
    return { stdout: e.stdout! };
  });

interface Suite {
  suites?: Suite[];
  specs?: { ok: boolean; tests: { results: { attachments: Attachment[] }[] }[] }[];
}
interface Attachment {
  name: string;
  path?: string;
  body?: string;
}
/** The attachments of each failed test. */
const attachmentsOf = ({ suites = [], specs = [] }: Suite): Attachment[][] => [
  ...specs
    .filter(({ ok }) => !ok)
    // one test for each browser
    .flatMap(({ tests }) => tests.map(({ results: [only] }) => only!.attachments)),
  ...suites.flatMap(attachmentsOf),
];

test('from the packed tarball, the examples pass in Chromium and Firefox, and a failed test has its trace in the report', async () => {
  const app = await installed(
    ...['vite', 'vitest', '@vitest/browser-playwright', '@playwright/test', 'playwright'],
  );
  const examples = join(app, 'examples');
  await cp('examples', examples, { recursive: true, filter: (path) => !/node_modules/.test(path) });
  const holds = async (trace: string, what: object): Promise<void> => {
    const { stdout } = await run('npx', ['vfscope', 'summary', trace, '--json'], { cwd: app });
    expect(JSON.parse(stdout)).toMatchObject({ dropped: 0, ...what });
  };

  const playwright = join(examples, 'playwright');
  await writeFile(
    join(playwright, 'fails.spec.js'),
    `import { expect, test } from 'vfscope/playwright';
     test.use({ vfscope: {} }); // attached by default
     test('fails', async ({ page, recording }) => {
       await page.goto('/');
       await expect(page.getByRole('button', { name: 'Save' })).toBeEnabled();
       await expect(recording).toStayWithin({ commits: 0 });
     });
     test('has no page', () => expect(1).toBe(2));`,
  );
  const tested = await outcome(['playwright', 'test', '--reporter', 'json'], playwright);
  const report = JSON.parse(tested.stdout) as Suite & { stats: Record<string, number> };
  const { expected, unexpected, skipped } = report.stats;
  expect([expected, unexpected, skipped]).toEqual([2, 4, 0]);
  const ours = attachmentsOf(report).map((all) =>
    all.filter(({ name }) => /^(trace\.vfst|vfscope)$/.test(name)),
  );
  const [some, none] = [ours.filter(({ length }) => length), ours.filter((all) => !all.length)];
  expect([some.length, none.length]).toEqual([2, 2]);
  for (const [file, answer] of some) {
    const text = Buffer.from(answer!.body!, 'base64').toString();
    expect(text).toMatch(/^SQLite kept .* busy for /);
    await holds(/npx vfscope open (.*)/.exec(text)![1]!, { commits: 1 }); // CREATE
    await holds(file!.path!, { commits: 1 });
  }

  const vitest = join(examples, 'vitest');
  await writeFile(
    join(vitest, 'fails.test.js'),
    `import { expect, test } from 'vitest';
     import { readNotes } from '../app/notes.js';
     test('fails', async () => expect(await readNotes()).toBe(null));`,
  );
  const json = join(app, 'report.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile=${json}`];
  const { stdout } = await outcome(['vitest', 'run', ...reporters], vitest);
  const { numPassedTests, numFailedTests } = JSON.parse(await readFile(json, 'utf8')) as Record<
    string,
    number
  >;
  expect([numPassedTests, numFailedTests], stdout).toEqual([1, 1]);
  const stored = await readdir(join(vitest, '.vitest-attachments'));
  const traces = stored.filter((name) => name.endsWith('.vfst'));
  expect(traces).toHaveLength(1);
  await holds(join(vitest, '.vitest-attachments', traces[0]!), {
    threads: [{ kind: 'page' }, { kind: 'worker' }],
  });
}, 900_000);
