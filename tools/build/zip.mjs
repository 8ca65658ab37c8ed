// A zip file whose bytes depend on names and contents only: sorted, one date for all, no extra
// fields. Stores and reviewers can build a package again and compare.
import { deflateRawSync } from 'node:zlib';

const DOS_DATE = (0 << 9) | (1 << 5) | 1; // 1980-01-01 00:00, the zip epoch
const UTF8 = 0x0800;
const DEFLATED = 8;
const VERSION = 20;

const CRC = Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let bit = 0; bit < 8; bit++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c >>> 0;
});
/** CRC-32 as zip and gzip have it. @param {Uint8Array} bytes */
export function crc32(bytes) {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = CRC[(crc ^ byte) & 0xff] ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}

/** The fields that a file's own header and its directory entry share. */
function fields(buffer, at, { name, crc, packed, size }) {
  buffer.writeUInt16LE(VERSION, at);
  buffer.writeUInt16LE(UTF8, at + 2);
  buffer.writeUInt16LE(DEFLATED, at + 4);
  buffer.writeUInt16LE(0, at + 6);
  buffer.writeUInt16LE(DOS_DATE, at + 8);
  buffer.writeUInt32LE(crc, at + 10);
  buffer.writeUInt32LE(packed.length, at + 14);
  buffer.writeUInt32LE(size, at + 18);
  buffer.writeUInt16LE(name.length, at + 22);
}

/**
 * @param {Iterable<[string, Uint8Array]>} files path with slashes -> content; at most 65,535 files
 * and 4 GiB
 * @returns {Buffer} the archive
 */
export function zip(files) {
  const entries = [...files]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, data]) => ({
      name: Buffer.from(path),
      crc: crc32(data),
      packed: deflateRawSync(data, { level: 9 }),
      size: data.length,
    }));
  const parts = [];
  const directory = [];
  let offset = 0;
  for (const entry of entries) {
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    fields(local, 4, entry);
    parts.push(local, entry.name, entry.packed);
    const central = Buffer.alloc(46);
    central.writeUInt32LE(0x02014b50, 0);
    central.writeUInt16LE(VERSION, 4);
    fields(central, 6, entry);
    central.writeUInt32LE(offset, 42);
    directory.push(central, entry.name);
    offset += local.length + entry.name.length + entry.packed.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, listed, end]);
}
