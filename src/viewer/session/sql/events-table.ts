/**
 * The table `events`: every recorded call, straight from the threads' columns. What a WHERE says of thread, seq, ts, op and layer is
 * answered by bisecting and by skipping in place, an order by one column of few texts by events-order.ts; everything else SQLite does itself.
 */
import { objectName, resultText, isFailure } from '../../../trace/describe.ts';
import { OPS, layerOfCode, opName } from '../../../event/operations.ts';
import { fileOf } from '../../../analysis/files/files.ts';
import type { ThreadStore, TraceStore } from '../../../trace/store.ts';
import type { Sink } from './sink.ts';
import { rowsByText, type Stretch } from './events-order.ts';
import {
  Compare,
  folded,
  type BoundTerm,
  type Cursor,
  type Order,
  type SqlColumn,
  type SqlTable,
  type Term,
} from './table.ts';

const column = (name: string, type: SqlColumn['type'], help: string): SqlColumn => ({
  name,
  type,
  help,
});
const COLUMNS = [
  column('thread', 'INTEGER', 'Number of the thread, from 0'),
  column('seq', 'INTEGER', 'Number of the event on its thread, in the order of begins'),
  column('ts', 'REAL', 'Begin, microseconds since the trace began'),
  column('dur', 'REAL', 'Microseconds; NULL while the call is running'),
  column('layer', 'TEXT', 'sql, vfs, web or host'),
  column('op', 'TEXT', 'Name of the call: xRead, idb.put, opfs.write, sqlite3_step'),
  column('activity', 'TEXT', 'What it was for: cpu, read, write, sync, lock, wait, meta, none'),
  column('object', 'TEXT', 'File, store, lock or statement that it was on'),
  column('kind', 'TEXT', 'Kind of the object: main-db, journal, wal, temp, opfs, idb-store'),
  column('offset', 'REAL', 'Byte offset, numeric key or new size'),
  column('length', 'INTEGER', 'Bytes asked for or carried'),
  column('result', 'INTEGER', 'What the call answered; NULL while it is running'),
  column('result_name', 'TEXT', 'SQLITE_BUSY, QuotaExceededError, threw, failed; NULL for success'),
  column('failed', 'INTEGER', '1 where the call failed'),
  column('statement', 'TEXT', 'SQL that the call served, literals folded'),
  column('parent_seq', 'INTEGER', 'seq of the call that this one serves'),
  column('connection', 'INTEGER', 'Connection (sql, vfs), transaction or handle (web)'),
  column('aux', 'INTEGER', 'Detail: lock level, open flags, opcode'),
  column('aux2', 'INTEGER', 'Second detail: type of the page'),
] as const;
const [THREAD, SEQ, TS, LAYER, OP, ACTIVITY, OBJECT, KIND, STATEMENT] = [
  0, 1, 2, 4, 5, 6, 7, 8, 14,
];
/** Texts of which there are few, however many rows. */
const SORTED: ReadonlySet<number> = new Set([LAYER, OP, ACTIVITY, OBJECT, KIND, STATEMENT]);

const LAYERS = OPS.map((_, code) => layerOfCode(code));
const NAMES = OPS.map((_, code) => opName(code));
const FOLDED_NAMES = NAMES.map(folded);
const ACTIVITIES = OPS.map((info) => info?.activity ?? 'none');

/** Rows by what a comparison leaves, as the planner guesses. */
const RANGE_SHARE = 0.25;

/** What the rows of a thread refer to, looked up once. */
interface Lookups {
  // maps, for a page chooses its ids
  names: Map<number, string | null>;
  kinds: Map<number, string | null>;
}

export class EventsTable implements SqlTable {
  readonly name = 'events';
  readonly help = 'Every recorded call';
  readonly columns = COLUMNS;
  lookups: Lookups[] = [];

  /** @param statements by row of a thread: id of the statement's definition, 0 = none known */
  constructor(
    readonly store: TraceStore,
    readonly statements: (thread: ThreadStore) => Uint32Array,
  ) {}

  /** Definitions may have come since: look names up anew. */
  refresh(): void {
    this.lookups = [];
  }
  rows(): number {
    return this.store.eventCount;
  }
  selectivity({ column, op }: Term): number | null {
    if (column === TS || column === SEQ)
      return op === Compare.eq ? 1 / Math.max(1, this.rows()) : RANGE_SHARE;
    if (op !== Compare.eq) return null;
    if (column === THREAD) return 1 / Math.max(1, this.store.threads.length);
    return column === OP ? 0.1 : column === LAYER ? 0.3 : null;
  }
  sorts({ column, desc }: Order): boolean {
    return SORTED.has(column) || (column === THREAD && !desc); // as they are
  }
  open(): Cursor {
    return new EventsCursor(this);
  }
}

class EventsCursor implements Cursor {
  done = true;
  private part = 0;
  private thread!: ThreadStore;
  private op: Uint8Array = new Uint8Array(0);
  private row = 0;
  private end = 0;
  /** Rows of earlier threads: rowids go on. */
  private before = 0;
  /** Codes that may pass; null = all. */
  private wanted: Uint8Array | null = null;
  private onlyThread: number | null = null;
  private readonly ts: [from: number, to: number] = [-Infinity, Infinity];
  private readonly seqs: [from: number, to: number] = [-Infinity, Infinity];
  /** Rows of all threads in the order asked for, and where in it the scan is; null = as they are. */
  private ordered: { rows: Uint32Array; at: number; before: number[] } | null = null;

  constructor(private readonly table: EventsTable) {}

  start(terms: readonly BoundTerm[], order: Order | null): void {
    const { ts, seqs } = this;
    [ts[0], ts[1]] = [seqs[0], seqs[1]] = [-Infinity, Infinity];
    this.wanted = this.onlyThread = null;
    for (const { column, op, value } of terms) {
      if (column === OP || column === LAYER) {
        if (typeof value !== 'string') continue;
        const asked = folded(value);
        const names = column === OP ? FOLDED_NAMES : LAYERS;
        const before: Uint8Array | null = this.wanted;
        this.wanted = Uint8Array.from(OPS, (_, code) =>
          names[code] === asked && before?.[code] !== 0 ? 1 : 0,
        );
      } else if (typeof value !== 'number') continue;
      else if (column === THREAD) this.onlyThread = value;
      else {
        const range = column === TS ? ts : seqs;
        if (op === Compare.eq || op === Compare.ge || op === Compare.gt)
          range[0] = Math.max(range[0], value);
        if (op === Compare.eq || op === Compare.le || op === Compare.lt)
          range[1] = Math.min(range[1], value);
      }
    }
    this.ordered = null;
    this.begin();
    if (order && order.column !== THREAD) this.sort(order);
  }

  /** To the first row. */
  private begin(): void {
    this.part = -1;
    this.before = 0;
    this.done = false;
    this.nextPart();
    this.skip();
  }

  /** Go through the rows once, and then through them again in another order. */
  private sort({ column, desc }: Order): void {
    const { threads } = this.table.store;
    const before: number[] = [];
    const stretches: Stretch[] = [];
    for (let part = 0, sum = 0; part < threads.length; sum += threads[part++]!.events.count) {
      before.push(sum);
      let rows = new Uint32Array(!this.done && this.part === part ? this.end - this.row : 0);
      let n = 0;
      for (; !this.done && this.part === part; this.next()) rows[n++] = this.row;
      rows = rows.subarray(0, n);
      const thread = threads[part]!;
      stretches.push({
        rows,
        codes: this.codesOf(thread, column),
        textOf: (code) => this.textOf(part, code, column),
      });
    }
    this.ordered = { rows: rowsByText(stretches, before, desc), at: -1, before };
    this.next();
  }
  /** By row: what the text of a column that is sorted depends on. */
  private codesOf(thread: ThreadStore, column: number): ArrayLike<number> {
    if (column === STATEMENT) return this.table.statements(thread);
    return column === OBJECT || column === KIND ? thread.events.object : thread.events.op;
  }
  private textOf(part: number, code: number, column: number): string | null {
    if (column === OBJECT || column === STATEMENT) return this.nameOf(part, code);
    if (column === KIND) return this.kindOf(part, code);
    return (column === LAYER ? LAYERS : column === OP ? NAMES : ACTIVITIES)[code] ?? null;
  }

  /** To the first row of the next thread that may have some. */
  private nextPart(): void {
    const { threads } = this.table.store;
    do {
      if (this.part >= 0) this.before += threads[this.part]!.events.count;
      if (++this.part >= threads.length) {
        this.done = true;
        return;
      }
      this.thread = threads[this.part]!;
      const { events } = this.thread;
      const { count } = events;
      this.op = events.op;
      this.row = this.end = 0;
      if (this.onlyThread !== null && this.onlyThread !== this.part) continue;
      const [fromUs, toUs] = this.ts;
      const [fromSeq, toSeq] = this.seqs;
      this.row = Math.max(
        fromUs === -Infinity ? 0 : events.lowerBound(fromUs),
        fromSeq === -Infinity ? 0 : firstAfter(events.seq, count, Math.ceil(fromSeq) - 1),
      );
      this.end = Math.min(
        toUs === Infinity ? count : firstAfter(events.t0, count, toUs),
        toSeq === Infinity ? count : firstAfter(events.seq, count, toSeq),
      );
    } while (this.row >= this.end);
  }
  /** Over rows whose operation was not asked for. */
  private skip(): void {
    const { wanted } = this;
    while (!this.done) {
      if (wanted) while (this.row < this.end && wanted[this.op[this.row]!] === 0) this.row++;
      if (this.row < this.end) return;
      this.nextPart();
    }
  }
  next(): void {
    if (this.ordered) return this.nextOrdered(this.ordered);
    this.row++;
    if (this.row >= this.end || this.wanted) this.skip();
  }
  private nextOrdered(ordered: NonNullable<EventsCursor['ordered']>): void {
    const { rows, before } = ordered;
    if (++ordered.at >= rows.length) {
      this.done = true;
      return;
    }
    this.done = false;
    const row = rows[ordered.at]!;
    if (row < this.before) this.part = 0; // the next text's begin
    while (this.part + 1 < before.length && row >= before[this.part + 1]!) this.part++;
    this.before = before[this.part]!;
    this.thread = this.table.store.threads[this.part]!;
    this.row = row - this.before;
  }
  rowid(): number {
    return this.before + this.row;
  }

  column(sink: Sink, context: number, column: number): void {
    const { thread, row } = this;
    const { events } = thread;
    const op = events.op[row]!;
    switch (column) {
      case 0:
        return sink.number(context, thread.index);
      case 1:
        return sink.number(context, events.seq[row]!);
      case 2:
        return sink.real(context, events.t0[row]!);
      case 3:
        return events.endSeq[row] === 0 ? sink.null(context) : sink.real(context, events.dur[row]!);
      case 4:
        return sink.text(context, LAYERS[op]!);
      case 5:
        return sink.text(context, NAMES[op]!);
      case 6:
        return sink.text(context, ACTIVITIES[op]!);
      case 7:
        return sink.cell(context, this.nameOf(this.part, events.object[row]!));
      case 8:
        return sink.cell(context, this.kindOf(this.part, events.object[row]!));
      case 9:
        return sink.real(context, events.offset[row]!);
      case 10:
        return sink.number(context, events.length[row]!);
      case 11:
        return events.endSeq[row] === 0
          ? sink.null(context)
          : sink.number(context, events.result[row]!);
      case 12:
        return sink.cell(
          context,
          (events.endSeq[row] !== 0 && resultText(op, events.result[row]!, events.flags[row]!)) ||
            null,
        );
      case 13:
        return sink.number(
          context,
          events.endSeq[row] !== 0 && isFailure(op, events.result[row]!, events.flags[row]!)
            ? 1
            : 0,
        );
      case 14:
        return sink.cell(context, this.nameOf(this.part, this.table.statements(thread)[row]!));
      case 15:
        return sink.cell(context, events.parent[row]! || null);
      case 16:
        return sink.cell(context, events.context[row]! || null);
      case 17:
        return sink.number(context, events.aux[row]!);
      default:
        return sink.number(context, events.aux2[row]!);
    }
  }
  private lookup(
    part: number,
    id: number,
    what: keyof Lookups,
    find: () => string | null,
  ): string | null {
    if (id === 0) return null;
    const known = (this.table.lookups[part] ??= { names: new Map(), kinds: new Map() })[what];
    let found = known.get(id);
    if (found === undefined) known.set(id, (found = find()));
    return found;
  }
  private nameOf(part: number, id: number): string | null {
    return this.lookup(
      part,
      id,
      'names',
      () => objectName(this.table.store.threads[part]!, id) || null,
    );
  }
  private kindOf(part: number, id: number): string | null {
    return this.lookup(part, id, 'kinds', () => {
      const definition = this.table.store.threads[part]!.definitions.get(id);
      return fileOf(definition)?.kind ?? definition?.kind ?? null;
    });
  }
}

function firstAfter(sorted: Float64Array | Uint32Array, count: number, value: number): number {
  let lo = 0;
  let hi = count;
  while (lo < hi) {
    const mid = (lo + hi) >>> 1;
    if (sorted[mid]! <= value) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}
