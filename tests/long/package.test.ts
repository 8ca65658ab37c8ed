/** The package as npm makes it, installed in an empty folder: `npx vfscope` works there, and says what it is. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import type { Answer } from '../../src/analysis/report/answer-report.ts';

const run = promisify(execFile);
const folders: string[] = [];
const empty = async (): Promise<string> => {
  folders.push(await mkdtemp(join(tmpdir(), 'vfscope-package-')));
  return folders.at(-1)!;
};
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

test('from an empty folder with only the packed tarball, the demo answers', async () => {
  const [packed, app] = [await empty(), await empty()];
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', packed]);
  const [tarball] = await readdir(packed);
  await writeFile(join(app, 'package.json'), '{}');
  await run('npm', ['install', join(packed, tarball!), '--no-audit', '--no-fund'], { cwd: app });

  const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string };
  expect((await run('npx', ['vfscope', '--version'], { cwd: app })).stdout).toBe(`${version}\n`);
  const { stdout } = await run('npx', ['vfscope', 'demo', '--json'], { cwd: app });
  const { answer, actions } = JSON.parse(stdout) as Answer;
  expect(answer).toMatch(/^SQLite kept the worker worker\.js busy for /);
  expect(actions.map(({ rule }) => rule)).toContain('F07');
}, 300_000);
