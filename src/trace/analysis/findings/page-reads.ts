/**
 * How each connection reads the pages of a database file: first reads, reads again that a larger page cache would have served, and runs
 * of neighbouring pages. One pass a thread. When another connection commits, SQLite throws its cache away: reads after that count as
 * first ones.
 */
import { Op } from '../../event.ts';
import type { ThreadStore } from '../../store.ts';
import { Evidence, transactions, type FindingContext } from './context.ts';

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

export const RUN = 8;
const SAMPLE = 20_000;
/** Rows of a run that are shown. */
const SHOWN = 200;
const SMALLEST_PAGE = 512;
const MOST_PAGES = 1 << 26;
const [CKPT_DONE, CKPT_START] = [37, 39];

/** Epoch and number of reads by page. */
class PageTable {
  seen = new Int32Array(256);
  reads = new Uint8Array(256);
  grow(page: number): void {
    if (page < this.seen.length) return;
    const n = Math.max(page + 1, this.seen.length * 2);
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
    private readonly foreign: readonly number[],
  ) {
    this.out = {
      ...{ path, thread: thread.index, connection, pageBytes: 0, reads: 0, rereads: 0, hotPages: 0, distinct: 0, again: new Evidence() },
      ...{ inRuns: 0, runs: 0, longestRun: 0, running: new Evidence(), sample: [] },
    };
  }

  private advance(us: number): void {
    while (this.next < this.foreign.length && this.foreign[this.next]! <= us) {
      this.next++;
      this.epoch++;
    }
  }

  read(row: number, us: number, page: number, length: number, offset: number): void {
    const { out, table } = this;
    if (this.next < this.foreign.length) this.advance(us);
    if (page >= table.seen.length) table.grow(page);
    if (length > this.pageBytes) this.pageBytes = length;
    if (this.reads++ < SAMPLE) out.sample.push(page);
    const first = table.seen[page] !== this.epoch;
    if (first) {
      if (table.seen[page] === 0) out.distinct++;
      table.seen[page] = this.epoch;
      table.reads[page] = 1;
    } else {
      if (table.reads[page]! < 255 && ++table.reads[page]! === 3) this.hotPages++;
      const dur = this.thread.events.dur[row]!;
      if (this.rereads < SHOWN) this.againRows[this.rereads] = row;
      this.rereads++;
      this.againBytes += length;
      this.againUs += dur;
      if (us + dur > this.againToUs) this.againToUs = us + dur;
    }
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
    Object.assign(out, { reads: this.reads, rereads, hotPages: this.hotPages, pageBytes: this.pageBytes });
    const { again } = out;
    for (const row of this.againRows.subarray(0, Math.min(SHOWN, rereads))) again.show(this.thread.index, row);
    again.count = rereads;
    again.bytes = this.againBytes;
    again.us = this.againUs;
    if (rereads) again.span(this.thread.events.t0[this.againRows[0]!]!, this.againToUs);
    return out;
  }
  write(page: number): void {
    const { table } = this;
    table.grow(page);
    if (table.seen[page] === 0) this.out.distinct++;
    table.seen[page] = this.epoch;
    table.reads[page] = 0;
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

/** One for each thread, database file and connection that read a page. */
export function pageReaders(ctx: FindingContext): PageReader[] {
  /** Ends of committed transactions by path, ascending, with who made them. */
  const commits = new Map<string, { us: number; who: string }[]>();
  for (const t of ctx.of(transactions).list) {
    if (t.outcome !== 'committed') continue;
    const list = commits.get(t.path);
    if (list) list.push({ us: t.endUs, who: `${t.thread} ${t.context}` });
    else commits.set(t.path, [{ us: t.endUs, who: `${t.thread} ${t.context}` }]);
  }
  for (const list of commits.values()) list.sort((a, b) => a.us - b.us);
  const found: PageReader[] = [];
  for (const thread of ctx.store.threads) {
    const { events, index } = thread;
    const readers = new Map<number, Reader | null>();
    const readerOf = (object: number, context: number): Reader | null => {
      const key = object + context * 2 ** 26;
      let reader = readers.get(key);
      if (reader !== undefined) return reader;
      const file = ctx.file(thread, object);
      const who = `${index} ${context}`;
      const foreign = file?.kind === 'main-db' ? (commits.get(file.path) ?? []).filter((c) => c.who !== who).map((c) => c.us) : [];
      reader = file?.kind === 'main-db' ? new Reader(file.path, thread, context, foreign) : null;
      readers.set(key, reader);
      return reader;
    };
    const { op: ops, endSeq, object, context, offset: offsets, length: lengths, result, aux } = events;
    let [lastObject, lastContext, last] = [-1, -1, null as Reader | null];
    for (let row = 0; row < events.count; row++) {
      const op = ops[row]!;
      if (op !== Op.xRead && op !== Op.xWrite && op !== Op.xFileControl) continue;
      if (object[row] !== lastObject || context[row] !== lastContext)
        last = readerOf((lastObject = object[row]!), (lastContext = context[row]!));
      if (!last) continue;
      if (op === Op.xFileControl) {
        if (aux[row] === CKPT_START) last.checkpoint = true;
        else if (aux[row] === CKPT_DONE) last.checkpoint = false;
        continue;
      }
      const [offset, length] = [offsets[row]!, lengths[row]!];
      if (length < SMALLEST_PAGE || endSeq[row] === 0 || result[row] !== 0 || last.checkpoint) continue;
      const page = Math.floor(offset / length);
      if (!(page >= 0 && page < MOST_PAGES)) continue;
      if (op === Op.xRead) last.read(row, events.t0[row]!, page, length, offset);
      else last.write(page);
    }
    for (const reader of readers.values()) {
      const out = reader?.finish();
      if (out && out.reads > 0) found.push(out);
    }
  }
  return found;
}
