/**
 * Which file definitions of a trace mean one file, and what its path is in this trace: everything that goes by a path then agrees.
 * `app.db` and `/app.db` are one, and so are the files that two tabs open by one VFS. The same path on another VFS is another file. A VFS's
 * name alone doesn't show that, for apps choose it: what the storage calls are on that its VFS calls make shows it, too.
 *
 *   thread     VFS    path   its VFS calls make         path here
 *   worker 1   demo   hello  idb.get demo/blocks   ->   demo (IndexedDB demo):/hello
 *   worker 2   demo   hello  opfs.read /hello      ->   demo (OPFS):/hello
 *   worker 3   demo   hello  opfs.read /hello      ->   demo (OPFS):/hello
 *   worker 4   unix   hello  nothing               ->   unix:/hello
 *
 * A path that one file has stays as it is. Nothing depends on which thread came first, so that a saved trace reads the same.
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

/** Definitions that are remembered: a page can make up any number. */
const MOST_REMEMBERED = 65_536;

/** How far the calls of a thread have been looked at. */
interface Watched {
  readonly thread: FileThread;
  /** By object id. */
  readonly users: Map<number, User>;
  /** Its users of which later calls may tell more. */
  open: number;
  readonly rows: RowCursor;
}
/** A database with its journal and WAL, on one VFS of one thread. */
interface User {
  readonly watched: Watched;
  readonly name: Named;
  readonly vfs: string;
  readonly engine: number;
  /** By id, as they were said. */
  readonly said: Map<number, FileDefinition>;
  /** What stores it, as far as its calls have shown. */
  readonly stores: Set<string>;
  wrote: boolean;
  /** Of the VFS that passes its calls on to this one (a shim): one file under two names. */
  outer: User | null;
  open: boolean;
  /** What its path begins with, to tell it from other files of the same path; '' = nothing. */
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

/** Of all threads of a trace. */
export class FileNames {
  /** Slashes that the names of a database's files begin with, by its name, for SQLite and for OPFS: as the first of them was spelled. */
  private readonly slashes = new Map<string, string>();
  private readonly names = new Map<string, Named>();
  private readonly threads = new Map<FileThread, Watched>();
  private remembered = 0;

  /** Give an id its file, by the path that it has in this trace. Paths of others may change with that. */
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

  /** Look at what a thread's new calls are on. Nothing is done where no path has two files. */
  follow(thread: FileThread): void {
    const watched = this.threads.get(thread);
    if (watched && watched.open > 0) for (const name of look(watched)) this.divide(name);
  }

  /** `app.db` is `/app.db` where another thread or connection said so before. */
  private spelled(kind: 'file' | 'opfs-file', path: string): string {
    const { slashes } = this;
    const [name, plain] = [`${kind}\0${databaseName(path)}`, plainPath(path)];
    const known = slashes.get(name);
    if (known !== undefined) return known + plain;
    if (slashes.size < MOST_REMEMBERED) slashes.set(name, path.slice(0, -plain.length));
    return path;
  }

  /** Find out which users of a name share a file, and give each file a path of its own. */
  private divide({ users }: Named): void {
    const { files, open } = filesOf([...users.values()]);
    for (const user of users.values()) {
      if (user.open !== open) user.watched.open += open ? 1 : -1;
      user.open = open;
    }
    const labels = labelsOf(files);
    for (const user of users.values()) this.call(user, labels.get(user) ?? '');
    if (!open) return;
    // what threads did before the name had a second user was not looked at
    for (const thread of new Set([...users.values()].map(({ watched }) => watched.thread)))
      this.follow(thread);
  }

  private call(user: User, label: string): void {
    const { thread, users } = user.watched;
    user.label = label;
    for (const [id, said] of user.said) {
      if (users.get(id) !== user || !thread.definitions.has(id)) continue; // defined again, or forgotten
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

/** @returns names of whose users the calls told something new */
function look(watched: Watched): Set<Named> {
  const { thread, users, rows } = watched;
  const { op, parent, object, count } = thread.events;
  const owners = ownersOf(thread);
  const told = new Set<Named>();
  rows.restarted(); // what is looked at again tells the same
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

/** Whose VFS call a call is made by, directly or through storage calls. */
function ownerOf({ thread: { events }, users }: Watched, owners: Owners, row: number): User | null {
  const above = events.parentRow(row);
  const call = above < 0 ? -1 : owners.vfs(above);
  return call < 0 ? null : (users.get(events.object[call]!) ?? null);
}

/** What a storage call of a VFS call is on; '' where it stores nothing. An anonymized trace keeps these apart, too. */
function storeOf({ name }: User, code: number, on: Definition | undefined): string {
  if (code === Op.atomicsWait) return 'another worker';
  switch (on?.kind) {
    case 'idb-store':
    case 'idb-database':
      return `IndexedDB ${on.db}`;
    case 'opfs-file': // a pool has names of its own
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

/** @param users of one name @returns `open`: later calls may show that two of the files are one, or that one is two */
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
    if (vfs === '') continue; // whose they are is not known
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

/** Files of one VFS's name: those stored in the same place are one. */
function byStorage(all: readonly SharedFile[]): SharedFile[] {
  let stored: SharedFile[] = [];
  for (const file of all) {
    if (file.stores.size === 0) continue;
    const same = stored.filter(({ stores }) => [...stores].some((store) => file.stores.has(store)));
    stored = [...stored.filter((other) => !same.includes(other)), united([...same, file])];
  }
  const silent = all.filter(({ stores }) => stores.size === 0);
  if (stored.length === 0) return [united(silent)];
  // where the storage of others was recorded, what was written without a call of storage is in memory
  const inMemory = silent.filter(({ wrote }) => wrote);
  const others = silent.filter(({ wrote }) => !wrote);
  if (stored.length === 1) stored = [united([...stored, ...others])];
  if (inMemory.length === 0) return stored;
  return [...stored, { ...united(inMemory), stores: new Set(['memory']) }];
}

/** What tells files of one name apart; nothing where there is one. */
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
