/** Which SQLite databases the page's origin stores, and which of them can be copied. Runs in the page as text: nothing from outside its braces. */
import type { PageDatabase, PageDatabases } from '../../protocol/page-copy.ts';

/** @param most databases told @param maxBytes larger ones are refused */
export async function listDatabases(most: number, maxBytes: number): Promise<PageDatabases> {
  const HEADER = 'SQLite format 3\0';
  const found: PageDatabases = { origin: location.origin, databases: [], failures: [] };
  const words = (e: unknown): string => (e instanceof Error ? e.message : String(e)).slice(0, 500);
  const add = (database: Omit<PageDatabase, 'cause'>, cause = ''): void => {
    const large = database.size > maxBytes ? `It is larger than ${maxBytes / 2 ** 20} MiB.` : '';
    if (found.databases.length < most) found.databases.push({ ...database, cause: cause || large });
  };
  const attempt = async (what: string, run: () => Promise<void>): Promise<void> => {
    try {
      await run();
    } catch (e) {
      found.failures.push(`${what}: ${words(e)}`);
    }
  };
  /** Text by FileReader: in Firefox, what belongs to the page's realm is read by its own APIs only. */
  const textOf = (blob: Blob): Promise<string> =>
    new Promise((resolve, reject) => {
      const reader = new FileReader();
      reader.onload = () => resolve(reader.result as string);
      reader.onerror = () => reject(reader.error ?? new Error('it cannot be read'));
      reader.readAsText(blob, 'latin1');
    });

  async function inspect(at: string, handle: FileSystemFileHandle): Promise<void> {
    const name = at.split('/').pop()!;
    if (/-(?:journal|wal|shm)$/.test(name)) return;
    const file = await handle.getFile();
    const start = await textOf(file.slice(0, 8192));
    if (start.startsWith(HEADER)) add({ store: 'opfs', name, at, size: file.size });
    else if (start.slice(4096).startsWith(HEADER)) {
      const named = /^\/?([^\0]{1,500})\0/.exec(start)?.[1] ?? name;
      const cause = 'It lies in a pool of files whose names the VFS keeps: let the app export it, and open that file here.';
      add({ store: 'opfs', name: named, at, size: file.size - 4096 }, cause);
    }
  }
  async function walk(folder: FileSystemDirectoryHandle, prefix: string, depth: number): Promise<void> {
    for await (const [name, handle] of folder.entries()) {
      if (handle.kind === 'directory') {
        if (depth < 8) await walk(handle as FileSystemDirectoryHandle, `${prefix}${name}/`, depth + 1);
      } else await attempt(`OPFS ${prefix}${name}`.slice(0, 500), () => inspect(prefix + name, handle as FileSystemFileHandle));
    }
  }
  const ask = <T>(request: IDBRequest<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error ?? new Error('IndexedDB refused'));
    });

  /** wa-sqlite's IDBBatchAtomicVFS: `blocks` by [path, offset, version]; 2.x has `metadata` beside it. */
  async function look(at: string): Promise<void> {
    const opening = indexedDB.open(at);
    opening.onupgradeneeded = () => opening.transaction?.abort(); // it was deleted meanwhile: it is not to be made
    const db = await ask(opening);
    db.onversionchange = () => db.close();
    try {
      if (!db.objectStoreNames.contains('blocks')) return;
      const names = [...db.objectStoreNames];
      const transaction = db.transaction(names, 'readonly');
      const keyPath = transaction.objectStore('blocks').keyPath;
      if (String(keyPath) !== 'path,offset,version') {
        add({ store: 'idb', name: at, at, size: 0 }, 'Its blocks are not those of IDBBatchAtomicVFS: let the app export the database.');
        return;
      }
      const paths = new Map<string, number>();
      if (names.includes('metadata'))
        for (const file of (await ask(transaction.objectStore('metadata').getAll())) as { name: string; fileSize: number }[])
          paths.set(file.name, file.fileSize);
      else {
        const blocks = transaction.objectStore('blocks');
        for (let from: IDBKeyRange | null = null; paths.size < 1000;) {
          const cursor: IDBCursorWithValue | null = await ask(blocks.openCursor(from));
          if (!cursor) break;
          const { path } = cursor.value as { path: string };
          const all = (await ask(blocks.getAll(IDBKeyRange.bound([path, 0], [path, 0, Infinity])))) as { fileSize: number }[];
          paths.set(path, all[0]?.fileSize ?? 0);
          from = IDBKeyRange.lowerBound([path, []], true);
        }
      }
      for (const [name, size] of paths) if (!/-(?:journal|wal)$/.test(name) && size >= 512) add({ store: 'idb', name, at, size });
    } finally {
      db.close();
    }
  }

  await attempt('IndexedDB', async () => {
    for (const { name } of await indexedDB.databases()) if (name) await attempt(`IndexedDB ${name}`.slice(0, 500), () => look(name));
  });
  if (isSecureContext) await attempt('OPFS', async () => walk(await navigator.storage.getDirectory(), '/', 0));
  found.failures.splice(20);
  return found;
}
