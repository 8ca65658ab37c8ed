/**
 * The matrix of pictures, scaled down, because full pictures would add 20 MB to the repository.
 * Each is stored as a thumbnail in which a pixel is the mean of 16 x 16 pixels, all thumbnails of a
 * view in one PNG per browser. A missing line, a moved pane, or a wrong color changes these means;
 * a browser's antialiasing doesn't. For a difference, the full picture is left next to the expected
 * one.
 */
import type { Page } from 'puppeteer-core';
import { decodePng } from './compare.ts';
import { encodeTrueColorPng, type Pixels } from './png.ts';
import type { Scene } from './scenes.ts';

/** Side of the square of picture pixels that become one. */
const CELL = 16;
/** Shades that one stored number represents, of 256. */
const SHADES = 8;
/** Maximum difference of a cell in any channel, of 255. */
const TOLERANCE = 14;
/** Maximum share of different cells: with the fonts of the stored pictures, and with others. */
export const CELLS_MAY_DIFFER = { sameFonts: 0.004, otherFonts: 0.35 };

const GAP = 1;
const across = (px: number): number => Math.ceil(px / CELL);

/** Position of each scene's thumbnail: those of one state and theme are in a row. */
function placesOf(scenes: readonly Scene[]): Map<string, { left: number; top: number }> {
  const places = new Map<string, { left: number; top: number }>();
  const rows = new Map<string, Scene[]>();
  for (const scene of scenes) {
    const row = `${scene.state} ${scene.theme}`;
    rows.set(row, [...(rows.get(row) ?? []), scene]);
  }
  let top = 0;
  for (const row of rows.values()) {
    let left = 0;
    for (const { name, width } of row) {
      places.set(name, { left, top });
      left += across(width) + GAP;
    }
    top += Math.max(...row.map(({ height }) => across(height))) + GAP;
  }
  return places;
}

export function thumbnailOf({ width, height, rgba }: Pixels): Pixels {
  const [columns, rows] = [across(width), across(height)];
  const out = new Uint8Array(columns * rows * 4).fill(255);
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++) {
      const [right, bottom] = [
        Math.min(width, (column + 1) * CELL),
        Math.min(height, (row + 1) * CELL),
      ];
      const sum = [0, 0, 0];
      let n = 0;
      for (let y = row * CELL; y < bottom; y++)
        for (let x = column * CELL; x < right; x++, n++)
          for (let c = 0; c < 3; c++) sum[c]! += rgba[4 * (y * width + x) + c]!;
      for (let c = 0; c < 3; c++)
        out[4 * (row * columns + column) + c] = Math.min(
          255,
          Math.round(sum[c]! / n / SHADES) * SHADES,
        );
    }
  return { width: columns, height: rows, rgba: out };
}

/**
 * Thumbnails of all scenes of a view, as one PNG. @param thumbnail null = missing: it stays white
 */
export function encodeStrip(
  scenes: readonly Scene[],
  thumbnail: (scene: Scene) => Pixels | null,
): Buffer {
  const places = placesOf(scenes);
  const boxes = scenes.map(({ name, width, height }) => ({ ...places.get(name)!, width, height }));
  const width = Math.max(...boxes.map((box) => box.left + across(box.width)));
  const height = Math.max(...boxes.map((box) => box.top + across(box.height)));
  const rgba = new Uint8Array(width * height * 4).fill(255);
  for (const scene of scenes) {
    const { left, top } = places.get(scene.name)!;
    const from = thumbnail(scene);
    if (!from) continue;
    for (let y = 0; y < from.height; y++)
      rgba.set(
        from.rgba.subarray(4 * y * from.width, 4 * (y + 1) * from.width),
        4 * ((top + y) * width + left),
      );
  }
  return encodeTrueColorPng({ width, height, rgba });
}

/** @param page that decodes PNGs @returns the thumbnail of each scene, in a strip */
export async function decodeStrip(
  page: Page,
  png: Uint8Array,
  scenes: readonly Scene[],
): Promise<(scene: Scene) => Pixels | null> {
  const { width, height, rgba } = await decodePng(page, png);
  const places = placesOf(scenes);
  return (scene) => {
    const { left, top } = places.get(scene.name)!;
    const [columns, rows] = [across(scene.width), across(scene.height)];
    if (left + columns > width || top + rows > height) return null; // another matrix
    const out = new Uint8Array(columns * rows * 4);
    for (let y = 0; y < rows; y++)
      out.set(
        rgba.subarray(4 * ((top + y) * width + left), 4 * ((top + y) * width + left + columns)),
        4 * y * columns,
      );
    return { width: columns, height: rows, rgba: out };
  };
}

/** @returns the share of different cells, and where, in pixels of the picture */
export function cellsDiffer(a: Pixels, b: Pixels): { share: number; where: string } {
  if (a.width !== b.width || a.height !== b.height) return { share: 1, where: 'another size' };
  let n = 0;
  let [left, top, right, bottom] = [Infinity, Infinity, 0, 0];
  for (let cell = 0; cell < a.width * a.height; cell++) {
    if (![0, 1, 2].some((c) => Math.abs(a.rgba[4 * cell + c]! - b.rgba[4 * cell + c]!) > TOLERANCE))
      continue;
    n++;
    const [x, y] = [(cell % a.width) * CELL, Math.floor(cell / a.width) * CELL];
    [left, top] = [Math.min(left, x), Math.min(top, y)];
    [right, bottom] = [Math.max(right, x + CELL), Math.max(bottom, y + CELL)];
  }
  return { share: n / (a.width * a.height), where: `${left},${top} to ${right},${bottom}` };
}
