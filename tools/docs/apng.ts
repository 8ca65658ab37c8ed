// Combines PNG images of one size into an animated PNG, which every browser shows. The compressed
// pixels stay unchanged, so no image is decoded. All images must be of the same kind (as one
// browser writes them).
import { crc32 } from '../build/zip.mjs';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const crc = Buffer.alloc(4);
  crc.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, crc]);
}

/** The header and the compressed pixels of a PNG. */
function partsOf(png: Buffer): { header: Buffer; pixels: Buffer } {
  if (!SIGNATURE.equals(png.subarray(0, 8))) throw new Error('not a PNG');
  let header: Buffer = Buffer.alloc(0);
  const pixels: Buffer[] = [];
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
    const type = png.toString('latin1', at + 4, at + 8);
    const data = png.subarray(at + 8, at + 8 + png.readUInt32BE(at));
    if (type === 'IHDR') header = data;
    if (type === 'IDAT') pixels.push(data);
  }
  return { header, pixels: Buffer.concat(pixels) };
}

/**
 * @param frames in order, each with its duration, ms below 65,536
 * @returns an APNG that repeats forever
 * @throws if the images differ in size or kind
 */
export function apng(frames: readonly { png: Uint8Array; ms: number }[]): Buffer {
  const parts = frames.map(({ png }) => partsOf(Buffer.from(png)));
  const { header } = parts[0]!;
  const number = (...values: number[]): Buffer => {
    const buffer = Buffer.alloc(4 * values.length);
    values.forEach((value, i) => buffer.writeUInt32BE(value, 4 * i));
    return buffer;
  };
  const out = [SIGNATURE, chunk('IHDR', header), chunk('acTL', number(frames.length, 0))];
  let sequence = 0;
  parts.forEach((part, i) => {
    if (!part.header.equals(header))
      throw new Error(`picture ${i} is of another size or kind than the first`);
    const delay = Buffer.alloc(6); // numerator, denominator; nothing disposed, nothing blended
    delay.writeUInt16BE(frames[i]!.ms, 0);
    delay.writeUInt16BE(1000, 2);
    out.push(
      chunk(
        'fcTL',
        Buffer.concat([number(sequence++), header.subarray(0, 8), number(0, 0), delay]),
      ),
    );
    out.push(
      i === 0
        ? chunk('IDAT', part.pixels)
        : chunk('fdAT', Buffer.concat([number(sequence++), part.pixels])),
    );
  });
  return Buffer.concat([...out, chunk('IEND', Buffer.alloc(0))]);
}
