/** A strip of columns that each show the shares of their time by part, with threads stacked. */
import { SQL_PARTS } from '../../../analysis/core/time-parts.ts';
import { paletteOf } from './palette.ts';
import { paintOverview } from './timeline-paint.ts';

const EMPTY = {
  busy: new Uint8Array(0),
  activity: new Uint8Array(0),
  slices: new Float32Array(0),
  labels: [],
};

/**
 * @param stacks one for each thread, all equally long @returns a picture with one pixel per column
 */
export function stackImage(
  canvas: HTMLCanvasElement,
  stacks: readonly Uint8Array[],
  tall: number,
): ImageData {
  const columns = Math.max(1, (stacks[0]?.length ?? 0) / SQL_PARTS.length);
  const data = new ImageData(columns, tall);
  paintOverview(
    { pixels: new Uint32Array(data.data.buffer), width: columns, height: tall },
    stacks.map((stack, i) => ({ ...EMPTY, key: `${i}:time`, stack })),
    paletteOf(canvas).pixels,
    1,
  );
  return data;
}
