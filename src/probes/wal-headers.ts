/**
 * Decodes WAL headers and frame headers from the first 32 bytes of OPFS writes: for engines whose
 * VFS calls aren't seen (Turso writes a frame with header and page in one write), and for logs
 * inside a pool's file. event/operations.ts describes the result.
 */
import { AUX_WAL_HEADER } from '../event/event.ts';
import { isPageSize } from '../sqlite/page-size.ts';
import { WAL_FRAME_HEADER, WAL_HEADER } from '../sqlite/wal.ts';

const MAGIC = 0x377f0682;
const VERSION = 3007000;

/** What is known about the log in one file. */
interface KnownWal {
  /** Where it starts: not at 0 after a pool's own header. */
  base: number;
  frameBytes: number;
  salt1: number;
  salt2: number;
}

/** Decodes writes of one thread. The result is in `aux` and `aux2` until the next write. */
export class WalHeaders {
  aux = 0;
  aux2 = 0;
  private readonly known = new Map<number, KnownWal>();

  /**
   * @param file id of the file
   * @param offset where in the file; NaN = not known
   * @param data what the app writes
   * @param length its bytes
   */
  look(file: number, offset: number, data: ArrayBuffer | ArrayBufferView, length: number): void {
    this.aux = this.aux2 = 0;
    const single = length - WAL_FRAME_HEADER;
    // nearly every write ends here
    if (length !== WAL_HEADER && single !== 0 && !isPageSize(single)) return;
    const view = ArrayBuffer.isView(data)
      ? new DataView(data.buffer, data.byteOffset, Math.min(length, WAL_HEADER))
      : new DataView(data, 0, Math.min(length, WAL_HEADER));
    if (length === WAL_HEADER) this.header(file, offset, view);
    else this.frame(file, offset, length, view);
  }

  private header(file: number, offset: number, view: DataView): void {
    const pageSize = view.getUint32(8);
    if (
      (view.getUint32(0) & ~1) !== MAGIC ||
      view.getUint32(4) !== VERSION ||
      !isPageSize(pageSize)
    )
      return;
    this.aux = AUX_WAL_HEADER;
    this.aux2 = view.getUint32(16);
    this.known.set(file, {
      base: offset,
      frameBytes: WAL_FRAME_HEADER + pageSize,
      salt1: this.aux2,
      salt2: view.getUint32(20),
    });
  }

  private frame(file: number, offset: number, length: number, view: DataView): void {
    const log = this.known.get(file);
    const page = view.getUint32(0);
    if (page === 0) return;
    if (log) {
      if (length !== WAL_FRAME_HEADER && length !== log.frameBytes) return;
      if ((offset - log.base - WAL_HEADER) % log.frameBytes !== 0) return;
      if (view.getUint32(8) !== log.salt1 || view.getUint32(12) !== log.salt2) return;
    } else if (length === WAL_FRAME_HEADER || (offset - WAL_HEADER) % length !== 0) return; // a log that started earlier: known by its layout
    this.aux = page;
    this.aux2 = view.getUint32(4);
  }
}
