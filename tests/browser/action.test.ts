// The GitHub Action's own steps, run by bash on a repository with a pull request. Only `gh` is
// fake: it records its calls.
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'vfscope-action-'));
const [repository, runner] = [join(folder, 'repository'), join(folder, 'runner')];
let base: string;
let port: number;
const git = (...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
    cwd: repository,
    encoding: 'utf8',
  }).trim();

/** A step of action.yml by name, as bash gets it. */
function stepOf(name: string): string {
  const text = readFileSync('action.yml', 'utf8');
  const step = text.split(/^ {4}- name: /m).find((one) => one.startsWith(name))!;
  return step.split(/^ {6}run: \|\n/m)[1]!.replace(/^ {8}/gm, '');
}
function runStep(
  name: string,
  env: Record<string, string>,
  cwd = repository,
): { code: number | null; said: string } {
  const { status, stderr, stdout } = spawnSync('bash', ['-eo', 'pipefail', '-c', stepOf(name)], {
    cwd,
    encoding: 'utf8',
    env: {
      ...process.env,
      ...{ RUNNER_TEMP: runner, GITHUB_OUTPUT: join(runner, 'output') },
      PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
      ...env,
    },
  });
  return { code: status, said: stderr + stdout };
}

/** The page links to a test app that commits `rows` times. */
const page = (rows: number): string => `
import { createServer } from 'node:http';
import { createServer as serveApps } from ${JSON.stringify(resolve('tests/server/server.mjs'))};
const apps = await serveApps();
const to = apps.url + '/journeyapps-wa-sqlite/?vfs=OPFSCoopSync&run=own-sql&n=${rows}';
createServer((_, response) => response
  .writeHead(200, { 'Content-Type': 'text/html' })
  .end('<script>location.replace(' + JSON.stringify(to) + ')</script>'))
  .listen(Number(process.env.PORT), '127.0.0.1');
`;

beforeAll(async () => {
  for (const path of [repository, runner, join(folder, 'bin')]) mkdirSync(path);
  git('init', '--quiet', '--initial-branch=main');
  const commit = (rows: number): string => {
    writeFileSync(join(repository, 'serve.mjs'), page(rows));
    git('add', '.');
    git('commit', '--quiet', '-m', `${rows} rows`);
    return git('rev-parse', 'HEAD');
  };
  base = commit(30);
  commit(10);
  git('remote', 'add', 'origin', repository);
  writeFileSync(join(repository, 'budget.json'), '{"commits": {"max": 5}}');
  const gh = join(folder, 'bin', 'gh');
  // lists the comment that was made earlier
  const list = `case "$*" in *--paginate*) [ -f '${runner}/posted' ] && echo 42 || true ;; *) touch '${runner}/posted' ;; esac`;
  writeFileSync(gh, `#!/bin/sh\necho "$@" >> '${runner}/gh'\n${list}\n`);
  chmodSync(gh, 0o755);
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  ({ port } = server.address() as AddressInfo);
  await new Promise((done) => server.close(done));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Outputs of the step, which later steps of the job see. */
const history = (folder: string): string[] =>
  ['--is-shallow-repository', 'HEAD'].map((what) =>
    execFileSync('git', ['rev-parse', what], { cwd: folder, encoding: 'utf8' }).trim(),
  );

test('the base is checked out of a full clone, which stays full, and of a shallow one', () => {
  const head = git('rev-parse', 'HEAD');
  for (const [name, depth] of [
    ['whole', []],
    ['shallow', ['--depth=1']],
  ] as const) {
    const clone = join(folder, name);
    execFileSync('git', ['clone', '--quiet', ...depth, `file://${repository}`, clone]);
    const env = { BASE_SHA: base, RUNNER_TEMP: join(folder, `${name}-runner`) };
    const { code, said } = runStep('Check the base out', env, clone);
    expect(code, said).toBe(0);
    expect(history(clone)).toEqual([String(name === 'shallow'), head]);
    expect(history(join(env.RUNNER_TEMP, 'vfscope-base'))[1]).toBe(base);
  }
});

test('without a pull request, the step reports that', () => {
  const { code, said } = runStep('Check the base out', { BASE_SHA: '' });
  expect([code, said]).toEqual([2, expect.stringMatching(/run it on pull_request/)]);
});

test('base and pull request are recorded, compared, and commented on', () => {
  const out = runStep('Check the base out', { BASE_SHA: base });
  expect(out.code, out.said).toBe(0);
  const compared = runStep('Record and compare', {
    SERVE: `PORT=${port} exec node serve.mjs`,
    PAGE: `http://localhost:${port}/`,
    RECORD: `--until "document.body?.dataset.state === 'done'"`,
    BUDGET: 'budget.json',
    BASELINE: 'true',
    VFSCOPE: `${process.execPath} ${resolve('dist/cli/vfscope.mjs')}`,
    ACTION: resolve('.'),
  });
  expect(compared.code, compared.said).toBe(1); // 11 commits, and 5 are allowed
  const comment = readFileSync(join(runner, 'vfscope/comment.md'), 'utf8');
  expect(comment).toMatch(/^<!-- vfscope -->\n/);
  expect(comment).toMatch(/\| 2\.82× less \| Commits \| 31 \| 11 \| -20 \|/);
  expect(comment).toContain('### Limits');
  expect(comment).not.toContain(folder);
  for (const time of ['first', 'second']) {
    const posted = runStep('Comment', { REPOSITORY: 'o/r', NUMBER: '7' });
    expect(posted.code, `${time}: ${posted.said}`).toBe(0);
  }
  const asked = readFileSync(join(runner, 'gh'), 'utf8').trim().split('\n');
  expect(asked[0]).toMatch(/^api --paginate repos\/o\/r\/issues\/7\/comments /);
  expect(asked[1]).toBe(
    `api --silent repos/o/r/issues/7/comments -F body=@${runner}/vfscope/comment.md`,
  );
  // the second run replaces it
  expect(asked.slice(3)).toEqual([
    `api --silent -X PATCH repos/o/r/issues/comments/42 -F body=@${runner}/vfscope/comment.md`,
  ]);
});

test('a server that exits fails the step, with a message', () => {
  const { code, said } = runStep('Record and compare', {
    SERVE: 'exit 4',
    PAGE: `http://localhost:${port}/`,
    VFSCOPE: 'false',
    ACTION: resolve('.'),
  });
  expect([code, said]).toEqual([3, expect.stringMatching(/The server in .* ended with 4\./)]);
});
