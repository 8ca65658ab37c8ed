/**
 * Finds out which file definitions of a trace mean the same file, and gives that file one path,
 * which everything uses. `app.db` and `/app.db` are one file, and so are the files that two tabs
 * open by one VFS. The same path on another VFS is another file. A VFS's name isn't enough to
 * distinguish them, because apps choose it. So the targets of the storage calls that its VFS calls
 * make count, too.
 *
 *   thread     VFS    path   its VFS calls make         path here
 *   worker 1   demo   hello  idb.get demo/blocks   ->   demo (IndexedDB demo):/hello
 *   worker 2   demo   hello  opfs.read /hello      ->   demo (OPFS):/hello
 *   worker 3   demo   hello  opfs.read /hello      ->   demo (OPFS):/hello
 *   worker 4   unix   hello  nothing               ->   unix:/hello
 *
 * A path that only one file has isn't changed. The result doesn't depend on which thread came
 * first, so that a saved trace has the same paths.
 */
import type { Definition } from '../event/definitions.ts';
import { Op } from '../event/event.ts';
import { databaseName, plainPath } from '../event/file-names.ts';
import { isVfsOp, isWebOp } from '../event/operations.ts';
import type { EventColumns } from './columns.ts';
import { ownersOf, type Owners } from './owners.ts';
import { RowCursor } from './row-cursor.ts';

type FileDefinition = Extract<Definition, { kind: 'file' }>;
/** Of a ThreadStore. */
interface FileThread {
  readonly index: number;
  readonly events: EventColumns;
  readonly definitions: Map<number, Definition>;
  readonly forgotten: number;
}

/** Maximum definitions that are remembered: a page can make up any number. */
const MOST_REMEMBERED = 65_536;

/** How far a thread's calls have been examined. */
interface Watched {
  readonly thread: FileThread;
  /** By object id. */
  readonly users: Map<number, User>;
  /** How many of its users later calls may reveal more about. */
  open: number;
  readonly rows: RowCursor;
}
/** A database with its journal and WAL, on one VFS of one thread. */
interface User {
  readonly watched: Watched;
  readonly name: Named;
  readonly vfs: string;
  readonly engine: number;
  /** The definitions as they arrived, by id. */
  readonly said: Map<number, FileDefinition>;
  /** What stores it, as far as its calls have shown. */
  readonly stores: Set<string>;
  wrote: boolean;
  /** The user on the VFS that passes its calls on to this one (a shim): one file with two names. */
  outer: User | null;
  open: boolean;
  /** Prefix of its path that distinguishes it from other files of the same path; '' = none. */
  label: string;
}
/** Users of one `databaseName`, by thread and VFS. */
interface Named {
  readonly name: string;
  readonly users: Map<string, User>;
}
/** Users that share a file. */
interface SharedFile {
  readonly vfs: string;
  readonly stores: ReadonlySet<string>;
  readonly wrote: boolean;
  readonly users: readonly User[];
}

/** The file names of all threads of a trace. */
export class FileNames {
  /**
   * Leading slashes in the names of a database's files, by its name, for SQLite and for OPFS: as in
   * the first definition.
   */
  private readonly slashes = new Map<string, string>();
  private readonly names = new Map<string, Named>();
  private readonly threads = new Map<FileThread, Watched>();
  private remembered = 0;

  /** Give an id its file, by the file's path in this trace. This may change the paths of others. */
  define(thread: FileThread, file: Extract<Definition, { path: string }>): void {
    thread.definitions.set(file.id, withPath(file, this.spelled(file.kind, file.path)));
    if (file.kind !== 'file' || file.fileKind === 'temp' || file.fileKind === 'memory-journal')
      return;
    if (this.remembered >= MOST_REMEMBERED) return;
    this.remembered++;
    const name = getOrMake(this.names, databaseName(file.path), newNamed);
    const watched = getOrMake(this.threads, thread, newWatched);
    const before = name.users.size;
    const key = `${thread.index}\0${file.vfs}`;
    const user = getOrMake(name.users, key, () => newUser(watched, name, file));
    user.said.set(file.id, file);
    watched.users.set(file.id, user);
    if (name.users.size > before && before > 0) this.divide(name);
    else if (user.label) this.call(user, user.label);
  }

  /** Examine the targets of a thread's new calls. Does nothing if each path has only one file. */
  follow(thread: FileThread): void {
    const watched = this.threads.get(thread);
    if (watched && watched.open > 0) for (const name of look(watched)) this.divide(name);
  }

  /** `app.db` is `/app.db` if another thread or connection used that before. */
  private spelled(kind: 'file' | 'opfs-file', path: string): string {
    const { slashes } = this;
    const [name, plain] = [`${kind}\0${databaseName(path)}`, plainPath(path)];
    const known = slashes.get(name);
    if (known !== undefined) return known + plain;
    if (slashes.size < MOST_REMEMBERED) slashes.set(name, path.slice(0, -plain.length));
    return path;
  }

  /** Find out which users of a name share a file, and give each file its own path. */
  private divide({ users }: Named): void {
    const { files, open } = filesOf([...users.values()]);
    for (const user of users.values()) {
      if (user.open !== open) user.watched.open += open ? 1 : -1;
      user.open = open;
    }
    const labels = labelsOf(files);
    for (const user of users.values()) this.call(user, labels.get(user) ?? '');
    if (!open) return;
    // calls from before the name had a second user were not examined
    for (const thread of new Set([...users.values()].map(({ watched }) => watched.thread)))
      this.follow(thread);
  }

  private call(user: User, label: string): void {
    const { thread, users } = user.watched;
    user.label = label;
    for (const [id, said] of user.said) {
      // defined again, or forgotten
      if (users.get(id) !== user || !thread.definitions.has(id)) continue;
      const path = label ? `${label}:/${plainPath(said.path)}` : this.spelled('file', said.path);
      thread.definitions.set(id, withPath(said, path));
    }
  }
}

const withPath = <T extends { path: string }>(definition: T, path: string): T =>
  path === definition.path ? definition : { ...definition, path };

const newNamed = (name: string): Named => ({ name, users: new Map() });
const newWatched = (thread: FileThread): Watched => ({
  thread,
  users: new Map(),
  open: 0,
  rows: new RowCursor(thread),
});
const newUser = (watched: Watched, name: Named, { vfs, engine }: FileDefinition): User => ({
  watched,
  name,
  vfs,
  engine,
  said: new Map(),
  stores: new Set(),
  wrote: false,
  outer: null,
  open: false,
  label: '',
});

function getOrMake<K, V>(map: Map<K, V>, key: K, make: (key: K) => V): V {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = make(key)));
  return value;
}

/** @returns names about whose users the calls revealed something new */
function look(watched: Watched): Set<Named> {
  const { thread, users, rows } = watched;
  const { op, parent, object, count } = thread.events;
  const owners = ownersOf(thread);
  const told = new Set<Named>();
  rows.restarted(); // examining calls again has the same result
  for (; rows.next < count; rows.next++) {
    const row = rows.next;
    const code = op[row]!;
    const isVfs = isVfsOp(code);
    if (parent[row] === 0 ? code !== Op.xWrite : !isVfs && !isWebOp(code)) continue;
    const owner = ownerOf(watched, owners, row);
    const user = isVfs ? users.get(object[row]!) : owner;
    if (!user) continue;
    if (!isVfs) {
      const store = storeOf(user, code, thread.definitions.get(object[row]!));
      if (store === '' || user.stores.has(store)) continue;
      user.stores.add(store);
      told.add(user.name);
      continue;
    }
    const shim = owner !== null && isShim(owner, user);
    const writes = code === Op.xWrite && !user.wrote;
    if (!shim && !writes) continue;
    if (shim) user.outer = owner;
    if (writes) user.wrote = true;
    told.add(user.name);
  }
  return told;
}

/** The user whose VFS call made a call, directly or through storage calls. */
function ownerOf({ thread: { events }, users }: Watched, owners: Owners, row: number): User | null {
  const above = events.parentRow(row);
  const call = above < 0 ? -1 : owners.vfs(above);
  return call < 0 ? null : (users.get(events.object[call]!) ?? null);
}

/**
 * The target of a VFS call's storage call; '' if it stores nothing. It distinguishes files in
 * anonymized traces, too.
 */
function storeOf({ name }: User, code: number, on: Definition | undefined): string {
  if (code === Op.atomicsWait) return 'another worker';
  switch (on?.kind) {
    case 'idb-store':
    case 'idb-database':
      return `IndexedDB ${on.db}`;
    case 'opfs-file': // a pool uses its own names
      return databaseName(on.path) === name.name ? 'OPFS' : 'OPFS pool';
    case 'storage-key':
      return 'localStorage';
    default:
      return '';
  }
}

function rootOf(user: User): User {
  let root = user;
  while (root.outer) root = root.outer;
  return root;
}
const isShim = (outer: User, inner: User): boolean =>
  outer.name === inner.name &&
  outer.vfs !== inner.vfs &&
  outer.engine === inner.engine &&
  inner.outer === null &&
  rootOf(outer) !== inner;

const united = (all: readonly SharedFile[]): SharedFile => ({
  vfs: all[0]!.vfs,
  stores: new Set(all.flatMap(({ stores }) => [...stores])),
  wrote: all.some(({ wrote }) => wrote),
  users: all.flatMap(({ users }) => users),
});

/**
 * @param users of one name
 * @returns `open`: later calls may show that two of the files are one, or that one is two
 */
function filesOf(users: readonly User[]): { files: SharedFile[]; open: boolean } {
  const byRoot = new Map<User, SharedFile>();
  for (const user of users) {
    const root = rootOf(user);
    const { stores, wrote } = user;
    const own = { vfs: root.vfs, stores, wrote, users: [user] };
    const before = byRoot.get(root);
    byRoot.set(root, before ? united([before, own]) : own);
  }
  const byVfs = new Map<string, SharedFile[]>();
  for (const file of byRoot.values()) getOrMake(byVfs, file.vfs, (): SharedFile[] => []).push(file);
  const files: SharedFile[] = [];
  let open = mayBeShims([...byRoot.keys()].filter(({ vfs }) => vfs !== ''));
  for (const [vfs, all] of byVfs) {
    if (vfs === '') continue; // it isn't known whose they are
    const divided = byStorage(all);
    files.push(...divided);
    open ||= all.length > 1 && (divided.length > 1 || all.some(({ stores }) => stores.size === 0));
  }
  const unknown = byVfs.get('') ?? [];
  if (files.length < 2 && unknown.length > 0)
    return { files: [united([...files, ...unknown])], open };
  return { files, open };
}

/** Two VFSs of one engine: one may pass its calls on to the other. */
const mayBeShims = (roots: readonly User[]): boolean =>
  new Set(roots.map(({ watched, engine }) => `${watched.thread.index} ${engine}`)).size <
  roots.length;

/** Files of one VFS's name. Those stored in the same place are one file. */
function byStorage(all: readonly SharedFile[]): SharedFile[] {
  let stored: SharedFile[] = [];
  for (const file of all) {
    if (file.stores.size === 0) continue;
    const same = stored.filter(({ stores }) => [...stores].some((store) => file.stores.has(store)));
    stored = [...stored.filter((other) => !same.includes(other)), united([...same, file])];
  }
  const silent = all.filter(({ stores }) => stores.size === 0);
  if (stored.length === 0) return [united(silent)];
  // if the storage calls of others were recorded, a file written without storage calls is in memory
  const inMemory = silent.filter(({ wrote }) => wrote);
  const others = silent.filter(({ wrote }) => !wrote);
  if (stored.length === 1) stored = [united([...stored, ...others])];
  if (inMemory.length === 0) return stored;
  return [...stored, { ...united(inMemory), stores: new Set(['memory']) }];
}

/** Labels that distinguish files of one name; none if there is only one. */
function labelsOf(files: readonly SharedFile[]): Map<User, string> {
  const labels = new Map<User, string>();
  if (files.length < 2) return labels;
  for (const { vfs, stores, users } of files) {
    const only = files.filter((other) => other.vfs === vfs).length === 1;
    const label = only ? vfs : `${vfs} (${[...stores].sort().join(', ')})`;
    for (const user of users) labels.set(user, label);
  }
  return labels;
}
