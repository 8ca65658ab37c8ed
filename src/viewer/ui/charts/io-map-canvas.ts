/**
 * The I/O map's canvas: x is the timeline's, y is the offset in one file. Reads are blue and writes
 * orange, stronger with more calls. Syncs are ticks on the upper edge. Shows the last picture
 * stretched until the next one arrives.
 */
import type { IoMap, IoObject } from '../../../analysis/files/io-map.ts';
import type { SessionApi } from '../../../protocol/session.ts';
import { LatestOnly } from '../requests/latest-only.ts';
import type { Queries } from '../../../protocol/answers/queries.ts';
import { formatBytes, formatCount } from '../../../text/numbers.ts';
import { drawStretched, sized } from './canvas.ts';
import type { Palette } from './palette.ts';
import { mixed, type Surface } from './timeline-paint.ts';
import { spanOf, type Range } from './viewport.ts';

/** Columns to request beyond each edge, as a share of the width. */
const MARGIN = 0.25;
/**
 * While the view moves, the last map moves with it. The next map takes a pass over all its rows, so
 * it waits until the view rests, because pictures of the lanes would wait for it. This is the
 * maximum wait, and the maximum as a multiple of the time that the last map took.
 */
const REST_MS = 80;
const WAIT_AT_MOST_MS = 400;
const WAIT_RATIO = 10;
/**
 * Maps of a growing trace take at most a twentieth of the time, and come at least once a second.
 */
const GROWN_RATIO = 20;
const GROWN_AT_MOST_MS = 1000;
/** Cell codes from which a color is strongest: 16 calls. */
const STRONGEST = 64;
/** Share of its color in a cell with one call. */
const WEAKEST = 0.55;
const [READ, WRITE, SYNC] = [2, 3, 4];
/** A sync is a tick on the upper edge, CSS px. A line down the map would hide reads and writes. */
const TICK_PX = 5;
/** If each tick has this much room, a dotted line continues below it, CSS px. */
const LINE_ROOM_PX = 60;
const LABEL_HEIGHT = 13;

export class IoMapCanvas {
  private readonly g: CanvasRenderingContext2D;
  private size = { width: 0, height: 0, ratio: 1 };
  private view: Range = { from: 0, to: 1 };
  private object: IoObject | null = null;
  private palette: Palette | null = null;
  private picture: { canvas: OffscreenCanvas; of: Range; key: string; end: number } | null = null;
  private scheduled = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** When a map of another view was first wanted, ms of performance.now(). */
  private movedAt: number | null = null;
  /** When the last map arrived, ms of performance.now(), and how long it took. */
  private cameAt = -Infinity;
  private took = 0;
  private destroyed = false;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly session: Pick<SessionApi<Queries>, 'query'>,
    private readonly onError: (error: unknown) => void,
  ) {
    this.g = canvas.getContext('2d', { alpha: false })!;
  }

  destroy(): void {
    this.destroyed = true;
    this.asking.forget();
    cancelAnimationFrame(this.scheduled);
    clearTimeout(this.timer);
  }

  resize(width: number, height: number): void {
    const ratio = window.devicePixelRatio || 1;
    sized(this.canvas, width, height);
    this.size = { width, height, ratio };
    this.refresh();
    this.draw(); // at once: resizing has cleared the canvas
  }

  update(view: Range, object: IoObject | null, palette: Palette): void {
    const other = palette !== this.palette || object?.key !== this.object?.key || !this.picture;
    const longer = object?.end !== this.object?.end;
    const moved = view.from !== this.view.from || view.to !== this.view.to;
    Object.assign(this, { view, object, palette });
    if (other) this.refresh();
    else {
      if (longer) this.grown();
      if (moved && !this.covers(view)) this.refreshAtRest();
      this.invalidate();
    }
  }

  private refreshAtRest(): void {
    const now = performance.now();
    this.movedAt ??= now;
    const atMost = Math.max(WAIT_AT_MOST_MS, WAIT_RATIO * this.took);
    clearTimeout(this.timer);
    this.timer = setTimeout(
      () => this.refresh(),
      Math.max(0, Math.min(REST_MS, this.movedAt + atMost - now)),
    );
  }

  private covers(view: Range): boolean {
    const { picture, size } = this;
    if (!picture) return false;
    const columns = (spanOf(picture.of) / spanOf(view)) * Math.round(size.width * size.ratio);
    return (
      Math.abs(columns / picture.canvas.width - 1) < 1e-6 &&
      picture.of.from <= view.from &&
      picture.of.to >= view.to
    );
  }

  /** The trace has grown. */
  grown(): void {
    if (this.movedAt !== null) return; // a map was requested
    const pause = Math.min(GROWN_RATIO * this.took, GROWN_AT_MOST_MS);
    clearTimeout(this.timer);
    this.timer = setTimeout(
      () => this.refresh(),
      Math.max(0, this.cameAt + pause - performance.now()),
    );
  }

  /** Request another map at once. */
  refresh(): void {
    clearTimeout(this.timer);
    this.movedAt = null;
    this.invalidate();
    if (!this.destroyed) this.asking.want(null);
  }

  private readonly asking = new LatestOnly<null>(
    async () => {
      const { view, object, palette } = this;
      const { width, height, ratio } = this.size;
      const [columns, rows] = [Math.round(width * ratio), Math.round(height * ratio)];
      if (!object || !palette || columns < 1 || rows < 1) {
        this.picture = null;
        return;
      }
      const margin = Math.round(columns * MARGIN);
      const usPerColumn = spanOf(view) / columns;
      const of = { from: view.from - margin * usPerColumn, to: view.to + margin * usPerColumn };
      const wide = columns + 2 * margin;
      const { key, end } = object;
      const request = { key, end, fromUs: of.from, toUs: of.to, width: wide, height: rows };
      const began = performance.now();
      const map = await this.session.query('ioMap', request);
      if (this.destroyed) return;
      this.cameAt = performance.now();
      this.took = this.cameAt - began;
      this.picture = { canvas: paint(map, wide, rows, palette, ratio), of, key, end };
      this.canvas.dataset.map = String(Number(this.canvas.dataset.map ?? 0) + 1);
      this.invalidate();
    },
    (error) => this.onError(error),
  );

  private invalidate(): void {
    if (!this.scheduled)
      this.scheduled = requestAnimationFrame(() => {
        this.scheduled = 0;
        this.draw();
      });
  }

  private draw(): void {
    const { g, picture, palette, object, view } = this;
    const { width, height, ratio } = this.size;
    if (!palette) return;
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.fillStyle = palette.background;
    g.fillRect(0, 0, width, height);
    if (picture && picture.key === object?.key)
      drawStretched(
        g,
        picture.canvas,
        picture.of,
        view,
        width,
        { y: 0, height: picture.canvas.height },
        { y: 0, height },
      );
    if (!object) return;
    g.font = '11px system-ui, sans-serif';
    const label = (text: string, y: number): void => {
      g.fillStyle = palette.background;
      g.globalAlpha = 0.75; // any number of points is below it
      g.fillRect(0, y, g.measureText(text).width + 6, LABEL_HEIGHT);
      g.globalAlpha = 1;
      g.fillStyle = palette.subtle;
      g.fillText(text, 3, y + LABEL_HEIGHT / 2);
    };
    g.textBaseline = 'middle';
    const place = (share: number): string =>
      object.kind === 'idb-store'
        ? `key ${formatCount(object.end * share)}`
        : formatBytes(Math.round(object.end * share));
    label(place(1), 0);
    if (height > 60) label('0', height - LABEL_HEIGHT);
  }

  /** What is under the pointer: an offset, microseconds, and the tolerance around it. */
  at(x: number, y: number): { us: number; slackUs: number; offset: number; slack: number } | null {
    const { object, view, size } = this;
    if (!object || size.height < 1) return null;
    const perPx = object.end / size.height;
    const usPerPx = spanOf(view) / size.width;
    return {
      us: view.from + x * usPerPx,
      slackUs: 3 * usPerPx,
      offset: (size.height - y) * perPx,
      slack: 3 * perPx,
    };
  }
}

function paint(
  map: IoMap,
  width: number,
  height: number,
  palette: Palette,
  ratio: number,
): OffscreenCanvas {
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext('2d')!;
  const image = context.createImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  const { activity, background } = palette.pixels;
  const shades = (color: number): Uint32Array =>
    Uint32Array.from({ length: 256 }, (_, code) =>
      mixed(color, background, WEAKEST + (1 - WEAKEST) * Math.min(1, code / STRONGEST)),
    );
  const [reads, writes] = [shades(activity[READ]!), shades(activity[WRITE]!)];
  paintSyncs(map.syncs, { pixels, width, height }, palette, ratio);
  for (let i = 0; i < pixels.length; i++) {
    const written = map.writes[i]!;
    const read = map.reads[i]!;
    if (written) pixels[i] = writes[written]!;
    else if (read) pixels[i] = reads[read]!;
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

/** @param syncs by column */
export function paintSyncs(
  syncs: Uint8Array,
  { pixels, width, height }: Surface,
  palette: Pick<Palette, 'pixels'>,
  ratio: number,
): void {
  const { activity, background } = palette.pixels;
  const color = activity[SYNC]!;
  const faint = mixed(color, background, 0.5);
  const tick = Math.min(height, Math.round(TICK_PX * ratio));
  let columns = 0;
  for (let x = 0; x < width; x++) if (syncs[x]) columns++;
  const lines = columns * LINE_ROOM_PX * ratio <= width;
  for (let x = 0; x < width; x++) {
    if (!syncs[x]) continue;
    for (let y = 0; y < tick; y++) pixels[y * width + x] = color;
    if (lines) for (let y = tick; y < height; y += 3) pixels[y * width + x] = faint;
  }
}
