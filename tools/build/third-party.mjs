/**
 * Writes THIRD-PARTY.txt into each build folder: every npm package that is bundled or copied there,
 * with its license text. Rollup knows which modules it bundled. A package without a license text
 * fails the build.
 */
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';

export const FILE = 'THIRD-PARTY.txt';
const LICENSES = join(import.meta.dirname, 'licenses');
/**
 * What a package's compiled files contain besides its own code: names of texts in
 * tools/build/licenses.
 */
const INSIDE = {
  'wa-sqlite': ['sqlite', 'emscripten', 'musl'],
  '@journeyapps/wa-sqlite': ['sqlite', 'emscripten', 'musl', 'powersync-core'],
  '@sqlite.org/sqlite-wasm': ['sqlite', 'emscripten', 'musl'],
  '@jlongster/sql.js': ['sqlite', 'emscripten', 'musl'],
};
/**
 * Packages that state their license in package.json and in their code, but have no license file.
 */
const KEPT = { '@sqlite.org/sqlite-wasm': 'sqlite-wasm' };
const TITLES = {
  sqlite: 'SQLite',
  emscripten: 'Emscripten runtime',
  musl: 'musl libc',
  'powersync-core': 'PowerSync Core',
};
const LICENSE_FILE = /^(?:licen[cs]e|copying|notice)/i;

/**
 * The folder of the npm package that a module comes from; null = it is ours.
 * @param {string} id path of a module
 */
export function packageFolder(id) {
  const path = id.replace(/^\0/, '').replace(/\?.*$/, '').replaceAll(sep, '/');
  return /^(.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? null;
}

/** @returns {string} @throws Error that names the package if it has no license text */
function licenseOf(folder, { name, version }) {
  const files = readdirSync(folder).filter((file) => LICENSE_FILE.test(file));
  const texts = files
    .sort()
    .map((file) => readFileSync(join(folder, file), 'utf8').replaceAll('\r\n', '\n').trim());
  if (KEPT[name]) return readFileSync(join(LICENSES, `${KEPT[name]}.txt`), 'utf8').trim();
  if (texts.some(Boolean)) return texts.filter(Boolean).join('\n\n');
  throw new Error(
    `${name} ${version} is bundled and ${folder} holds no license text: bundle another package, or ask its authors for one.`,
  );
}

/**
 * @param {Iterable<string>} modules paths of bundled modules and copied files @returns {string} ''
 * if none is from a package
 */
export function notices(modules) {
  const folders = new Map();
  const inside = new Set();
  for (const id of modules) {
    const folder = packageFolder(id);
    if (!folder) continue;
    if (!folders.has(folder))
      folders.set(folder, JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')));
    const { name } = folders.get(folder);
    if (id.replaceAll(sep, '/').startsWith(`${folder}/dist/`))
      INSIDE[name]?.forEach((part) => inside.add(part));
  }
  const entries = new Map();
  for (const [folder, pkg] of folders)
    entries.set(`${pkg.name} ${pkg.version}`, licenseOf(folder, pkg));
  for (const part of inside)
    entries.set(TITLES[part], readFileSync(join(LICENSES, `${part}.txt`), 'utf8').trim());
  if (!entries.size) return '';
  const line = '='.repeat(80);
  const sorted = [...entries].sort(([a], [b]) => (a < b ? -1 : 1));
  return (
    [
      'This folder contains software of others, under these licenses.',
      ...sorted.map(([title, text]) => `${line}\n${title}\n${line}\n\n${text}`),
    ].join('\n\n') + '\n'
  );
}

/**
 * @param {string[]} roots folders that get a THIRD-PARTY.txt of what is below them
 * @param {Record<string, string[]>} copied by root: additional files that are copied there
 * @returns rollup plugin for every bundle; it writes the file again after each
 */
export function thirdParty(roots, copied = {}) {
  const modules = new Map(roots.map((root) => [root, new Set(copied[root])]));
  return {
    name: 'third-party',
    writeBundle(options, bundle) {
      const root = roots.find((folder) => options.file.startsWith(`${folder}/`));
      const found = modules.get(root);
      if (!found)
        throw new Error(
          `${options.file} lies in no folder that gets a ${FILE}: name that folder in rollup.config.js.`,
        );
      for (const chunk of Object.values(bundle))
        for (const [id, { renderedLength }] of Object.entries(chunk.modules ?? {}))
          if (renderedLength > 0) found.add(id);
      const text = notices(found);
      if (text) writeFileSync(join(root, FILE), text);
      else rmSync(join(root, FILE), { force: true });
    },
  };
}
