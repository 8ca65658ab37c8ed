// An in-memory disk for recordings' copies: the parts of the origin private file system and Web
// Locks that copies need.

export class Disk {
  readonly files = new Map<string, Uint8Array>();
  /** Names of the recordings that were saved. */
  readonly marks = new Set<string>();
  /** Names of the journals' files. */
  readonly journals = new Set<string>();
  readonly locks = new Set<string>();
  /** Names of all files ever created. */
  readonly made = new Set<string>();
  /** Maximum total bytes of all files. */
  room = Infinity;
  /** The origin's quota, bytes. */
  quota = Infinity;
  /** A file listing that began earlier, so it may be outdated. */
  listed: string[] | null = null;

  get used(): number {
    return [...this.files.values()].reduce((sum, bytes) => sum + bytes.length, 0);
  }
  private resize(name: string, size: number): Uint8Array {
    const grown = new Uint8Array(size);
    grown.set((this.files.get(name) ?? new Uint8Array()).subarray(0, size));
    this.files.set(name, grown);
    return grown;
  }
  private file(name: string): object {
    return {
      kind: 'file',
      getFile: async () => {
        const bytes = this.files.get(name);
        if (!bytes) throw new DOMException('gone', 'NotFoundError');
        return Object.assign(new Blob([bytes as BlobPart]), { lastModified: 1 });
      },
      createSyncAccessHandle: async () => ({
        truncate: (size: number) => void this.resize(name, size),
        write: (bytes: Uint8Array, { at }: { at: number }) => {
          const fits = Math.max(0, Math.min(bytes.length, this.room - this.used));
          const now = this.files.get(name)!;
          this.resize(name, Math.max(now.length, at + fits)).set(bytes.subarray(0, fits), at);
          return fits;
        },
        flush: () => {},
        close: () => {},
      }),
    };
  }
  private readonly folder = {
    getFileHandle: async (name: string) => {
      this.made.add(name);
      if (!this.files.has(name)) this.files.set(name, new Uint8Array());
      return this.file(name);
    },
    removeEntry: async (name: string) => {
      if (!this.files.delete(name)) throw new DOMException('gone', 'NotFoundError');
    },
    entries: () => this.entries(),
    keys: () => [...this.files.keys()].values(),
  };
  private readonly journalFolder = {
    keys: () => [...this.journals].values(),
    removeEntry: async (name: string) => void this.journals.delete(name),
  };
  private readonly markFolder = {
    getFileHandle: async (name: string, { create = false } = {}) => {
      if (create) this.marks.add(name);
      if (!this.marks.has(name)) throw new DOMException('gone', 'NotFoundError');
      return { getFile: async () => ({ lastModified: 2 }) };
    },
    removeEntry: async (name: string) => {
      if (!this.marks.delete(name)) throw new DOMException('gone', 'NotFoundError');
    },
  };
  private async *entries(): AsyncGenerator<[string, object]> {
    for (const name of this.listed ?? [...this.files.keys()]) yield [name, this.file(name)];
  }
  readonly navigator = {
    storage: {
      estimate: async () => ({ quota: this.quota }),
      getDirectory: async () => ({
        getDirectoryHandle: async (name: string) =>
          name === 'spool'
            ? this.folder
            : name === 'journal'
              ? this.journalFolder
              : this.markFolder,
      }),
    },
    locks: {
      query: async () => ({ held: [...this.locks].map((name) => ({ name })) }),
      request: async (name: string, _: object, use: (lock: object | null) => unknown) => {
        if (this.locks.has(name)) return use(null);
        this.locks.add(name);
        try {
          return await use({ name });
        } finally {
          this.locks.delete(name);
        }
      },
    },
  };
}
