/**
 * Blocks in IndexedDB: the store `blocks` by [path, index], and in `files` the size of each file. A
 * transaction is used for as long as it lives. If a transaction fails, the writes that it had
 * accepted are lost, and every later call fails (`failure`).
 */
import { Flag, Op } from '../../event/event.ts';
import { NOTHING, type Recorder, type Token } from '../../record/recorder.ts';
import type { BlockStats, Resolved } from './options.ts';

export interface FileMeta {
  /** Bytes. */
  size: number;
  blockSize: number;
}

/** Storage of blocks; tests use another one. Requests run in the order in which they were made. */
export interface BlockStorage {
  /** null = doesn't exist: zeros. */
  get(path: string, index: number): Promise<Uint8Array | null>;
  /**
   * Settles once the block is accepted. `commit` makes it durable. The bytes are copied before it
   * returns.
   */
  put(path: string, index: number, data: Uint8Array): Promise<void>;
  /** Deletes all blocks from this one on. */
  deleteFrom(path: string, index: number): Promise<void>;
  readMeta(path: string): Promise<FileMeta | null>;
  /** null deletes it. */
  writeMeta(path: string, meta: FileMeta | null): Promise<void>;
  /** Settles once all previous writes are committed. */
  commit(): Promise<void>;
  close(): void;
}

interface Live {
  readonly transaction: IDBTransaction;
  readonly finished: Promise<void>;
  readonly id: number;
  over: boolean;
}
const DURABILITY = { default: 0, strict: 1, relaxed: 2 } as const;

export const settled = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('an IndexedDB request failed'));
  });

/**
 * @param name of the IndexedDB database
 * @throws errors of IndexedDB: private windows, a full disk
 */
export async function openStorage(
  name: string,
  options: Resolved,
  stats: BlockStats,
): Promise<IdbStorage> {
  const { recorder } = options;
  const token =
    recorder?.begin(Op.idbOpen, recorder.define({ kind: 'idb-database', db: name }), NaN, 0) ??
    NOTHING;
  const request = indexedDB.open(name, 1);
  request.onupgradeneeded = () => {
    request.result.createObjectStore('blocks');
    request.result.createObjectStore('files');
  };
  try {
    const db = await settled(request);
    recorder?.end(token, 0, Flag.async);
    return new IdbStorage(db, options, stats);
  } catch (error) {
    recorder?.end(token, 1, Flag.async);
    throw error;
  }
}

class IdbStorage implements BlockStorage {
  private live: Live | null = null;
  /** For writing transactions whose end wasn't awaited. */
  private failure: unknown = null;
  private transactions = 0;
  private readonly recorder: Recorder | null;
  private readonly databaseId: number;
  private readonly storeIds: Record<string, number>;

  constructor(
    private readonly db: IDBDatabase,
    private readonly options: Resolved,
    private readonly stats: BlockStats,
  ) {
    const { recorder } = options;
    this.recorder = recorder;
    this.databaseId = recorder?.define({ kind: 'idb-database', db: db.name }) ?? 0;
    const store = (name: string): number =>
      recorder?.define({ kind: 'idb-store', db: db.name, store: name }) ?? 0;
    this.storeIds = { blocks: store('blocks'), files: store('files') };
  }

  async get(path: string, index: number): Promise<Uint8Array | null> {
    const found = await this.request(
      'readonly',
      Op.idbGet,
      'blocks',
      index,
      0,
      (store) => store.get([path, index]) as IDBRequest<unknown>,
    );
    return found instanceof ArrayBuffer ? new Uint8Array(found) : null;
  }

  async put(path: string, index: number, data: Uint8Array): Promise<void> {
    const bytes = data.slice().buffer;
    await this.request('readwrite', Op.idbPut, 'blocks', index, bytes.byteLength, (store) =>
      store.put(bytes, [path, index]),
    );
  }

  async deleteFrom(path: string, index: number): Promise<void> {
    const range = IDBKeyRange.bound([path, index], [path, Infinity]);
    await this.request('readwrite', Op.idbDelete, 'blocks', index, 0, (store) =>
      store.delete(range),
    );
  }

  async readMeta(path: string): Promise<FileMeta | null> {
    const found = await this.request(
      'readonly',
      Op.idbGet,
      'files',
      NaN,
      0,
      (store) => store.get(path) as IDBRequest<unknown>,
    );
    return (found as FileMeta | undefined) ?? null;
  }

  async writeMeta(path: string, meta: FileMeta | null): Promise<void> {
    if (meta)
      await this.request('readwrite', Op.idbPut, 'files', NaN, 16, (store) =>
        store.put(meta, path),
      );
    else
      await this.request('readwrite', Op.idbDelete, 'files', NaN, 0, (store) => store.delete(path));
  }

  async commit(): Promise<void> {
    await this.live?.finished;
    this.check();
  }

  close(): void {
    this.db.close();
  }

  private check(): void {
    if (this.failure !== null) throw this.failure;
  }

  private transaction(mode: 'readonly' | 'readwrite'): Live {
    this.check();
    const { live, recorder } = this;
    if (
      live &&
      !live.over &&
      (live.transaction.mode === mode || live.transaction.mode === 'readwrite')
    )
      return live;
    const token = recorder?.begin(Op.idbTransaction, this.databaseId, NaN, 0) ?? NOTHING;
    const transaction = this.db.transaction(['blocks', 'files'], mode, {
      durability: this.options.durability,
    });
    this.stats.tx++;
    const id = ++this.transactions;
    recorder?.amend(
      token,
      'aux',
      (mode === 'readwrite' ? 1 : 0) | (DURABILITY[this.options.durability] << 2),
    );
    recorder?.amend(token, 'context', id);
    const finished = new Promise<void>((resolve) => {
      transaction.oncomplete = () => {
        recorder?.end(token, 0, Flag.async);
        next.over = true;
        resolve();
      };
      transaction.onabort = () => {
        recorder?.end(token, 1, Flag.async);
        next.over = true;
        if (mode === 'readwrite')
          this.failure ??= transaction.error ?? new Error('IndexedDB took back a transaction');
        resolve();
      };
    });
    const next: Live = { transaction, finished, id, over: false };
    return (this.live = next);
  }

  /** One request. Uses a new transaction if the current one has just ended. */
  private async request<T>(
    mode: 'readonly' | 'readwrite',
    op: number,
    store: 'blocks' | 'files',
    key: number,
    length: number,
    make: (store: IDBObjectStore) => IDBRequest<T>,
  ): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      const live = this.transaction(mode);
      const { recorder } = this;
      let request: IDBRequest<T>;
      let token: Token = NOTHING;
      try {
        const objects = live.transaction.objectStore(store);
        token = recorder?.begin(op, this.storeIds[store]!, key, length, 0, live.id) ?? NOTHING;
        request = make(objects);
      } catch (error) {
        recorder?.end(token, 1, Flag.threw);
        const name = error instanceof DOMException ? error.name : '';
        if (attempt > 1 || (name !== 'TransactionInactiveError' && name !== 'InvalidStateError'))
          throw error;
        live.over = true;
        continue;
      }
      try {
        const answer = await settled(request);
        recorder?.end(token, 0, Flag.async, op === Op.idbGet ? bytesOf(answer) : undefined);
        return answer;
      } catch (error) {
        recorder?.end(token, 1, Flag.async);
        throw error;
      }
    }
  }
}

const bytesOf = (value: unknown): number =>
  value instanceof ArrayBuffer ? value.byteLength : value ? 16 : 0;
