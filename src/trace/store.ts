/**
 * A loaded trace: per thread the columns of its events and the definitions that its ids mean. Grows batch by batch while
 * recording; filled chunk by chunk from a file. Analyses and views read it, nothing else writes it.
 */
import { isBTreeKind } from './b-tree-definitions.ts';
import { RecordReader, type Batch } from './batch.ts';
import { toTraceUs } from './clock.ts';
import { EventColumns } from './columns.ts';
import { OPS, Op } from './event.ts';
import type { Definition, EngineInfo, ThreadEnvironment, ThreadKind } from './definitions.ts';
import { noAnnotations, type Annotations } from './notes.ts';
import type { StorageDefinition } from './storage-health.ts';

/** Id of the one thread of a recording that an app keeps itself (vfscope/vfs): it began when the app said so, its engine loaded before. */
export const OWN_RECORDING = 'recording';

/** What a thread says of itself before its first batch. */
export interface ThreadInfo {
  id: string;
  kind: ThreadKind;
  url: string;
  name: string;
  parent: string | null;
  /** performance.timeOrigin, ms. */
  timeOrigin: number;
}

/** A late end of a row that had been delivered without one: views refresh what they derived from it. */
export interface LateEnds {
  thread: number;
  rows: number[];
}

/** Definitions that say something of the thread or of a file, not what an id in a row means. */
const LASTING: ReadonlySet<Definition['kind']> = new Set(['environment', 'cost', 'note', 'engine', 'storage', 'database-header']);
/** Of one thread: nobody reads more, and a page can say any number. */
const MOST_NOTES = 200;
const lasts = ({ kind }: Definition): boolean => LASTING.has(kind) || isBTreeKind(kind);

export class ThreadStore {
  readonly events = new EventColumns(1024, 'narrow');
  readonly definitions = new Map<number, Definition>();
  /** Every definition in the order in which they came: what a file repeats. */
  readonly said: Definition[] = [];
  /** Place of each in the order of all that were ever said. */
  private readonly saidAt: number[] = [];
  private saidInAll = 0;
  readonly engines: ({ id: number } & EngineInfo)[] = [];
  /** What the browser said of the origin's storage. */
  readonly storage: StorageDefinition[] = [];
  readonly notes: Extract<Definition, { kind: 'note' }>[] = [];
  environment: ThreadEnvironment | null = null;
  cost: Extract<Definition, { kind: 'cost' }> | null = null;
  /** Records that the thread could not keep. */
  dropped = 0;
  /** Records that got lost on the way here: batches that never came. */
  missing = 0;
  /** Exceptions caught inside hooks. */
  faults = 0;
  /** Why the thread ended, or null while it runs. */
  ended: string | null = null;
  /** Records received so far, `end` records included: what an ack says. */
  received = 0;
  /** Number of the next expected record; null before the first. */
  private next: number | null = null;
  /** Rows that there will be, where a file says so; 0 = not known. */
  expected = 0;
  /** Ends whose begin is not here (lost, or older than the recording). */
  orphanEnds = 0;
  /**
   * Rows forgotten from the front so far (retention.ts). A row's number for life is `forgotten` + its place in `events`; who follows
   * the thread row by row begins anew when this has changed.
   */
  forgotten = 0;
  /** Of the last row ever appended, also when it is forgotten: what comes must follow it. */
  private lastT0 = -Infinity;
  private lastSeq = 0;
  private forgottenSeq = 0;

  constructor(
    /** Place in TraceStore.threads. */
    readonly index: number,
    readonly info: ThreadInfo,
    private readonly traceOriginMs: number,
  ) {}

  define(definition: Definition): void {
    this.said.push(definition);
    this.saidAt.push(this.saidInAll++);
    switch (definition.kind) {
      case 'environment':
        this.environment = definition;
        break;
      case 'cost':
        this.cost = definition;
        break;
      case 'note':
        if (this.notes.length < MOST_NOTES) this.notes.push(definition);
        break;
      case 'storage':
        this.storage.push(definition);
        break;
      case 'engine': {
        const known = this.engines.findIndex((e) => e.id === definition.id); // said again when more is known
        if (known < 0) this.engines.push(definition);
        else this.engines[known] = definition;
        this.definitions.set(definition.id, definition);
        break;
      }
      default:
        this.definitions.set(definition.id, definition);
    }
  }

  /**
   * Append rows read from a file. @returns false, and nothing is taken in, when they do not follow what is here
   */
  appendRows(rows: EventColumns): boolean {
    const { events } = this;
    if (rows.count === 0) return true;
    if (rows.seq[0]! <= this.lastSeq) return false;
    events.append(rows);
    this.lastSeq = events.seq[events.count - 1]!;
    this.lastT0 = events.t0[events.count - 1]!;
    return true;
  }

  /**
   * Append a batch's records in the thread's own order. Records that came before are skipped, a gap is counted in `missing`.
   * @returns rows of earlier batches that got their end now
   */
  append(batch: Batch): number[] {
    for (const d of batch.definitions) this.define(d);
    this.dropped = batch.dropped;
    this.faults = batch.faults;
    const reader = new RecordReader(batch.records);
    let from = 0;
    if (this.next !== null) {
      const ahead = (batch.first - this.next) | 0;
      if (ahead > 0) this.missing += ahead;
      else from = Math.min(reader.count, -ahead);
    }
    if (this.next === null || from < reader.count) this.next = (batch.first + batch.count) >>> 0;
    this.received += reader.count - from;
    const clock = { timeOrigin: batch.timeOrigin };
    const { events } = this;
    events.reserve(reader.count - from);
    const firstNew = events.count;
    const lateEnds: number[] = [];
    let { lastT0, lastSeq } = this;
    for (let i = from; i < reader.count; i++) {
      const op = reader.op(i);
      if (op === Op.end) {
        const row = events.rowOfSeq(reader.seq(i));
        if (row < 0) {
          if (reader.seq(i) > this.forgottenSeq) this.orphanEnds++; // else its begin was forgotten, and so is its end
        } else if (events.endSeq[row] === 0 || events.endSeq[row] === reader.endSeq(i)) {
          // the second: a reader beside the writer took the record while it ended, and may have got half of that
          events.set('dur', row, durationUs(events.t0[row]!, toTraceUs(reader.t1(i), clock, this.traceOriginMs)));
          events.endSeq[row] = reader.endSeq(i);
          events.set('result', row, reader.result(i));
          events.flags[row]! |= reader.flags(i);
          if (!Number.isNaN(reader.offset(i))) events.set('length', row, reader.length(i));
          if (reader.aux(i) !== 0 || reader.aux2(i) !== 0) {
            events.set('aux', row, reader.aux(i));
            events.set('aux2', row, reader.aux2(i));
          }
          if (row < firstNew) lateEnds.push(row);
        }
        continue;
      }
      const seq = reader.seq(i);
      if (OPS[op] === undefined || seq <= lastSeq) continue; // not ours: a page can forge a batch, it must not break the columns' order
      lastSeq = seq;
      const t0 = toTraceUs(reader.t0(i), clock, this.traceOriginMs);
      const t1 = toTraceUs(reader.t1(i), clock, this.traceOriginMs);
      if (!Number.isFinite(t0) || !Number.isFinite(t1)) continue;
      lastT0 = Math.max(lastT0, t0);
      const row = events.count++;
      const ended = reader.endSeq(i);
      events.t0[row] = lastT0;
      events.set('dur', row, ended ? durationUs(lastT0, t1) : 0);
      events.seq[row] = seq;
      events.endSeq[row] = ended;
      events.op[row] = op;
      events.flags[row] = reader.flags(i);
      events.set('result', row, reader.result(i));
      events.set('offset', row, reader.offset(i));
      events.set('length', row, reader.length(i));
      events.set('object', row, reader.object(i));
      events.parent[row] = reader.parent(i);
      events.set('context', row, reader.context(i));
      events.set('aux', row, reader.aux(i));
      events.set('aux2', row, reader.aux2(i));
    }
    this.lastT0 = lastT0;
    this.lastSeq = lastSeq;
    return lateEnds;
  }

  /** Drop the first `rows` rows: their numbers stay theirs, ends that still come for them are ignored. */
  forget(rows: number): void {
    const { events } = this;
    const n = Math.min(rows, events.count);
    if (n <= 0) return;
    this.forgottenSeq = events.seq[n - 1]!;
    events.dropFront(n);
    this.forgotten += n;
  }

  /** Definitions said since the first `n`, those forgotten left out, and how many were ever said. */
  saidSince(n: number): { definitions: Definition[]; inAll: number } {
    let from = this.said.length;
    while (from > 0 && this.saidAt[from - 1]! >= n) from--;
    return { definitions: this.said.slice(from), inAll: this.saidInAll };
  }

  /** Forget what ids mean, but for those that `keep` says. Environment, engines, notes, cost and the structure of databases stay. */
  forgetDefinitions(keep: (id: number) => boolean): void {
    let kept = 0;
    this.said.forEach((d, i) => {
      if (lasts(d) || keep(d.id)) {
        this.said[kept] = d;
        this.saidAt[kept++] = this.saidAt[i]!;
      } else this.definitions.delete(d.id);
    });
    this.said.length = this.saidAt.length = kept;
  }
}

/** Whole nanoseconds, so that a file gives the same number back. */
const durationUs = (from: number, to: number): number => (to > from ? Math.round((to - from) * 1e3) / 1e3 : 0);

export class TraceStore {
  readonly threads: ThreadStore[] = [];
  /** What people wrote on the trace. */
  annotations: Annotations = noAnnotations();
  private readonly byId = new Map<string, ThreadStore>();

  /** @param originMs the trace's time 0, ms since the epoch (a thread's timeOrigin + now) */
  constructor(readonly originMs: number) {}

  get eventCount(): number {
    return this.threads.reduce((n, t) => n + t.events.count, 0);
  }
  /** Rows forgotten so far. */
  get forgotten(): number {
    return this.threads.reduce((n, t) => n + t.forgotten, 0);
  }
  get dropped(): number {
    return this.threads.reduce((n, t) => n + t.dropped + t.missing, 0);
  }

  /** The thread of this id; a new one is added. */
  thread(info: ThreadInfo): ThreadStore {
    let thread = this.byId.get(info.id);
    if (!thread) {
      thread = new ThreadStore(this.threads.length, info, this.originMs);
      this.threads.push(thread);
      this.byId.set(info.id, thread);
    }
    return thread;
  }

  threadById(id: string): ThreadStore | undefined {
    return this.byId.get(id);
  }

  /** Begin of the first and end of the last event, microseconds; [0, 0] for an empty trace. */
  extent(): [number, number] {
    let first = Infinity;
    let last = -Infinity;
    for (const { events } of this.threads) {
      if (!events.count) continue;
      first = Math.min(first, events.t0[0]!);
      for (let i = 0; i < events.count; i++) last = Math.max(last, events.t0[i]! + events.dur[i]!);
    }
    return first === Infinity ? [0, 0] : [first, last];
  }
}
