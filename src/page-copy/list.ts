/**
 * Which SQLite databases the page's origin stores, and which of them can be copied. Runs in the
 * page as text, so it uses nothing from outside its braces.
 */
import type { PageDatabase, PageDatabases } from '../protocol/page-copy.ts';

/**
 * @param most maximum number of listed databases @param maxBytes larger ones are refused @param
 * maxFiles maximum number of OPFS files to read
 */
export async function listDatabases(
  most: number,
  maxBytes: number,
  maxFiles: number,
): Promise<PageDatabases> {
  const HEADER = 'SQLite format 3\0';
  const found: PageDatabases = { origin: location.origin, databases: [], failures: [] };
  /** What wasn't looked at because of a limit. */
  const more = new Set<string>();
  const words = (e: unknown): string => (e instanceof Error ? e.message : String(e)).slice(0, 500);
  const add = (database: Omit<PageDatabase, 'cause'>, cause = ''): void => {
    const large =
      (database.size ?? 0) > maxBytes ? `It is larger than ${maxBytes / 2 ** 20} MiB.` : '';
    if (found.databases.length === most)
      more.add(`SQLite databases: only the first ${most} are listed`);
    else found.databases.push({ ...database, cause: cause || large });
  };
  const attempt = async (what: string, run: () => Promise<void>): Promise<void> => {
    try {
      await run();
    } catch (e) {
      found.failures.push(`${what}: ${words(e)}`);
    }
  };
  /** Text by FileReader: in Firefox, only the page realm's own APIs can read its objects. */
  const textOf = (blob: Blob): Promise<string> =>
    new Promise((resolve, reject) => {
      const reader = new FileReader();
      reader.onload = () => resolve(reader.result as string);
      reader.onerror = () => reject(reader.error ?? new Error('it cannot be read'));
      reader.readAsText(blob, 'latin1');
    });

  /** OPFS paths of files whose pages are in an order that IndexedDB stores. */
  const permuted = new Set<string>();
  const bare = (path: string): string => path.replace(/^\/+/, '');
  const PERMUTED =
    'OPFSPermutedVFS stores pages in its own order. Export the database from your app, and open that file here.';

  /** @param names of everything in its folder */
  async function inspect(
    at: string,
    handle: FileSystemFileHandle,
    names: readonly string[],
  ): Promise<void> {
    const name = at.split('/').pop()!;
    if (/-(?:journal|wal|shm)$/.test(name)) return;
    const file = await handle.getFile();
    const start = await textOf(file.slice(0, 8192));
    const other = names.find(
      (n) => n.startsWith(`${name}-`) && !/^-(?:journal|wal|shm)$/.test(n.slice(name.length)),
    );
    const beside = other
      ? `This VFS needs another file, ${other.slice(0, 200)}. Export the database from your app.`
      : '';
    // a new database of OPFSWriteAheadVFS is only in its logs
    if (start.startsWith(HEADER) || /-wa[01]$/.test(other ?? ''))
      add({ store: 'opfs', name, at, size: file.size }, permuted.has(bare(at)) ? PERMUTED : beside);
    // a file pool: the VFS's own header with the name, followed by the database
    else if (start.slice(4096).startsWith(HEADER)) {
      const named = /^\/?([^\0]{1,500})\0/.exec(start)?.[1] ?? name;
      add({ store: 'opfs', name: named, at, size: file.size - 4096 });
    }
  }
  let filesRead = 0;
  async function walk(
    folder: FileSystemDirectoryHandle,
    prefix: string,
    depth: number,
  ): Promise<void> {
    // iterate manually: in Firefox, `for await` in our world doesn't work with the page's iterators
    const found: [name: string, handle: FileSystemHandle][] = [];
    const entries = folder.entries();
    for (let next = await entries.next(); !next.done; next = await entries.next())
      found.push([next.value[0], next.value[1]]);
    const names = found.map(([name]) => name);
    for (const [name, handle] of found) {
      if (filesRead >= maxFiles) {
        more.add(`OPFS: only the first ${maxFiles} files were read`);
        return;
      }
      if (handle.kind === 'directory') {
        if (depth < 8)
          await walk(handle as FileSystemDirectoryHandle, `${prefix}${name}/`, depth + 1);
      } else {
        filesRead++;
        await attempt(`OPFS ${prefix}${name}`.slice(0, 500), () =>
          inspect(prefix + name, handle as FileSystemFileHandle, names),
        );
      }
    }
  }
  const ask = <T>(request: IDBRequest<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error ?? new Error('IndexedDB refused'));
    });
  const LONGEST_NAME = 1000;
  const OPENS_WITHIN_MS = 2000;
  /** As many as `look` opens. */
  const MOST_OPENED = 200;
  /** A database that another connection upgrades or deletes doesn't open, so it is skipped. */
  const inTime = (opening: IDBOpenDBRequest): Promise<IDBDatabase> =>
    new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        reject(new Error("it doesn't open: another connection upgrades or deletes it"));
        opening.onsuccess = () => opening.result.close();
      }, OPENS_WITHIN_MS);
      void ask(opening)
        .finally(() => clearTimeout(late))
        .then(resolve, reject);
    });

  /**
   * wa-sqlite's IDBBatchAtomicVFS: `blocks` by [path, offset, version]; 2.x also has `metadata`.
   * `blocks` of another app isn't SQLite's.
   */
  async function look(at: string): Promise<void> {
    const opening = indexedDB.open(at);
    // it was deleted meanwhile: don't create it
    opening.onupgradeneeded = () => opening.transaction?.abort();
    const db = await inTime(opening);
    db.onversionchange = () => db.close();
    try {
      const names = [...db.objectStoreNames];
      if (names.length === 0) return;
      const transaction = db.transaction(names, 'readonly');
      const keyOf = (store: string): string =>
        names.includes(store) ? String(transaction.objectStore(store).keyPath) : '';
      if (keyOf('pages') === 'i' && keyOf('pending') === 'txId') permuted.add(bare(at));
      const key = keyOf('blocks');
      if (key === 'path,offset' || (key === 'name,index,version' && names.includes('spill')))
        add(
          { store: 'idb', name: at, at, size: null },
          "Its blocks aren't those of IDBBatchAtomicVFS. Export the database from your app.",
        );
      if (key !== 'path,offset,version') return;
      const paths = new Map<string, number>();
      if (names.includes('metadata'))
        for (const file of (await ask(transaction.objectStore('metadata').getAll())) as {
          name: string;
          fileSize: number;
        }[])
          paths.set(file.name, file.fileSize);
      else {
        const blocks = transaction.objectStore('blocks');
        for (let from: IDBKeyRange | null = null; paths.size < 1000;) {
          const cursor: IDBCursorWithValue | null = await ask(blocks.openCursor(from));
          if (!cursor) break;
          const { path } = cursor.value as { path: string };
          const all = (await ask(
            blocks.getAll(IDBKeyRange.bound([path, 0], [path, 0, Infinity])),
          )) as { fileSize: number }[];
          paths.set(path, all[0]?.fileSize ?? 0);
          from = IDBKeyRange.lowerBound([path, []], true);
        }
      }
      for (const [name, size] of paths)
        if (!/-(?:journal|wal)$/.test(name) && size >= 512) add({ store: 'idb', name, at, size });
    } finally {
      db.close();
    }
  }

  // first, because it tells which OPFS files are permuted
  await attempt('IndexedDB', async () => {
    const all = await indexedDB.databases();
    if (all.length > MOST_OPENED)
      more.add(`IndexedDB: only the first ${MOST_OPENED} databases were read`);
    for (const { name } of all.slice(0, MOST_OPENED))
      if (name && name.length <= LONGEST_NAME)
        await attempt(`IndexedDB ${name}`.slice(0, 500), () => look(name));
  });
  if (isSecureContext)
    await attempt('OPFS', async () => walk(await navigator.storage.getDirectory(), '/', 0));
  found.failures.unshift(...more);
  found.failures.splice(20);
  return found;
}
