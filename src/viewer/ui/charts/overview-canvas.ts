/**
 * The overview strip: the whole trace at a glance, and a window on it that the user drags, resizes,
 * or draws again.
 */
import type { SessionApi } from '../../../protocol/session.ts';
import { sized } from './canvas.ts';
import type { Palette } from './palette.ts';
import { paintOverview } from './timeline-paint.ts';
import { fitAll, spanOf, type Range } from './viewport.ts';

const EDGE_PX = 5;
const LEAST_WINDOW_PX = 4;
/** Minimum interval between paintings of a growing trace. */
const REFRESH_MS = 500;

type Grip = 'left' | 'right' | 'move' | 'new';

/** What is drawn over the picture. */
interface OverviewMarks {
  area: Range | null;
  notes: readonly { fromUs: number }[];
  /** Microseconds. */
  hits: Float64Array | null;
  /** Start and end of each event of the evidence, microseconds. */
  evidence: Float64Array | null;
}
const NO_MARKS: OverviewMarks = { area: null, notes: [], hits: null, evidence: null };

export class OverviewCanvas {
  private readonly g: CanvasRenderingContext2D;
  /** What was painted last, and its time range. */
  private image: { canvas: OffscreenCanvas; of: Range } | null = null;
  private size = { width: 1, height: 1, ratio: 1 };
  private whole: Range = { from: 0, to: 1 };
  private view: Range = { from: 0, to: 1 };
  private marks = NO_MARKS;
  private grip: { kind: Grip; x: number; view: Range } | null = null;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private lastRefresh = 0;
  private underWay = false;
  private wanted = false;
  private destroyed = false;
  private readonly abort = new AbortController();

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly session: Pick<SessionApi, 'timeline'>,
    private readonly events: {
      onLook(range: Range): void;
      onFit(): void;
      onError(error: unknown): void;
    },
    private palette: Palette,
  ) {
    this.g = canvas.getContext('2d', { alpha: false })!;
    const { signal } = this.abort;
    canvas.addEventListener('pointerdown', (event) => this.onDown(event), { signal });
    canvas.addEventListener('pointermove', (event) => this.onMove(event), { signal });
    canvas.addEventListener('pointerup', () => (this.grip = null), { signal });
    canvas.addEventListener('pointercancel', () => (this.grip = null), { signal });
    canvas.addEventListener('dblclick', () => this.events.onFit(), { signal });
  }

  destroy(): void {
    this.destroyed = true;
    if (this.timer !== null) clearTimeout(this.timer);
    this.abort.abort();
  }

  resize(width: number, height: number): void {
    const ratio = window.devicePixelRatio || 1;
    this.size = { width, height, ratio };
    sized(this.canvas, width, height);
    this.draw();
    this.refresh(true);
  }

  update(view: Range, extent: Range, palette: Palette, marks: OverviewMarks = NO_MARKS): void {
    this.marks = marks;
    const whole = fitAll(extent);
    const stale =
      palette !== this.palette || whole.from !== this.whole.from || whole.to !== this.whole.to;
    this.view = view;
    this.whole = whole;
    const recolor = palette !== this.palette;
    this.palette = palette;
    this.draw();
    if (stale) this.refresh(recolor);
  }

  /** The trace has changed. */
  refresh(atOnce = false): void {
    this.wanted = true;
    if (this.underWay) return; // requests again when it is done
    if (this.timer !== null) {
      if (!atOnce) return;
      clearTimeout(this.timer);
    }
    const wait = atOnce ? 0 : Math.max(0, this.lastRefresh + REFRESH_MS - performance.now());
    this.timer = setTimeout(() => {
      this.timer = null;
      void this.ask();
    }, wait);
  }

  private async ask(): Promise<void> {
    const { width, height, ratio } = this.size;
    const { whole } = this;
    const columns = Math.round(width * ratio);
    if (columns < 1 || this.destroyed) return;
    this.underWay = true;
    this.wanted = false;
    this.lastRefresh = performance.now();
    try {
      const frame = await this.session.timeline({ ...whole, width: columns, lanes: null });
      if (this.destroyed) return;
      const tall = Math.max(1, Math.round(height * ratio));
      const image = new OffscreenCanvas(columns, tall);
      const context = image.getContext('2d')!;
      const data = context.createImageData(columns, tall);
      const surface = { pixels: new Uint32Array(data.data.buffer), width: columns, height: tall };
      paintOverview(surface, frame.lanes, this.palette.pixels, Math.round(ratio));
      context.putImageData(data, 0, 0);
      this.image = { canvas: image, of: whole };
      this.draw();
    } catch (error) {
      this.events.onError(error);
    } finally {
      this.underWay = false;
      if (this.wanted) this.refresh(this.size.width !== width || this.size.height !== height);
    }
  }

  private x(us: number): number {
    return ((us - this.whole.from) / spanOf(this.whole)) * this.size.width;
  }
  private us(x: number): number {
    return this.whole.from + (x / this.size.width) * spanOf(this.whole);
  }

  private draw(): void {
    const { g, palette } = this;
    const { width, height, ratio } = this.size;
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.fillStyle = palette.background;
    g.fillRect(0, 0, width, height);
    if (this.image) {
      const left = this.x(this.image.of.from);
      g.imageSmoothingEnabled = false;
      // at its position until the next one arrives
      g.drawImage(this.image.canvas, left, 0, this.x(this.image.of.to) - left, height);
    }
    this.drawMarks();
    const left = Math.max(0, this.x(this.view.from));
    const right = Math.min(width, Math.max(left + LEAST_WINDOW_PX, this.x(this.view.to)));
    g.fillStyle = palette.shade;
    g.fillRect(0, 0, left, height);
    g.fillRect(right, 0, width - right, height);
    g.fillStyle = palette.accent;
    g.fillRect(left, 0, 1, height);
    g.fillRect(right - 1, 0, 1, height);
    for (const edge of [left, right]) g.fillRect(edge - 2, height / 2 - 8, 4, 16);
  }

  private drawMarks(): void {
    const { g, palette, marks } = this;
    const { height } = this.size;
    g.fillStyle = palette.accent;
    for (const us of marks.hits ?? []) g.fillRect(this.x(us), height - 7, 1, 7);
    const { evidence } = marks;
    if (evidence) {
      g.fillStyle = palette.background;
      g.globalAlpha = 0.6;
      g.fillRect(0, 0, this.size.width, height);
      g.globalAlpha = 1;
      g.fillStyle = palette.accent;
      for (let i = 0; i < evidence.length; i += 2) {
        const left = this.x(evidence[i]!);
        g.fillRect(left, 0, Math.max(1, this.x(evidence[i + 1]!) - left), height);
      }
    }
    if (marks.area)
      g.fillRect(
        this.x(marks.area.from),
        0,
        Math.max(2, this.x(marks.area.to) - this.x(marks.area.from)),
        3,
      );
    g.fillStyle = palette.note;
    for (const { fromUs } of marks.notes) g.fillRect(this.x(fromUs) - 1, 0, 2, 9);
  }

  private gripAt(x: number): Grip {
    const left = this.x(this.view.from);
    const right = this.x(this.view.to);
    if (Math.abs(x - left) <= EDGE_PX) return 'left';
    if (Math.abs(x - right) <= EDGE_PX) return 'right';
    // a window over everything can't move: dragging selects a part instead
    return x > left && x < right && right - left < this.size.width * 0.95 ? 'move' : 'new';
  }

  private onDown(event: PointerEvent): void {
    if (event.button !== 0) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.grip = { kind: this.gripAt(event.offsetX), x: event.offsetX, view: this.view };
  }

  private onMove(event: PointerEvent): void {
    const { grip } = this;
    if (!grip) {
      this.canvas.style.cursor = {
        left: 'ew-resize',
        right: 'ew-resize',
        move: 'grab',
        new: 'crosshair',
      }[this.gripAt(event.offsetX)];
      return;
    }
    const at = this.us(event.offsetX);
    const by = at - this.us(grip.x);
    if (grip.kind === 'move')
      return this.events.onLook({ from: grip.view.from + by, to: grip.view.to + by });
    if (Math.abs(event.offsetX - grip.x) < 3) return;
    const fixed =
      grip.kind === 'left'
        ? grip.view.to
        : grip.kind === 'right'
          ? grip.view.from
          : this.us(grip.x);
    this.events.onLook({ from: Math.min(fixed, at), to: Math.max(fixed, at) });
  }
}
