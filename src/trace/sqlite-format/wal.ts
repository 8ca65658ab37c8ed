/** The write-ahead log's header and frame headers (sqlite.org/fileformat2.html section 4). Who follows its writes: wal-tracker.ts. */
import { isPageSize } from './words.ts';

export const WAL_HEADER = 32;
export const WAL_FRAME_HEADER = 24;
/** Without its last bit, which says in which byte order checksums are computed. */
const MAGIC = 0x377f0682;

export interface WalHeader {
  /** 3007000 */
  version: number;
  /** Bytes. */
  pageSize: number;
  /** Grows with every restart. */
  checkpointSequence: number;
  salt1: number;
  salt2: number;
  checksum1: number;
  checksum2: number;
  bigEndianChecksums: boolean;
}

export interface WalFrameHeader {
  /** Page number, from 1. */
  page: number;
  /** Size of the database in pages after the transaction in the frame that commits it; 0 in its other frames. */
  commitSize: number;
  salt1: number;
  salt2: number;
  checksum1: number;
  checksum2: number;
}

/** @param words 8, from the WAL's beginning @returns null where they are no WAL header */
export function decodeWalHeader(words: ArrayLike<number>): WalHeader | null {
  if (words.length < 8 || (words[0]! & ~1) >>> 0 !== MAGIC || !isPageSize(words[2]! >>> 0)) return null;
  const u = (i: number): number => words[i]! >>> 0;
  return {
    version: u(1),
    pageSize: u(2),
    checkpointSequence: u(3),
    salt1: u(4),
    salt2: u(5),
    checksum1: u(6),
    checksum2: u(7),
    bigEndianChecksums: (words[0]! & 1) === 1,
  };
}

/** @param words at least 6, from the frame's beginning @returns null where no frame can begin so: pages are numbered from 1 */
export function decodeWalFrameHeader(words: ArrayLike<number>): WalFrameHeader | null {
  if (words.length < 6 || words[0] === 0) return null;
  const u = (i: number): number => words[i]! >>> 0;
  return { page: u(0), commitSize: u(1), salt1: u(2), salt2: u(3), checksum1: u(4), checksum2: u(5) };
}
