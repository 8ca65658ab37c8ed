/**
 * What the popup and the empty panel learn of a page: which databases and files its origin stores, and whether they look like SQLite's. `look`
 * runs in the page as text, so it uses nothing from outside its own braces.
 */

import type { PageStorage, StoredFile } from '../protocol/page-storage.ts';

/** @param maxFiles the walk through OPFS ends there */
export async function look(maxFiles: number): Promise<PageStorage> {
  const found: PageStorage = {
    origin: location.origin,
    crossOriginIsolated: globalThis.crossOriginIsolated,
    databases: [],
    indexedDbBytes: null,
    files: [],
    moreFiles: false,
    kvvfs: [],
    wasm: [],
    scripts: [],
    failures: [],
  };
  const attempt = async (what: string, run: () => Promise<void> | void): Promise<void> => {
    try {
      await run();
    } catch (e) {
      found.failures.push(`${what}: ${e instanceof Error ? e.message : String(e)}`);
    }
  };

  async function inspect(path: string, handle: FileSystemFileHandle): Promise<StoredFile> {
    const HEADER = 'SQLite format 3\0';
    /** Of the header: which SQLite wrote the file last, 4 bytes, the highest first. */
    const WRITTEN_BY = 96;
    try {
      const file = await handle.getFile();
      // pools put a header of their own (4096 bytes) before the database; this encoding keeps each byte apart
      const start = new TextDecoder('x-user-defined').decode(
        await file.slice(0, 65536).arrayBuffer(),
      );
      const at = start.indexOf(HEADER);
      let writtenBy = 0;
      for (let i = 0; at >= 0 && i < 4; i++)
        writtenBy = writtenBy * 256 + (start.charCodeAt(at + WRITTEN_BY + i) & 0xff);
      return { path, size: file.size, sqlite: at >= 0, writtenBy };
    } catch {
      return { path, size: null, sqlite: false, writtenBy: 0 }; // told as "in use"
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
    if (!isSecureContext) return;
    // only Chromium reports sizes by kind of storage
    const { usageDetails } = (await navigator.storage.estimate()) as {
      usageDetails?: { indexedDB?: number };
    };
    found.indexedDbBytes = usageDetails?.indexedDB ?? null;
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
  const MOST_LOADED = 20;
  const loaded = performance.getEntriesByType('resource').map(({ name }) => name);
  found.wasm = loaded.filter((url) => /\.wasm(?:[?#]|$)/.test(url)).slice(0, MOST_LOADED);
  found.scripts = loaded
    .filter((url) =>
      /(?:sqlite|absurd-sql|libsql|sql-wasm|turso)[^/?#]*\.m?js(?:[?#]|$)/i.test(url),
    )
    .slice(0, MOST_LOADED);
  return found;
}
