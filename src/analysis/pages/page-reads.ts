/**
 * How each connection reads the pages of a database file: first reads, reads again that a larger page cache would have served, and runs
 * of neighboring pages. When another connection commits, SQLite throws its cache away: reads after that count as first ones.
 */
import { Op } from '../../event/event.ts';
import { longer } from '../../trace/resized.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { Slots } from '../core/slots.ts';
import type { TransactionTable } from '../transactions/transaction-table.ts';
import { Evidence, findingFact, type FindingContext } from '../rules/context.ts';
import { Access, type AccessedObject } from './accesses.ts';
import { accesses } from './page-accesses.ts';

export interface PageReader {
  path: string;
  thread: number;
  /** Connection; 0 = not known: then all that the thread does with the file counts as one. */
  connection: number;
  pageBytes: number;
  reads: number;
  /** Reads of a page that it had had, unchanged. */
  rereads: number;
  /** Pages that it read three times or more, no write between. */
  hotPages: number;
  /** Pages that it read or wrote. */
  distinct: number;
  again: Evidence;
  /** Reads in ascending runs of at least RUN pages, of pages read for the first time. */
  inRuns: number;
  runs: number;
  longestRun: number;
  running: Evidence;
}

const RUN = 8;
/** Rows of a run that are shown. */
const SHOWN = 200;

class Reader {
  /** Epoch and number of reads of pages, by slot: a page's number is what the trace says, and may lie far out. */
  private readonly slots = new Slots();
  private seen: Int32Array = new Int32Array(16);
  private counts: Uint8Array = new Uint8Array(16);
  private readonly out: PageReader;
  private epoch = 1;
  // what a read counts: fields of their own, for there are millions
  private reads = 0;
  private rereads = 0;
  private hotPages = 0;
  private againBytes = 0;
  private againUs = 0;
  private againToUs = -Infinity;
  private readonly againRows = new Uint32Array(SHOWN);
  private next = 0;
  private end = -1;
  private readonly runRows = new Uint32Array(SHOWN);
  private runLength = 0;

  constructor(
    { path, unit }: AccessedObject,
    private readonly thread: ThreadStore,
    connection: number,
    /** To the database, by anybody; `who` tells the reader's own. */
    private readonly commits: Commits,
    private readonly who: number,
  ) {
    this.out = {
      path,
      thread: thread.index,
      connection,
      pageBytes: unit.bytes!,
      reads: 0,
      rereads: 0,
      hotPages: 0,
      distinct: 0,
      again: new Evidence(),
      inRuns: 0,
      runs: 0,
      longestRun: 0,
      running: new Evidence(),
    };
  }

  private slot(page: number): number {
    const slot = this.slots.slot(page);
    this.seen = longer(this.seen, slot + 1);
    this.counts = longer(this.counts, slot + 1);
    return slot;
  }

  read(row: number, page: number): void {
    const { out } = this;
    const { events } = this.thread;
    const us = events.t0[row]!;
    const length = events.length[row]!;
    const { endUs, who } = this.commits;
    for (; this.next < endUs.length && endUs[this.next]! <= us; this.next++)
      if (who[this.next] !== this.who) this.epoch++;
    const slot = this.slot(page);
    const { seen, counts } = this;
    this.reads++;
    const first = seen[slot] !== this.epoch;
    if (first) {
      if (seen[slot] === 0) out.distinct++;
      seen[slot] = this.epoch;
      counts[slot] = 1;
    } else {
      if (counts[slot]! < 255 && ++counts[slot]! === 3) this.hotPages++;
      const dur = events.dur[row]!;
      if (this.rereads < SHOWN) this.againRows[this.rereads] = row;
      this.rereads++;
      this.againBytes += length;
      this.againUs += dur;
      if (us + dur > this.againToUs) this.againToUs = us + dur;
    }
    const offset = events.offset[row]!;
    if (this.runLength > 0 && (!first || offset !== this.end)) this.endRun();
    if (first) {
      this.runLength++;
      if (this.runLength <= SHOWN) this.runRows[this.runLength - 1] = row;
      this.end = offset + length;
    }
  }
  /** What it all came to. */
  finish(): PageReader {
    this.endRun();
    const { out, rereads } = this;
    Object.assign(out, {
      reads: this.reads,
      rereads,
      hotPages: this.hotPages,
    });
    const { again } = out;
    for (const row of this.againRows.subarray(0, Math.min(SHOWN, rereads)))
      again.show(this.thread.index, row);
    again.count = rereads;
    again.bytes = this.againBytes;
    again.us = this.againUs;
    if (rereads) again.span(this.thread.events.t0[this.againRows[0]!]!, this.againToUs);
    return out;
  }
  write(page: number): void {
    const slot = this.slot(page);
    if (this.seen[slot] === 0) this.out.distinct++;
    this.seen[slot] = this.epoch;
    this.counts[slot] = 0;
  }
  private endRun(): void {
    const { out, runLength } = this;
    if (runLength >= RUN) {
      out.inRuns += runLength;
      out.runs++;
      out.longestRun = Math.max(out.longestRun, runLength);
      for (const row of this.runRows.subarray(0, Math.min(SHOWN, runLength)))
        out.running.add(this.thread, row, this.thread.events.length[row]!);
    }
    this.runLength = 0;
    this.end = -1;
  }
}

/** Commits to one database, ascending: when each ended, and who made it. */
interface Commits {
  endUs: Float64Array;
  who: Float64Array;
}
const NO_COMMITS: Commits = { endUs: new Float64Array(0), who: new Float64Array(0) };
const whoIs = (thread: number, context: number): number => thread * 2 ** 32 + context;

/** By path. */
function commitsOf(list: TransactionTable): Map<string, Commits> {
  const places = list.paths.map((): number[] => []);
  for (let i = 0; i < list.length; i++)
    if (list.outcome(i) === 'committed') places[list.pathOf[i]!]!.push(i);
  return new Map(
    places.map((own, path): [string, Commits] => {
      own.sort((a, b) => list.endUs[a]! - list.endUs[b]!);
      const endUs = Float64Array.from(own, (i) => list.endUs[i]!);
      return [
        list.paths[path]!,
        { endUs, who: Float64Array.from(own, (i) => whoIs(list.thread[i]!, list.context[i]!)) },
      ];
    }),
  );
}

/** One for each thread, connection and database file of which it read a page; pages in the log are not among them. */
export const pageReaders = findingFact(
  'pageReaders',
  'pages that each connection read',
  pageReadersOf,
);

function pageReadersOf(ctx: FindingContext): PageReader[] {
  const commits = commitsOf(ctx.transactions.list);
  const all = ctx.get(accesses);
  const { objects, askers } = all;
  const { what, thread: threads, row: rows, bytes, asker, object: objectOf, place, count } = all;
  const readers = new Map<number, Reader>();
  let [lastKey, reader] = [-1, undefined as Reader | undefined];
  for (let i = 0; i < count; i++) {
    if (what[i]! & (Access.wal | Access.checkpoint) || bytes[i] === 0) continue;
    const thread = ctx.store.threads[threads[i]!]!;
    const row = rows[i]!;
    const op = thread.events.op[row];
    if (op !== Op.xRead && op !== Op.xWrite) continue;
    const key = asker[i]! * objects.length + objectOf[i]!;
    if (key !== lastKey) reader = readers.get((lastKey = key));
    if (!reader) {
      const object = objects[objectOf[i]!]!;
      const { connection } = askers[asker[i]!]!;
      const others = commits.get(object.path) ?? NO_COMMITS;
      const who = whoIs(thread.index, connection);
      readers.set(key, (reader = new Reader(object, thread, connection, others, who)));
    }
    if (what[i]! & Access.write) reader.write(place[i]!);
    else reader.read(row, place[i]!);
  }
  return [...readers.values()]
    .map((reader) => reader.finish())
    .filter(({ reads }) => reads > 0)
    .sort((a, b) => a.thread - b.thread);
}
