/**
 * Draws the page x time map, one cell per bin. The color shows the most wasteful access, its
 * strength the number of accesses.
 *
 *   page ^ |T|  . . R R . .      T = type of the pages in that line, in a column of its own
 *        | |T|  W W . . W .
 *        +---+-------------> time
 */
import type { PageMatrix } from '../../../../analysis/pages/page-matrix.ts';
import { sized } from '../../charts/canvas.ts';
import { multiples, roundStep, timeTicks } from '../../charts/ticks.ts';
import { formatCount } from '../../../../text/numbers.ts';

export const LEFT = 78;
const RIGHT = 8;
export const TOP = 6;
export const BOTTOM = 18;
const TYPE_WIDTH = 9;

/** What the map counts. */
export type Shown = 'all' | 'reads' | 'rereads' | 'writes';
/** Colors, as custom properties. */
export const MAP_COLORS = {
  read: '--activity-read',
  reread: '--reread',
  write: '--activity-write',
  background: '--bg',
  text: '--text-subtle',
  grid: '--grid',
  accent: '--accent',
};
export type MapColors = typeof MAP_COLORS;
/** A part of the map: ranges of times and places, both [from, to). */
export interface MapArea {
  fromUs: number;
  toUs: number;
  fromPlace: number;
  toPlace: number;
}

const channels = (hex: string): [number, number, number] =>
  [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)) as [number, number, number];
/** Minimum strength, so that a cell with a single call is visible. */
const FAINTEST = 0.35;

/** One pixel per cell, row 0 is the highest place. */
export function paintCells(matrix: PageMatrix, shown: Shown, colors: MapColors): ImageData {
  const { timeBins, placeBins, reads, writes, rereads } = matrix;
  const image = new ImageData(timeBins, placeBins);
  const [read, reread, write, back] = [
    colors.read,
    colors.reread,
    colors.write,
    colors.background,
  ].map(channels) as [
    [number, number, number],
    [number, number, number],
    [number, number, number],
    [number, number, number],
  ];
  let most = 1;
  const countOf = (cell: number): number =>
    shown === 'reads'
      ? reads[cell]!
      : shown === 'rereads'
        ? rereads[cell]!
        : shown === 'writes'
          ? writes[cell]!
          : reads[cell]! + writes[cell]!;
  for (let cell = 0; cell < reads.length; cell++) most = Math.max(most, countOf(cell));
  const scale = 1 / Math.log2(1 + most);
  for (let time = 0; time < timeBins; time++)
    for (let bin = 0; bin < placeBins; bin++) {
      const cell = time * placeBins + bin;
      const count = countOf(cell);
      if (count === 0) continue;
      const writing = shown === 'writes' || (shown === 'all' && writes[cell]! > 0);
      const color = writing
        ? write
        : shown === 'rereads' || (shown === 'all' && rereads[cell]! > 0)
          ? reread
          : read;
      const strength = FAINTEST + (1 - FAINTEST) * Math.log2(1 + count) * scale;
      const at = ((placeBins - 1 - bin) * timeBins + time) * 4;
      for (let c = 0; c < 3; c++) image.data[at + c] = back[c]! + (color[c]! - back[c]!) * strength;
      image.data[at + 3] = 255;
    }
  return image;
}

export interface MapFrame {
  matrix: PageMatrix;
  cells: ImageData;
  /** Style of its pages' type, by place bin; null = none known. */
  types: readonly ({ color: string; hatched: boolean } | null)[];
  /** Outlined: selected by keyboard or pointer. */
  chosen: MapArea | null;
  /** Range that the user is dragging. */
  brush: MapArea | null;
}

/** Where times and places are on the canvas, CSS px. */
export class MapScale {
  constructor(
    readonly matrix: Pick<
      PageMatrix,
      'fromUs' | 'toUs' | 'fromPlace' | 'toPlace' | 'timeBins' | 'placeBins'
    >,
    readonly width: number,
    readonly height: number,
  ) {}
  get plotWidth(): number {
    return Math.max(1, this.width - LEFT - RIGHT);
  }
  get plotHeight(): number {
    return Math.max(1, this.height - TOP - BOTTOM);
  }
  x(us: number): number {
    return (
      LEFT +
      ((us - this.matrix.fromUs) / (this.matrix.toUs - this.matrix.fromUs || 1)) * this.plotWidth
    );
  }
  y(place: number): number {
    return (
      TOP +
      (1 - (place - this.matrix.fromPlace) / (this.matrix.toPlace - this.matrix.fromPlace || 1)) *
        this.plotHeight
    );
  }
  /** The cell under a point; outside the map, the nearest one. */
  cellAt(x: number, y: number): { time: number; bin: number } {
    const { timeBins, placeBins } = this.matrix;
    const clamp = (n: number, most: number): number => Math.max(0, Math.min(most, Math.floor(n)));
    return {
      time: clamp(((x - LEFT) / this.plotWidth) * timeBins, timeBins - 1),
      bin: clamp((1 - (y - TOP) / this.plotHeight) * placeBins, placeBins - 1),
    };
  }
  /**
   * The range of cells in whole places: a place belongs to the bin in which pageMatrix counts it.
   */
  area(a: { time: number; bin: number }, b = a): MapArea {
    const { fromUs, toUs, fromPlace, toPlace, timeBins, placeBins } = this.matrix;
    const [time0, time1] = [Math.min(a.time, b.time), Math.max(a.time, b.time) + 1];
    const [bin0, bin1] = [Math.min(a.bin, b.bin), Math.max(a.bin, b.bin) + 1];
    const place = (bin: number): number =>
      fromPlace + Math.ceil((bin * (toPlace - fromPlace)) / placeBins);
    const us = (time: number): number => fromUs + (time * (toUs - fromUs)) / timeBins;
    return {
      fromUs: us(time0),
      toUs: us(time1),
      fromPlace: place(bin0),
      toPlace: Math.max(place(bin0) + 1, place(bin1)),
    };
  }
}

/** Stripes in the background color, drawn over what should be hatched. */
function hatchOf(g: CanvasRenderingContext2D, background: string): CanvasPattern {
  const size = 4;
  const tile = new OffscreenCanvas(size, size);
  const stripe = tile.getContext('2d')!;
  stripe.fillStyle = background;
  for (let x = 0; x < size; x++) for (const y of [0, 1]) stripe.fillRect(x, (x + y) % size, 1, 1);
  return g.createPattern(tile, 'repeat')!;
}

const TICK_PX = 28;

/** Round places of [from, to), or the first place if none is round. @param height px of the axis */
export function placeTicks(from: number, to: number, height: number): number[] {
  const step = roundStep(Math.max(1, ((to - from) / Math.max(1, height)) * TICK_PX));
  const ticks = multiples({ from, to: to - 1 }, step);
  return ticks.length ? ticks : [from];
}

export function drawMap(
  canvas: HTMLCanvasElement,
  frame: MapFrame,
  scale: MapScale,
  colors: MapColors,
  cells: OffscreenCanvas,
): void {
  const { width, height, plotWidth, plotHeight } = scale;
  const g = sized(canvas, width, height);
  g.font = '10px system-ui, sans-serif';
  g.fillStyle = colors.text;
  g.strokeStyle = colors.grid;
  const { fromUs, toUs, fromPlace, toPlace, placeBins } = scale.matrix;
  for (const { at, label } of timeTicks({ from: fromUs, to: toUs }, plotWidth)) {
    const x = Math.round(scale.x(at)) + 0.5;
    g.beginPath();
    g.moveTo(x, TOP);
    g.lineTo(x, TOP + plotHeight);
    g.stroke();
    g.fillText(label, Math.min(x, width - RIGHT - g.measureText(label).width), height - 5);
  }
  g.textAlign = 'right';
  for (const place of placeTicks(fromPlace, toPlace, plotHeight))
    g.fillText(
      formatCount(place),
      LEFT - TYPE_WIDTH - 8,
      Math.min(TOP + plotHeight, scale.y(place + 0.5) + 4),
    );
  g.textAlign = 'left';
  cells.width = frame.cells.width;
  cells.height = frame.cells.height;
  cells.getContext('2d')!.putImageData(frame.cells, 0, 0);
  g.imageSmoothingEnabled = false;
  g.drawImage(cells, LEFT, TOP, plotWidth, plotHeight);
  const hatch = hatchOf(g, colors.background);
  for (let bin = 0; bin < placeBins; bin++) {
    const type = frame.types[bin];
    if (!type) continue;
    const top = TOP + (1 - (bin + 1) / placeBins) * plotHeight;
    for (const fill of type.hatched ? [type.color, hatch] : [type.color]) {
      g.fillStyle = fill;
      g.fillRect(LEFT - TYPE_WIDTH - 3, top, TYPE_WIDTH, Math.max(1, plotHeight / placeBins));
    }
  }
  g.strokeStyle = colors.text;
  g.strokeRect(LEFT - 0.5, TOP - 0.5, plotWidth + 1, plotHeight + 1);
  for (const [area, fill] of [
    [frame.chosen, false],
    [frame.brush, true],
  ] as const) {
    if (!area) continue;
    const [x0, x1] = [
      Math.max(LEFT, scale.x(area.fromUs)),
      Math.min(LEFT + plotWidth, scale.x(area.toUs)),
    ];
    const [y0, y1] = [
      Math.max(TOP, scale.y(area.toPlace)),
      Math.min(TOP + plotHeight, scale.y(area.fromPlace)),
    ];
    g.strokeStyle = g.fillStyle = colors.accent;
    g.lineWidth = 2;
    g.strokeRect(x0 - 1, y0 - 1, Math.max(3, x1 - x0 + 2), Math.max(3, y1 - y0 + 2));
    g.lineWidth = 1;
    g.globalAlpha = 0.2;
    if (fill) g.fillRect(x0, y0, x1 - x0, y1 - y0);
    g.globalAlpha = 1;
  }
}
