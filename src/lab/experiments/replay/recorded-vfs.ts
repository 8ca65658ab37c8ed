/**
 * Detects which of the Lab's VFSs made a recording. First by certain facts: its SQLite build, and
 * the files and stores that only one VFS lays out this way. Else it guesses, by the app's name for
 * its VFS or by the storage calls. The reason is reported either way.
 */
import { plainPath } from '../../../event/file-names.ts';
import type { Summary } from '../../../analysis/report/summary.ts';
import { knownWeb, type WebCounts } from '../../../analysis/files/web-counts.ts';
import { Op } from '../../../event/event.ts';
import type { ThreadStore, TraceStore } from '../../../trace/store.ts';
import { VFS_NAMES, type VfsName } from '../model/types.ts';
import { ownEngineOf } from '../model/vfs-facts.ts';
import { vfsCallsOf } from './calls.ts';

export interface RecordedVfs {
  /** null: not one of the Lab's. */
  readonly vfs: VfsName | null;
  /** false: a guess. */
  readonly certain: boolean;
  /** The reason, as the end of a sentence. */
  readonly why: string;
  /** Where `vfs` is null: the VFS that stores most similarly; absent = not known. */
  readonly nearest?: VfsName;
}

const known = (vfs: VfsName | null, why: string): RecordedVfs => ({ vfs, certain: true, why });
const guess = (vfs: VfsName | null, why: string): RecordedVfs => ({ vfs, certain: false, why });
const nearest = (vfs: VfsName, of: RecordedVfs): RecordedVfs => ({ ...of, nearest: vfs });
const MOST_CHARACTERS = 60;
const quoted = (name: string): string =>
  `“${name.length > MOST_CHARACTERS ? `${name.slice(0, MOST_CHARACTERS)}…` : name}”`;

/** The storage below the VFS, by name. */
interface Layout {
  /** Paths of OPFS files, without a leading slash. */
  readonly opfs: readonly string[];
  /** Names of the object stores, by IndexedDB database. */
  readonly stores: readonly ReadonlySet<string>[];
  /** Last path parts of databases, journals, and WALs, as SQLite opened them. */
  readonly opened: ReadonlySet<string>;
}
interface LayoutOf {
  readonly vfs: VfsName;
  readonly why: string;
  readonly is: (at: Layout) => boolean;
}
const byStores = (vfs: VfsName, a: string, b: string): LayoutOf => ({
  vfs,
  why: `IndexedDB stores “${a}” and “${b}” are its own`,
  is: ({ stores }) => stores.some((has) => has.has(a) && has.has(b)),
});
const LAYOUTS: readonly LayoutOf[] = [
  {
    vfs: 'OPFSCoopSync',
    why: 'temporary files in an OPFS folder “.ahp-…” are its own',
    is: ({ opfs }) => opfs.some((path) => /(?:^|\/)\.ahp-[^/]*(?:\/|$)/.test(path)),
  },
  {
    vfs: 'OPFSWriteAhead',
    why: 'logs “-wa0” and “-wa1” beside a database in OPFS are its own',
    is: ({ opfs, opened }) =>
      opfs.some((path) => /-wa[01]$/.test(path) && opened.has(lastPart(path).slice(0, -4))),
  },
  byStores('OPFSPermuted', 'pages', 'pending'),
  byStores('IDBMirror', 'blocks', 'tx'),
  byStores('IDBBatchAtomic', 'blocks', 'metadata'),
  byStores('BlockIDB', 'blocks', 'files'),
  {
    vfs: 'AccessHandlePool',
    why: "OPFS files with random names, none with a database's, are its pool",
    is: ({ opfs, opened }) =>
      opfs.some((path) => /\/[0-9a-z]{8,13}$/.test(path)) &&
      !opfs.some((path) => opened.has(lastPart(path).replace(/-wa[01]$/, ''))),
  },
];
const lastPart = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** VFSs that apps name after their class, such as `IDBBatchAtomicVFS`. */
const NAMED = VFS_NAMES.filter((vfs) => vfs !== 'memory' && !ownEngineOf(vfs));

/** @param summary of the same store */
export function recordedVfs(
  store: TraceStore,
  summary: Pick<Summary, 'web' | 'engines' | 'threads'>,
): RecordedVfs {
  const using = store.threads.filter((thread) => vfsCallsOf(thread) > 0);
  const ids = new Set(using.map(({ info }) => info.id));
  const engines = summary.engines.filter(({ thread }) => ids.has(thread));
  const names = [...new Set(engines.flatMap(({ vfs }) => vfs))];
  const byBuild = ofBuild(new Set(engines.map(({ name }) => name)), names);
  if (byBuild) return byBuild;
  // the layout of a known library build is known, too; for an unknown build, such files aren't
  // proof
  const isWaSqlite = engines.some(({ name }) => /(?:^|\/)wa-sqlite$/.test(name));
  const at = layoutOf(using);
  const laid = LAYOUTS.filter(({ is }) => is(at));
  if (laid.length === 1) return (isWaSqlite ? known : guess)(laid[0]!.vfs, laid[0]!.why);
  if (laid.length > 1)
    return nearest(
      laid[0]!.vfs,
      guess(null, `its storage has the layout of ${laid.map(({ vfs }) => vfs).join(' and ')}`),
    );
  for (const name of names) {
    const named = NAMED.find((vfs) => name.toLowerCase().includes(vfs.toLowerCase()));
    if (named) return guess(named, `the app calls its VFS ${quoted(name)}`);
  }
  const web = knownWeb(summary.web);
  if (!web || !summary.threads.some(({ layers }) => layers.includes('web')))
    return guess(null, 'its storage calls were not recorded');
  return byCalls(web, using);
}

/** Builds that contain VFSs, whose names are fixed. */
function ofBuild(builds: ReadonlySet<string>, names: readonly string[]): RecordedVfs | null {
  if (builds.has('absurd-sql'))
    return known('absurd-sql', 'it was recorded on absurd-sql, which has its own VFS');
  if (builds.has('sql.js')) return guess('MemoryVFS', 'sql.js keeps its files in memory, too');
  if (!builds.has('@sqlite.org/sqlite-wasm')) return null;
  const own = VFS_NAMES.find((vfs) => ownEngineOf(vfs) !== undefined && names.includes(vfs));
  if (own) return known(own, `its build names it ${quoted(own)}`);
  const kvvfs = names.find((name) => /^(?:kvvfs|.*-kvvfs)$/.test(name));
  if (kvvfs !== undefined)
    return nearest('MemoryVFS', known(null, `it was made on sqlite.org's VFS ${quoted(kvvfs)}`));
  return null;
}

function layoutOf(threads: readonly ThreadStore[]): Layout {
  const opfs: string[] = [];
  const stores = new Map<string, Set<string>>();
  const opened = new Set<string>();
  for (const d of threads.flatMap(({ definitions }) => [...definitions.values()])) {
    if (d.kind === 'opfs-file') opfs.push(plainPath(d.path));
    else if (d.kind === 'file') opened.add(lastPart(d.path));
    else if (d.kind === 'idb-store') {
      const known = stores.get(d.db);
      if (known) known.add(d.store);
      else stores.set(d.db, new Set([d.store]));
    }
  }
  opened.delete('');
  return { opfs, stores: [...stores.values()], opened };
}

/** Calls that only asynchronous VFSs on OPFS make, through File objects and writable streams. */
const STREAMS: ReadonlySet<number> = new Set([Op.opfsFileRead, Op.opfsStreamWrite]);

function byCalls(web: WebCounts<number>, threads: readonly ThreadStore[]): RecordedVfs {
  const opfs = web.opfs.reads + web.opfs.writes;
  const idb = web.idb.get + web.idb.put + web.idb.cursor + web.idb.getAll;
  if (opfs && idb)
    return nearest('OPFSPermuted', guess(null, 'it has calls of OPFS and of IndexedDB'));
  if (opfs) {
    const streams = threads.some(({ events }) =>
      events.op.subarray(0, events.count).some((op) => STREAMS.has(op)),
    );
    if (streams)
      return guess('OPFSAnyContext', 'it reads and writes OPFS by File objects and streams');
    if (
      threads.some(({ engines }) =>
        engines.some(({ suspension }) => suspension === 'asyncify' || suspension === 'jspi'),
      )
    )
      return guess('OPFSAdaptive', 'it has access handles of OPFS under an asynchronous build');
    return guess('OPFSCoopSync', 'it has access handles of OPFS under a synchronous build');
  }
  if (idb) return guess('IDBBatchAtomic', 'its storage calls are those of IndexedDB');
  if (web.localStorage.get + web.localStorage.set)
    return nearest('MemoryVFS', guess(null, 'it keeps its pages in localStorage'));
  return guess('MemoryVFS', 'it made no storage call');
}
