/**
 * Reads SQLite's own headers in JavaScript from the buffer of an xRead or xWrite, as
 * header-decode.ts does for trampolines, but for your own VFS object. It reads at most 32 bytes.
 * event/operations.ts documents the results.
 */
import { AUX_WAL_HEADER } from '../../event/event.ts';
import type { FileKind } from '../../event/definitions.ts';
import {
  DATABASE_HEADER,
  isPageSize,
  SMALLEST_PAGE,
  VERSION_AT,
  VERSION_BYTES,
} from '../../sqlite/page-size.ts';
import { BTREE_PAGES } from '../../sqlite/page.ts';
import { WAL_FRAME_HEADER, WAL_HEADER } from '../../sqlite/wal.ts';

/** An open file, for the decoder. */
export interface HeadedFile {
  readonly kind: FileKind;
  /** Page size in bytes, once the header of a WAL was seen; 0 before. */
  walPageBytes: number;
}

/**
 * The result of the last `decodeHeader`. One for all, because no call comes between it and its use.
 */
export const decoded = { aux: 0, aux2: 0 };

const word = (b: Uint8Array, at: number): number =>
  ((b[at]! << 24) | (b[at + 1]! << 16) | (b[at + 2]! << 8) | b[at + 3]!) >>> 0;

/**
 * Fills `decoded`, with zeros where the bytes contain no header.
 * @param bytes memory with the buffer
 * @param at the buffer's position in it
 * @param offset, length of the call, bytes
 */
export function decodeHeader(
  file: HeadedFile,
  bytes: Uint8Array,
  at: number,
  offset: number,
  length: number,
): void {
  decoded.aux = decoded.aux2 = 0;
  // a buffer that memory growth has detached
  if (at + Math.min(length, WAL_HEADER) > bytes.length) return;
  if (file.kind === 'main-db') {
    if (length >= SMALLEST_PAGE) decodeType(bytes[at + (offset === 0 ? DATABASE_HEADER : 0)]!);
    if (length >= SMALLEST_PAGE && offset === 0) decoded.aux = word(bytes, at + VERSION_AT);
    else if (offset === VERSION_AT && length === VERSION_BYTES) {
      decoded.aux = word(bytes, at);
      decoded.aux2 = word(bytes, at + 12);
    }
  } else if (file.kind === 'wal') {
    decodeWal(file, bytes, at, offset, length);
  } else if (file.kind === 'journal' && offset === 0 && length >= 8 && length < SMALLEST_PAGE) {
    decoded.aux2 = word(bytes, at) === 0 && word(bytes, at + 4) === 0 ? 1 : 0;
  }
}

function decodeType(type: number): void {
  if (type < 16 && (BTREE_PAGES >>> type) & 1) decoded.aux2 = type;
}

function decodeWal(
  file: HeadedFile,
  bytes: Uint8Array,
  at: number,
  offset: number,
  length: number,
): void {
  if (offset === 0) {
    if (length !== WAL_HEADER) return;
    const size = word(bytes, at + 8);
    if (isPageSize(size)) file.walPageBytes = size;
    decoded.aux = AUX_WAL_HEADER;
    decoded.aux2 = word(bytes, at + 16);
    return;
  }
  if (offset < WAL_HEADER) return;
  const within = (offset - WAL_HEADER) % (file.walPageBytes + WAL_FRAME_HEADER);
  if (file.walPageBytes && within === WAL_FRAME_HEADER && length === file.walPageBytes)
    return decodeType(bytes[at]!);
  // at a sync point, SQLite splits a frame's header over two writes; the first eight bytes are
  // enough
  const isFrame = file.walPageBytes ? within === 0 && length >= 8 : length === WAL_FRAME_HEADER;
  if (!isFrame) return;
  decoded.aux = word(bytes, at);
  decoded.aux2 = word(bytes, at + 4);
}
