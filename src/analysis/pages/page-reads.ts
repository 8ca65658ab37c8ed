/**
 * How each connection reads the pages of a database file: first reads, reads again that a larger page cache would have served, and runs
 * of neighbouring pages. One pass a thread. When another connection commits, SQLite throws its cache away: reads after that count as
 * first ones.
 */
import { Op } from '../../event/event.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { Slots } from '../core/slots.ts';
import type { TransactionTable } from '../transactions/transaction-table.ts';
import { Evidence, findingFact, type FindingContext } from '../rules/context.ts';
import { Fcntl } from '../../sqlite/constants.ts';
import { connectionKey } from '../../trace/lock-levels.ts';

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
  /** Pages in the order of reading, up to SAMPLE. */
  sample: number[];
}

const RUN = 8;
const SAMPLE = 20_000;
/** Rows of a run that are shown. */
const SHOWN = 200;
const SMALLEST_PAGE = 512;
/** Beyond lies no page of a database. */
const MOST_PAGES = 2 ** 32;

/** Epoch and number of reads of pages, by slot: a page's number is what the trace says, and may lie far out. */
class PageTable {
  private readonly slots = new Slots();
  seen = new Int32Array(16);
  reads = new Uint8Array(16);

  /** Where a page lies in `seen` and `reads`. */
  slot(page: number): number {
    const slot = this.slots.slot(page);
    if (slot >= this.seen.length) this.grow();
    return slot;
  }
  private grow(): void {
    const n = this.seen.length * 2;
    const [seen, reads] = [new Int32Array(n), new Uint8Array(n)];
    seen.set(this.seen);
    reads.set(this.reads);
    [this.seen, this.reads] = [seen, reads];
  }
}

class Reader {
  readonly table = new PageTable();
  private readonly out: PageReader;
  epoch = 1;
  checkpoint = false;
  // what a read counts: fields of their own, for there are millions
  private reads = 0;
  private rereads = 0;
  private hotPages = 0;
  private pageBytes = 0;
  private againBytes = 0;
  private againUs = 0;
  private againToUs = -Infinity;
  private readonly againRows = new Uint32Array(SHOWN);
  private next = 0;
  private end = -1;
  private readonly runRows = new Uint32Array(SHOWN);
  private runLength = 0;

  constructor(
    path: string,
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
      pageBytes: 0,
      reads: 0,
      rereads: 0,
      hotPages: 0,
      distinct: 0,
      again: new Evidence(),
      inRuns: 0,
      runs: 0,
      longestRun: 0,
      running: new Evidence(),
      sample: [],
    };
  }

  /** @param page from 0, numbered by the length of the read */
  read(row: number, page: number): void {
    const { out, table } = this;
    const { events } = this.thread;
    const us = events.t0[row]!;
    const length = events.length[row]!;
    const { endUs, who } = this.commits;
    for (; this.next < endUs.length && endUs[this.next]! <= us; this.next++)
      if (who[this.next] !== this.who) this.epoch++;
    const slot = table.slot(page);
    const { seen, reads } = table;
    if (length > this.pageBytes) this.pageBytes = length;
    if (this.reads++ < SAMPLE) out.sample.push(page);
    const first = seen[slot] !== this.epoch;
    if (first) {
      if (seen[slot] === 0) out.distinct++;
      seen[slot] = this.epoch;
      reads[slot] = 1;
    } else {
      if (reads[slot]! < 255 && ++reads[slot]! === 3) this.hotPages++;
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
      pageBytes: this.pageBytes,
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
    const { table } = this;
    const slot = table.slot(page);
    if (table.seen[slot] === 0) this.out.distinct++;
    table.seen[slot] = this.epoch;
    table.reads[slot] = 0;
  }
  endRun(): void {
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

/** One for each thread, database file and connection that read a page. */
export const pageReaders = findingFact(
  'pageReaders',
  'pages that each connection read',
  pageReadersOf,
);

function pageReadersOf(ctx: FindingContext): PageReader[] {
  const commits = commitsOf(ctx.transactions.list);
  const found: PageReader[] = [];
  for (const thread of ctx.store.threads) {
    const { index } = thread;
    const readers = new Map<number, Reader | null>();
    const readerOf = (object: number, context: number): Reader | null => {
      const key = connectionKey(object, context);
      let reader = readers.get(key);
      if (reader !== undefined) return reader;
      const file = ctx.file(thread, object);
      const database = file?.kind === 'main-db' ? file.path : null;
      reader =
        database === null
          ? null
          : new Reader(
              database,
              thread,
              context,
              commits.get(database) ?? NO_COMMITS,
              whoIs(index, context),
            );
      readers.set(key, reader);
      return reader;
    };
    readThread(thread, readerOf);
    for (const reader of readers.values()) {
      const out = reader?.finish();
      if (out && out.reads > 0) found.push(out);
    }
  }
  return found;
}

/** @param readerOf who reads, by file and connection; null where that is no database */
function readThread(
  { events }: ThreadStore,
  readerOf: (object: number, context: number) => Reader | null,
): void {
  const {
    op: ops,
    count,
    endSeq,
    object,
    context,
    offset: offsets,
    length: lengths,
    result,
    aux,
  } = events;
  let [lastObject, lastContext] = [-1, -1];
  let last: Reader | null = null;
  for (let row = 0; row < count; row++) {
    const op = ops[row]!;
    if (op !== Op.xRead && op !== Op.xWrite && op !== Op.xFileControl) continue;
    if (object[row] !== lastObject || context[row] !== lastContext)
      last = readerOf((lastObject = object[row]!), (lastContext = context[row]!));
    if (!last) continue;
    if (op === Op.xFileControl) {
      if (aux[row] === Fcntl.ckptStart) last.checkpoint = true;
      else if (aux[row] === Fcntl.ckptDone) last.checkpoint = false;
      continue;
    }
    const length = lengths[row]!;
    if (length < SMALLEST_PAGE || endSeq[row] === 0 || result[row] !== 0 || last.checkpoint)
      continue;
    const page = Math.floor(offsets[row]! / length);
    if (!(page >= 0 && page < MOST_PAGES)) continue;
    if (op === Op.xRead) last.read(row, page);
    else last.write(page);
  }
}
