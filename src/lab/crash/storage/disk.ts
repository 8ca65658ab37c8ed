/**
 * An origin's storage: the files of OPFS and the databases of IndexedDB. Values are never changed
 * in place, so a copy is cheap.
 */
import { compareKeys, type KeyRange, type ValidKey } from './idb-keys.ts';
import type { Call, Change, KeyPath } from './calls.ts';

interface Row {
  readonly key: ValidKey;
  readonly value: unknown;
}
interface Store {
  readonly keyPath: KeyPath;
  /** In the order of their keys. */
  readonly rows: readonly Row[];
}
export interface Database {
  readonly version: number;
  readonly stores: ReadonlyMap<string, Store>;
}
const NO_BYTES = new Uint8Array();
export const NO_DATABASE: Database = { version: 0, stores: new Map() };

export class Disk {
  readonly files = new Map<string, Uint8Array>();
  readonly folders = new Set<string>();
  readonly databases = new Map<string, Database>();

  copy(): Disk {
    const copy = new Disk();
    for (const [path, bytes] of this.files) copy.files.set(path, bytes);
    for (const path of this.folders) copy.folders.add(path);
    for (const [name, database] of this.databases) copy.databases.set(name, database);
    return copy;
  }

  /** The bytes of a file; empty where it doesn't exist. Don't change them. */
  bytesOf(file: string): Uint8Array {
    return this.files.get(file) ?? NO_BYTES;
  }

  apply(call: Call): void {
    switch (call.kind) {
      case 'write':
        this.files.set(call.file, written(this.bytesOf(call.file), call.at, call.bytes));
        break;
      case 'truncate': {
        const sized = new Uint8Array(call.size);
        sized.set(this.bytesOf(call.file).subarray(0, call.size));
        this.files.set(call.file, sized);
        break;
      }
      case 'flush':
        break;
      case 'create-file':
        this.files.set(call.file, NO_BYTES);
        break;
      case 'create-folder':
        this.folders.add(call.file);
        break;
      case 'remove': {
        const inside = `${call.file}/`;
        for (const path of [...this.files.keys()])
          if (path === call.file || path.startsWith(inside)) this.files.delete(path);
        for (const path of [...this.folders])
          if (path === call.file || path.startsWith(inside)) this.folders.delete(path);
        break;
      }
      case 'commit':
        this.databases.set(
          call.database,
          call.changes.reduce(changed, this.databases.get(call.database) ?? NO_DATABASE),
        );
    }
  }
}

function written(old: Uint8Array, at: number, bytes: Uint8Array): Uint8Array {
  const next = new Uint8Array(Math.max(old.length, at + bytes.length));
  next.set(old);
  next.set(bytes, at);
  return next;
}

/** The database after one more change. */
export function changed(database: Database, change: Change): Database {
  if (change.op === 'version') return { ...database, version: change.version };
  const old = database.stores.get(change.store);
  const next =
    change.op === 'create-store'
      ? { keyPath: change.keyPath, rows: [] }
      : { keyPath: old?.keyPath ?? null, rows: rowsAfter(old?.rows ?? [], change) };
  return { ...database, stores: new Map(database.stores).set(change.store, next) };
}

function rowsAfter(
  rows: readonly Row[],
  change: Extract<Change, { op: 'put' | 'delete' }>,
): readonly Row[] {
  if (change.op === 'delete') return rows.filter(({ key }) => !change.range.includes(key));
  const at = rows.findIndex(({ key }) => compareKeys(key, change.key) >= 0);
  const row = { key: change.key, value: change.value };
  if (at < 0) return [...rows, row];
  const same = compareKeys(rows[at]!.key, change.key) === 0;
  return [...rows.slice(0, at), row, ...rows.slice(same ? at + 1 : at)];
}

/** The rows of a store whose keys are in the range, in their order. */
export const rowsIn = (database: Database, store: string, range: KeyRange): readonly Row[] =>
  (database.stores.get(store)?.rows ?? []).filter(({ key }) => range.includes(key));
