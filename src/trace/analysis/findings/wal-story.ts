/**
 * Each write-ahead log of each thread in one pass: how far it grew, and what its checkpoints read and wrote. Shorter than wal.ts and
 * checkpoints.ts, for the rules need sums only and run on every trace.
 */
import { AUX_WAL_HEADER, Op } from '../../event.ts';
import type { ThreadStore } from '../../store.ts';
import { Evidence, type FindingContext } from './context.ts';

export interface WalStory {
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
export const HOT_US = 100_000;
const [CKPT_DONE, CKPT_START] = [37, 39];
const MATTERS = new Uint8Array(256);
for (const op of [Op.xRead, Op.xWrite, Op.opfsWrite, Op.xFileControl, Op.xTruncate, Op.opfsTruncate, Op.xDelete]) MATTERS[op] = 1;

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
export function walStories(ctx: FindingContext): WalStory[] {
  return ctx.store.threads.flatMap((thread) => scan(thread));
}

function scan(thread: ThreadStore): WalStory[] {
  const { events, definitions, index } = thread;
  const stories = new Map<string, WalStory>();
  const parts: ({ story: WalStory; wal: boolean } | null)[] = [];
  let any = false;
  const partOf = (object: number): { story: WalStory; wal: boolean } | null => {
    const d = definitions.get(object);
    const isFile = d?.kind === 'file' && (d.fileKind === 'wal' || d.fileKind === 'main-db');
    if (!d || (!isFile && d.kind !== 'opfs-file')) return null;
    const wal = d.kind === 'file' ? d.fileKind === 'wal' : d.kind === 'opfs-file' && d.path.endsWith('-wal');
    const path = d.kind === 'file' || d.kind === 'opfs-file' ? d.path.replace(/-wal$/, '') : '';
    const key = `${d.kind} ${path}`;
    let story = stories.get(key);
    if (!story) {
      story = {
        ...{ path, thread: index, growth: 0, longest: 0, highWaterBytes: 0, restarts: 0, grown: new Evidence(), checkpoints: 0 },
        ...{ reads: 0, hotReads: 0, copies: 0, distinct: new Set(), runs: 0, copying: new Evidence(), inside: false },
      };
      stories.set(key, story);
    }
    return { story, wal };
  };
  for (const [id, d] of definitions)
    if ((d.kind === 'file' || d.kind === 'opfs-file') && d.path.endsWith('-wal')) {
      any = true;
      parts[id] = partOf(id);
    }
  if (!any) return [];
  const written = new Map<WalStory, FrameTimes>();
  const ends = new Map<WalStory, number>();
  const { op: ops, endSeq } = events;
  for (let row = 0; row < events.count; row++) {
    const op = ops[row]!;
    if (MATTERS[op] === 0 || endSeq[row] === 0) continue;
    const write = op === Op.xWrite || op === Op.opfsWrite;
    const object = events.object[row]!;
    const part = parts[object] === undefined ? (parts[object] = partOf(object)) : parts[object];
    if (!part) continue;
    const { story, wal } = part;
    const [offset, length, aux] = [events.offset[row]!, events.length[row]!, events.aux[row]!];
    if (op === Op.xFileControl) {
      if (aux === CKPT_START) {
        story.inside = true;
        story.checkpoints++;
      } else if (aux === CKPT_DONE) story.inside = false;
    } else if (!wal) {
      if (!write || !story.inside) continue;
      story.copies++;
      story.distinct.add(offset);
      story.copying.add(thread, row, length);
      if (ends.get(story) !== offset) story.runs++;
      ends.set(story, offset + length);
    } else if (op === Op.xTruncate || op === Op.opfsTruncate || op === Op.xDelete) {
      if (op === Op.xDelete || offset < 32) story.growth = 0;
    } else if (op === Op.xRead) {
      if (!story.inside || length < 512) continue;
      story.reads++;
      story.copying.add(thread, row, length);
      const at = written.get(story)?.at(offset - 24);
      if (at !== undefined && events.t0[row]! - at < HOT_US) story.hotReads++;
    } else {
      story.highWaterBytes = Math.max(story.highWaterBytes, offset + length);
      if (aux === AUX_WAL_HEADER) {
        if (story.growth > 0) story.restarts++;
        story.growth = 0;
        story.grown = new Evidence();
        written.get(story)?.clear();
      } else if (aux !== 0) {
        story.growth++;
        story.longest = Math.max(story.longest, story.growth);
        story.grown.add(thread, row, length);
        let times = written.get(story);
        if (!times) written.set(story, (times = new FrameTimes()));
        times.set(offset, events.t0[row]!);
      }
    }
  }
  return [...stories.values()].filter((s) => s.highWaterBytes > 0);
}
