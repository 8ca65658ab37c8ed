/**
 * `vfscope lab versions` with a fake npm: what it saves, how it resumes, and which version changed
 * a count.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Npm } from '../../src/lab/command/engines/npm.ts';
import { versionsCommand, type VersionsOptions } from '../../src/lab/command/versions.ts';
import type { VersionGraph } from '../../src/lab/results/versions.ts';
import { CommandFailure } from '../../src/terminal/failure.ts';
import { archive, entry } from '../unit/npm-archive.ts';
import { IN_MEMORY } from './lab-counts.ts';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'vfscope-versions-'))));
afterEach(() => {
  vi.restoreAllMocks();
  interruptAt = '';
  rmSync(folder, { recursive: true });
});

/** The files of an installed package, packed with another version. */
function packed(from: string, version: string): Buffer {
  const text = (path: string): Buffer => readFileSync(join('node_modules', from, path));
  const src = readdirSync(join('node_modules', from, 'src')).filter((name) => /\.js$/.test(name));
  return archive(
    entry('package/package.json', JSON.stringify({ version, type: 'module' })),
    ...['dist/wa-sqlite.wasm', 'dist/wa-sqlite.mjs', ...src.map((name) => `src/${name}`)].map(
      (path) => entry(`package/${path}`, text(path)),
    ),
  );
}
/**
 * Releases of wa-sqlite: its count changes with 1.3.0, 1.2.0 isn't available, one is a prerelease.
 */
const LISTED = ['1.4.0', '1.1.0', '1.1.0-dev-2024', '1.1.1', '1.2.0', '1.3.0', '1.3.1'];
let calls: string[];
let interruptAt = '';
const npm: Npm = ([command, name = ''], into) => {
  calls.push(`${command} ${name}`);
  // Ctrl+C while it runs
  if (calls.at(-1) === interruptAt) (process.listeners('SIGINT').at(-1) as () => void)();
  if (command === 'view') return Promise.resolve(JSON.stringify(LISTED));
  const version = name.split('@').at(-1)!;
  if (version === '1.2.0') return Promise.reject(new Error('npm pack failed: gone'));
  const from = version < '1.3' ? 'wa-sqlite' : '@journeyapps/wa-sqlite';
  writeFileSync(join(into, 'p.tgz'), packed(from, version));
  return Promise.resolve('');
};

async function versions(
  options: Partial<VersionsOptions> = {},
): Promise<{ code: number; out: string; said: string }> {
  let [out, said] = ['', ''];
  calls = [];
  vi.spyOn(process.stdout, 'write').mockImplementation((text, done?: unknown) => {
    out += String(text);
    if (typeof done === 'function') (done as () => void)();
    return true;
  });
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    said += String(text);
    return true;
  });
  const code = await versionsCommand(
    {
      ...{ packages: ['wa-sqlite'], releases: [], last: undefined, from: undefined, to: undefined },
      ...{ workload: 'ac60', config: [], out: undefined, bisect: false, step: 'total' },
      ...{ by: undefined, cache: join(folder, 'cache'), json: false, files: {} },
      ...options,
    },
    npm,
  ).finally(() => vi.restoreAllMocks());
  return { code, out, said };
}
const [NEW, OLD] = IN_MEMORY.ac60!;

describe('the graph', () => {
  it('has all releases that npm lists, in order, n/a with its cause; a saved one is continued', async () => {
    const out = join(folder, 'graph.json');
    const html = join(folder, 'graph.html');
    const first = await versions({ out, files: { html } });
    expect(first.code).toBe(0);
    expect(first.out).toMatch(/wa-sqlite@1\.1\.1 +3\.44\.0 +7,611,740 += +558,343 +=\n/);
    expect(first.out).toMatch(
      /wa-sqlite@1\.3\.0 +3\.53\.0 +1,491,318 +×0\.20 +ac60: ×0\.20 \(-6,120,422\)/,
    );
    expect(first.out).toContain('wa-sqlite 1.2.0: n/a, npm pack failed: gone');
    expect(readFileSync(html, 'utf8')).toContain('wa-sqlite@1.4.0, SQLite 3.53.0: 1,491,318');
    for (const text of [first.out, readFileSync(html, 'utf8')])
      expect(text).toMatch(/Runtime(?:<\/td><td>| +)Node \d/);
    expect(first.out).toMatch(/^ {2}Pragmas +page_size 4096, cache_size -2000, journal_mode /m);
    const saved = JSON.parse(readFileSync(out, 'utf8')) as VersionGraph;
    expect(saved.releases.map(({ version, instructions }) => [version, instructions])).toEqual([
      ['1.1.0', OLD],
      ['1.1.1', OLD],
      ['1.2.0', null],
      ['1.3.0', NEW],
      ['1.3.1', NEW],
      ['1.4.0', NEW],
    ]);
    // as an interrupted run leaves it: existing counts are kept, missing and failed ones are
    // counted
    const cut = { ...saved, releases: saved.releases.slice(0, 4) };
    writeFileSync(out, JSON.stringify(cut));
    rmSync(join(folder, 'cache'), { recursive: true });
    const second = await versions({ out });
    expect(second.out).toBe(first.out);
    expect(calls).toEqual([
      'view wa-sqlite',
      'pack wa-sqlite@1.2.0',
      'pack wa-sqlite@1.3.1',
      'pack wa-sqlite@1.4.0',
    ]);
  });
  it('interrupted, keeps what it has, prints how to continue, and exits with 3', async () => {
    const out = join(folder, 'graph.json');
    interruptAt = 'pack wa-sqlite@1.1.1';
    const { code, said, out: printed } = await versions({ out });
    expect(code).toBe(3);
    expect(said).toMatch(
      /interrupted: 2 of 6 releases done\. Run the same command again to continue from .*graph\.json\./,
    );
    expect(printed).toContain('wa-sqlite@1.1.1');
    const saved = JSON.parse(readFileSync(out, 'utf8')) as VersionGraph;
    expect(saved.releases.map(({ version }) => version)).toEqual(['1.1.0', '1.1.1']);
    interruptAt = 'pack wa-sqlite@1.1.0';
    rmSync(join(folder, 'cache'), { recursive: true });
    const second = await versions({ bisect: true });
    expect(second.code).toBe(3);
    expect(second.said).toContain('With --out FILE.json the next run continues from here.');
  });
  it('accepts the newest, a range, or releases by name without a registry', async () => {
    const names = (out: string): (string | undefined)[] =>
      [...out.matchAll(/^ {2}\S*wa-sqlite@(\S+)/gm)].map((m) => m[1]);
    expect(names((await versions({ last: 2 })).out)).toEqual(['1.3.1', '1.4.0']);
    expect(names((await versions({ from: '1.1.1', to: '1.3.0' })).out)).toEqual(['1.1.1', '1.3.0']);
    const { out } = await versions({
      releases: ['wa-sqlite@1.0.0', '@journeyapps/wa-sqlite@2.0.6'],
    });
    expect(names(out)).toEqual(['1.0.0', '2.0.6']);
    expect(calls).toEqual([]);
  });
  it('rejects a file of another kind, and an invalid package, release, or workload', async () => {
    const failure = async (options: Partial<VersionsOptions>): Promise<string> => {
      const e = await versions(options).catch((error: unknown) => error);
      if (!(e instanceof CommandFailure)) throw new Error('nothing failed');
      return `${e.exitCode} ${e.message}`;
    };
    const out = join(folder, 'graph.json');
    await versions({ out, last: 1 });
    expect(await failure({ out, workload: 'mix' })).toMatch(
      /^2 .*graph\.json holds another workload, version, or parameters \(ac60 version 1\)\. Choose another --out\.$/,
    );
    writeFileSync(out, '[]');
    expect(await failure({ out })).toMatch(/^2 .*isn't a version graph\. Choose another --out\.$/);
    expect(await failure({ packages: ['left-pad'] })).toMatch(
      /^2 --package left-pad: expected one of sql\.js/,
    );
    expect(await failure({ releases: ['sql.js'] })).toMatch(
      /^2 --releases sql\.js: expected a release/,
    );
    expect(await failure({ workload: 'own-sql' })).toMatch(
      /^2 there is no workload "own-sql" for this/,
    );
    expect(await failure({ from: '9.0.0' })).toBe('2 there is no such release.');
    expect(await failure({ from: '1.2.0', to: '1.2.0' })).toBe(
      '3 no release could be counted. The reasons are above.',
    );
  });
});

describe('--bisect', () => {
  it("finds the first release with another count, and the releases that it can't rule out", async () => {
    const html = join(folder, 'bisected.html');
    const { code, out } = await versions({ bisect: true, files: { html } });
    expect(code).toBe(0);
    expect(out).toMatch(
      /^Environment\n {2}Workload +\S+ \(version \d+\).*\n {2}VFS .*\(in memory\)\n/m,
    );
    expect(readFileSync(html, 'utf8')).toMatch(
      /First release that differs: wa-sqlite@1\.3\.0[^]*Steps that changed[^]*<svg [^]*Runtime/,
    );
    expect(out).toContain(
      'First release that differs: wa-sqlite@1.3.0 (SQLite 3.53.0): 1,491,318 instructions',
    );
    expect(out).toContain(
      'The one before it: wa-sqlite@1.1.1 (SQLite 3.44.0): 7,611,740 instructions',
    );
    expect(out).toContain('Could not be counted, and may be the first: wa-sqlite@1.2.0');
    expect(out).toMatch(/^ +ac60 +7,611,740 +1,491,318 +-6,120,422 +×0\.20$/m);
  });
  it('reports that nothing changed, or less than the threshold', async () => {
    const same = await versions({ bisect: true, from: '1.3.0' });
    expect(same.out).toContain('No change between the first and the last:');
    expect(same.out).toContain('2 of 3 releases counted.');
    const little = await versions({ bisect: true, by: 90 });
    expect(little.out).toContain('No change of 90 % between the first and the last:');
  });
});
