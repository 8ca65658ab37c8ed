/**
 * A wa-sqlite 2.x VFS that stores files as blocks of one size in IndexedDB. Its options are fixed
 * in published VFSs: block size, when a block is written, how many are cached, durability. For
 * Asyncify and JSPI builds. options.ts has its guarantees after a crash.
 *
 *   const vfs = await BlockIdbVfs.create('app', module, { blockSize: 8192, writePolicy: 'lazy' });
 *   sqlite3.vfs_register(vfs, true);
 */
import { OpenFlag, Rc } from '../../sqlite/constants.ts';
import { BlockFile } from './block-file.ts';
import { FileLocks, Level } from './file-locks.ts';
import { resolveOptions, type BlockIdbOptions, type BlockStats, type Resolved } from './options.ts';
import { openStorage, type BlockStorage } from './storage.ts';

export type { BlockIdbOptions, BlockStats, WritePolicy } from './options.ts';

const ASYNC = new Set([
  'xOpen',
  'xClose',
  'xDelete',
  'xAccess',
  'xRead',
  'xWrite',
  'xTruncate',
  'xSync',
]);
/** ms since noon of 24 November 4714 BC, where SQLite's time begins, at the epoch. */
const JULIAN_EPOCH_MS = 210_866_760_000_000n;

/** The parts of wa-sqlite's module that the VFS uses. */
export interface WaSqliteModule {
  HEAPU8: Uint8Array;
  UTF8ToString(pointer: number): string;
}
interface Shared {
  readonly file: BlockFile;
  readonly locks: FileLocks;
  users: number;
  releaseWebLock: () => void;
}
interface OpenFile {
  readonly shared: Shared;
  readonly flags: number;
}

export class BlockIdbVfs {
  readonly mxPathname = 512;
  /** The last failure, as text. SQLite itself only reports "disk I/O error". */
  lastError: Error | null = null;
  readonly _module: WaSqliteModule;
  private readonly byPath = new Map<string, Shared>();
  private readonly byPointer = new Map<number, OpenFile>();
  private temps = 0;

  private constructor(
    readonly name: string,
    module: WaSqliteModule,
    private readonly options: Resolved,
    private readonly storage: BlockStorage,
    readonly stats: BlockStats,
  ) {
    this._module = module;
  }

  /**
   * @param name of the VFS; the IndexedDB database is `databaseName(name)`
   * @param module wa-sqlite's
   * @param storage of the blocks, instead of IndexedDB
   * @throws RangeError for invalid options; errors of IndexedDB
   */
  static async create(
    name: string,
    module: WaSqliteModule,
    options: BlockIdbOptions = {},
    storage?: BlockStorage,
  ): Promise<BlockIdbVfs> {
    const resolved = resolveOptions(options);
    const stats: BlockStats = {
      get: 0,
      getBytes: 0,
      put: 0,
      putBytes: 0,
      rmw: 0,
      rmwMiss: 0,
      tx: 0,
    };
    return new BlockIdbVfs(
      name,
      module,
      resolved,
      storage ?? (await openStorage(databaseName(name), resolved, stats)),
      stats,
    );
  }

  /** Close IndexedDB. Close the databases first. */
  close(): void {
    for (const shared of this.byPath.values()) shared.releaseWebLock();
    this.storage.close();
  }

  /** Store dirty blocks and empty the cache, as after a restart. */
  async dropCaches(): Promise<void> {
    for (const { file } of this.byPath.values()) await file.dropCache();
  }

  isReady(): boolean {
    return true;
  }
  hasAsyncMethod(method: string): boolean {
    return ASYNC.has(method);
  }

  // ---- sqlite3_vfs

  xOpen(
    _pVfs: number,
    zName: number,
    pFile: number,
    flags: number,
    pOutFlags: number,
  ): Promise<number> {
    const path = zName ? this._module.UTF8ToString(zName) : `(temp ${++this.temps})`;
    return this.guard(Rc.cantOpen, async () => {
      const shared = this.byPath.get(path) ?? (await this.openShared(path, flags));
      if (!shared) return Rc.cantOpen;
      shared.users++;
      this.byPointer.set(pFile, { shared, flags });
      this.setInt32(pOutFlags, flags);
      return Rc.ok;
    });
  }

  /** @returns null where the file doesn't exist and isn't created, or another thread has it */
  private async openShared(path: string, flags: number): Promise<Shared | null> {
    let releaseWebLock = (): void => {};
    if (flags & OpenFlag.mainDb) {
      const release = await takeWebLock(`${databaseName(this.name)} ${path}`);
      if (!release) {
        this.lastError = new Error(
          `${path} is open in another thread or tab: the block VFS has one user at a time`,
        );
        return null;
      }
      releaseWebLock = release;
    }
    try {
      const meta = await this.storage.readMeta(path);
      if (!meta && !(flags & OpenFlag.create)) {
        releaseWebLock();
        return null;
      }
      const { options, stats, storage } = this;
      const file = new BlockFile(
        path,
        meta?.size ?? 0,
        meta?.blockSize ?? options.blockSize,
        !meta,
        storage,
        options,
        stats,
      );
      const shared = { file, locks: new FileLocks(), users: 0, releaseWebLock };
      this.byPath.set(path, shared);
      return shared;
    } catch (error) {
      releaseWebLock();
      throw error;
    }
  }

  xDelete(_pVfs: number, zName: number, _syncDir: number): Promise<number> {
    const path = this._module.UTF8ToString(zName);
    return this.guard(Rc.ioErr, () => this.remove(path));
  }
  private async remove(path: string): Promise<number> {
    this.byPath.delete(path);
    await this.storage.writeMeta(path, null);
    await this.storage.deleteFrom(path, 0);
    await this.storage.commit(); // deleting a journal is a commit: it must be durable
    return Rc.ok;
  }

  xAccess(_pVfs: number, zName: number, _flags: number, pResOut: number): Promise<number> {
    const path = this._module.UTF8ToString(zName);
    return this.guard(Rc.ioErr, async () => {
      this.setInt32(pResOut, this.byPath.has(path) || (await this.storage.readMeta(path)) ? 1 : 0);
      return Rc.ok;
    });
  }

  xFullPathname(_pVfs: number, zName: number, nOut: number, zOut: number): number {
    const path = new TextEncoder().encode(this._module.UTF8ToString(zName));
    if (path.length >= nOut) return Rc.cantOpen;
    this._module.HEAPU8.set(path, zOut);
    this._module.HEAPU8[zOut + path.length] = 0;
    return Rc.ok;
  }
  xRandomness(_pVfs: number, nByte: number, zOut: number): number {
    this._module.HEAPU8.set(crypto.getRandomValues(new Uint8Array(nByte)), zOut);
    return nByte;
  }
  xCurrentTimeInt64(_pVfs: number, pTime: number): number {
    this.view(pTime, 8).setBigInt64(0, JULIAN_EPOCH_MS + BigInt(Date.now()), true);
    return Rc.ok;
  }
  xGetLastError(_pVfs: number, nBuf: number, zBuf: number): number {
    const text = new TextEncoder()
      .encode(this.lastError?.message ?? '')
      .subarray(0, Math.max(0, nBuf - 1));
    this._module.HEAPU8.set(text, zBuf);
    if (nBuf > 0) this._module.HEAPU8[zBuf + text.length] = 0;
    return Rc.ok;
  }

  // ---- sqlite3_io_methods

  xClose(pFile: number): Promise<number> {
    return this.guard(Rc.ioErr, async () => {
      const open = this.byPointer.get(pFile);
      if (!open) return Rc.ok;
      const { shared, flags } = open;
      this.byPointer.delete(pFile);
      shared.locks.unlock(pFile, Level.none);
      if (--shared.users > 0) return Rc.ok;
      const { path } = shared.file;
      try {
        if (flags & OpenFlag.deleteOnClose) return await this.remove(path);
        if (this.byPath.get(path) === shared) await shared.file.flush(); // else already deleted
        return Rc.ok;
      } finally {
        if (this.byPath.get(path) === shared) this.byPath.delete(path);
        shared.releaseWebLock();
      }
    });
  }

  xRead(
    pFile: number,
    pData: number,
    iAmt: number,
    iOffsetLo: number,
    iOffsetHi: number,
  ): Promise<number> {
    return this.guard(Rc.ioErr, async () => {
      const out = new Uint8Array(iAmt); // the engine's memory may move during the wait
      const got = await this.file(pFile).read(out, join(iOffsetLo, iOffsetHi));
      this._module.HEAPU8.set(out, pData);
      return got === iAmt ? Rc.ok : Rc.shortRead;
    });
  }
  xWrite(
    pFile: number,
    pData: number,
    iAmt: number,
    iOffsetLo: number,
    iOffsetHi: number,
  ): Promise<number> {
    const bytes = this._module.HEAPU8.slice(pData, pData + iAmt);
    return this.guard(Rc.ioErr, async () => {
      await this.file(pFile).write(bytes, join(iOffsetLo, iOffsetHi));
      return Rc.ok;
    });
  }
  xTruncate(pFile: number, sizeLo: number, sizeHi: number): Promise<number> {
    return this.guard(Rc.ioErr, async () => {
      await this.file(pFile).truncate(join(sizeLo, sizeHi));
      return Rc.ok;
    });
  }
  xSync(pFile: number, _flags: number): Promise<number> {
    return this.guard(Rc.ioErr, async () => {
      await this.file(pFile).flush();
      return Rc.ok;
    });
  }
  xFileSize(pFile: number, pSize: number): number {
    this.view(pSize, 8).setBigInt64(0, BigInt(this.file(pFile).size), true);
    return Rc.ok;
  }
  xLock(pFile: number, level: number): number {
    return this.open(pFile).shared.locks.lock(pFile, level) ? Rc.ok : Rc.busy;
  }
  xUnlock(pFile: number, level: number): number {
    this.open(pFile).shared.locks.unlock(pFile, level);
    return Rc.ok;
  }
  xCheckReservedLock(pFile: number, pResOut: number): number {
    this.setInt32(pResOut, this.open(pFile).shared.locks.reserved ? 1 : 0);
    return Rc.ok;
  }
  xFileControl(_pFile: number, _op: number, _pArg: number): number {
    return Rc.notFound;
  }
  xSectorSize(_pFile: number): number {
    return 512;
  }
  xDeviceCharacteristics(_pFile: number): number {
    return 0;
  }

  // ---- helpers

  private async guard(rc: number, work: () => Promise<number>): Promise<number> {
    try {
      return await work();
    } catch (error) {
      this.lastError = error instanceof Error ? error : new Error(String(error));
      return isFull(error) ? Rc.full : rc;
    }
  }
  private open(pFile: number): OpenFile {
    const open = this.byPointer.get(pFile);
    if (!open) throw new Error(`no file is open at ${pFile}`);
    return open;
  }
  private file(pFile: number): BlockFile {
    return this.open(pFile).shared.file;
  }
  private view(at: number, bytes: number): DataView {
    const { buffer, byteOffset } = this._module.HEAPU8;
    return new DataView(buffer, byteOffset + at, bytes);
  }
  private setInt32(at: number, value: number): void {
    this.view(at, 4).setInt32(0, value, true);
  }
}

/** Name of the IndexedDB database of a VFS with this name. */
const databaseName = (name: string): string => `vfscope-blocks-${name}`;

const join = (low: number, high: number): number => high * 4294967296 + (low >>> 0);
const isFull = (error: unknown): boolean =>
  error instanceof Error && error.name === 'QuotaExceededError';

/**
 * @returns a function that releases it; null while another thread has it. Without Web Locks, other
 * threads aren't kept out.
 */
async function takeWebLock(name: string): Promise<(() => void) | null> {
  const { locks } = (globalThis as { navigator?: { locks?: LockManager } }).navigator ?? {};
  if (!locks) return () => {};
  return new Promise((resolve, reject) => {
    const held = locks.request(name, { ifAvailable: true }, (lock) => {
      if (!lock) return resolve(null);
      return new Promise<void>((release) => resolve(() => release()));
    });
    held.catch(reject);
  });
}
