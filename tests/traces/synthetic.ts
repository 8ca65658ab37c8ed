// A large trace from a seed, for benchmarks and size goals: threads that run point reads with a
// zipf distribution, scans, write transactions into a WAL, syncs, and checkpoints, with log-normal
// durations and a configurable clock step.
import type { Batch } from '../../src/event/batch.ts';
import { Field, Op, RECORD_BYTES } from '../../src/event/event.ts';
import type { Definition } from '../../src/event/definitions.ts';
import { TraceStore, type ThreadInfo } from '../../src/trace/store.ts';

interface SyntheticOptions {
  events?: number;
  threads?: number;
  /** Microseconds; 0 = nanoseconds with full entropy. */
  clockStepUs?: number;
  seed?: number;
  /** Records of a batch. */
  batch?: number;
}

/** mulberry32: the same numbers everywhere. */
function random(seed: number): () => number {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const PAGE = 4096;
const PAGES = 20_000;
const ORIGIN = 1_700_000_000_000;

/** One thread: fills records of the ring's own format. */
class Generator {
  readonly info: ThreadInfo;
  readonly definitions: Definition[];
  private view = new DataView(new ArrayBuffer(0));
  private used = 0;
  private seq = 0;
  private ns = 0;
  private frames = 0;
  private statement = 0;
  private sql = 0;
  private readonly rnd: () => number;

  constructor(
    index: number,
    seed: number,
    private readonly stepUs: number,
  ) {
    this.rnd = random(seed * 1000 + index);
    this.info = { id: `thread-${index}`, kind: 'worker', url: 'https://app.example/db-worker.js', name: `db ${index}`, parent: null, timeOrigin: ORIGIN };
    const file = { kind: 'file' as const, vfs: 'synthetic', engine: 0, flags: 0 };
    this.definitions = [
      { ...file, id: 1, path: '/app.db', fileKind: 'main-db' },
      { ...file, id: 2, path: '/app.db-wal', fileKind: 'wal' },
      ...['SELECT * FROM item WHERE id=?', 'SELECT count(*) FROM item', 'INSERT INTO item VALUES(?,?,?)', 'UPDATE item SET n=? WHERE id=?'].map(
        (text, i): Definition => ({ kind: 'sql', id: 3 + i, text }),
      ),
    ];
  }

  private now(): number {
    const step = this.stepUs * 1000 || 1;
    return (Math.floor(this.ns / step) * step) / 1e6;
  }
  private work(medianUs: number): void {
    const gauss = Math.sqrt(-2 * Math.log(1 - this.rnd())) * Math.cos(2 * Math.PI * this.rnd());
    this.ns += Math.round(1000 * medianUs * Math.exp(0.6 * gauss));
  }
  private begin(op: number, fields: { object: number; offset?: number; length?: number; aux?: number; parent?: number }): number {
    const at = this.used++ * RECORD_BYTES;
    const { view } = this;
    view.setFloat64(at + Field.t0, this.now(), true);
    view.setUint32(at + Field.seq, ++this.seq, true);
    view.setUint32(at + Field.op, op, true);
    view.setFloat64(at + Field.offset, fields.offset ?? NaN, true);
    view.setUint32(at + Field.length, fields.length ?? 0, true);
    view.setUint32(at + Field.object, fields.object, true);
    view.setUint32(at + Field.parent, fields.parent ?? this.sql, true);
    view.setUint32(at + Field.context, 1, true);
    view.setUint32(at + Field.aux, fields.aux ?? 0, true);
    return at;
  }
  private end(at: number, result = 0): void {
    this.view.setFloat64(at + Field.t1, this.now(), true);
    this.view.setUint32(at + Field.endSeq, ++this.seq, true);
    this.view.setInt32(at + Field.result, result, true);
  }
  private vfs(op: number, object: number, medianUs: number, offset = NaN, length = 0, aux = 0, aux2 = 0): void {
    this.work(1);
    const at = this.begin(op, { object, offset, length, aux });
    this.view.setUint32(at + Field.aux2, aux2, true);
    this.work(medianUs);
    this.end(at);
  }
  private read(page: number): void {
    this.vfs(Op.xRead, 1, 5, page * PAGE, PAGE, 0, page % 50 ? (page % 7 ? 13 : 10) : 5);
  }

  private run(text: number, inside: () => void): void {
    this.work(20);
    const aux = ++this.statement;
    const prepare = this.begin(Op.sqlPrepare, { object: text, aux, parent: 0 });
    this.work(15);
    this.end(prepare);
    const step = this.begin(Op.sqlStep, { object: text, aux, parent: 0 });
    this.sql = this.seq;
    this.work(5);
    inside();
    this.work(5);
    this.sql = 0;
    this.end(step, 101);
    const finalize = this.begin(Op.sqlFinalize, { object: text, aux, parent: 0 });
    this.end(finalize);
  }

  private next(): void {
    const kind = this.rnd();
    if (kind < 0.55)
      this.run(3, () => {
        this.vfs(Op.xLock, 1, 2, NaN, 0, 1);
        this.vfs(Op.xRead, 1, 4, 24, 16);
        const reads = 4 + Math.floor(this.rnd() * 16);
        for (let i = 0; i < reads; i++) this.read(Math.floor(PAGES ** this.rnd()));
        this.vfs(Op.xUnlock, 1, 2);
      });
    else if (kind < 0.65)
      this.run(4, () => {
        const first = Math.floor(this.rnd() * PAGES);
        const pages = 40 + Math.floor(this.rnd() * 120);
        this.vfs(Op.xLock, 1, 2, NaN, 0, 1);
        for (let i = 0; i < pages; i++) this.read(first + i);
        this.vfs(Op.xUnlock, 1, 2);
      });
    else
      this.run(kind < 0.85 ? 5 : 6, () => {
        const writes = 1 + Math.floor(this.rnd() * 5);
        for (let i = 0; i < 3; i++) this.read(Math.floor(PAGES ** this.rnd()));
        for (let i = 0; i < writes; i++) {
          const at = 32 + this.frames++ * (24 + PAGE);
          this.vfs(Op.xWrite, 2, 4, at, 24, 1 + Math.floor(PAGES ** this.rnd()), i === writes - 1 ? PAGES : 0);
          this.vfs(Op.xWrite, 2, 7, at + 24, PAGE);
        }
        this.vfs(Op.xSync, 2, 60, NaN, 0, 2);
        this.vfs(Op.xFileControl, 1, 1, NaN, 0, 22);
        if (this.frames >= 900) this.checkpoint();
      });
  }
  private checkpoint(): void {
    const pages = Array.from({ length: this.frames }, () => Math.floor(PAGES ** this.rnd())).sort((a, b) => a - b);
    for (const page of pages) {
      this.vfs(Op.xRead, 2, 5, 56 + Math.floor(this.rnd() * 900) * (24 + PAGE), PAGE);
      this.vfs(Op.xWrite, 1, 7, page * PAGE, PAGE);
    }
    this.vfs(Op.xSync, 1, 80, NaN, 0, 2);
    this.frames = 0;
  }

  /** At least `records` records, in whole statements. */
  batch(first: number, records: number): Batch {
    const buffer = new ArrayBuffer((records + 4096) * RECORD_BYTES);
    this.view = new DataView(buffer);
    this.used = 0;
    while (this.used < records) this.next();
    const definitions = first === 0 ? this.definitions : [];
    const bytes = buffer.slice(0, this.used * RECORD_BYTES);
    return { thread: this.info.id, first, count: this.used, timeOrigin: ORIGIN, dropped: 0, faults: 0, definitions, records: bytes };
  }
}

/** The batches of a recording, from each thread in turn, with each thread's definitions. */
export function* syntheticBatches(options: SyntheticOptions = {}): globalThis.Generator<{ info: ThreadInfo; batch: Batch }> {
  const { events = 1_000_000, threads = 4, clockStepUs = 0, seed = 1, batch = 16384 } = options;
  const generators = Array.from({ length: threads }, (_, i) => new Generator(i, seed, clockStepUs));
  const sent = generators.map(() => 0);
  for (let total = 0, turn = 0; total < events; turn = (turn + 1) % threads) {
    const generator = generators[turn]!;
    const next = generator.batch(sent[turn]!, Math.min(batch, Math.ceil((events - total) / (threads - turn))));
    sent[turn]! += next.count;
    total += next.count;
    yield { info: generator.info, batch: next };
  }
}

export function syntheticStore(options: SyntheticOptions = {}): TraceStore {
  const store = new TraceStore(ORIGIN);
  for (const { info, batch } of syntheticBatches(options)) store.thread(info).append(batch);
  return store;
}
