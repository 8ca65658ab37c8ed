// The checksum of a file's sections, compared with gzip's, for any length and wherever the bytes
// are split.
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { crc32 } from '../../src/trace/file/codec.ts';

const bytes = Uint8Array.from({ length: 300 }, (_, i) => (i * 7919 + (i >> 3)) & 255);
/** Checksum and length, in the last eight bytes of a gzip stream. */
const wanted = (of: Uint8Array): number => {
  const packed = gzipSync(of);
  return packed.readUInt32LE(packed.length - 8);
};

test('is CRC-32 of any number of bytes', () => {
  expect(crc32(new TextEncoder().encode('123456789'))).toBe(0xcbf43926);
  for (let from = 0; from < 9; from++)
    for (let to = from; to < bytes.length; to += 7)
      expect(crc32(bytes.subarray(from, to))).toBe(wanted(bytes.subarray(from, to)));
});

test('continues where another ended', () => {
  for (let cut = 0; cut <= 20; cut++)
    expect(crc32(bytes.subarray(cut), crc32(bytes.subarray(0, cut)))).toBe(wanted(bytes));
});
