/**
 * Opens one database in the page for copying, without writing, locking, or running SQL. Runs in the
 * page as text, so it uses nothing from outside its braces. The open data stays in our isolated
 * world for `pieceOf`. `checkCopy` reports whether the copy is one consistent state of the file.
 *
 * The rule for a plain OPFS file: no rollback journal is hot, and neither the database, nor its
 * journal, nor its log (which is also copied) changed between the first look and the last piece.
 * Each transaction that writes changes one of them. In a file pool (AccessHandlePoolVFS,
 * opfs-sahpool) the rule applies to the files that have these names at the time. For IndexedDB
 * blocks, one readonly transaction sees one state; uncommitted versions are left out.
 */
import type { CopyBegun, CopyRefused } from '../protocol/page-copy.ts';

/** Data that the functions in the page share. */
export interface Held {
  main: Blob;
  wal: Blob | null;
  /** What must be unchanged at the end, for a file; null if the copy is already complete. */
  state: (() => Promise<string>) | null;
  before: string;
}

export async function beginCopy(
  store: 'opfs' | 'idb',
  at: string,
  name: string,
  maxBytes: number,
): Promise<CopyBegun | CopyRefused> {
  const place = globalThis as unknown as { vfscopeCopy?: Held };
  delete place.vfscopeCopy;
  const textOf = (blob: Blob): Promise<string> =>
    new Promise((resolve, reject) => {
      const reader = new FileReader();
      reader.onload = () => resolve(reader.result as string);
      reader.onerror = () => reject(reader.error ?? new Error('it cannot be read'));
      reader.readAsText(blob, 'latin1');
    });
  const ask = <T>(request: IDBRequest<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error ?? new Error('IndexedDB refused'));
    });
  const OPENS_WITHIN_MS = 2000;
  /** As in `listDatabases`: behind a blocked upgrade, it never opens. */
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
  const JOURNAL_MAGIC = '\xd9\xd5\x05\xf9\x20\xa1\x63\xd7';
  const HOT =
    'A transaction is under way or was cut off: its rollback journal is hot. Wait until the app has written, and try again.';
  const refuse = (refused: string): CopyRefused => ({ refused });

  async function fromFile(): Promise<Held | CopyRefused> {
    const parts = at.split('/').filter(Boolean);
    const file = parts.pop()!;
    let folder = await navigator.storage.getDirectory();
    for (const part of parts) folder = await folder.getDirectoryHandle(part);
    const get = async (of: string): Promise<File | null> => {
      try {
        return await (await folder.getFileHandle(of)).getFile();
      } catch (e) {
        if (e instanceof DOMException && e.name === 'NotFoundError') return null;
        throw e;
      }
    };
    // iterate manually: in Firefox, `for await` in our world doesn't work with the page's iterators
    const beside: string[] = [];
    const entries = folder.entries();
    for (let next = await entries.next(); !next.done; next = await entries.next())
      if (next.value[1].kind === 'file') beside.push(next.value[0]);
    const other = beside.find(
      (one) => one.startsWith(`${file}-`) && !/^-(?:journal|wal|shm)$/.test(one.slice(file.length)),
    );
    if (other)
      return refuse(
        `This VFS needs another file, ${other.slice(0, 200)}. Export the database from your app.`,
      );

    /** A pool's own header of a file: its path up to a zero byte, and more. */
    const POOL_HEADER = 4096;
    const pathIn = async (place: Blob): Promise<string> =>
      /^[^\0]*/.exec(await textOf(place.slice(0, 512)))![0];
    const first = await get(file);
    if (!first) return refuse('The file no longer exists.');
    const begins = async (at: number): Promise<boolean> =>
      (await textOf(first.slice(at, at + 16))) === 'SQLite format 3\0';
    const isPool = !(await begins(0)) && (await begins(POOL_HEADER));
    const poolName = isPool ? await pathIn(first) : '';
    /** The database's own file is the chosen one, as long as it has that name. */
    const find = async (suffix: string): Promise<File | null> => {
      if (!isPool) return get(file + suffix);
      for (const one of suffix === '' ? [file] : beside) {
        const place = await get(one);
        if (place && place.size >= POOL_HEADER && (await pathIn(place)) === poolName + suffix)
          return place;
      }
      return null;
    };
    const look = async (): Promise<{
      main: Blob | null;
      wal: Blob | null;
      hot: boolean;
      text: string;
    }> => {
      const all = [await find(''), await find('-journal'), await find('-wal')] as const;
      const [main, journal, wal] = all.map((one) =>
        one && isPool ? one.slice(POOL_HEADER) : one,
      ) as [Blob | null, Blob | null, Blob | null];
      const head = journal && journal.size > 0 ? await textOf(journal.slice(0, 8)) : '';
      const stamp = (f: File | null): string => (f ? `${f.size} ${f.lastModified}` : 'none');
      const header = main ? await textOf(main.slice(0, 100)) : '';
      const log = wal ? await textOf(wal.slice(0, 32)) : '';
      return {
        main,
        wal,
        hot: head === JOURNAL_MAGIC,
        text: [...all.map(stamp), head, header, log].join('|'),
      };
    };
    const seen = await look();
    if (!seen.main) return refuse('The file no longer exists.');
    if (seen.hot) return refuse(HOT);
    const wal = seen.wal && seen.wal.size > 32 ? seen.wal : null;
    return { main: seen.main, wal, before: seen.text, state: async () => (await look()).text };
  }

  async function fromBlocks(): Promise<Held | CopyRefused> {
    const opening = indexedDB.open(at);
    opening.onupgradeneeded = () => opening.transaction?.abort();
    const db = await inTime(opening);
    db.onversionchange = () => db.close();
    try {
      interface Block {
        offset: number;
        version: number;
        data: Uint8Array<ArrayBuffer>;
        fileSize?: number;
      }
      const names = [...db.objectStoreNames];
      const transaction = db.transaction(names, 'readonly');
      const blocks = transaction.objectStore('blocks');
      const range = (path: string): IDBKeyRange =>
        IDBKeyRange.bound([path, -Infinity], [path, Infinity]);
      // one readonly transaction sees one state, and ends when no more requests are made
      const second = names.includes('metadata');
      const asked = second
        ? ask(transaction.objectStore('metadata').get(name))
        : Promise.resolve(undefined);
      const first = ask(blocks.getAll(IDBKeyRange.bound([name, 0], [name, 0, Infinity])));
      const journalFirst = ask(
        blocks.getAll(IDBKeyRange.bound([`${name}-journal`, 0], [`${name}-journal`, 0, Infinity])),
      );
      const meta = (await asked) as { fileSize: number; version: number } | undefined;
      const [zero] = (await first) as Block[];
      const fileSize = meta?.fileSize ?? zero?.fileSize;
      const version = meta?.version ?? zero?.version;
      if (fileSize === undefined || version === undefined || !zero)
        return refuse('The database no longer exists.');
      if (fileSize > maxBytes) return refuse('It is too large to be copied.');
      // delayed until here, because the page's memory holds all of them. The transaction is alive:
      // `first` was just answered
      const every = ask(blocks.getAll(range(name)));
      const [journal] = (await journalFirst) as Block[];
      // 2.x commits by version regardless of the journal; 1.x writes in place under a journal that
      // has grown
      const magic =
        journal && journal.data.byteLength >= 8
          ? await textOf(new Blob([journal.data]).slice(0, 8))
          : '';
      if (!second && magic === JOURNAL_MAGIC) return refuse(HOT);
      const all = (await every) as Block[];
      const newest = new Map<number, Block>();
      for (const block of all) {
        if (block.version < version) continue; // of an uncommitted transaction
        const known = newest.get(block.offset);
        if (!known || block.version < known.version) newest.set(block.offset, block);
      }
      const pieces: Blob[] = [];
      let end = 0;
      for (const block of [...newest.values()].sort((a, b) => b.offset - a.offset)) {
        const offset = -block.offset;
        if (offset >= fileSize) break;
        if (offset < end) continue;
        if (offset > end) pieces.push(new Blob([new Uint8Array(offset - end)]));
        const piece = new Blob([block.data]).slice(0, fileSize - offset);
        pieces.push(piece);
        end = offset + piece.size;
      }
      return { main: new Blob(pieces), wal: null, before: '', state: null };
    } finally {
      db.close();
    }
  }

  try {
    const held = store === 'opfs' ? await fromFile() : await fromBlocks();
    if ('refused' in held) return held;
    if (held.main.size + (held.wal?.size ?? 0) > maxBytes)
      return refuse('It is too large to be copied.');
    place.vfscopeCopy = held;
    return { main: held.main.size, wal: held.wal ? held.wal.size : null };
  } catch (e) {
    return refuse(
      `The browser can't read it: ${e instanceof Error ? e.message : String(e)}. Is the app writing to it?`.slice(
        0,
        1000,
      ),
    );
  }
}
