/**
 * OPFS in memory, as far as VFSs with synchronous access handles use it. Writes are visible at
 * once, as in browsers. The log decides later what survives a crash.
 */
import type { LiveStorage } from './live-storage.ts';

const fail = (name: string, message: string): never => {
  throw new DOMException(message, name);
};
const join = (folder: string, name: string): string => (folder ? `${folder}/${name}` : name);

/**
 * Files with an access handle. Two handles exclude each other, except in `readwrite-unsafe` mode.
 */
type Open = Map<string, { readonly mode: string; count: number }>;

export class EmulatedHandle {
  constructor(
    readonly kind: 'file' | 'directory',
    readonly path: string,
  ) {}
  get name(): string {
    return this.path.slice(this.path.lastIndexOf('/') + 1);
  }
  isSameEntry(other: EmulatedHandle): Promise<boolean> {
    return Promise.resolve(other.path === this.path && other.kind === this.kind);
  }
}

export class EmulatedFolder extends EmulatedHandle {
  constructor(
    path: string,
    private readonly storage: LiveStorage,
    private readonly open: Open = new Map(),
  ) {
    super('directory', path);
  }

  async getDirectoryHandle(name: string, options?: { create?: boolean }): Promise<EmulatedFolder> {
    await Promise.resolve();
    const path = join(this.path, name);
    const { folders } = this.storage.disk;
    if (!folders.has(path)) {
      if (!options?.create) fail('NotFoundError', `there is no folder ${path}`);
      this.storage.make({ kind: 'create-folder', file: path });
    }
    return new EmulatedFolder(path, this.storage, this.open);
  }

  async getFileHandle(name: string, options?: { create?: boolean }): Promise<EmulatedFile> {
    await Promise.resolve();
    const path = join(this.path, name);
    if (!this.storage.disk.files.has(path)) {
      if (!options?.create) fail('NotFoundError', `there is no file ${path}`);
      this.storage.make({ kind: 'create-file', file: path });
    }
    return new EmulatedFile(path, this.storage, this.open);
  }

  async removeEntry(name: string, _options?: { recursive?: boolean }): Promise<void> {
    await Promise.resolve();
    const path = join(this.path, name);
    const { files, folders } = this.storage.disk;
    if (!files.has(path) && !folders.has(path)) fail('NotFoundError', `there is no ${path}`);
    if (this.open.has(path)) fail('NoModificationAllowedError', `${path} is open`);
    this.storage.make({ kind: 'remove', file: path });
  }

  async resolve(handle: EmulatedHandle): Promise<string[] | null> {
    await Promise.resolve();
    if (this.path === handle.path) return [];
    const inside = this.path ? `${this.path}/` : '';
    return handle.path.startsWith(inside) ? handle.path.slice(inside.length).split('/') : null;
  }

  async *entries(): AsyncGenerator<[string, EmulatedHandle]> {
    const { files, folders } = this.storage.disk;
    const inside = this.path ? `${this.path}/` : '';
    const mine = (path: string): boolean =>
      path.startsWith(inside) && !path.slice(inside.length).includes('/');
    const found = [
      ...[...folders].filter(mine).map((p) => new EmulatedFolder(p, this.storage, this.open)),
      ...[...files.keys()].filter(mine).map((p) => new EmulatedFile(p, this.storage, this.open)),
    ];
    for (const handle of found.sort((a, b) => (a.name < b.name ? -1 : 1)))
      yield await Promise.resolve([handle.name, handle] as [string, EmulatedHandle]);
  }
  async *keys(): AsyncGenerator<string> {
    for await (const [name] of this.entries()) yield name;
  }
  async *values(): AsyncGenerator<EmulatedHandle> {
    for await (const [, handle] of this.entries()) yield handle;
  }
  [Symbol.asyncIterator](): AsyncGenerator<[string, EmulatedHandle]> {
    return this.entries();
  }
}

export class EmulatedFile extends EmulatedHandle {
  constructor(
    path: string,
    private readonly storage: LiveStorage,
    private readonly open: Open,
  ) {
    super('file', path);
  }

  getFile(): Promise<Blob> {
    return Promise.resolve(new Blob([this.storage.disk.bytesOf(this.path).slice()]));
  }

  async createSyncAccessHandle(options?: { mode?: string }): Promise<EmulatedAccessHandle> {
    await Promise.resolve();
    const mode = options?.mode ?? 'readwrite';
    const now = this.open.get(this.path);
    if (now && (now.mode !== mode || mode === 'readwrite'))
      fail('NoModificationAllowedError', `${this.path} has an access handle already`);
    if (now) now.count++;
    else this.open.set(this.path, { mode, count: 1 });
    return new EmulatedAccessHandle(this.path, mode, this.storage, () => {
      const opened = this.open.get(this.path);
      if (opened && --opened.count === 0) this.open.delete(this.path);
    });
  }
}

interface At {
  readonly at?: number;
}
export class EmulatedAccessHandle {
  private cursor = 0;
  private closed = false;
  constructor(
    private readonly path: string,
    readonly mode: string,
    private readonly storage: LiveStorage,
    private readonly release: () => void,
  ) {}

  read(into: ArrayBufferView, options?: At): number {
    this.check();
    const at = options?.at ?? this.cursor;
    const out = new Uint8Array(into.buffer, into.byteOffset, into.byteLength);
    const bytes = this.storage.disk.bytesOf(this.path).subarray(at, at + out.length);
    out.set(bytes);
    this.cursor = at + bytes.length;
    return bytes.length;
  }

  write(from: ArrayBufferView, options?: At): number {
    this.check();
    const at = options?.at ?? this.cursor;
    const bytes = new Uint8Array(from.buffer, from.byteOffset, from.byteLength).slice();
    this.storage.make({ kind: 'write', file: this.path, at, bytes });
    this.cursor = at + bytes.length;
    return bytes.length;
  }

  truncate(size: number): void {
    this.check();
    this.storage.make({ kind: 'truncate', file: this.path, size });
    this.cursor = Math.min(this.cursor, size);
  }

  flush(): void {
    this.check();
    this.storage.make({ kind: 'flush', file: this.path });
  }

  getSize(): number {
    this.check();
    return this.storage.disk.bytesOf(this.path).length;
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.release();
  }

  private check(): void {
    if (this.closed) fail('InvalidStateError', 'the access handle is closed');
  }
}
