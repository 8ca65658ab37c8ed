// `npm run package`: makes the uploads for the stores, as reproducible zips in dist/packages: one
// for each browser's folder, and the sources with build instructions. `npm run package -- firefox`
// makes only that one (it needs no git, so reviewers can run it).
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { zip } from './zip.mjs';

/** Build folders that become a package each; Edge uses Chrome's. */
export const BROWSERS = ['chrome', 'firefox', 'safari'];
/** What a reviewer needs to rebuild; excludes tests and their traces. */
const SOURCES = /^(?:src|tools|docs|store-assets\/(?:icons|pictures))\/|^[^/]+$/;
const INSTRUCTIONS = 'store-assets/amo/BUILD.md';

/** Stores get neither source maps nor dot files. @param {string} path with slashes */
export const ships = (path) =>
  !path.endsWith('.map') && !path.split('/').some((part) => part.startsWith('.'));

/**
 * @param {string} folder @returns {[string, Buffer][]} the files of it that ship, by path below it
 */
export function filesOf(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .map((file) => [file.slice(join(folder).length + 1).replaceAll('\\', '/'), file])
    .filter(([path]) => ships(path))
    .map(([path, file]) => [path, readFileSync(file)]);
}

/** @returns {[string, Buffer][]} the current sources, with the instructions next to package.json */
export function sources() {
  const listed = execFileSync(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
    { encoding: 'utf8' },
  );
  const paths = listed
    .split('\0')
    .filter((path) => path && SOURCES.test(path) && ships(path) && existsSync(path));
  return [
    ...paths.map((path) => [path, readFileSync(path)]),
    ['BUILD.md', readFileSync(INSTRUCTIONS)],
  ];
}

function main(chosen) {
  const dist = process.env.VFSCOPE_DIST ?? 'dist';
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  const out = join(dist, 'packages');
  mkdirSync(out, { recursive: true });
  for (const name of chosen.length
    ? chosen
    : [...BROWSERS.filter((browser) => existsSync(join(dist, browser))), 'source']) {
    const archive = zip(name === 'source' ? sources() : filesOf(join(dist, name)));
    const file = join(out, `vfscope-${version}-${name}.zip`);
    writeFileSync(file, archive);
    console.log(
      `${file}  ${archive.length} bytes  sha256 ${createHash('sha256').update(archive).digest('hex')}`,
    );
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main(process.argv.slice(2));
