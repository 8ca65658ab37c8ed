/**
 * Store uploads: the same bytes from the same files, no unexpected files, and sources with build
 * instructions.
 */
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { filesOf, sources } from '../../tools/build/package.mjs';
import { crc32, zip } from '../../tools/build/zip.mjs';

const folder = mkdtempSync(join(tmpdir(), 'vfscope-package-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Reads the archive by its directory, as browsers do: path -> content, and the dates. */
function unzip(archive: Buffer) {
  const end = archive.length - 22;
  expect(archive.readUInt32LE(end)).toBe(0x06054b50);
  const files: [string, Buffer][] = [];
  const dates = new Set<number>();
  let at = archive.readUInt32LE(end + 16);
  for (let left = archive.readUInt16LE(end + 10); left > 0; left--) {
    expect(archive.readUInt32LE(at)).toBe(0x02014b50);
    const nameLength = archive.readUInt16LE(at + 28);
    const local = archive.readUInt32LE(at + 42);
    expect(archive.readUInt32LE(local)).toBe(0x04034b50);
    expect(archive.subarray(local + 4, local + 28)).toEqual(archive.subarray(at + 6, at + 30));
    const start = local + 30 + nameLength;
    const data = inflateRawSync(archive.subarray(start, start + archive.readUInt32LE(at + 20)));
    expect(data.length).toBe(archive.readUInt32LE(at + 24));
    expect(crc32(data)).toBe(archive.readUInt32LE(at + 16));
    files.push([archive.toString('utf8', at + 46, at + 46 + nameLength), data]);
    dates.add(archive.readUInt32LE(at + 12));
    at += 46 + nameLength;
  }
  expect(at).toBe(end);
  return { files, dates: [...dates] };
}

/** Writes the same tree, in another order and at another time. */
function tree(name: string, order: 1 | -1, seconds: number): string {
  const root = join(folder, name);
  const files = [
    'manifest.json',
    'a/b/deep.js',
    'a/ä.txt',
    'empty',
    '.hidden',
    'a/.DS_Store',
    '.git/config',
    'x.js.map',
  ];
  for (const file of order === 1 ? files : files.toReversed()) {
    mkdirSync(join(root, file, '..'), { recursive: true });
    writeFileSync(join(root, file), file === 'empty' ? '' : file.repeat(300));
    utimesSync(join(root, file), seconds, seconds);
  }
  return root;
}

test('the same files make the same bytes, whatever their dates and order', () => {
  const one = zip(filesOf(tree('one', 1, 1e9)));
  const other = zip(filesOf(tree('other', -1, 1.5e9)));
  expect(one.equals(other)).toBe(true);
  expect(one.equals(zip([...filesOf(join(folder, 'one')), ['more', Buffer.from('x')]]))).toBe(
    false,
  );
});

test('a package has its files complete, without source maps or dot files', () => {
  const { files, dates } = unzip(zip(filesOf(tree('whole', 1, 1e9))));
  expect(files.map(([path]) => path)).toEqual(['a/b/deep.js', 'a/ä.txt', 'empty', 'manifest.json']);
  for (const [path, data] of files)
    expect(data.toString()).toBe(path === 'empty' ? '' : path.repeat(300));
  expect(dates).toEqual([0x00210000]); // 1980-01-01 00:00
});

test('CRC-32 is that of the standard', () => {
  expect(crc32(Buffer.from('123456789'))).toBe(0xcbf43926);
});

test('the source package builds on its own: sources, lock file, and instructions, without tests', () => {
  const paths = sources().map(([path]) => path);
  for (const path of [
    'package.json',
    'package-lock.json',
    'rollup.config.js',
    'svelte.config.js',
    'manifest.json',
    'src/hooks/hooks.ts',
    'LICENSE',
    'BUILD.md',
  ])
    expect(paths).toContain(path);
  expect(
    paths.filter(
      (path) => path.startsWith('tests/') || path.split('/').some((part) => part.startsWith('.')),
    ),
  ).toEqual([]);
  const build = sources()
    .find(([path]) => path === 'BUILD.md')![1]
    .toString();
  expect(build).toContain('npm run package -- firefox');
  expect(new Set(paths).size).toBe(paths.length);
});
