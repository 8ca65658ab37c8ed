/**
 * Shrinks pictures: a PNG with a palette of at most 256 colors (https://www.w3.org/TR/png-3/). A
 * screenshot of the panel has few colors and many shades of antialiased text; similar shades are
 * merged.
 */
import { deflateSync } from 'node:zlib';
import { crc32 } from '../../src/trace/file/codec.ts';

export interface Pixels {
  width: number;
  height: number;
  /** Red, green, blue, alpha by pixel, row by row. */
  rgba: Uint8Array;
}

const chunk = (type: string, data: Uint8Array): Buffer => {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const made = Buffer.alloc(body.length + 8);
  made.writeUInt32BE(data.length, 0);
  body.copy(made, 4);
  made.writeUInt32BE(crc32(body), body.length + 4);
  return made;
};

/**
 * At most 256 colors, and the palette color of each color: shades are merged in steps of at least
 * `step` per channel.
 */
function paletteOf(
  rgba: Uint8Array,
  step: number,
): { palette: number[]; indexOf: Map<number, number> } {
  const counts = new Map<number, number>();
  for (let at = 0; at < rgba.length; at += 4) {
    const color = (rgba[at]! << 16) | (rgba[at + 1]! << 8) | rgba[at + 2]!;
    counts.set(color, (counts.get(color) ?? 0) + 1);
  }
  for (let width = step; ; width = Math.ceil(width * 1.3)) {
    const cell = (c: number): number =>
      (Math.floor((c >> 16) / width) << 16) |
      (Math.floor(((c >> 8) & 255) / width) << 8) |
      Math.floor((c & 255) / width);
    const commonest = new Map<number, number>();
    for (const [color, n] of counts)
      if (n > (counts.get(commonest.get(cell(color))!) ?? 0)) commonest.set(cell(color), color);
    if (commonest.size > 256) continue;
    // a cell gets its most frequent shade, so that plain areas keep their exact color
    const cells = [...commonest.keys()];
    const index = new Map(cells.map((key, i) => [key, i]));
    return {
      palette: [...commonest.values()],
      indexOf: new Map([...counts.keys()].map((color) => [color, index.get(cell(color))!])),
    };
  }
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** A PNG that keeps every color. */
export function encodeTrueColorPng({ width, height, rgba }: Pixels): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8); // 8 bits a channel: red, green, blue
  const rows = Buffer.alloc((3 * width + 1) * height);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      rows.set(
        rgba.subarray(4 * (y * width + x), 4 * (y * width + x) + 3),
        (3 * width + 1) * y + 1 + 3 * x,
      );
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** @param step 1 keeps every color if there are at most 256 */
export function encodePng({ width, height, rgba }: Pixels, step = 12): Buffer {
  const { palette, indexOf } = paletteOf(rgba, step);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8); // 8 bits a pixel, by palette
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const at = 4 * (y * width + x);
      rows[y * (width + 1) + 1 + x] = indexOf.get(
        (rgba[at]! << 16) | (rgba[at + 1]! << 8) | rgba[at + 2]!,
      )!;
    }
  const colors = Uint8Array.from(palette.flatMap((c) => [c >> 16, (c >> 8) & 255, c & 255]));
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', colors),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}
