// The table of SQLite builds: what is recorded of each, as found by the grid's tests
// (tests/oracle/recorded.json).
import { readFileSync } from 'node:fs';
import { markdown, writeTable } from './support-page.ts';

/** App of the grid -> the package that it tests, as users install it. */
const PACKAGES: Record<string, string> = {
  'wa-sqlite': 'wa-sqlite',
  'journeyapps-wa-sqlite': '@journeyapps/wa-sqlite',
  'sqlite-org': '@sqlite.org/sqlite-wasm',
  'sql-js': 'sql.js',
  'absurd-sql': 'absurd-sql',
  turso: '@tursodatabase/database-wasm',
  pglite: '@electric-sql/pglite',
  duckdb: '@duckdb/duckdb-wasm',
};

/** The storage of apps whose id doesn't name one. */
const STORAGES: Record<string, string> = {
  'sql-js': 'in memory, saved to IndexedDB',
  'absurd-sql': 'IndexedDB, by shared memory',
};

interface Recorded {
  engines: { name: string; sqliteVersion?: string; layers: Record<string, boolean> }[];
  bytes: string;
}

const json = <T>(file: string): T => JSON.parse(readFileSync(file, 'utf8')) as T;

/** The table according to the tests. */
export function currentTable(): string {
  const recorded = json<Record<string, Recorded>>('tests/oracle/recorded.json');
  const { dependencies, devDependencies } =
    json<Record<'dependencies' | 'devDependencies', Record<string, string>>>('package.json');
  const versions = { ...dependencies, ...devDependencies };
  const groups = new Map<string, { row: string[]; storages: string[] }>();
  for (const [id, { engines, bytes }] of Object.entries(recorded)) {
    const [app = '', ...storage] = id.split(' ');
    const name = PACKAGES[app]!;
    const engine = engines[0];
    const yes = (layer: string): string => (engine?.layers[layer] ? 'yes' : 'no');
    const row = [
      `\`${name}\` ${versions[name]}`,
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
    groups.get(key)!.storages.push(storage.join(' ') || STORAGES[app]!);
  }
  const head = [
    'package',
    'storage',
    'recognized as',
    'storage calls',
    'VFS calls',
    'statements',
    'cache counters',
    'stored bytes, recorded or not',
  ];
  const rows = [...groups.values()].map(({ row: [name, ...rest], storages }) => [
    name!,
    storages.join(', '),
    ...rest,
  ]);
  return markdown([head, ...rows]);
}

/** Writes the table into docs/support.md. */
export const write = (): void => writeTable('engines', currentTable());
