/** Releases of npm packages as engines: names, archives, and the cache folder, with a made-up npm. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cacheFolder } from '../../src/lab/command/engines/cache-folder.ts';
import { releasesOf, type Npm } from '../../src/lab/command/engines/npm.ts';
import { packageFolder } from '../../src/lab/command/engines/packages.ts';
import { filesOf } from '../../src/lab/command/engines/tar.ts';
import { isOutside, releaseNamed } from '../../src/lab/experiments/model/engine-names.ts';
import { readGrid, readWords } from '../../src/lab/experiments/plan.ts';
import { archive, entry } from './npm-archive.ts';

describe('the name of an engine', () => {
  it('is a release, an installed package, or a file', () => {
    expect(releaseNamed('sql.js@1.10.0')).toEqual({ package: 'sql.js', version: '1.10.0' });
    expect(releaseNamed('@sqlite.org/sqlite-wasm@3.46.1-build2')).toEqual({
      package: '@sqlite.org/sqlite-wasm',
      version: '3.46.1-build2',
    });
    expect(releaseNamed('@sqlite.org/sqlite-wasm')).toEqual({
      package: '@sqlite.org/sqlite-wasm',
      version: null,
    });
    expect(releaseNamed('./a@b/sqlite3.wasm')).toBeNull();
    expect(['wa-sqlite-1.0.0', 'sql.js', 'x.wasm'].map((name) => isOutside(name as never))).toEqual(
      [false, true, true],
    );
  });
  it('is rejected if it is none of these, or not an exact version', () => {
    expect(() => releaseNamed('better-sqlite3@11.0.0')).toThrow(
      'engine better-sqlite3@11.0.0: expected wa-sqlite-2.0.6, wa-sqlite-1.0.0, a path that ends in .wasm, or a release of sql.js, @sqlite.org/sqlite-wasm, wa-sqlite, @journeyapps/wa-sqlite, as in sql.js@1.13.0.',
    );
    for (const name of ['turso', '@tursodatabase/database-wasm@0.7.2'])
      expect(() => releaseNamed(name)).toThrow(/^engine \S+: Turso doesn't run in the Lab\./);
    for (const version of ['latest', '1', '^1.2.3', '1.2.3;rm', '1.2.3/../..', '1.2.3 x', ''])
      expect(() => releaseNamed(`sql.js@${version}`), version).toThrow('expected an exact version');
  });
  it('is a setting like any other, of which several values make a grid', () => {
    expect(readWords(['engine=sql.js@1.10.0']).config).toEqual({ engine: 'sql.js@1.10.0' });
    expect(() => readWords(['engine=default'])).toThrow('expected wa-sqlite-2.0.6');
    expect(readGrid(['engine=sql.js@1.10.0,wa-sqlite-1.0.0']).map((a) => a.config.engine)).toEqual([
      'sql.js@1.10.0',
      'wa-sqlite-1.0.0',
    ]);
  });
});

describe("a package's archive", () => {
  it('gives its files by their paths in the package, including long names', () => {
    const long = `package/${'deep/'.repeat(30)}a.js`;
    const files = filesOf(
      archive(
        entry('package/package.json', '{}'),
        entry('pax', `${`path=${long}`.length + 5} path=${long}\n`, 'x'),
        entry('cut', 'pax'),
        entry('././@LongLink', long.replace('a.js', 'b.js'), 'L'),
        entry('cut', 'gnu'),
        entry('package/dist/', '', '5'),
      ),
    );
    const texts = [...files].map(([path, bytes]) => [path, Buffer.from(bytes).toString()]);
    expect(texts).toEqual([
      ['package.json', '{}'],
      [`${'deep/'.repeat(30)}a.js`, 'pax'],
      [`${'deep/'.repeat(30)}b.js`, 'gnu'],
    ]);
  });
  it('gives no path outside the package, and no links', () => {
    const files = filesOf(
      archive(
        entry('package/ok.js', 'ok'),
        entry('package/../../evil.js', 'evil'),
        entry('/etc/../evil.js', 'evil'),
        entry('package/C:\\evil.js', 'evil'),
        entry('package/link.js', '', '2'),
      ),
    );
    expect([...files.keys()]).toEqual(['ok.js']);
  });
  it('is rejected if it is truncated', () => {
    const whole = entry('package/a.js', 'x'.repeat(2000));
    expect(() => filesOf(gzipSync(whole.subarray(0, 1024)))).toThrow('the archive is cut off');
    expect(() => filesOf(gzipSync(Buffer.alloc(1024)))).toThrow('the archive holds no files');
  });
});

describe('a release', () => {
  let place: string;
  beforeEach(() => void (place = mkdtempSync(join(tmpdir(), 'vfscope-packages-'))));
  afterEach(() => rmSync(place, { recursive: true }));
  const sqlJs = (version: string | null) => ({ package: 'sql.js', version }) as const;
  const source = (npm: Npm) => ({
    cache: join(place, 'cache'),
    npm,
    say: () => {},
    from: [join(place, 'app', 'src')],
  });

  it("that isn't installed is fetched once, without its scripts, completely or not at all", async () => {
    const calls: string[][] = [];
    const npm: Npm = (args, folder) => {
      calls.push([...args]);
      writeFileSync(
        join(folder, 'sql.js-1.10.0.tgz'),
        archive(
          entry('package/package.json', '{"version":"1.10.0"}'),
          entry('package/dist/sql-wasm.wasm', 'wasm'),
          entry('package/README.md', 'unwanted'),
        ),
      );
      return Promise.resolve('');
    };
    const found = await packageFolder(sqlJs('1.10.0'), source(npm));
    expect(found).toEqual({
      folder: join(place, 'cache', 'releases', 'sql.js@1.10.0'),
      version: '1.10.0',
    });
    expect(readFileSync(join(found.folder, 'dist', 'sql-wasm.wasm'), 'utf8')).toBe('wasm');
    expect(readdirSync(found.folder).sort()).toEqual(['dist', 'package.json']);
    expect(await packageFolder(sqlJs('1.10.0'), source(npm))).toEqual(found);
    expect(calls).toEqual([['pack', 'sql.js@1.10.0', '--ignore-scripts']]);
    expect(readdirSync(join(place, 'cache', 'releases'))).toEqual(['sql.js@1.10.0']);
  });
  it("that can't be fetched is rejected with npm's reason, and leaves nothing", async () => {
    const npm: Npm = () => Promise.reject(new Error('npm pack failed: E404 no such release'));
    await expect(packageFolder(sqlJs('9.9.9'), source(npm))).rejects.toThrow(
      'npm pack failed: E404 no such release',
    );
    expect(readdirSync(join(place, 'cache', 'releases'))).toEqual([]);
  });
  it("whose folder can't be created is rejected with what to do", async () => {
    const npm: Npm = () => Promise.reject(new Error('npm was called'));
    writeFileSync(join(place, 'file'), '');
    const on = (cache: string): Promise<unknown> =>
      packageFolder(sqlJs('1.2.4'), { ...source(npm), cache });
    await expect(on(join(place, 'file', 'cache'))).rejects.toThrow(
      /^downloads can't be saved in \S+file\/cache \(ENOTDIR\): choose another folder by --cache$/,
    );
    if (existsSync('/proc/self'))
      await expect(on('/proc/vfscope/cache')).rejects.toThrow(
        "downloads can't be saved in /proc/vfscope (ENOENT): choose another folder by --cache",
      );
  });
  it('that is installed needs no npm; without a version it means the installed one', async () => {
    const folder = join(place, 'app', 'node_modules', 'sql.js');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{"version":"1.2.3"}');
    const npm: Npm = () => Promise.reject(new Error('npm was called'));
    expect(await packageFolder(sqlJs(null), source(npm))).toEqual({ folder, version: '1.2.3' });
    expect(await packageFolder(sqlJs('1.2.3'), source(npm))).toEqual({ folder, version: '1.2.3' });
    await expect(packageFolder(sqlJs('1.2.4'), source(npm))).rejects.toThrow('npm was called');
    await expect(
      packageFolder({ package: 'wa-sqlite', version: null }, source(npm)),
    ).rejects.toThrow('wa-sqlite is not installed: name a release');
  });
  it('is one of those that npm lists', async () => {
    const npm =
      (answer: string): Npm =>
      () =>
        Promise.resolve(answer);
    expect(await releasesOf('sql.js', npm('["1.0.0","1.0.1"]'), place)).toEqual(['1.0.0', '1.0.1']);
    expect(await releasesOf('sql.js', npm('"1.0.0"'), place)).toEqual(['1.0.0']);
    await expect(releasesOf('sql.js', npm('{}'), place)).rejects.toThrow('no list of versions');
  });
});

it("the cache folder is the platform's, for the user", () => {
  expect(cacheFolder('linux', {}, '/me')).toBe('/me/.cache/vfscope');
  expect(cacheFolder('linux', { XDG_CACHE_HOME: '/c' }, '/me')).toBe('/c/vfscope');
  expect(cacheFolder('darwin', {}, '/them')).toBe('/them/Library/Caches/vfscope');
  expect(cacheFolder('win32', { LOCALAPPDATA: 'L' }, 'u')).toBe(join('L', 'vfscope', 'Cache'));
});
