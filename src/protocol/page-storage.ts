/**
 * What a page stores, as the popup, the empty panel and Doctor show it: databases and files by name, with their sizes where the browser
 * reports them. It is read by a function of ours in the page (page-copy/look), but all of it is the page's: `isPageStorage` checks it.
 */
import { countOf, formatBytes } from '../text/numbers.ts';
import { scriptName, shown } from '../text/clean.ts';

export interface StoredFile {
  path: string;
  /** bytes; null where the file is held by the page and cannot be read now */
  size: number | null;
  /** By SQLite's 16-byte header, where it can be read, wherever in the first 64 KiB the VFS put it. */
  sqlite: boolean;
  /** SQLITE_VERSION_NUMBER of the SQLite that wrote it last, by that header; 0 = not known. */
  writtenBy: number;
  /** The name under which a VFS has it in its pool of files; '' = a free place of a pool; null = it is of no pool. */
  pool: string | null;
  /** What its first bytes are: of a file in a pool those behind the pool's own. A rollback journal that begins so is hot. */
  head: '' | 'database' | 'journal' | 'wal';
  /** Why it can't be read; '' where it can. */
  cause: string;
}
/** Of IndexedDB. */
export interface StoredDatabase {
  name: string;
  version: number;
  /** Object stores and their key paths; null = it wasn't opened. */
  stores: { name: string; key: string }[] | null;
}
export interface PageStorage {
  origin: string;
  crossOriginIsolated: boolean;
  databases: StoredDatabase[];
  /** There are more than those. */
  moreDatabases: boolean;
  /** Of all its databases in IndexedDB, bytes; null where the browser doesn't report it. */
  indexedDbBytes: number | null;
  files: StoredFile[];
  /** There are more, or may be: the walk stopped at a limit, or failed. */
  moreFiles: boolean;
  /** Paths of folders, with a slash at the end. */
  folders: string[];
  /** Keys of sqlite.org's key-value VFS, by storage, with the characters of their values: browsers differ in the bytes of one. */
  kvvfs: { storage: 'localStorage' | 'sessionStorage'; keys: number; characters: number }[];
  /** URLs of WebAssembly that the page itself loaded; what its workers loaded isn't among them. */
  wasm: string[];
  /** URLs of scripts that it loaded, those of its workers included, whose file names are of SQLite builds. */
  scripts: string[];
  /** What could not be looked at, and why. */
  failures: string[];
}

/** The walk through OPFS ends there. */
export const MOST_FILES = 500;

type Loose = Record<string, unknown>;
const isObject = (v: unknown): v is Loose => typeof v === 'object' && v !== null;
const isText = (v: unknown, max = 4096): v is string => typeof v === 'string' && v.length <= max;
const isSize = (v: unknown): v is number =>
  typeof v === 'number' && Number.isSafeInteger(v) && v >= 0;
const isList = <T>(v: unknown, of: (one: unknown) => one is T, most = MOST_FILES): v is T[] =>
  Array.isArray(v) && v.length <= most && v.every(of);
const isPath = (v: unknown): v is string => isText(v);
const isFile = (v: unknown): v is StoredFile =>
  isObject(v) &&
  isText(v.path) &&
  (v.size === null || isSize(v.size)) &&
  typeof v.sqlite === 'boolean' &&
  isSize(v.writtenBy) &&
  (v.pool === null || isText(v.pool, 512)) &&
  ['', 'database', 'journal', 'wal'].includes(v.head as string) &&
  isText(v.cause);
const isStore = (v: unknown): v is { name: string; key: string } =>
  isObject(v) && isText(v.name) && isText(v.key);
const isDatabase = (v: unknown): v is StoredDatabase =>
  isObject(v) &&
  isText(v.name) &&
  isSize(v.version) &&
  (v.stores === null || isList(v.stores, isStore));
const isKvvfs = (v: unknown): v is PageStorage['kvvfs'][number] =>
  isObject(v) &&
  (v.storage === 'localStorage' || v.storage === 'sessionStorage') &&
  isSize(v.keys) &&
  isSize(v.characters);

/** What a page answered. */
export const isPageStorage = (v: unknown): v is PageStorage =>
  isObject(v) &&
  isText(v.origin) &&
  typeof v.crossOriginIsolated === 'boolean' &&
  isList(v.databases, isDatabase) &&
  typeof v.moreDatabases === 'boolean' &&
  (v.indexedDbBytes === null || isSize(v.indexedDbBytes)) &&
  isList(v.files, isFile) &&
  typeof v.moreFiles === 'boolean' &&
  isList(v.folders, isPath) &&
  isList(v.kvvfs, isKvvfs) &&
  isList(v.wasm, isPath) &&
  isList(v.scripts, isPath) &&
  isList(v.failures, isPath);

/** Names in a sentence, and characters of each. */
const NAMED = 3;
const MOST_NAME = 48;

const listed = (texts: readonly string[], total: number): string =>
  texts.slice(0, NAMED).join(', ') + (total > NAMED ? `, and ${total - NAMED} more` : '');
const named = (names: readonly string[]): string =>
  listed(
    names.slice(0, NAMED).map((name) => shown(name, MOST_NAME) || '(no name)'),
    names.length,
  );

/** The name by which SQLite knows the file: that in a pool, else its path. */
export const storedName = ({ path, pool }: Pick<StoredFile, 'path' | 'pool'>): string =>
  pool || path;

/** `3.53.0` of 3053000. */
export const versionText = (version: number): string =>
  `${Math.floor(version / 1e6)}.${Math.floor(version / 1e3) % 1e3}.${version % 1e3}`;

/** SQLite's files first, then by size. */
export const sortedFiles = (files: readonly StoredFile[]): StoredFile[] =>
  [...files].sort((a, b) => Number(b.sqlite) - Number(a.sqlite) || (b.size ?? 0) - (a.size ?? 0));

/** One sentence for each kind of storage that holds something, and one for SQLite's WebAssembly; [] = it stores nothing. */
export function storageSentences(found: PageStorage): string[] {
  const sentences: string[] = [];
  const { databases, indexedDbBytes, files, moreFiles, kvvfs, wasm, scripts } = found;
  if (databases.length) {
    const size = indexedDbBytes === null ? '' : ` (${formatBytes(indexedDbBytes)})`;
    const names = named(databases.map(({ name }) => name));
    sentences.push(
      `This page stores ${countOf(databases.length, 'database')} in IndexedDB${size}: ${names}.`,
    );
  }
  if (files.length) {
    const about = ({ size, sqlite, ...file }: StoredFile): string =>
      `${shown(storedName(file), MOST_NAME)} (${sqlite ? 'SQLite, ' : ''}${size === null ? 'in use' : formatBytes(size)})`;
    const list = listed(sortedFiles(files).slice(0, NAMED).map(about), files.length);
    const count = `${countOf(files.length, 'file')}${moreFiles ? ' or more' : ''}`;
    sentences.push(`This page stores ${count} in OPFS: ${list}.`);
    // which engine there is, also where only a worker loads it
    const versions = [...new Set(files.map(({ writtenBy }) => writtenBy))]
      .filter((version) => version > 0)
      .sort((a, b) => b - a)
      .map(versionText);
    if (versions.length)
      sentences.push(`Last written by SQLite ${listed(versions, versions.length)}.`);
  }
  for (const { storage, keys, characters } of kvvfs)
    sentences.push(
      `SQLite stores ${countOf(keys, 'key')} in ${storage} (${countOf(characters, 'character')}).`,
    );
  const ofSqlite = wasm.filter((url) => /sql|wa-|libsql|turso/i.test(scriptName(url)));
  // a worker's WebAssembly isn't in sight of the page: its script is
  const engines = ofSqlite.length ? ofSqlite : scripts;
  if (engines.length) sentences.push(`This page loaded ${named(enginesOf(engines))}.`);
  return sentences;
}

/** npm's name for what an address serves: of a folder of packages, or of a file that only one library has. */
const packageOf = (url: string): string | null =>
  /\/(?:node_modules|npm)\/((?:@[\w.-]+\/)?\w[\w.-]*)/.exec(url)?.[1] ??
  (/\/sqlite-(?:api|constants)\.m?js\b/.test(url) ? 'wa-sqlite' : null);

/** Packages, each with the first of its files, and files of no known package. */
function enginesOf(urls: readonly string[]): string[] {
  const names = new Map<string, string>();
  for (const url of urls) {
    const file = scriptName(url);
    const name = packageOf(url);
    if (!names.has(name ?? file))
      names.set(name ?? file, name === null ? file : `${name} (${file})`);
  }
  return [...names.values()];
}
