/**
 * The rows of the events table: all threads' events in time order that match a filter. Uses two
 * numbers per event.
 */
import { firstPlace } from '../../../trace/number-columns.ts';
import { getOrMake } from '../../../analysis/core/maps.ts';
import {
  statementsIn,
  testOfTexts,
  type StatementTest,
} from '../../../analysis/statements/statements-in-scope.ts';
import { eachRunInTimeOrder } from '../../../analysis/core/time-order.ts';
import type { Facts } from '../../../analysis/core/graph.ts';
import { accesses } from '../../../analysis/pages/page-accesses.ts';
import { bytesCarried } from '../../../trace/bytes-moved.ts';
import { isFailure, isInstant, objectName, resultText } from '../../../trace/describe.ts';
import { IS_OWN, OPS, opName } from '../../../event/operations.ts';
import { sortByKey } from './sort-by-key.ts';
import type { EventColumns } from '../../../trace/columns.ts';
import type { EventRef, ThreadStore, TraceStore } from '../../../trace/store.ts';
import { threadEndUs } from '../../../trace/thread-end.ts';
import type { EventFilter, EventOrder, EventWhere } from '../../../protocol/session.ts';
import { ownersOf, type Owners } from '../../../trace/owners.ts';

/** A filter's conditions for one thread. Texts are looked up once per name, not per event. */
interface ThreadTest {
  layers: Uint8Array;
  words: { ops: Uint8Array; objects: Set<number> }[];
  /**
   * Of a column's condition; null if anything matches: ids whose names contain its words; rows of a
   * page.
   */
  objects: Set<number> | null;
  rows: Set<number> | null;
  /** Tests the id of a statement's text; null if any matches. */
  isStatement: ((id: number) => boolean) | null;
  /** No event of this thread matches. */
  nothing: boolean;
  /**
   * When calls without an end are taken to end: with their thread, or Infinity if it still runs.
   */
  openUs: number;
}

const IN_TIME: EventOrder = { key: 'time', descending: false };

/** What a line is sorted by, microseconds; NaN = it has no duration. */
function durationAt({ op, dur, endSeq }: EventColumns, row: number): number {
  const instant = dur[row] === 0 && isInstant(op[row]!);
  return endSeq[row] === 0 || instant ? NaN : Math.max(0, dur[row]!);
}

export class EventQuery {
  /** Events that match. */
  count = 0;
  /** Rows that the store had dropped when the filter was applied. */
  private forgotten = 0;
  private filter: EventFilter = {
    text: '',
    layers: null,
    errorsOnly: false,
    fromUs: null,
    toUs: null,
  };
  /** Lines are in the order of time, the earliest first. */
  private inTime = true;
  private thread = new Uint16Array(0);
  private row = new Uint32Array(0);

  constructor(private readonly store: TraceStore) {}

  /**
   * Rows were dropped since the filter was applied. Lines refer to other events, so the filter must
   * be applied again.
   */
  get stale(): boolean {
    return this.forgotten !== this.store.forgotten;
  }

  /**
   * Apply a filter to the current trace. @param facts of that trace @param filter default: the last
   * one @returns number of matching events
   */
  run(facts: Facts, filter = this.filter): number {
    this.filter = filter;
    const { threads } = this.store;
    this.forgotten = this.store.forgotten;
    const page = filter.where?.page ?? null;
    const rows = page === null ? null : rowsOfPage(facts, page);
    const statements = statementsIn(facts, filter);
    const tests = threads.map((t) =>
      testOf(t, filter, statements, rows && (rows.get(t.index) ?? new Set<number>())),
    );
    const owners = threads.map((t) => (filter.text.trim() || statements ? ownersOf(t) : null));
    const total = this.store.eventCount;
    if (this.row.length < total) {
      this.thread = new Uint16Array(total);
      this.row = new Uint32Array(total);
    }
    let n = 0;
    eachRunInTimeOrder(threads, (thread, from, to) => {
      const { index } = thread;
      for (let row = from; row < to; row++)
        if (matches(thread, row, filter, tests[index]!, owners[index]!)) {
          this.thread[n] = index;
          this.row[n++] = row;
        }
    });
    this.count = n;
    this.sort(filter.order ?? IN_TIME);
    return n;
  }

  /** Sort the lines, which are in time order. */
  private sort({ key, descending }: EventOrder): void {
    this.inTime = key === 'time' && !descending;
    if (this.inTime) return;
    const { count, thread, row } = this;
    if (key === 'time') {
      thread.subarray(0, count).reverse();
      row.subarray(0, count).reverse();
      return;
    }
    const us = new Float64Array(count);
    for (let line = 0; line < count; line++) {
      const { events } = this.store.threads[thread[line]!]!;
      us[line] = durationAt(events, row[line]!);
    }
    const order = sortByKey(us, descending);
    this.thread = order.gather(thread);
    this.row = order.gather(row);
  }

  /** The event of a line. @throws RangeError outside 0..count-1 */
  at(line: number): EventRef {
    if (!(line >= 0 && line < this.count)) throw new RangeError(`line ${line} of ${this.count}`);
    return this.store.threads[this.thread[line]!]!.ref(this.row[line]!);
  }
  /** When the event of a line began, microseconds. */
  beginOf(line: number): number {
    return this.store.threads[this.thread[line]!]!.events.t0[this.row[line]!]!;
  }

  /** The current lines, for callers that read them in pieces. */
  slice(from: number, count: number): { thread: Uint16Array; row: Uint32Array } {
    const [begin, end] = [Math.max(0, from), Math.min(this.count, from + count)];
    return { thread: this.thread.slice(begin, end), row: this.row.slice(begin, end) };
  }

  /** Line of an event, -1 when the filter hides it. */
  lineOf({ thread, seq }: EventRef): number {
    const events = this.store.threads[thread]?.events;
    const row = events?.rowOfSeq(seq) ?? -1;
    if (row < 0) return -1;
    if (!this.inTime) {
      for (let line = 0; line < this.count; line++)
        if (this.row[line] === row && this.thread[line] === thread) return line;
      return -1;
    }
    const t0 = events!.t0[row]!;
    for (let line = this.lineFrom(t0); line < this.count && this.beginOf(line) === t0; line++)
      if (this.thread[line] === thread && this.row[line] === row) return line;
    return -1;
  }
  /** The first line that starts at or after a moment; lines must be in time order. */
  lineFrom(us: number): number {
    return firstPlace(0, this.count, (line) => this.beginOf(line) >= us);
  }
}

/** Indexes of the events that read or wrote a page, in any database, by thread. */
function rowsOfPage(facts: Facts, page: number): Map<number, Set<number>> {
  const found = new Map<number, Set<number>>();
  const { count, place, span, thread, row } = facts.get(accesses);
  for (let i = 0; i < count; i++) {
    if (page < place[i]! || page >= place[i]! + span[i]!) continue;
    getOrMake(found, thread[i]!, () => new Set<number>()).add(row[i]!);
  }
  return found;
}

function testOf(
  thread: ThreadStore,
  filter: EventFilter,
  statements: StatementTest | null,
  rows: Set<number> | null,
): ThreadTest {
  const { where } = filter;
  const layers = new Uint8Array(256);
  for (const op of OPS)
    if (
      op &&
      (filter.layers === null || filter.layers.includes(op.layer)) &&
      (!filter.withoutOwn || !IS_OWN[op.code] || where?.op === opName(op.code)) &&
      (!where?.op || opName(op.code) === where.op)
    )
      layers[op.code] = 1;
  const words = filter.text
    .toLowerCase()
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => {
      const ops = new Uint8Array(256);
      for (const op of OPS)
        if (op && opName(op.code).toLowerCase().includes(word)) ops[op.code] = 1;
      return { ops, objects: namedLike(thread, word) };
    });
  const nothing =
    (filter.thread !== undefined && filter.thread !== thread.index) ||
    (where !== undefined && where.thread !== null && where.thread !== thread.index);
  const object = where?.object.trim().toLowerCase() ?? '';
  return {
    layers,
    words,
    objects: object ? namedLike(thread, object) : null,
    rows,
    isStatement: testOfTexts(thread, statements),
    nothing,
    openUs: threadEndUs(thread, Infinity),
  };
}
function namedLike(thread: ThreadStore, low: string): Set<number> {
  const ids = new Set<number>();
  for (const id of thread.definitions.keys())
    if (objectName(thread, id).toLowerCase().includes(low)) ids.add(id);
  return ids;
}

function matches(
  thread: ThreadStore,
  row: number,
  filter: EventFilter,
  test: ThreadTest,
  owners: Owners | null,
): boolean {
  const { events } = thread;
  const op = events.op[row]!;
  if (test.nothing || !test.layers[op]) return false;
  const t0 = events.t0[row]!;
  if (filter.toUs !== null && t0 >= filter.toUs) return false;
  if (
    filter.fromUs !== null &&
    (events.endSeq[row] === 0 ? test.openUs : t0 + events.dur[row]!) < filter.fromUs
  )
    return false;
  if (filter.errorsOnly && !isFailure(op, events.result[row]!, events.flags[row]!)) return false;
  if (test.objects && !test.objects.has(events.object[row]!)) return false;
  if (test.rows && !test.rows.has(row)) return false;
  if (filter.where && !meets(thread, row, filter.where)) return false;
  const call = owners?.statement(row) ?? -1;
  if (test.isStatement && (call < 0 || !test.isStatement(events.object[call]!))) return false;
  for (const { ops, objects } of test.words)
    if (
      !ops[op] &&
      !objects.has(events.object[row]!) &&
      !objects.has(call < 0 ? 0 : events.object[call]!)
    )
      return false;
  return true;
}

/** The conditions that are checked for each event. */
function meets({ events }: ThreadStore, row: number, where: EventWhere): boolean {
  if (where.leastUs !== null && (events.endSeq[row] === 0 || events.dur[row]! < where.leastUs))
    return false;
  if (where.leastBytes !== null && bytesCarried(events, row) < where.leastBytes) return false;
  const wanted = where.result.trim().toLowerCase();
  if (wanted === '') return true;
  if (events.endSeq[row] === 0) return false; // it hasn't returned
  const result = events.result[row]!;
  if (/^-?\d+$/.test(wanted)) return result === Number(wanted);
  return resultText(events.op[row]!, result, events.flags[row]!).toLowerCase().includes(wanted);
}
