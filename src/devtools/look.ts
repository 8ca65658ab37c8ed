/**
 * What the popup learns of a page: which databases and files its origin stores, and whether they look like SQLite's. `look`
 * runs in the page as text, so it uses nothing from outside its own braces.
 */

export interface FoundFile {
  path: string;
  /** bytes; null where the file is held by the page and cannot be read now */
  size: number | null;
  /** By SQLite's 16-byte header, where it can be read, wherever in the first 64 KiB the VFS put it. */
  sqlite: boolean;
}
export interface Found {
  origin: string;
  crossOriginIsolated: boolean;
  databases: { name: string; version: number }[];
  files: FoundFile[];
  /** The walk stopped at its limit: there are more. */
  moreFiles: boolean;
  /** Keys of sqlite.org's key-value VFS, by storage, with the bytes of their values. */
  kvvfs: { storage: 'localStorage' | 'sessionStorage'; keys: number; characters: number }[];
  /** What could not be looked at, and why. */
  failures: string[];
}

/** @param maxFiles the walk through OPFS ends there */
export async function look(maxFiles: number): Promise<Found> {
  const found: Found = {
    origin: location.origin,
    crossOriginIsolated: globalThis.crossOriginIsolated,
    databases: [],
    files: [],
    moreFiles: false,
    kvvfs: [],
    failures: [],
  };
  const attempt = async (what: string, run: () => Promise<void> | void): Promise<void> => {
    try {
      await run();
    } catch (e) {
      found.failures.push(`${what}: ${e instanceof Error ? e.message : String(e)}`);
    }
  };

  async function inspect(path: string, handle: FileSystemFileHandle): Promise<FoundFile> {
    const HEADER = 'SQLite format 3\0';
    try {
      const file = await handle.getFile();
      // pools put a header of their own (4096 bytes) before the database
      const start = new TextDecoder('latin1').decode(await file.slice(0, 65536).arrayBuffer());
      return { path, size: file.size, sqlite: start.includes(HEADER) };
    } catch {
      return { path, size: null, sqlite: false }; // told as "in use"
    }
  }
  async function walk(
    folder: FileSystemDirectoryHandle,
    prefix: string,
    depth: number,
  ): Promise<void> {
    for await (const [name, handle] of folder.entries()) {
      if (found.files.length >= maxFiles) {
        found.moreFiles = true;
        return;
      }
      if (handle.kind === 'file')
        found.files.push(await inspect(prefix + name, handle as FileSystemFileHandle));
      else if (depth < 8)
        await walk(handle as FileSystemDirectoryHandle, `${prefix}${name}/`, depth + 1);
    }
  }

  await attempt('IndexedDB', async () => {
    for (const { name, version } of await indexedDB.databases())
      found.databases.push({ name: name ?? '', version: version ?? 0 });
  });
  if (isSecureContext)
    await attempt('OPFS', async () => walk(await navigator.storage.getDirectory(), '/', 0));
  else
    found.failures.push(
      'OPFS: this page is no secure context (https or localhost), so it has none',
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
  return found;
}
