/**
 * What the popup, the empty panel, and Doctor learn about a page: which databases and files its
 * origin stores, and whether they look like SQLite's. `look` runs in the page as text, so it uses
 * nothing from outside its own braces.
 */

import type { PageStorage, StoredDatabase, StoredFile } from '../protocol/page-storage.ts';

/**
 * @param maxFiles the walk through OPFS ends after this many
 * @param opens also open IndexedDB databases for the names of their stores; never with another
 * version than theirs
 */
export async function look(maxFiles: number, opens = false): Promise<PageStorage> {
  const MOST_DATABASES = 200;
  const MOST_STORES = 50;
  const OPENS_WITHIN_MS = 2000;
  const found: PageStorage = {
    origin: location.origin,
    crossOriginIsolated: globalThis.crossOriginIsolated,
    databases: [],
    moreDatabases: false,
    indexedDbBytes: null,
    files: [],
    moreFiles: false,
    folders: [],
    kvvfs: [],
    wasm: [],
    scripts: [],
    failures: [],
  };
  const words = (e: unknown): string => (e instanceof Error ? e.message : String(e)).slice(0, 500);
  const attempt = async (what: string, run: () => Promise<void> | void): Promise<void> => {
    try {
      await run();
    } catch (e) {
      if (found.failures.length < 20) found.failures.push(`${what}: ${words(e)}`);
    }
  };

  /**
   * By FileReader: in Firefox, only the page realm's own APIs can read its objects. This encoding
   * preserves each byte.
   */
  const bytesOf = (blob: Blob): Promise<string> =>
    new Promise((resolve, reject) => {
      const reader = new FileReader();
      reader.onload = () => resolve(reader.result as string);
      reader.onerror = () => reject(reader.error ?? new Error("it can't be read"));
      reader.readAsText(blob, 'x-user-defined');
    });

  async function inspect(path: string, handle: FileSystemFileHandle): Promise<StoredFile> {
    const HEADER = 'SQLite format 3\0';
    /** In the header: the version of the SQLite that wrote the file last, 4 bytes, big-endian. */
    const WRITTEN_BY = 96;
    /**
     * Before a file in a pool of AccessHandlePoolVFS or opfs-sahpool: its path, up to a zero byte;
     * offsets of the flags, the digest, and the file itself.
     */
    const POOL = { flags: 512, digest: 516, data: 4096 };
    /**
     * AccessHandlePoolVFS's digest of an unused slot; opfs-sahpool leaves zeros. Bytes from 0x80
     * are characters from U+F780.
     */
    const FREE = [0x80, 0x5f, 0xcc, 0xfe, 0x37, 0xc0, 0xce, 0xac];
    const file: StoredFile = {
      ...{ path, size: null, sqlite: false, writtenBy: 0, pool: null, head: '', cause: '' },
    };
    try {
      const blob = await handle.getFile();
      file.size = blob.size;
      const start = await bytesOf(blob.slice(0, 65536));
      const byte = (i: number): number => start.charCodeAt(i) & 0xff;
      const at = start.indexOf(HEADER);
      file.sqlite = at >= 0;
      for (let i = 0; at >= 0 && i < 4; i++)
        file.writtenBy = file.writtenBy * 256 + byte(at + WRITTEN_BY + i);
      if (blob.size >= POOL.data) {
        const name = start.slice(0, start.indexOf('\0'));
        // such as SQLITE_OPEN_MAIN_DB: bits 8 to 23
        const kind = byte(POOL.flags + 1) || byte(POOL.flags + 2);
        const isFree = path.includes('/.opaque/')
          ? /^\0+$/.test(start.slice(0, POOL.digest + FREE.length))
          : name === '' && FREE.every((value, i) => byte(POOL.digest + i) === value);
        if (isFree) file.pool = '';
        else if (name.length < POOL.flags && /^\/[\x21-\x7e]+$/.test(name) && kind)
          file.pool = name; // a path of a URL, with everything else escaped
      }
      const own = file.pool === null ? 0 : POOL.data;
      const JOURNAL = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
      if (start.startsWith(HEADER, own)) file.head = 'database';
      else if (JOURNAL.every((value, i) => byte(own + i) === value)) file.head = 'journal';
      else if ([0x37, 0x7f, 0x06].every((value, i) => byte(own + i) === value)) file.head = 'wal';
    } catch (e) {
      file.cause = words(e);
    }
    return file;
  }
  async function walk(
    folder: FileSystemDirectoryHandle,
    prefix: string,
    depth: number,
  ): Promise<void> {
    // iterate manually: in Firefox, `for await` in our world doesn't work with the page's iterators
    const entries = folder.entries();
    for (let next = await entries.next(); !next.done; next = await entries.next()) {
      const [name, handle] = [next.value[0], next.value[1]];
      if (found.files.length >= maxFiles) {
        found.moreFiles = true;
        return;
      }
      if (handle.kind === 'file')
        found.files.push(await inspect(prefix + name, handle as FileSystemFileHandle));
      else {
        if (found.folders.length < maxFiles) found.folders.push(`${prefix}${name}/`);
        if (depth < 8)
          await walk(handle as FileSystemDirectoryHandle, `${prefix}${name}/`, depth + 1);
        else found.moreFiles = true;
      }
    }
  }
  /**
   * Stores of a database and their keys. This doesn't create or change the database, and closes for
   * a connection that wants to change it.
   */
  const storesOf = (name: string): Promise<StoredDatabase['stores']> =>
    new Promise((resolve, reject) => {
      const opening = indexedDB.open(name);
      const late = setTimeout(
        () => reject(new Error("it doesn't open: another connection upgrades or deletes it")),
        OPENS_WITHIN_MS,
      );
      // it was deleted meanwhile: don't create it
      opening.onupgradeneeded = () => opening.transaction?.abort();
      opening.onerror = () => reject(opening.error ?? new Error('IndexedDB refused'));
      opening.onsuccess = () => {
        clearTimeout(late);
        const db = opening.result;
        db.onversionchange = () => db.close();
        try {
          const names = [...db.objectStoreNames].slice(0, MOST_STORES);
          const transaction = names.length ? db.transaction(names, 'readonly') : null;
          resolve(
            names.map((store) => ({
              name: store.slice(0, 500),
              key: String(transaction!.objectStore(store).keyPath ?? '').slice(0, 500),
            })),
          );
        } catch (e) {
          reject(e as Error);
        } finally {
          db.close();
        }
      };
    });

  await attempt('IndexedDB', async () => {
    const all = await indexedDB.databases();
    found.moreDatabases = all.length > MOST_DATABASES;
    for (const { name = '', version = 0 } of all.slice(0, MOST_DATABASES)) {
      const database: StoredDatabase = { name: name.slice(0, 1000), version, stores: null };
      found.databases.push(database);
      if (opens)
        await attempt(`IndexedDB ${database.name.slice(0, 100)}`, async () => {
          database.stores = await storesOf(name);
        });
    }
    if (!isSecureContext) return;
    // only Chromium reports sizes by kind of storage
    const { usageDetails } = (await navigator.storage.estimate()) as {
      usageDetails?: { indexedDB?: number };
    };
    found.indexedDbBytes = usageDetails?.indexedDB ?? null;
  });
  if (isSecureContext)
    await attempt('OPFS', async () => {
      try {
        await walk(await navigator.storage.getDirectory(), '/', 0);
      } catch (e) {
        found.moreFiles = true;
        throw e;
      }
    });
  else
    found.failures.push(
      "OPFS: this page isn't a secure context (https or localhost), so it has none",
    );
  await attempt('localStorage', () => {
    for (const storage of ['localStorage', 'sessionStorage'] as const) {
      const keys = Object.keys(globalThis[storage]).filter((key) => key.startsWith('kvvfs-'));
      const characters = keys.reduce(
        (sum, key) => sum + (globalThis[storage].getItem(key)?.length ?? 0),
        0,
      );
      if (keys.length) found.kvvfs.push({ storage, keys: keys.length, characters });
    }
  });
  const MOST_LOADED = 20;
  const loaded = performance.getEntriesByType('resource').map(({ name }) => name.slice(0, 2000));
  found.wasm = loaded.filter((url) => /\.wasm(?:[?#]|$)/.test(url)).slice(0, MOST_LOADED);
  found.scripts = loaded
    .filter((url) =>
      /(?:sqlite|absurd-sql|libsql|sql-wasm|turso)[^/?#]*\.m?js(?:[?#]|$)/i.test(url),
    )
    .slice(0, MOST_LOADED);
  return found;
}
