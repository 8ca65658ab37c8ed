/**
 * Follows the writes to one WAL, from the place, length and first words of each, and says what they are:
 *
 *   | header 32 | frame header 24 | page | frame header 24 | page | ...
 *
 * SQLite writes a frame as its header, then its page; Turso writes both at once, or several frames. Writing a page again within a
 * transaction, SQLite replaces the page alone, and before the commit the headers alone (their checksums). After a commit it repeats
 * the last frame up to a sector's end (synchronous=full, no POWERSAFE_OVERWRITE). No object per write: results are fields.
 */
import { decodeWalHeader, WAL_FRAME_HEADER, WAL_HEADER, type WalHeader } from './wal.ts';
import { isPageSize } from './words.ts';

/** What a write to a WAL was. */
export const WalWrite = {
  /** Page bytes of a frame whose header came before, or what cannot be told: the WAL's page size is not known yet. */
  other: 0,
  /** The WAL's header: it starts, or starts again from its beginning with new salts. */
  header: 1,
  /** One or several frames, of which the first one's header is known. */
  frames: 2,
  /** The header of a frame written before, to correct its checksum, or the last frame once more to fill a sector. */
  repeat: 3,
} as const;
export type WalWriteCode = (typeof WalWrite)[keyof typeof WalWrite];

export class WalTracker {
  /** Of the last write that was `frames` or `repeat`: number of its first frame (from 1), that frame's page and commit size. */
  frame = 0;
  page = 0;
  commitSize = 0;
  /** Frames in that write; the pages of all but the first are not known. */
  framesInWrite = 0;

  /** Frames appended, in all; those repeated are not counted twice. */
  frames = 0;
  /** Commit frames among those whose header was seen. */
  commits = 0;
  /** Frames whose header was not seen, because they came behind others in one write: commits among them are missed. */
  unseenFrames = 0;
  /** Times that the header was written with new salts over frames: the WAL began again after a checkpoint. */
  restarts = 0;
  /** Number of the last frame of the WAL as it is now, and of its last one that commits. */
  lastFrame = 0;
  lastCommit = 0;
  /** Size of the database in pages after the last commit; 0 = none seen. */
  databasePages = 0;
  header: WalHeader | null = null;

  private pageBytes = 0;
  /** A frame header that waits for its page: offset, or -1. */
  private pendingAt = -1;
  private pendingPage = 0;
  private pendingCommit = 0;
  /** The pending header belongs to a frame already counted. */
  private counted = false;
  /** The last commit frame may still be repeated. */
  private padding = false;
  private paddingPage = 0;

  /** @param pageSize bytes, when known from elsewhere (the database header); 0 = from the WAL itself */
  constructor(pageSize = 0) {
    this.pageBytes = pageSize;
  }

  /** Bytes; 0 = not known yet. */
  get pageSize(): number {
    return this.pageBytes;
  }

  /** @param offset in the file @param length bytes written @param words the first words of them: 8, or as many as there are */
  write(offset: number, length: number, words: ArrayLike<number>): WalWriteCode {
    if (offset === 0) return this.start(length, words);
    if (this.pendingAt >= 0 && offset === this.pendingAt + WAL_FRAME_HEADER) return this.pageOf(length);
    this.pendingAt = -1;
    if (words.length < 2 || offset < WAL_HEADER || words[0] === 0) return WalWrite.other;
    // before the page size is known, the length of a single write of a frame tells it
    const single = length - WAL_FRAME_HEADER;
    if (!this.pageBytes && isPageSize(single) && (offset - WAL_HEADER) % length === 0) this.pageBytes = single;
    const headerAlone = length <= WAL_FRAME_HEADER; // shorter where a sync comes in the midst of it, at a sector's end
    if (!this.pageBytes) {
      if (headerAlone) this.keep(offset, words);
      return WalWrite.other;
    }
    const bytes = WAL_FRAME_HEADER + this.pageBytes;
    const at = (offset - WAL_HEADER) / bytes;
    if (!Number.isInteger(at) || (!headerAlone && length % bytes !== 0)) return WalWrite.other;
    if (this.header && words.length >= 4 && (words[2]! >>> 0 !== this.header.salt1 || words[3]! >>> 0 !== this.header.salt2))
      return WalWrite.other;
    this.tell(at + 1, words[0]! >>> 0, words[1]! >>> 0, headerAlone ? 1 : length / bytes);
    if (!headerAlone) return this.append();
    this.keep(offset, words);
    this.counted = this.frame > this.lastFrame;
    return this.counted ? this.append() : WalWrite.repeat; // if its page follows, it replaces a frame rolled back
  }

  /**
   * What follows belongs to another transaction: call it when the database is unlocked or a commit is reported (xUnlock, xShmLock,
   * COMMIT_PHASETWO). Without it, a transaction that writes the same single page as the one before is taken for padding.
   */
  boundary(): void {
    this.padding = false;
  }

  /** The WAL was cut. @param size bytes */
  truncate(size: number): void {
    this.pendingAt = -1;
    this.padding = false;
    if (size < WAL_HEADER) this.header = null;
    const frames = this.pageBytes && size > WAL_HEADER ? Math.floor((size - WAL_HEADER) / (WAL_FRAME_HEADER + this.pageBytes)) : 0;
    this.lastFrame = Math.min(this.lastFrame, frames);
    this.lastCommit = Math.min(this.lastCommit, frames);
  }

  private start(length: number, words: ArrayLike<number>): WalWriteCode {
    const header = length >= WAL_HEADER ? decodeWalHeader(words) : null;
    if (!header) return WalWrite.other;
    const before = this.header;
    if (this.lastFrame > 0 && (!before || before.salt1 !== header.salt1 || before.salt2 !== header.salt2)) this.restarts++;
    this.header = header;
    this.pageBytes = header.pageSize;
    this.lastFrame = this.lastCommit = 0;
    this.pendingAt = -1;
    this.padding = false;
    const frames = (length - WAL_HEADER) / (WAL_FRAME_HEADER + header.pageSize);
    if (frames > 0 && Number.isInteger(frames)) {
      this.lastFrame = frames;
      this.frames += frames;
      this.unseenFrames += frames;
    }
    return WalWrite.header;
  }

  private keep(offset: number, words: ArrayLike<number>): void {
    this.pendingAt = offset;
    this.pendingPage = words[0]! >>> 0;
    this.pendingCommit = words[1]! >>> 0;
    this.counted = false;
  }

  /** The page of the frame whose header came just before. */
  private pageOf(length: number): WalWriteCode {
    const at = this.pendingAt;
    this.pendingAt = -1;
    if (this.counted) return WalWrite.other;
    if (!this.pageBytes) {
      if (!isPageSize(length) || (at - WAL_HEADER) % (WAL_FRAME_HEADER + length) !== 0) return WalWrite.other;
      this.pageBytes = length;
    }
    this.tell((at - WAL_HEADER) / (WAL_FRAME_HEADER + this.pageBytes) + 1, this.pendingPage, this.pendingCommit, 1);
    return this.append();
  }

  private tell(frame: number, page: number, commitSize: number, frames: number): void {
    this.frame = frame;
    this.page = page;
    this.commitSize = commitSize;
    this.framesInWrite = frames;
  }

  /** The frames just told are new at the WAL's end, or replace those of a transaction rolled back. */
  private append(): WalWriteCode {
    const { frame, commitSize, page, framesInWrite } = this;
    const repeated =
      this.padding && framesInWrite === 1 && frame === this.lastFrame + 1 && page === this.paddingPage && commitSize === this.databasePages;
    this.lastFrame = frame + framesInWrite - 1;
    this.frames += framesInWrite;
    this.unseenFrames += framesInWrite - 1;
    this.padding = false;
    if (commitSize === 0) return WalWrite.frames;
    this.lastCommit = frame;
    this.databasePages = commitSize;
    this.paddingPage = page;
    this.padding = true;
    if (repeated) return WalWrite.repeat;
    this.commits++;
    return WalWrite.frames;
  }
}
