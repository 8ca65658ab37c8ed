/**
 * A fake page to record: two workers that run invented transactions through the real recorder, over
 * real ports, with their own clock. Their actions are counted, so that tests can compare them with
 * what the viewer shows.
 */
import { drainRecords } from '../../src/record/drain.ts';
import { Op } from '../../src/event/event.ts';
import type { PageStorage } from '../../src/protocol/page-storage.ts';
import { Recorder, type NewDefinition } from '../../src/record/recorder.ts';
import {
  PROTOCOL_VERSION,
  isThreadCommand,
  type ThreadMessage,
} from '../../src/protocol/messages.ts';
import type { RecorderControl, RecordingStatus } from '../../src/viewer/ui/host.ts';

const PAGE = 4096;
const SHARED = 1;
const RESERVED = 2;
const EXCLUSIVE = 4;

/** One worker: a recorder, its port, and invented SQLite calls on its own clock. */
export class SyntheticThread {
  readonly recorder: Recorder;
  readonly done = { events: 0, reads: 0, writes: 0, syncs: 0, commits: 0 };
  acknowledged = 0;
  readonly port: MessagePort;
  private readonly channel = new MessageChannel();
  /** ms, as performance.now() */
  private clock = performance.now();
  private readonly database: number;
  private readonly journal: number;
  private readonly store: number;
  private readonly statements: number[];
  private sent = 0;
  private pages = 0;

  constructor(
    readonly id: string,
    name: string,
    private readonly onStop: () => void,
  ) {
    this.recorder = new Recorder({ now: () => this.clock, capacity: 65536 });
    this.port = this.channel.port2;
    this.channel.port1.onmessage = (event: MessageEvent<unknown>) => {
      if (!isThreadCommand(event.data)) throw new TypeError('a thread is sent commands only');
      if (event.data.k === 'ack') this.acknowledged = event.data.records;
      else {
        this.flush();
        this.post({ k: 'bye', thread: id, reason: 'stopped' });
        this.onStop();
      }
    };
    const identity = {
      id,
      kind: 'worker' as const,
      url: 'https://app.example/assets/db-worker.js',
      name,
      parent: null,
    };
    this.post({
      k: 'hello',
      protocol: PROTOCOL_VERSION,
      thread: identity,
      timeOrigin: performance.timeOrigin,
    });
    const define = (definition: NewDefinition): number => this.recorder.define(definition);
    const engine = define({
      ...{
        kind: 'engine',
        name: 'wa-sqlite',
        sqliteVersion: '3.53.0',
        sourceId: null,
        suspension: 'asyncify',
        note: null,
      },
      layers: { vfs: true, sql: true, counters: false },
    });
    this.database = define({
      kind: 'file',
      path: '/app.db',
      fileKind: 'main-db',
      vfs: 'idb-batch-atomic',
      engine,
      flags: 0x106,
    });
    this.journal = define({
      kind: 'file',
      path: '/app.db-journal',
      fileKind: 'journal',
      vfs: 'idb-batch-atomic',
      engine,
      flags: 0x806,
    });
    this.store = define({ kind: 'idb-store', db: 'app', store: 'blocks' });
    this.statements = [
      'insert into notes(title, body) values (?, ?)',
      'select id, title from notes where body match ? order by rank limit 20',
    ].map((text) => define({ kind: 'sql', text }));
    this.recorder.emit({
      kind: 'cost',
      id: 0,
      nsPerJsEvent: 300,
      nsPerVfsEvent: 120,
      nsPerClockPair: 80,
    });
  }

  post(message: ThreadMessage, transfer: Transferable[] = []): void {
    this.channel.port1.postMessage(message, transfer);
  }

  /** Send the ring's contents. */
  flush(): void {
    const drained = drainRecords(this.recorder.memory.buffer);
    const definitions = this.recorder.takeDefinitions();
    if (!drained && !definitions.length) return;
    const { first, count, records } = drained ?? {
      first: this.sent,
      count: 0,
      records: new ArrayBuffer(0),
    };
    this.sent += count;
    const { dropped, faults } = this.recorder;
    this.post({
      k: 'batch',
      batch: {
        thread: this.id,
        first,
        count,
        timeOrigin: performance.timeOrigin,
        dropped,
        faults,
        definitions,
        records,
      },
    });
  }

  private call(
    op: number,
    object: number,
    offset: number,
    length: number,
    us: number,
    inside?: () => void,
    aux = 0,
  ): void {
    const { recorder } = this;
    const token = recorder.begin(op, object, offset, length, aux);
    const outer = recorder.enter(token, 0);
    this.clock += us / 1000;
    inside?.();
    recorder.leave(outer, 0);
    recorder.end(token, 0);
    this.done.events++;
  }

  private read(page: number): void {
    this.done.reads++;
    this.call(Op.xRead, this.database, page * PAGE, PAGE, 12, () =>
      this.call(Op.idbGet, this.store, page, PAGE, 180),
    );
  }
  private write(file: number, page: number): void {
    this.done.writes++;
    this.call(Op.xWrite, file, page * PAGE, PAGE, 14, () =>
      this.call(Op.idbPut, this.store, page, PAGE, 90),
    );
  }
  private sync(file: number): void {
    this.done.syncs++;
    this.call(
      Op.xSync,
      file,
      NaN,
      0,
      20,
      () => this.call(Op.idbCommit, this.store, NaN, 0, 1400),
      2,
    );
  }

  /** An insert in a separate transaction, rollback journal in mode DELETE. */
  insert(): void {
    const page = 2 + (this.pages++ % 300);
    this.call(Op.sqlStep, this.statements[0]!, NaN, 0, 60, () => {
      this.call(Op.xLock, this.database, NaN, 0, 5, undefined, SHARED);
      this.read(page);
      this.call(Op.xLock, this.database, NaN, 0, 5, undefined, RESERVED);
      this.call(Op.xOpen, this.journal, NaN, 0, 30, undefined, 0x806);
      this.write(this.journal, 0);
      this.sync(this.journal);
      this.call(Op.xLock, this.database, NaN, 0, 5, undefined, EXCLUSIVE);
      this.write(this.database, page);
      this.sync(this.database);
      this.call(Op.xClose, this.journal, NaN, 0, 5);
      this.call(Op.xDelete, this.journal, NaN, 0, 240);
      this.call(Op.xUnlock, this.database, NaN, 0, 5, undefined, 0);
    });
    this.done.commits++;
    this.clock += 0.8;
  }

  /** A search: CPU first, then reads. */
  search(reads: number): void {
    this.call(Op.sqlStep, this.statements[1]!, NaN, 0, 4000, () => {
      this.call(Op.xLock, this.database, NaN, 0, 5, undefined, SHARED);
      for (let i = 0; i < reads; i++) {
        this.read((i * 37) % 300);
        this.clock += 0.15;
      }
      this.call(Op.xUnlock, this.database, NaN, 0, 5, undefined, 0);
    });
    this.clock += 3;
  }
}

/** The page: its threads start and end with each recording. */
export class SyntheticApp {
  threads: SyntheticThread[] = [];
  private readonly listeners = new Set<(status: RecordingStatus) => void>();
  private readonly portListeners = new Set<(port: MessagePort) => void>();
  private status: RecordingStatus = {
    recording: false,
    busy: false,
    origin: 'https://app.example',
    error: null,
  };
  private recordings = 0;

  get recording(): boolean {
    return this.status.recording;
  }
  private set(change: Partial<RecordingStatus>): void {
    this.status = { ...this.status, ...change };
    for (const listener of this.listeners) listener(this.status);
  }

  /** What the page stores; a test may change it. */
  stores: PageStorage = {
    origin: 'https://app.example',
    crossOriginIsolated: false,
    databases: [{ name: 'fieldnotes.db', version: 1, stores: null }],
    moreDatabases: false,
    indexedDbBytes: 57_344,
    files: [],
    moreFiles: false,
    folders: [],
    kvvfs: [],
    wasm: [],
    scripts: [],
    failures: [],
  };
  /** Databases that it stores, by name; a test puts them here. */
  readonly files = new Map<string, Blob>();
  /** Another page, as the host reports it: whether vfscope can access it. */
  navigate(granted: 'all' | 'none', origin = 'https://app.example'): void {
    this.set({ access: { origin, granted, frames: [], afterReload: [] } });
  }

  /** This many tabs still use a SharedWorker that started during the recording. */
  holdTabs(count: number): void {
    this.set({ tabs: { state: 'held', count, titles: [] } });
  }

  readonly recorder: RecorderControl = {
    devtools: null,
    lookAtPage: () => Promise.resolve(this.stores),
    databases: {
      list: () =>
        Promise.resolve({
          origin: this.stores.origin,
          databases: [...this.files].map(([name, { size }]) => ({
            ...{ store: 'opfs' as const, name, at: `/${name}`, size, cause: '' },
          })),
          failures: [],
        }),
      copy: ({ name }) => Promise.resolve({ main: this.files.get(name)!, wal: null }),
    },
    start: () => {
      this.recordings++;
      this.threads = ['main', 'search'].map(
        (name) => new SyntheticThread(`${name}-${this.recordings}`, name, () => undefined),
      );
      for (const thread of this.threads) this.handOver(thread.port);
      this.set({ recording: true });
      return Promise.resolve();
    },
    stop: () => {
      this.set({ recording: false });
      return Promise.resolve();
    },
    subscribe: (listener) => {
      this.listeners.add(listener);
      listener(this.status);
      return () => this.listeners.delete(listener);
    },
    onPort: (listener) => {
      this.portListeners.add(listener);
      return () => this.portListeners.delete(listener);
    },
  };

  /** Give the viewer a port, as a page does; it may be malicious. */
  handOver(port: MessagePort): void {
    for (const listener of this.portListeners) listener(port);
  }

  /** Transactions on the first thread, a search on the second. */
  work(transactions: number): void {
    for (let i = 0; i < transactions; i++) this.threads[0]!.insert();
    this.threads[1]!.search(transactions);
    for (const thread of this.threads) thread.flush();
  }

  /** Totals of all threads. */
  get done(): SyntheticThread['done'] {
    const sum = { events: 0, reads: 0, writes: 0, syncs: 0, commits: 0 };
    for (const { done } of this.threads)
      for (const key of Object.keys(sum) as (keyof typeof sum)[]) sum[key] += done[key];
    return sum;
  }
}
