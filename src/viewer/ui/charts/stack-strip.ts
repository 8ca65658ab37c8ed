/** A strip of columns, each the shares of its time by part, threads stacked. */
import { SQL_PARTS } from '../../../analysis/core/time-parts.ts';
import { paletteOf } from './palette.ts';
import { paintOverview } from './timeline-paint.ts';

const EMPTY = {
  busy: new Uint8Array(0),
  activity: new Uint8Array(0),
  slices: new Float32Array(0),
  labels: [],
};

/** @param stacks one of each thread, equally long @returns a picture of one pixel a column */
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
