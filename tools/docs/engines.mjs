// `npm run engines [-- --write]`: which SQLite builds are recorded, and how, as the grid's tests found them (tests/oracle/recorded.json);
// --write puts the table into the README.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = join(import.meta.dirname, '../..');
const BEGIN = '<!-- engines: npm run engines -- --write -->';
const END = '<!-- /engines -->';

/** App of the grid -> the package that it is about, as its users install it. */
const PACKAGES = {
  'wa-sqlite': 'wa-sqlite',
  'journeyapps-wa-sqlite': '@journeyapps/wa-sqlite',
  'sqlite-org': '@sqlite.org/sqlite-wasm',
  'sql-js': 'sql.js',
  'absurd-sql': 'absurd-sql',
  turso: '@tursodatabase/database-wasm',
  pglite: '@electric-sql/pglite',
  duckdb: '@duckdb/duckdb-wasm',
};

/** What an app's row without a storage in its id is about. */
const STORAGES = {
  'sql-js': 'in memory, saved to IndexedDB',
  'absurd-sql': 'IndexedDB, by shared memory',
};

/** @param {Record<string, any>} recorded tests/oracle/recorded.json @param {Record<string, string>} versions of packages */
export function engineTable(recorded, versions) {
  const groups = new Map();
  for (const [id, { engines, bytes }] of Object.entries(recorded)) {
    const [app, ...storage] = id.split(' ');
    const engine = engines[0];
    const yes = (layer) => (engine?.layers[layer] ? 'yes' : 'no');
    const row = [
      `\`${PACKAGES[app]}\` ${versions[PACKAGES[app]]}`,
      engine
        ? `${engine.name}${engine.sqliteVersion ? `, SQLite ${engine.sqliteVersion}` : ''}`
        : 'not named',
      'yes',
      yes('vfs'),
      yes('sql'),
      yes('counters'),
      bytes,
    ];
    const key = row.join('|');
    if (!groups.has(key)) groups.set(key, { row, storages: [] });
    groups.get(key).storages.push(storage.join(' ') || STORAGES[app]);
  }
  const head = [
    'package',
    'storage',
    'recognised as',
    'storage calls',
    'VFS calls',
    'statements',
    'cache counters',
    'stored bytes, recorded or not',
  ];
  const rows = [...groups.values()].map(({ row: [name, ...rest], storages }) => [
    name,
    storages.join(', '),
    ...rest,
  ]);
  return [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}

export function currentTable() {
  const json = (file) => JSON.parse(readFileSync(join(root, file), 'utf8'));
  const { dependencies, devDependencies } = json('package.json');
  return engineTable(json('tests/oracle/recorded.json'), { ...dependencies, ...devDependencies });
}

/** The table that the README carries. */
export function readmeTable(readme = readFileSync(join(root, 'README.md'), 'utf8')) {
  return readme.slice(readme.indexOf(BEGIN) + BEGIN.length, readme.indexOf(END)).trim();
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const table = currentTable();
  console.log(table);
  if (process.argv.includes('--write')) {
    const readme = readFileSync(join(root, 'README.md'), 'utf8');
    const [from, to] = [readme.indexOf(BEGIN) + BEGIN.length, readme.indexOf(END)];
    writeFileSync(
      join(root, 'README.md'),
      `${readme.slice(0, from)}\n${table}\n${readme.slice(to)}`,
    );
  }
}
