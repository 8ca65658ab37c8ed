/**
 * Compares the layout of two pictures: both are scaled down by CELL, so that a cell is the mean of
 * its pixels, and cells are compared with a tolerance. Text antialiasing differs between machines
 * and hardly changes a mean; a moved bar, border, or row, another color, or missing text does. Runs
 * in a page, which can decode PNGs.
 */
import type { Page } from 'puppeteer-core';
import type { Pixels } from './png.ts';

/** Side of a cell, pixels. */
const CELL = 4;
/** Maximum difference of a cell in any channel, of 255. */
const TOLERANCE = 24;
/** Maximum share of different cells: with the fonts of the stored pictures, and with others. */
export const MAY_DIFFER = { sameFonts: 0.004, otherFonts: 0.3 };

interface Difference {
  /** Share of all cells; 1 if the sizes differ. */
  share: number;
  /** The bounding box of all different cells, in pixels of the picture; null if there are none. */
  box: { left: number; top: number; right: number; bottom: number } | null;
}

const url = (png: Uint8Array): string =>
  `data:image/png;base64,${Buffer.from(png).toString('base64')}`;

/** @param page any page without a policy against data URLs, as about:blank */
export function difference(page: Page, a: Uint8Array, b: Uint8Array): Promise<Difference> {
  return page.evaluate(
    async (urls: string[], size: number, tolerance: number): Promise<Difference> => {
      const images = await Promise.all(
        urls.map(async (src) => {
          const image = new Image();
          image.src = src;
          await image.decode();
          return image;
        }),
      );
      const [{ width, height }, other] = images as [HTMLImageElement, HTMLImageElement];
      if (width !== other.width || height !== other.height)
        return {
          share: 1,
          box: {
            left: 0,
            top: 0,
            right: Math.max(width, other.width),
            bottom: Math.max(height, other.height),
          },
        };
      const columns = Math.ceil(width / size);
      const rows = Math.ceil(height / size);
      const [p, q] = images.map((image) => {
        const canvas = document.createElement('canvas');
        canvas.width = width;
        canvas.height = height;
        const context = canvas.getContext('2d', { willReadFrequently: true })!;
        context.drawImage(image, 0, 0);
        const { data } = context.getImageData(0, 0, width, height);
        const means = new Float32Array(columns * rows * 3);
        for (let y = 0; y < height; y++)
          for (let x = 0; x < width; x++)
            for (let c = 0; c < 3; c++)
              means[3 * (Math.floor(y / size) * columns + Math.floor(x / size)) + c]! +=
                data[4 * (y * width + x) + c]! / size ** 2;
        return means;
      }) as [Float32Array, Float32Array];
      let differing = 0;
      let box: Difference['box'] = null;
      for (let cell = 0; cell < columns * rows; cell++) {
        if (![0, 1, 2].some((c) => Math.abs(p[3 * cell + c]! - q[3 * cell + c]!) > tolerance))
          continue;
        differing++;
        const [x, y] = [(cell % columns) * size, Math.floor(cell / columns) * size];
        box ??= { left: x, top: y, right: x, bottom: y };
        box.left = Math.min(box.left, x);
        box.right = Math.max(box.right, x + size);
        box.bottom = y + size;
      }
      return { share: differing / (columns * rows), box };
    },
    [url(a), url(b)],
    CELL,
    TOLERANCE,
  );
}

/** The pixels of a PNG. */
export async function decodePng(page: Page, png: Uint8Array): Promise<Pixels> {
  const { width, height, base64 } = await page.evaluate(async (src: string) => {
    const image = new Image();
    image.src = src;
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = image.width;
    canvas.height = image.height;
    const context = canvas.getContext('2d')!;
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
    let text = '';
    for (let at = 0; at < data.length; at += 32768)
      text += String.fromCharCode(...data.subarray(at, at + 32768));
    return { width: image.width, height: image.height, base64: btoa(text) };
  }, url(png));
  return { width, height, rgba: Buffer.from(base64, 'base64') };
}

/** Widths of the panel's two fonts here: other widths mean other fonts. */
export function fontsOf(page: Page): Promise<string> {
  return page.evaluate(() => {
    const context = document.createElement('canvas').getContext('2d')!;
    const width = (font: string): number => {
      context.font = font;
      return Math.round(context.measureText('The quick brown fox, 1,234.5 µs').width * 10) / 10;
    };
    return `${JSON.stringify({ text: width('12px system-ui'), code: width('11px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace') })}\n`;
  });
}
