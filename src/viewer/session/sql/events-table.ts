/**
 * The table `events`: every recorded call, straight from the threads' columns. WHERE conditions on
 * thread, seq, ts, op, and layer are answered by binary search and by skipping rows in place, ORDER
 * BY one column with few texts by events-order.ts. SQLite does everything else.
 */
import {
  eventColumns,
  eventTable,
  LAYERS,
  NAMES,
  type ThreadView,
} from '../../../analysis/events/table.ts';
import { OPS } from '../../../event/operations.ts';
import { firstPlace, lowerBound } from '../../../trace/number-columns.ts';
import type { ThreadStore, TraceStore } from '../../../trace/store.ts';
import type { Sink } from './sink.ts';
import { rowsByText, type Stretch } from './events-order.ts';
import {
  Compare,
  folded,
  sqlColumns,
  type BoundTerm,
  type Cursor,
  type Order,
  type SqlTable,
  type Term,
} from './table.ts';

const COLUMNS = sqlColumns(eventColumns);
const VALUES = COLUMNS.map(({ name }) => eventColumns[name as keyof typeof eventColumns].value);
const IS_REAL = COLUMNS.map(({ type }) => type === 'REAL');
const place = (column: keyof typeof eventColumns): number =>
  COLUMNS.findIndex(({ name }) => name === column);
const [THREAD, SEQ, TS, LAYER, OP] = [
  place('thread'),
  place('seq'),
  place('ts'),
  place('layer'),
  place('op'),
];
const [OBJECT, KIND, STATEMENT] = [place('object'), place('kind'), place('statement')];
/** Texts with few distinct values, however many rows there are. */
const SORTED: ReadonlySet<number> = new Set([
  LAYER,
  OP,
  place('activity'),
  OBJECT,
  KIND,
  STATEMENT,
]);

const FOLDED_NAMES = NAMES.map(folded);

/** The planner's guess of how many rows pass a comparison. */
const RANGE_SHARE = 0.25;

export class EventsTable implements SqlTable {
  readonly name = eventTable.name;
  readonly help = eventTable.help;
  readonly columns = COLUMNS;

  /** @param view current view of a thread */
  constructor(
    readonly store: TraceStore,
    readonly view: (thread: ThreadStore) => ThreadView,
  ) {}

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
  /** Of the threads, and the one that the scan is in. */
  private views: readonly ThreadView[] = [];
  private view!: ThreadView;
  private op: Uint8Array = new Uint8Array(0);
  private row = 0;
  private end = 0;
  /** Rows of earlier threads, because rowids continue. */
  private before = 0;
  /** Codes that may pass; null = all. */
  private wanted: Uint8Array | null = null;
  private onlyThread: number | null = null;
  private readonly ts: [from: number, to: number] = [-Infinity, Infinity];
  private readonly seqs: [from: number, to: number] = [-Infinity, Infinity];
  /**
   * Rows of all threads in the requested order, and the scan's position in it; null = the natural
   * order.
   */
  private ordered: { rows: Uint32Array; at: number; before: number[] } | null = null;

  constructor(private readonly table: EventsTable) {}

  start(terms: readonly BoundTerm[], order: Order | null): void {
    const { ts, seqs } = this;
    [ts[0], ts[1]] = [seqs[0], seqs[1]] = [-Infinity, Infinity];
    this.wanted = this.onlyThread = null;
    this.views = this.table.store.threads.map(this.table.view);
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

  /** Collect the rows once, then scan them in another order. */
  private sort({ column, desc }: Order): void {
    const before: number[] = [];
    const stretches: Stretch[] = [];
    let sum = 0;
    this.views.forEach((view, part) => {
      before.push(sum);
      sum += view.events.count;
      let rows = new Uint32Array(!this.done && this.part === part ? this.end - this.row : 0);
      let n = 0;
      for (; !this.done && this.part === part; this.next()) rows[n++] = this.row;
      rows = rows.subarray(0, n);
      const textOf = (row: number): string | null => VALUES[column]!(view.at(row)) as string | null;
      stretches.push({ rows, codes: codesOf(view, column), textOf });
    });
    this.ordered = { rows: rowsByText(stretches, before, desc), at: -1, before };
    this.next();
  }
  /** To the first row of the next thread that may have matching ones. */
  private nextPart(): void {
    do {
      if (this.part >= 0) this.before += this.view.events.count;
      if (++this.part >= this.views.length) {
        this.done = true;
        return;
      }
      this.view = this.views[this.part]!;
      const { events } = this.view;
      const { count } = events;
      this.op = events.op;
      this.row = this.end = 0;
      if (this.onlyThread !== null && this.onlyThread !== this.part) continue;
      const [fromUs, toUs] = this.ts;
      const [fromSeq, toSeq] = this.seqs;
      this.row = Math.max(
        fromUs === -Infinity ? 0 : events.lowerBound(fromUs),
        fromSeq === -Infinity ? 0 : lowerBound(events.seq, fromSeq, count),
      );
      this.end = Math.min(
        toUs === Infinity ? count : firstPlace(0, count, (row) => events.t0[row]! > toUs),
        toSeq === Infinity ? count : firstPlace(0, count, (row) => events.seq[row]! > toSeq),
      );
    } while (this.row >= this.end);
  }
  /** Skip rows whose operation wasn't requested. */
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
    if (row < this.before) this.part = 0; // where the next text starts
    while (this.part + 1 < before.length && row >= before[this.part + 1]!) this.part++;
    this.before = before[this.part]!;
    this.view = this.views[this.part]!;
    this.row = row - this.before;
  }
  rowid(): number {
    return this.before + this.row;
  }

  column(sink: Sink, context: number, column: number): void {
    const value = VALUES[column]!(this.view.at(this.row));
    if (typeof value === 'number' && IS_REAL[column]) sink.real(context, value);
    else sink.cell(context, value);
  }
}

/** By row: what the text of a sorted column depends on. */
function codesOf(view: ThreadView, column: number): ArrayLike<number> {
  if (column === STATEMENT) return view.statementId;
  return column === OBJECT || column === KIND ? view.events.object : view.events.op;
}
