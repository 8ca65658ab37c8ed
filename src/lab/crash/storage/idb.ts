/**
 * IndexedDB in memory, as far as VFSs use it. A database's transactions run one after the other in
 * creation order, which is stricter than the specification (readers may overlap). Each request is
 * answered in a separate task, and a transaction is active only in that task, so a VFS gets the
 * same TransactionInactiveError as in a browser. Completed transactions are logged.
 */
import { changed, NO_DATABASE, rowsIn, type Database } from './disk.ts';
import type { Change, KeyPath } from './calls.ts';
import { compareKeys, KeyRange, type ValidKey } from './idb-keys.ts';
import type { LiveStorage } from './live-storage.ts';
import { nextTask } from './next-task.ts';

type Query = KeyRange | ValidKey | null | undefined;
type Handler = ((event: Event) => unknown) | null;

/** An EventTarget whose `on<type>` properties hear its events. */
abstract class Emitter extends EventTarget {
  constructor(types: readonly string[]) {
    super();
    for (const type of types)
      this.addEventListener(type, (event) =>
        (this as unknown as Record<string, Handler>)[`on${type}`]?.(event),
      );
  }
}

export class EmulatedRequest<T = unknown> extends Emitter {
  onsuccess: Handler = null;
  onerror: Handler = null;
  onupgradeneeded: Handler = null;
  result: T | undefined = undefined;
  error: Error | null = null;
  readyState: 'pending' | 'done' = 'pending';
  constructor(public transaction: EmulatedTransaction | null) {
    super(['success', 'error', 'upgradeneeded']);
  }
}

interface Job {
  readonly request: EmulatedRequest;
  readonly run: () => unknown;
}

class EmulatedTransaction extends Emitter {
  oncomplete: Handler = null;
  onabort: Handler = null;
  onerror: Handler = null;
  error: Error | null = null;
  /** Accepts requests. */
  private active = true;
  private finished = false;
  private committing = false;
  private readonly jobs: Job[] = [];
  private readonly changes: Change[] = [];
  /** The database with this transaction's changes; null until it starts. */
  private state: Database | null = null;

  constructor(
    readonly db: EmulatedDatabase,
    readonly objectStoreNames: readonly string[],
    readonly mode: IDBTransactionMode,
    readonly durability: IDBTransactionDurability,
    private readonly done: () => void,
  ) {
    super(['complete', 'abort', 'error']);
    nextTask(() => void (this.active = false));
  }

  objectStore(name: string): EmulatedStore {
    if (this.finished) throw new DOMException('the transaction is over', 'InvalidStateError');
    if (!this.objectStoreNames.includes(name))
      throw new DOMException(`there is no store ${name}`, 'NotFoundError');
    return new EmulatedStore(name, this);
  }

  /** No more requests will follow. */
  commit(): void {
    this.committing = true;
  }
  abort(): void {
    this.end('abort');
  }

  /** It can start. */
  begin(): void {
    this.state = this.db.stored();
    nextTask(() => this.step());
  }

  request<T>(run: () => T, request = new EmulatedRequest<T>(this)): EmulatedRequest<T> {
    if (this.finished || !this.active || this.committing)
      throw new DOMException('the transaction is not active', 'TransactionInactiveError');
    request.readyState = 'pending';
    this.jobs.push({ request, run });
    return request;
  }

  now(): Database {
    return this.state ?? NO_DATABASE;
  }
  change(change: Change): void {
    this.changes.push(change);
    this.state = changed(this.now(), change);
  }

  /** Accepts requests in the task that runs `work`. */
  private whileActive(work: () => void): void {
    this.active = true;
    work();
    nextTask(() => {
      this.active = false;
      this.step();
    });
  }

  private step(): void {
    if (this.finished) return;
    const job = this.jobs.shift();
    if (!job) return this.end('complete');
    const { request, run } = job;
    try {
      request.result = run();
    } catch (error) {
      request.error = error instanceof Error ? error : new Error(String(error));
    }
    request.readyState = 'done';
    this.whileActive(() => {
      request.dispatchEvent(new Event(request.error ? 'error' : 'success'));
      if (request.error) this.abort();
    });
  }

  private end(how: 'complete' | 'abort'): void {
    if (this.finished) return;
    this.finished = true;
    this.active = false;
    if (how === 'complete' && this.changes.length)
      this.db.storage.make({
        kind: 'commit',
        database: this.db.name,
        durability: this.durability === 'strict' ? 'strict' : 'relaxed',
        changes: this.changes,
      });
    this.dispatchEvent(new Event(how));
    this.done();
  }
}

class EmulatedStore {
  constructor(
    readonly name: string,
    readonly transaction: EmulatedTransaction,
  ) {}
  get keyPath(): KeyPath {
    return this.transaction.now().stores.get(this.name)?.keyPath ?? null;
  }

  get(query: Query): EmulatedRequest {
    return this.transaction.request(() => structuredClone(this.rows(query)[0]?.value));
  }
  getAll(query?: Query, count = Infinity): EmulatedRequest {
    return this.transaction.request(() =>
      this.rows(query)
        .slice(0, count)
        .map(({ value }) => structuredClone(value)),
    );
  }
  getAllKeys(query?: Query, count = Infinity): EmulatedRequest {
    return this.transaction.request(() =>
      this.rows(query)
        .slice(0, count)
        .map(({ key }) => key),
    );
  }
  count(query?: Query): EmulatedRequest {
    return this.transaction.request(() => this.rows(query).length);
  }
  put(value: unknown, key?: ValidKey): EmulatedRequest {
    this.checkWritable();
    const stored: unknown = structuredClone(value);
    return this.transaction.request(() => {
      const at = key ?? keyOf(stored, this.keyPath);
      this.transaction.change({ op: 'put', store: this.name, key: at, value: stored });
      return at;
    });
  }
  delete(query: Query): EmulatedRequest {
    this.checkWritable();
    const range = KeyRange.of(query);
    return this.transaction.request(() =>
      this.transaction.change({ op: 'delete', store: this.name, range }),
    );
  }
  clear(): EmulatedRequest {
    return this.delete(null);
  }
  openCursor(query?: Query, direction: IDBCursorDirection = 'next'): EmulatedRequest {
    const request = new EmulatedRequest<Cursor | null>(this.transaction);
    const back = direction.startsWith('prev');
    const find = (beyond: ValidKey | null): Cursor | null => {
      const all = this.rows(query);
      const row = (back ? [...all].reverse() : all).find(
        ({ key }) => beyond === null || compareKeys(key, beyond) * (back ? -1 : 1) > 0,
      );
      if (!row) return null;
      const { key } = row;
      return {
        key,
        primaryKey: key,
        value: structuredClone(row.value),
        delete: () => this.delete(KeyRange.only(key)),
        update: (value) => this.put(value, this.keyPath === null ? key : undefined),
        continue: () => void this.transaction.request(() => find(key), request),
      };
    };
    return this.transaction.request(() => find(null), request);
  }
  createIndex(): void {} // an index changes nothing that is stored in the rows
  deleteIndex(): void {}

  private rows(query: Query) {
    return rowsIn(this.transaction.now(), this.name, KeyRange.of(query));
  }
  private checkWritable(): void {
    if (this.transaction.mode === 'readonly')
      throw new DOMException('the transaction is read-only', 'ReadOnlyError');
  }
}

interface Cursor {
  readonly key: ValidKey;
  readonly primaryKey: ValidKey;
  readonly value: unknown;
  delete(): EmulatedRequest;
  update(value: unknown): EmulatedRequest;
  continue(): void;
}

function keyOf(value: unknown, keyPath: KeyPath): ValidKey {
  const part = (name: string): ValidKey => (value as Record<string, ValidKey>)[name]!;
  if (keyPath === null) throw new DOMException('a key is missing', 'DataError');
  return typeof keyPath === 'string' ? part(keyPath) : keyPath.map(part);
}

class EmulatedDatabase extends EventTarget {
  private readonly waiting: EmulatedTransaction[] = [];
  private running = false;
  constructor(
    readonly name: string,
    readonly storage: LiveStorage,
  ) {
    super();
  }
  stored(): Database {
    return this.storage.disk.databases.get(this.name) ?? NO_DATABASE;
  }
  get version(): number {
    return this.stored().version;
  }
  get objectStoreNames(): readonly string[] {
    return [...(this.upgrade?.now() ?? this.stored()).stores.keys()].sort();
  }
  /** While the database is being created or upgraded. */
  private upgrade: EmulatedTransaction | null = null;

  createObjectStore(name: string, options?: { keyPath?: KeyPath }): EmulatedStore {
    if (!this.upgrade) throw new DOMException('no upgrade is running', 'InvalidStateError');
    this.upgrade.change({ op: 'create-store', store: name, keyPath: options?.keyPath ?? null });
    return new EmulatedStore(name, this.upgrade);
  }

  transaction(
    stores: string | readonly string[],
    mode: IDBTransactionMode = 'readonly',
    options?: { durability?: IDBTransactionDurability },
  ): EmulatedTransaction {
    const names = typeof stores === 'string' ? [stores] : [...stores];
    return this.enqueue(names, mode, options?.durability ?? 'default');
  }

  /** @returns after `change` has made its changes and they are stored */
  upgradeTo(version: number, change: (transaction: EmulatedTransaction) => void): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const transaction = this.enqueue([], 'versionchange', 'strict');
      const everyStore = { get: () => [...transaction.now().stores.keys()] };
      Object.defineProperty(transaction, 'objectStoreNames', everyStore);
      this.upgrade = transaction;
      transaction.oncomplete = () => resolve();
      transaction.onabort = () => reject(new DOMException('the upgrade failed', 'AbortError'));
      transaction.change({ op: 'version', version });
      change(transaction);
    }).then(() => void (this.upgrade = null));
  }
  close(): void {}

  private enqueue(
    names: readonly string[],
    mode: IDBTransactionMode,
    durability: IDBTransactionDurability,
  ): EmulatedTransaction {
    const transaction: EmulatedTransaction = new EmulatedTransaction(
      this,
      names,
      mode,
      durability,
      () => {
        this.running = false;
        this.next();
      },
    );
    this.waiting.push(transaction);
    this.next();
    return transaction;
  }
  private next(): void {
    if (this.running) return;
    const transaction = this.waiting.shift();
    if (!transaction) return;
    this.running = true;
    transaction.begin();
  }
}

/** Replaces `indexedDB` for VFSs. */
export class EmulatedFactory {
  private readonly byName = new Map<string, EmulatedDatabase>();
  constructor(private readonly storage: LiveStorage) {}

  open(name: string, version?: number): EmulatedRequest<EmulatedDatabase> {
    const request = new EmulatedRequest<EmulatedDatabase>(null);
    const database = this.byName.get(name) ?? new EmulatedDatabase(name, this.storage);
    this.byName.set(name, database);
    const finish = (): void => {
      request.result = database;
      request.transaction = null;
      request.readyState = 'done';
      request.dispatchEvent(new Event('success'));
    };
    nextTask(() => {
      const old = database.version;
      const wanted = version ?? Math.max(1, old);
      if (wanted <= old) return finish();
      const upgraded = database.upgradeTo(wanted, (transaction) => {
        request.result = database;
        request.transaction = transaction;
        request.dispatchEvent(
          Object.assign(new Event('upgradeneeded'), { oldVersion: old, newVersion: wanted }),
        );
      });
      void upgraded.then(finish, (error: unknown) => {
        request.error = error instanceof Error ? error : new Error(String(error));
        request.dispatchEvent(new Event('error'));
      });
    });
    return request;
  }
  databases(): Promise<{ name: string; version: number }[]> {
    return Promise.resolve(
      [...this.storage.disk.databases].map(([name, { version }]) => ({ name, version })),
    );
  }
  cmp(a: ValidKey, b: ValidKey): number {
    return Math.sign(compareKeys(a, b));
  }
}
