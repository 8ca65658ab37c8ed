/**
 * Makes wa-sqlite's VFSs that need a browser, and our block VFS, for an experiment's configuration.
 * Each declares its requirements: a missing one is an error message, not a hang.
 */
import {
  BlockIdbVfs,
  type WaSqliteModule,
} from '../../../vfs-instrumented/block-idb/block-idb-vfs.ts';
import type { EngineModule } from '../engine/builds.ts';
import type { OpenVfs, VfsMaker } from '../engine/open-host.ts';
import { withLateChannels } from './late-channel.ts';
import { needsAsync, ownEngineOf } from '../model/vfs-facts.ts';
import type { Config, VfsName } from '../model/types.ts';
import { sqliteOrgVfs } from './sqlite-org-vfs.ts';
import { LAB } from './storage.ts';

interface VfsObject extends Record<string, unknown> {
  close?(): unknown;
  lastError?: unknown;
}
export interface Made extends OpenVfs {
  readonly close: () => Promise<void>;
}
interface VfsClass {
  new (name: string, module?: object): object;
  create?(name: string, module: object, options?: object): Promise<object>;
}
type MakeVfs = (config: Config, module: EngineModule) => Promise<Made>;
type Modules = () => Promise<unknown>;

interface Kind {
  /** It posts to channels after closing them (late-channel.ts). */
  readonly postsLate?: true;
  readonly needs: 'indexeddb' | 'opfs';
  readonly modules: Partial<Record<Config['engine'], Modules>>;
}

const two = (modules: Modules): Kind['modules'] => ({ 'wa-sqlite-2.0.6': modules });
const KINDS: Partial<Record<VfsName, Kind>> = {
  AccessHandlePool: {
    needs: 'opfs',
    modules: {
      'wa-sqlite-2.0.6': () => import('@journeyapps/wa-sqlite/src/examples/AccessHandlePoolVFS.js'),
      'wa-sqlite-1.0.0': () => import('wa-sqlite/src/examples/AccessHandlePoolVFS.js'),
    },
  },
  OPFSCoopSync: {
    needs: 'opfs',
    modules: two(() => import('@journeyapps/wa-sqlite/src/examples/OPFSCoopSyncVFS.js')),
  },
  OPFSWriteAhead: {
    needs: 'opfs',
    modules: two(() => import('@journeyapps/wa-sqlite/src/examples/OPFSWriteAheadVFS.js')),
  },
  OPFSAdaptive: {
    needs: 'opfs',
    modules: two(() => import('@journeyapps/wa-sqlite/src/examples/OPFSAdaptiveVFS.js')),
  },
  OPFSAnyContext: {
    needs: 'opfs',
    modules: two(() => import('@journeyapps/wa-sqlite/src/examples/OPFSAnyContextVFS.js')),
  },
  OPFSPermuted: {
    postsLate: true,
    needs: 'opfs',
    modules: two(() => import('@journeyapps/wa-sqlite/src/examples/OPFSPermutedVFS.js')),
  },
  IDBBatchAtomic: {
    needs: 'indexeddb',
    modules: {
      'wa-sqlite-2.0.6': () => import('@journeyapps/wa-sqlite/src/examples/IDBBatchAtomicVFS.js'),
      'wa-sqlite-1.0.0': () => import('wa-sqlite/src/examples/IDBBatchAtomicVFS.js'),
    },
  },
  IDBMirror: {
    postsLate: true,
    needs: 'indexeddb',
    modules: two(() => import('@journeyapps/wa-sqlite/src/examples/IDBMirrorVFS.js')),
  },
};

/** Makes VFSs and closes them. */
export class VfsMakers {
  private made: Made | null = null;
  /** The VFS of the current run, for its `lastError`. */
  current: VfsObject | null = null;

  /**
   * @param absurdSql not used by the crash test in Node, whose command would otherwise contain a
   * whole engine
   */
  constructor(private readonly absurdSql?: MakeVfs) {}

  readonly make: VfsMaker = async (config, module) => {
    this.current = null;
    const made =
      this.absurdSql && config.vfs === 'absurd-sql'
        ? await this.absurdSql(config, module)
        : await makeVfs(config, module);
    this.made = made;
    this.current = (made?.vfs as VfsObject | undefined) ?? null;
    return made;
  };

  async close(): Promise<void> {
    const { made } = this;
    this.made = null;
    await made?.close();
  }

  /**
   * The VFS's text about its last failure, '' = none. SQLite itself only reports "disk I/O error".
   */
  lastError(): string {
    const error = this.current?.lastError;
    return error instanceof Error ? [error.name, error.message].filter(Boolean).join(': ') : '';
  }
}

async function makeVfs(config: Config, module: EngineModule): Promise<Made | null> {
  const { vfs, engine, build } = config;
  if (needsAsync(vfs) && build === 'sync')
    throw new Error(`${vfs} is asynchronous: it needs an asyncify or jspi build.`);
  if (ownEngineOf(vfs)) {
    requireApi('opfs', vfs);
    return sqliteOrgVfs(config, module);
  }
  if (vfs === 'BlockIDB') return blockIdb(config, module);
  const kind = KINDS[vfs];
  if (!kind) return null; // in memory: made where everyone makes them
  requireApi(kind.needs, vfs);
  // any other build takes what the newest one does
  const modules = kind.modules[engine] ?? kind.modules['wa-sqlite-2.0.6']!;
  const Vfs = ((await modules()) as Record<string, VfsClass>)[`${vfs}VFS`]!;
  const made = (Vfs.create ? await Vfs.create(LAB, module) : new Vfs(LAB)) as VfsObject;
  if (!Vfs.create) {
    await made.isReady; // 1.0: a promise
    if (made.name === undefined) made.name = LAB;
  }
  // channels are made when files are opened
  const restore = kind.postsLate ? withLateChannels() : (): void => {};
  return {
    vfs: made,
    async close() {
      try {
        await made.close?.();
      } finally {
        restore();
      }
    },
  };
}

async function blockIdb(config: Config, module: EngineModule): Promise<Made> {
  requireApi('indexeddb', 'BlockIDB');
  const { blockSize, writePolicy, cacheBlocks, durability } = config;
  const vfs = await BlockIdbVfs.create(LAB, module as WaSqliteModule, {
    ...(blockSize === null ? {} : { blockSize }),
    ...(writePolicy === null ? {} : { writePolicy }),
    ...(cacheBlocks === null ? {} : { cacheBlocks }),
    ...(durability === null ? {} : { durability }),
  });
  return {
    vfs: vfs as unknown as Record<string, unknown>,
    counters: () =>
      Object.fromEntries(Object.entries(vfs.stats).map(([name, n]) => [`block.${name}`, n])),
    dropBlockCache: () => vfs.dropCaches(),
    close: async () => vfs.close(),
  };
}

/** @throws naming the missing feature and where it is available */
function requireApi(needs: Kind['needs'], vfs: string): void {
  if (needs === 'indexeddb' && typeof indexedDB === 'undefined')
    throw new Error(`${vfs} needs IndexedDB, which this place does not have.`);
  if (needs === 'opfs' && typeof navigator.storage?.getDirectory !== 'function')
    throw new Error(
      `${vfs} needs OPFS (navigator.storage.getDirectory), which this browser or this window does not have.`,
    );
}
