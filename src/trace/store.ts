/**
 * A loaded trace: for each thread, the columns of its events and the definitions of its ids. Grows
 * batch by batch while recording, or is filled chunk by chunk from a file. Analyses and views only
 * read it.
 */
import { isBTreeKind } from '../event/b-tree-definitions.ts';
import { RecordReader, type Batch } from '../event/batch.ts';
import { isTraceUs, toTraceUs } from '../event/clock.ts';
import { EventColumns, type ColumnWidth, type NarrowColumn } from './columns.ts';
import type { BelowStorage } from './below-storage.ts';
import type { CpuSamples } from './cpu-samples.ts';
import { Op } from '../event/event.ts';
import { FileNames } from './file-names.ts';
import { OPS } from '../event/operations.ts';
import type {
  Definition,
  EngineInfo,
  ThreadEnvironment,
  ThreadKind,
} from '../event/definitions.ts';
import { noAnnotations, type Annotations } from './notes.ts';
import type { ConditionsDefinition } from '../event/conditions.ts';
import type { StorageDefinition } from '../event/storage-health.ts';

/**
 * Id of the only thread in a recording that an app makes itself (vfscope/vfs). It began when the
 * app started it, after its engine was loaded.
 */
export const OWN_RECORDING = 'recording';

/** A thread's description, sent before its first batch. */
export interface ThreadInfo {
  id: string;
  kind: ThreadKind;
  url: string;
  name: string;
  parent: string | null;
  /** performance.timeOrigin, ms. */
  timeOrigin: number;
}

/** Definitions about the thread or a file, not about an id in a row. */
const LASTING: ReadonlySet<Definition['kind']> = new Set([
  'environment',
  'cost',
  'note',
  'engine',
  'storage',
  'conditions',
  'database-header',
]);
/** Maximum for one thread: more aren't worth reading, and a page can send any number. */
const MOST_NOTES = 200;
const MOST_ENGINES = 1000;
const MOST_STORAGE = 1000;
/** Cost of a definition besides its JSON. */
export const DEFINITION_BYTES = 160;
/** Bytes that a definition costs, in a file and in memory, which file/budget.ts limits. */
function wordsOf(definition: Definition): number {
  const json = JSON.stringify(definition);
  return (
    DEFINITION_BYTES +
    (/^[\0-\x7f]*$/.test(json) ? json.length : new TextEncoder().encode(json).length)
  );
}
const lasts = ({ kind }: Definition): boolean => LASTING.has(kind) || isBTreeKind(kind);

/**
 * Rows of one thread in transit from a batch, with wide columns: written one by one, then appended
 * column by column.
 */
const ON_THEIR_WAY = new EventColumns(4096);

/** The most definitions of a thread whose batches may still come twice. */
const MOST_OF_NEW = 1000;

/** What the definitions of all threads cost. */
interface Words {
  used: number;
  /** Limit: a definition that would exceed it isn't stored. */
  most: number;
  /** Definitions that weren't stored. */
  refused: number;
}

/**
 * The name of an event: its thread's index in the trace, and its sequence number there. Rows move
 * when older ones are forgotten, but names don't change.
 */
export interface EventRef {
  thread: number;
  seq: number;
}

export class ThreadStore {
  readonly events: EventColumns;
  readonly definitions = new Map<number, Definition>();
  /** Every definition in the order of arrival, which a file repeats. */
  readonly said: Definition[] = [];
  /** Number of each among all that ever arrived. */
  private readonly saidAt: number[] = [];
  private saidInAll = 0;
  readonly engines: ({ id: number } & EngineInfo)[] = [];
  /** Place in `engines` by id. */
  private readonly engineAt = new Map<number, number>();
  /** What `said` costs, in the unit of `wordsOf`. */
  words = 0;
  /** The browser's reports on the origin's storage. */
  readonly storage: StorageDefinition[] = [];
  readonly notes: Extract<Definition, { kind: 'note' }>[] = [];
  environment: ThreadEnvironment | null = null;
  cost: Extract<Definition, { kind: 'cost' }> | null = null;
  /** How the recording was made; set on one of its threads. */
  conditions: ConditionsDefinition | null = null;
  /** Its CPU samples; null = it wasn't sampled. */
  cpu: CpuSamples | null = null;
  /** Records that the thread couldn't keep. */
  dropped = 0;
  /** Records lost on the way here: batches that never came, or that didn't fit into memory. */
  missing = 0;
  /** Those of them that didn't fit into memory. */
  refused = 0;
  /** Records of this thread that are missing here. */
  get lost(): number {
    return this.dropped + this.missing;
  }
  /** Exceptions caught inside hooks. */
  faults = 0;
  /** Why the thread ended, or null while it runs. */
  ended: string | null = null;
  /**
   * Until when it may have done things without a record, microseconds of the trace, because it was
   * ended before it could send; null = its records are complete.
   */
  unknownUntilUs: number | null = null;
  /** Records received so far, including `end` records, for the ack. */
  received = 0;
  /** Number of the next expected record; null before the first. */
  private next: number | null = null;
  /** How many rows there will be, if a file has that number; 0 = not known. */
  expected = 0;
  /** Ends whose begin is missing (lost, or older than the recording). */
  orphanEnds = 0;
  /**
   * Rows forgotten from the front so far (retention.ts), by which all others have moved. Code that
   * follows the thread row by row starts again (RowCursor).
   */
  forgotten = 0;
  /** Of the last row ever appended, even if it is forgotten: new rows must follow it. */
  private lastT0 = -Infinity;
  private lastSeq = 0;
  private forgottenSeq = 0;
  /** End of the last of the first `endsSeen` rows, microseconds. */
  private lastEnd = -Infinity;
  private endsSeen = 0;

  constructor(
    /** Place in TraceStore.threads. */
    readonly index: number,
    readonly info: ThreadInfo,
    private readonly traceOriginMs: number,
    private readonly inAll: Words,
    private readonly fileNames: FileNames,
    width: ColumnWidth,
  ) {
    this.events = new EventColumns(0, width);
  }

  define(definition: Definition): void {
    const words = wordsOf(definition);
    if (this.inAll.used + words > this.inAll.most) {
      this.inAll.refused++;
      return;
    }
    this.words += words;
    this.inAll.used += words;
    this.said.push(definition);
    this.saidAt.push(this.saidInAll++);
    switch (definition.kind) {
      case 'environment':
        this.environment = definition;
        break;
      case 'cost':
        this.cost = definition;
        break;
      case 'conditions':
        this.conditions = definition;
        break;
      case 'note':
        if (this.notes.length < MOST_NOTES) this.notes.push(definition);
        break;
      case 'storage':
        if (this.storage.length < MOST_STORAGE) this.storage.push(definition);
        break;
      case 'engine': {
        // sent again when more is known
        const at = this.engineAt.get(definition.id) ?? this.engines.length;
        if (at < MOST_ENGINES) {
          this.engineAt.set(definition.id, at);
          this.engines[at] = definition;
        }
        this.definitions.set(definition.id, definition);
        break;
      }
      case 'file':
      case 'opfs-file':
        this.fileNames.define(this, definition);
        break;
      default:
        this.definitions.set(definition.id, definition);
    }
  }

  /**
   * Append rows read from a file.
   * @returns false, without taking in any, if they don't follow the rows here
   */
  appendRows(rows: EventColumns): boolean {
    const { events } = this;
    if (rows.count === 0) return true;
    if (rows.seq[0]! <= this.lastSeq) return false;
    events.append(rows);
    this.lastSeq = events.seq[events.count - 1]!;
    this.lastT0 = events.t0[events.count - 1]!;
    this.fileNames.follow(this);
    return true;
  }

  /**
   * Whether a batch without records has come before. A new thread's batches come by two ways, and
   * only the numbers of records show that two batches are the same.
   */
  private hasSaid(definition: Definition): boolean {
    if (this.said.length > MOST_OF_NEW) return false;
    const words = wordsOf(definition);
    const text = JSON.stringify(definition);
    return this.said.some(
      (one) =>
        one.kind === definition.kind && wordsOf(one) === words && JSON.stringify(one) === text,
    );
  }

  /**
   * Append a batch's records in the thread's own order. Records that arrived before are skipped,
   * and a gap is counted in `missing`.
   * @returns rows of earlier batches whose end was in this one
   */
  append(batch: Batch): number[] {
    const reader = new RecordReader(batch.records);
    let from = 0;
    if (this.next !== null) {
      const ahead = (batch.first - this.next) | 0;
      if (ahead > 0) this.missing += ahead;
      else from = Math.min(reader.count, -ahead);
    }
    // the same batch came before by the other way
    if (reader.count > 0 && from === reader.count) return [];
    for (const d of batch.definitions) if (reader.count > 0 || !this.hasSaid(d)) this.define(d);
    this.dropped = batch.dropped;
    this.faults = batch.faults;
    const until =
      this.next === null || from < reader.count ? (batch.first + batch.count) >>> 0 : this.next;
    const lateEnds: number[] = [];
    const stored = this.store(reader, from, batch.timeOrigin, lateEnds);
    this.next = until;
    this.received += reader.count - from;
    this.missing += reader.count - stored;
    this.refused += reader.count - stored;
    this.fileNames.follow(this);
    return lateEnds;
  }

  /**
   * Store records [from, all), as many as fit into memory; a row is stored completely or not at
   * all.
   * @param lateEnds rows that were here before and ended
   * @returns the first record that didn't fit into memory, or how many there are
   */
  private store(
    reader: RecordReader,
    from: number,
    timeOrigin: number,
    lateEnds: number[],
  ): number {
    const { events } = this;
    const { t0, dur, seq, endSeq, op, flags, result, offset, length, object, parent, ...rest } =
      ON_THEIR_WAY;
    const { context, aux, aux2 } = rest;
    const clock = { timeOrigin };
    const firstNew = events.count;
    let { lastT0, lastSeq } = this;
    let rows = 0;
    let stored = from;
    const keep = (until: number): void => {
      ON_THEIR_WAY.count = rows;
      rows = 0;
      events.append(ON_THEIR_WAY);
      [this.lastT0, this.lastSeq, stored] = [lastT0, lastSeq, until];
    };
    try {
      for (let i = from; i < reader.count; i++) {
        const code = reader.op(i);
        if (code === Op.end) {
          if (rows && reader.seq(i) > this.lastSeq) keep(i); // its begin is still to come
          const row = this.end(reader, i, toTraceUs(reader.t1(i), clock, this.traceOriginMs));
          if (row >= 0 && row < firstNew) lateEnds.push(row);
          continue;
        }
        const number = reader.seq(i);
        // forged: a page can send any batch, which must not break the columns' order
        if (code === 0 || code > Op.end || OPS[code] === undefined || number <= lastSeq) continue;
        const from = toTraceUs(reader.t0(i), clock, this.traceOriginMs);
        const to = toTraceUs(reader.t1(i), clock, this.traceOriginMs);
        if (!isTraceUs(from) || !isTraceUs(to)) continue; // nor store what a file can't hold
        lastT0 = Math.max(lastT0, from);
        lastSeq = number;
        const ended = reader.endSeq(i);
        t0[rows] = lastT0;
        dur[rows] = ended ? durationUs(lastT0, to) : 0;
        seq[rows] = number;
        endSeq[rows] = ended;
        op[rows] = code;
        flags[rows] = reader.flags(i);
        result[rows] = reader.result(i);
        offset[rows] = reader.offset(i);
        length[rows] = reader.length(i);
        object[rows] = reader.object(i);
        parent[rows] = reader.parent(i);
        context[rows] = reader.context(i);
        aux[rows] = reader.aux(i);
        aux2[rows] = reader.aux2(i);
        if (++rows === ON_THEIR_WAY.capacity) keep(i + 1);
      }
      keep(reader.count);
    } catch {
      // only the allocation of a column can throw here, with another error name in each browser, so
      // the caller counts it
    }
    return stored;
  }

  /** Store a late end. @returns its row; -1 if it can't change one */
  private end(reader: RecordReader, i: number, t1: number): number {
    const { events } = this;
    const seq = reader.seq(i);
    const row = events.rowOfSeq(seq);
    if (row < 0) {
      // else its begin was forgotten, so its end is dropped
      if (seq > this.forgottenSeq) this.orphanEnds++;
      return -1;
    }
    // the second end: a reader beside the writer took the record while it ended, and may have only
    // half of it
    if ((events.endSeq[row] !== 0 && events.endSeq[row] !== reader.endSeq(i)) || !isTraceUs(t1))
      return -1;
    const [dur, result, length, aux] = [
      events.dur[row]!,
      events.result[row]!,
      events.length[row]!,
      events.aux[row]!,
    ];
    try {
      events.set('dur', row, durationUs(events.t0[row]!, t1));
      events.set('result', row, reader.result(i));
      if (!Number.isNaN(reader.offset(i))) events.set('length', row, reader.length(i));
      if (reader.aux(i) !== 0 || reader.aux2(i) !== 0) {
        events.set('aux', row, reader.aux(i));
        events.set('aux2', row, reader.aux2(i));
      }
    } catch (error) {
      for (const [name, value] of Object.entries({ dur, result, length, aux }))
        events.set(name as NarrowColumn, row, value);
      throw error; // no memory for a wider column: the call stays without an end
    }
    if (events.dur[row]! < dur) this.endsSeen = 0;
    else if (row < this.endsSeen)
      this.lastEnd = Math.max(this.lastEnd, events.t0[row]! + events.dur[row]!);
    events.endSeq[row] = reader.endSeq(i);
    events.flags[row]! |= reader.flags(i);
    return row;
  }

  /**
   * End of the last event so far, microseconds; -Infinity without events. Each row is examined
   * once, however often this is called.
   */
  get lastUs(): number {
    const { t0, dur, count } = this.events;
    if (this.endsSeen === 0) this.lastEnd = -Infinity;
    for (; this.endsSeen < count; this.endsSeen++)
      this.lastEnd = Math.max(this.lastEnd, t0[this.endsSeen]! + dur[this.endsSeen]!);
    return this.lastEnd;
  }

  /**
   * Drop the first `rows` rows. Sequence numbers stay valid, and ends that arrive for dropped rows
   * are ignored.
   */
  forget(rows: number): void {
    const { events } = this;
    const n = Math.min(rows, events.count);
    if (n <= 0) return;
    this.forgottenSeq = events.seq[n - 1]!;
    this.endsSeen = 0;
    events.dropFront(n);
    this.forgotten += n;
  }

  /** The name of the event at a row. */
  ref(row: number): EventRef {
    return { thread: this.index, seq: this.events.seq[row]! };
  }
  /**
   * Row of the event that began with this sequence number.
   * @throws RangeError if it isn't here (any more)
   */
  rowOf(seq: number): number {
    const row = this.events.rowOfSeq(seq);
    if (row >= 0) return row;
    throw new RangeError(
      seq <= this.forgottenSeq
        ? 'This event was dropped: it is older than what the recording retains.'
        : `thread ${this.index} has no event ${seq}`,
    );
  }

  /** Cost of the definition at this index of `said`. */
  wordsAt(place: number): number {
    return wordsOf(this.said[place]!);
  }

  /**
   * Definitions that arrived after the first `n`, without forgotten ones, and how many ever
   * arrived.
   */
  saidSince(n: number): { definitions: Definition[]; inAll: number } {
    let from = this.said.length;
    while (from > 0 && this.saidAt[from - 1]! >= n) from--;
    return { definitions: this.said.slice(from), inAll: this.saidInAll };
  }

  /**
   * Forget the meanings of ids, except those for which `keep` is true. Environment, engines, notes,
   * cost, and the structure of databases stay.
   */
  forgetDefinitions(keep: (id: number) => boolean): void {
    let kept = 0;
    this.said.forEach((d, i) => {
      if (lasts(d) || keep(d.id)) {
        this.said[kept] = d;
        this.saidAt[kept++] = this.saidAt[i]!;
      } else {
        this.definitions.delete(d.id);
        this.words -= wordsOf(d);
        this.inAll.used -= wordsOf(d);
      }
    });
    this.said.length = this.saidAt.length = kept;
  }
}

/** Whole nanoseconds, so that a file restores the same number. */
const durationUs = (from: number, to: number): number =>
  to > from ? Math.round((to - from) * 1e3) / 1e3 : 0;

export class TraceStore {
  readonly threads: ThreadStore[] = [];
  /** What users wrote on the trace. */
  annotations: Annotations = noAnnotations();
  /** What the browser reported on storage calls; null = it wasn't asked. */
  below: BelowStorage | null = null;
  readonly words: Words = { used: 0, most: Infinity, refused: 0 };
  private readonly fileNames = new FileNames();
  private readonly byId = new Map<string, ThreadStore>();

  /**
   * @param originMs the trace's time 0, ms since the epoch (a thread's timeOrigin + now)
   * @param width of the columns of events
   */
  constructor(
    readonly originMs: number,
    private readonly width: ColumnWidth = 'narrow',
  ) {}

  get eventCount(): number {
    return this.threads.reduce((n, t) => n + t.events.count, 0);
  }
  /** Rows forgotten so far. */
  get forgotten(): number {
    return this.threads.reduce((n, t) => n + t.forgotten, 0);
  }
  get dropped(): number {
    return this.threads.reduce((n, t) => n + t.lost, 0);
  }
  /** Records that didn't fit into memory. */
  get refused(): number {
    return this.threads.reduce((n, t) => n + t.refused, 0);
  }

  /** The thread with this id, added if it is new. */
  thread(info: ThreadInfo): ThreadStore {
    let thread = this.byId.get(info.id);
    if (!thread) {
      thread = new ThreadStore(
        this.threads.length,
        info,
        this.originMs,
        this.words,
        this.fileNames,
        this.width,
      );
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
    for (const { events, lastUs } of this.threads) {
      if (!events.count) continue;
      first = Math.min(first, events.t0[0]!);
      last = Math.max(last, lastUs);
    }
    return first === Infinity ? [0, 0] : [first, last];
  }
}
