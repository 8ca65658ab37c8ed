/**
 * What a page stores, as the popup, the empty panel, and Doctor show it: databases and files by
 * name, with sizes where the browser reports them. Our function in the page reads it
 * (page-copy/look), but the data comes from the page, so `isPageStorage` checks it.
 */
import { countOf, formatBytes } from '../text/numbers.ts';
import { scriptName, shown } from '../text/clean.ts';

export interface StoredFile {
  path: string;
  /** Bytes; null where the page holds the file and it can't be read. */
  size: number | null;
  /** Detected by SQLite's 16-byte header within the first 64 KiB, where it can be read. */
  sqlite: boolean;
  /** SQLITE_VERSION_NUMBER of the SQLite that last wrote it, from that header; 0 = not known. */
  writtenBy: number;
  /** Its name in a VFS's pool of files; '' = a free slot of a pool; null = not in a pool. */
  pool: string | null;
  /**
   * The content of its first bytes; for a file in a pool, the bytes after the pool's header. A
   * rollback journal that begins like this is hot.
   */
  head: '' | 'database' | 'journal' | 'wal';
  /** Why it can't be read; '' where it can. */
  cause: string;
}
/** For IndexedDB. */
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
  /** Size of all its IndexedDB databases, bytes; null where the browser doesn't report it. */
  indexedDbBytes: number | null;
  files: StoredFile[];
  /** There are, or may be, more: the walk stopped at a limit or failed. */
  moreFiles: boolean;
  /** Paths of folders, with a slash at the end. */
  folders: string[];
  /**
   * Keys of sqlite.org's key-value VFS, by storage, with the lengths of their values in characters.
   * Browsers use different numbers of bytes per character.
   */
  kvvfs: { storage: 'localStorage' | 'sessionStorage'; keys: number; characters: number }[];
  /** URLs of WebAssembly that the page itself loaded, without those of its workers. */
  wasm: string[];
  /** URLs of scripts loaded by the page or its workers whose file names match SQLite builds. */
  scripts: string[];
  /** What couldn't be read, and why. */
  failures: string[];
}

/** Limits of the walk through OPFS. */
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

/** Maximum names in a sentence, and characters of each. */
const NAMED = 3;
const MOST_NAME = 48;

const listed = (texts: readonly string[], total: number): string =>
  texts.slice(0, NAMED).join(', ') + (total > NAMED ? `, and ${total - NAMED} more` : '');
const named = (names: readonly string[]): string =>
  listed(
    names.slice(0, NAMED).map((name) => shown(name, MOST_NAME) || '(no name)'),
    names.length,
  );

/** SQLite's name for the file: its name in a pool, else its path. */
export const storedName = ({ path, pool }: Pick<StoredFile, 'path' | 'pool'>): string =>
  pool || path;

/** `3.53.0` of 3053000. */
export const versionText = (version: number): string =>
  `${Math.floor(version / 1e6)}.${Math.floor(version / 1e3) % 1e3}.${version % 1e3}`;

/** SQLite's files first, then by size. */
export const sortedFiles = (files: readonly StoredFile[]): StoredFile[] =>
  [...files].sort((a, b) => Number(b.sqlite) - Number(a.sqlite) || (b.size ?? 0) - (a.size ?? 0));

/**
 * One sentence for each kind of storage in use, and one for SQLite's WebAssembly; [] = it stores
 * nothing.
 */
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
    // names the engine, even if only a worker loads it
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
  // the page can't see a worker's WebAssembly, only its script
  const engines = ofSqlite.length ? ofSqlite : scripts;
  if (engines.length) sentences.push(`This page loaded ${named(enginesOf(engines))}.`);
  return sentences;
}

/**
 * The npm name for what an address serves: from a package folder, or from a file name that only one
 * library uses.
 */
const packageOf = (url: string): string | null =>
  /\/(?:node_modules|npm)\/((?:@[\w.-]+\/)?\w[\w.-]*)/.exec(url)?.[1] ??
  (/\/sqlite-(?:api|constants)\.m?js\b/.test(url) ? 'wa-sqlite' : null);

/** Packages, each with its first file, and files that belong to no known package. */
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
