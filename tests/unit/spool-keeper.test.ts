// The disk copy of a recording on a disk that is none: what stays of it when there is no room, and what is offered again.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { TraceStore } from '../../src/trace/store.ts';
import { idleSpools } from '../../src/viewer/worker/spool.ts';
import { SpoolKeeper } from '../../src/viewer/worker/spool-keeper.ts';
import { syntheticStore } from '../traces/synthetic.ts';

/** As much of the origin's private file system and of Web Locks as spools need. */
class Disk {
  readonly files = new Map<string, Uint8Array>();
  readonly locks = new Set<string>();
  /** Names of all that there ever were. */
  readonly made = new Set<string>();
  /** Bytes of all files together. */
  room = Infinity;
  /** What a listing brings, that began earlier. */
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
        return { size: bytes.length, lastModified: 1 };
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
  };
  private async *entries(): AsyncGenerator<[string, object]> {
    for (const name of this.listed ?? [...this.files.keys()]) yield [name, this.file(name)];
  }
  readonly navigator = {
    storage: { getDirectory: async () => ({ getDirectoryHandle: async () => this.folder }) },
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

let disk: Disk;
beforeEach(() => vi.stubGlobal('navigator', (disk = new Disk()).navigator));
afterEach(() => vi.unstubAllGlobals());

describe('the copy of a recording', () => {
  const problems: string[] = [];
  const MANY = 200_000;
  async function kept(store: TraceStore): Promise<{ spool: SpoolKeeper; name: string; bytes: number }> {
    problems.length = 0;
    const spool = new SpoolKeeper((text) => problems.push(text), 1);
    spool.begin(
      store,
      'k',
      () => 'https://app.example',
      () => [],
    );
    let bytes = -1;
    await vi.waitFor(() => {
      const before = bytes;
      bytes = disk.used;
      expect(bytes > 0 && bytes === before).toBe(true);
    });
    return { spool, name: [...disk.files.keys()][0]!, bytes };
  }
  const forgetMost = (store: TraceStore): void => store.threads[0]!.forget(store.threads[0]!.events.count - 5000);

  it('is written anew once most of it is forgotten', async () => {
    const store = syntheticStore({ events: MANY, threads: 1 });
    const { spool, name, bytes } = await kept(store);
    forgetMost(store);
    await vi.waitFor(() => expect([...disk.files.keys()].includes(name)).toBe(false));
    expect(disk.files.size).toBe(1);
    expect(disk.used).toBeLessThan(bytes / 5);
    await spool.finish();
    await spool.drop();
    expect([disk.files.size, disk.locks.size, problems]).toEqual([0, 0, []]);
  });

  it('stays as it is when there is no room for a second one', async () => {
    const store = syntheticStore({ events: MANY, threads: 1 });
    const { spool, name, bytes } = await kept(store);
    disk.room = bytes + 200; // for a header, not for the events
    forgetMost(store);
    await vi.waitFor(() => expect([disk.made.size, disk.files.size, disk.locks.size]).toEqual([2, 1, 1])); // the second one came and went
    await spool.finish();
    expect([...disk.files.keys()]).toEqual([name]);
    expect(disk.used).toBeGreaterThanOrEqual(bytes);
    await spool.drop();
    expect([disk.files.size, disk.locks.size]).toEqual([0, 0]);
  });

  it('that cannot grow any further is kept until the recording is saved, then deleted', async () => {
    const store = syntheticStore({ events: 20_000, threads: 1 });
    const { spool, name, bytes } = await kept(store);
    disk.room = bytes + 10;
    store.threads[0]!.define({ kind: 'name', id: 9999, text: 'one more word' });
    await vi.waitFor(() => expect(problems).toEqual([expect.stringContaining('its copy on disk stopped')]));
    expect(await idleSpools()).toEqual([]); // in use: nobody else is offered it
    await spool.finish();
    expect([[...disk.files.keys()], problems.length]).toEqual([[name], 1]);
    await spool.drop();
    expect([disk.files.size, disk.locks.size]).toEqual([0, 0]);
  });
});

describe('recordings that are offered again', () => {
  const name = 'k~0~https%3A%2F%2Fapp.example.vfst';
  it('are those that nobody uses; one that is gone or just begun elsewhere hides none of the others', async () => {
    disk.files.set(name, new Uint8Array(100));
    disk.files.set('empty.vfst', new Uint8Array());
    disk.files.set('begun.vfst', new Uint8Array());
    disk.listed = ['gone.vfst', 'begun.vfst', name, 'empty.vfst'];
    const query = disk.navigator.locks.query;
    disk.navigator.locks.query = async () => {
      const held = await query();
      disk.locks.add('vfscope spool begun.vfst'); // another panel begins right after it was asked
      return held;
    };
    expect(await idleSpools()).toEqual([{ name, savedAt: 1, bytes: 100, origin: 'https://app.example' }]);
    expect([...disk.files.keys()].sort()).toEqual(['begun.vfst', name]);
  });
});
