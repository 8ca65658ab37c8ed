/**
 * Each write-ahead log of each thread in one pass: how far it grew, and what its checkpoints read and wrote. Shorter than wal.ts and
 * checkpoints.ts, for the rules need sums only and run on every trace.
 */
import { databasePath, isWalPath } from '../../event/file-names.ts';
import { AUX_WAL_HEADER, Op } from '../../event/event.ts';
import { opSet } from '../../event/operations.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { ById } from '../core/by-id.ts';
import { fact } from '../graph.ts';
import { Evidence } from '../rules/context.ts';
import { Fcntl } from '../../sqlite/constants.ts';

interface WalStory {
  /** Path of the database. */
  path: string;
  thread: number;
  /** Frames appended since the log began (again): now, and the most there were. */
  growth: number;
  longest: number;
  highWaterBytes: number;
  restarts: number;
  /** Frames of the longest growth: first and last. */
  grown: Evidence;
  checkpoints: number;
  /** Frames read by checkpoints, those younger than HOT_US, pages written by them, distinct pages among these. */
  reads: number;
  hotReads: number;
  copies: number;
  distinct: Set<number>;
  /** Writes of checkpoints that do not go on where the one before ended. */
  runs: number;
  copying: Evidence;
  /** Inside the bracket of CKPT_START and CKPT_DONE. */
  inside: boolean;
}

/** A page written so lately is in the page cache, most likely. */
const HOT_US = 100_000;
const MATTERS = opSet(
  Op.xRead,
  Op.xWrite,
  Op.opfsWrite,
  Op.xFileControl,
  Op.xTruncate,
  Op.opfsTruncate,
  Op.xDelete,
);

/** When the frame whose header lies at an offset was written. Headers are further apart than 512 bytes, so each has a cell of its own. */
class FrameTimes {
  private us = new Float64Array(1024).fill(NaN);
  set(offset: number, us: number): void {
    const cell = Math.floor(offset / 512);
    if (cell >= MOST_CELLS) return; // a log of 2 GiB; a forged trace may say more
    if (cell >= this.us.length) {
      const more = new Float64Array(Math.max(cell + 1, this.us.length * 2)).fill(NaN);
      more.set(this.us);
      this.us = more;
    }
    this.us[cell] = us;
  }
  at(offset: number): number | undefined {
    const us = this.us[Math.floor(offset / 512)];
    return us === undefined || Number.isNaN(us) ? undefined : us;
  }
  clear(): void {
    this.us.fill(NaN);
  }
}
const MOST_CELLS = 1 << 22;

/** One story a thread and log. */
export const walStories = fact(
  'walStories',
  'growth of write-ahead logs',
  {},
  ({ threads }): WalStory[] => threads.flatMap(scan),
);

/** A story while it is found out: when the frames in the log were written, and where the copying of a checkpoint goes on. */
interface Telling {
  story: WalStory;
  written: FrameTimes | null;
  copiedTo: number;
}
/** What an id of the thread is: a log, or its database. */
interface Part {
  of: Telling;
  wal: boolean;
}

function scan(thread: ThreadStore): WalStory[] {
  const { events, definitions, index } = thread;
  const tellings = new Map<string, Telling>();
  const parts = new ById<Part | null>();
  let any = false;
  const partOf = (object: number): Part | null => {
    const d = definitions.get(object);
    const isFile = d?.kind === 'file' && (d.fileKind === 'wal' || d.fileKind === 'main-db');
    if (!d || (!isFile && d.kind !== 'opfs-file')) return parts.set(object, null);
    const wal =
      d.kind === 'file' ? d.fileKind === 'wal' : d.kind === 'opfs-file' && isWalPath(d.path);
    const path = wal ? databasePath(d.path) : d.path;
    const key = `${d.kind} ${path}`;
    let of = tellings.get(key);
    if (!of) {
      const story = {
        path,
        thread: index,
        growth: 0,
        longest: 0,
        highWaterBytes: 0,
        restarts: 0,
        grown: new Evidence(),
        checkpoints: 0,
        reads: 0,
        hotReads: 0,
        copies: 0,
        distinct: new Set<number>(),
        runs: 0,
        copying: new Evidence(),
        inside: false,
      };
      tellings.set(key, (of = { story, written: null, copiedTo: NaN }));
    }
    return parts.set(object, { of, wal });
  };
  for (const [id, d] of definitions)
    if ((d.kind === 'file' || d.kind === 'opfs-file') && isWalPath(d.path)) {
      any = true;
      partOf(id);
    }
  if (!any) return [];
  const { op: ops, endSeq } = events;
  for (let row = 0; row < events.count; row++) {
    const op = ops[row]!;
    if (MATTERS[op] === 0 || endSeq[row] === 0) continue;
    const write = op === Op.xWrite || op === Op.opfsWrite;
    const object = events.object[row]!;
    let part = parts.get(object);
    if (part === undefined) part = partOf(object);
    if (!part) continue;
    const { of, wal } = part;
    const { story } = of;
    const offset = events.offset[row]!;
    const length = events.length[row]!;
    const aux = events.aux[row]!;
    if (op === Op.xFileControl) {
      if (aux === Fcntl.ckptStart) {
        story.inside = true;
        story.checkpoints++;
      } else if (aux === Fcntl.ckptDone) story.inside = false;
    } else if (!wal) {
      if (!write || !story.inside) continue;
      story.copies++;
      story.distinct.add(offset);
      story.copying.add(thread, row, length);
      if (of.copiedTo !== offset) story.runs++;
      of.copiedTo = offset + length;
    } else if (op === Op.xTruncate || op === Op.opfsTruncate || op === Op.xDelete) {
      if (op === Op.xDelete || offset < 32) story.growth = 0;
    } else if (op === Op.xRead) {
      if (!story.inside || length < 512) continue;
      story.reads++;
      story.copying.add(thread, row, length);
      const at = of.written?.at(offset - 24);
      if (at !== undefined && events.t0[row]! - at < HOT_US) story.hotReads++;
    } else {
      story.highWaterBytes = Math.max(story.highWaterBytes, offset + length);
      if (aux === AUX_WAL_HEADER) {
        if (story.growth > 0) story.restarts++;
        story.growth = 0;
        story.grown = new Evidence();
        of.written?.clear();
      } else if (aux !== 0) {
        story.growth++;
        story.longest = Math.max(story.longest, story.growth);
        story.grown.add(thread, row, length);
        of.written ??= new FrameTimes();
        of.written.set(offset, events.t0[row]!);
      }
    }
  }
  return [...tellings.values()].flatMap(({ story }) => (story.highWaterBytes > 0 ? [story] : []));
}
