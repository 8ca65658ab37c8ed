/**
 * Interprets one look at what a page's origin holds and stores: locks with their clients and ages,
 * databases and files with their kinds, leftovers, quota, isolation. Pure. All names come from the
 * page. null = not known.
 */
import { plainPath } from '../event/file-names.ts';
import { storedName, versionText, type StoredDatabase } from '../protocol/page-storage.ts';
import type { PageDatabase } from '../protocol/page-copy.ts';
import { countOf } from '../text/numbers.ts';
import type { SeenLock } from './lock-watch.ts';
import type { PageLook } from '../protocol/page-look.ts';
import { kindOfDatabase, kindOfFile, poolOf } from './kinds.ts';
import { leftoversOf, unjudgedFolders, type Leftover } from './leftovers.ts';

export interface LockLine {
  name: string;
  state: 'held' | 'waiting';
  mode: 'exclusive' | 'shared';
  /** `this page`, or the browser's name of another client, shortened. */
  client: string;
  /** For a waiting lock: clients that hold a lock of this name. */
  heldBy: string[];
  /** Milliseconds since it was first seen. It may have been released and taken again meanwhile. */
  seenMs: number;
  /** Number of consecutive looks that saw it. */
  looks: number;
}
/** A SQLite database. */
interface StoredDatabaseLine {
  name: string;
  /** The VFS, if its files identify it, else `OPFS`. */
  kind: string;
  /** OPFS path, name of the IndexedDB database, or the storage of the key-value VFS. */
  at: string;
  bytes: number | null;
  /** Version of the SQLite that wrote it last. */
  writtenBy: string | null;
  /** Why it can't be copied; null = it can. */
  noCopy: string | null;
}
export interface FileLine {
  path: string;
  /** Its name in a file pool; '' = an unused slot; null = it isn't in a pool. */
  poolName: string | null;
  kind: string;
  bytes: number | null;
  /** Why it can't be read; '' = it can. */
  cause: string;
}
interface IndexedDbLine {
  name: string;
  version: number;
  kind: string | null;
  stores: string[] | null;
}
export interface Doctor {
  origin: string;
  browser: string;
  /** null: the browser can't list locks. */
  locks: LockLine[] | null;
  databases: StoredDatabaseLine[];
  files: FileLine[];
  indexedDb: IndexedDbLine[];
  leftovers: Leftover[];
  storage: Pick<PageLook['state'], 'usage' | 'quota' | 'usageBy' | 'persisted'>;
  page: Pick<
    PageLook['state'],
    'secureContext' | 'crossOriginIsolated' | 'sharedMemory' | 'opfs' | 'jspi'
  >;
  /** What wasn't looked at, and why. */
  gaps: string[];
}

/** Browsers name clients by long random texts. This many characters distinguish two. */
const CLIENT = 8;
const clientName = (client: string, own: string): string =>
  client !== '' && client === own
    ? 'this page'
    : client.replace(/[^\w-]/g, '').slice(0, CLIENT) || 'unknown';

/** @param locks held and waiting, with their ages; null = not known */
export function doctorOf(look: PageLook, locks: readonly SeenLock[] | null): Doctor {
  const { state, storage, databases: stored } = look;
  const databases = [
    ...stored.databases.map((one) => databaseLine(one, look)),
    ...storage.kvvfs.map(({ storage: at, characters }): StoredDatabaseLine => {
      const noCopy = 'vfscope copies databases of OPFS and IndexedDB.';
      return {
        ...{ name: 'kvvfs', kind: 'kvvfs', bytes: null, writtenBy: null, noCopy },
        at: `${at} (${countOf(characters, 'character')})`,
      };
    }),
  ];
  const { usage, quota, usageBy, persisted } = state;
  const { secureContext, crossOriginIsolated, sharedMemory, opfs, jspi } = state;
  return {
    origin: state.origin,
    browser: state.userAgent,
    locks: locks && lockLines(locks, state.client),
    databases,
    files: storage.files.map((file) => ({
      path: file.path,
      poolName: file.pool,
      kind: kindOfFile(file) + (poolOf(file) === null ? '' : ` in a pool (${poolOf(file)})`),
      bytes: file.size,
      cause: file.cause,
    })),
    indexedDb: storage.databases.map(indexedDbLine),
    leftovers: leftoversOf(storage, state.locks, databases),
    storage: { usage, quota, usageBy, persisted },
    page: { secureContext, crossOriginIsolated, sharedMemory, opfs, jspi },
    gaps: gapsOf(look),
  };
}

function lockLines(locks: readonly SeenLock[], own: string): LockLine[] {
  const holders = (name: string): string[] => [
    ...new Set(
      locks
        .filter((lock) => lock.state === 'held' && lock.name === name)
        .map(({ client }) => clientName(client, own)),
    ),
  ];
  return locks.map(({ name, state, mode, client, seenMs, looks }) => ({
    ...{ name, state, mode, client: clientName(client, own), seenMs, looks },
    heldBy: state === 'waiting' ? holders(name) : [],
  }));
}

function databaseLine(
  { store, name, at, size, cause }: PageDatabase,
  { storage }: PageLook,
): StoredDatabaseLine {
  const line = { name, at, bytes: size, noCopy: cause || null };
  if (store === 'idb') {
    const database = storage.databases.find((one) => one.name === at);
    const kind = (database && kindOfDatabase(database)) ?? 'IndexedDB';
    return { ...line, kind, writtenBy: null };
  }
  const file = storage.files.find(({ path }) => plainPath(path) === plainPath(at));
  return {
    ...line,
    name: file ? storedName(file) : name,
    kind: (file && poolOf(file)) ?? 'OPFS file',
    writtenBy: file?.writtenBy ? versionText(file.writtenBy) : null,
  };
}

const indexedDbLine = (database: StoredDatabase): IndexedDbLine => ({
  name: database.name,
  version: database.version,
  kind: kindOfDatabase(database),
  stores: database.stores && database.stores.map(({ name }) => name),
});

/** Each cause once, because two looks may find the same lock. */
function gapsOf({ state, storage, databases }: PageLook): string[] {
  const gaps = [...state.failures, ...storage.failures, ...databases.failures];
  if (storage.moreFiles) gaps.push(`OPFS: only the first ${storage.files.length} files were read`);
  if (storage.moreDatabases)
    gaps.push(`IndexedDB: only the first ${storage.databases.length} databases were read`);
  if (state.locks?.more) gaps.push('Locks: there are more than those listed');
  for (const { path, cause } of storage.files) if (cause) gaps.push(`OPFS ${path}: ${cause}`);
  for (const folder of unjudgedFolders(storage.files))
    gaps.push(`Leftovers in ${folder}: n/a, because not every file there was recognized`);
  return [...new Set(gaps)];
}
