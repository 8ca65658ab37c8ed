/**
 * The timeline's canvas: asks the session for frames, shows the last one stretched until the next is there, and turns wheel,
 * drag and click into what the user means. One request is under way at a time; the newest wish wins.
 */
import type { SessionApi } from '../session-api.ts';
import { paintStrip } from './frame-strip.ts';
import type { Palette } from './palette.ts';
import { drawScene, type Scene } from './timeline-draw.ts';
import { AXIS_HEIGHT, laneAt, lanesIn, topOf, type TimelineLayout } from './timeline-layout.ts';
import { panBy, spanOf, zoomAt, type Range } from './viewport.ts';

/** Columns asked for beyond each edge, as a share of the width: a short pan finds them painted. A view that follows is not panned. */
const MARGIN = 0.5;
/** The same of a picture at a new zoom: the next one often has another, and half the columns are there twice as fast. The rest follows. */
const MARGIN_OF_ZOOM = 0.125;
/** Lanes asked for above and below those on screen, as a share of the height: scrolling finds them painted. At a new zoom they follow, too. */
const LANES_AROUND = 1;
const REST_MS = 200;
const CLICK_SLACK_PX = 4;
const HIT_SLACK_PX = 3;
const WHEEL_ZOOM = 0.0022;
const MAX_COLUMNS = 16384;

export interface TimelineEvents {
  onLook(range: Range): void;
  /** A range was dragged out. */
  onArea(range: Range): void;
  onSelect(found: { thread: number; row: number } | null): void;
  /** The event under the pointer, or null; x and y in CSS px of the canvas. */
  onHover(found: { thread: number; row: number; x: number; y: number } | null): void;
  onDoubleClick(found: { thread: number; row: number } | null): void;
  onScroll(byPx: number): void;
  onError(error: unknown): void;
}

interface Drag {
  x: number;
  view: Range;
  moved: boolean;
  marking: boolean;
}

export class TimelineCanvas {
  /** Script time of the last picture, ms: shown by the benchmark. */
  lastDrawMs = 0;
  private readonly g: CanvasRenderingContext2D;
  private scene: Scene;
  private extent: Range = { from: 0, to: 1 };
  private following = false;
  private frameWanted = false;
  private frameUnderWay = false;
  private scheduled = 0;
  /** Rings when the zoom has been the same for a while. */
  private restTimer: ReturnType<typeof setTimeout> | undefined;
  private drag: Drag | null = null;
  private hovering = false;
  private hoverAt: { x: number; y: number } | null = null;
  private destroyed = false;
  private readonly abort = new AbortController();

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly session: Pick<SessionApi, 'timeline' | 'hit'>,
    private readonly events: TimelineEvents,
    palette: Palette,
  ) {
    this.g = canvas.getContext('2d', { alpha: false })!;
    const view = { from: 0, to: 1 };
    const layout: TimelineLayout = { groups: [], height: 0, pinned: [], pinnedHeight: 0 };
    this.scene = {
      ...{ width: 0, height: 0, ratio: 1, scrollTop: 0, view, layout, strip: null, palette },
      ...{ selected: null, marked: null, area: null, notes: [], hits: [], arrows: [] },
    };
    const { signal } = this.abort;
    canvas.addEventListener('wheel', (event) => this.onWheel(event), { passive: false, signal });
    canvas.addEventListener('pointerdown', (event) => this.onDown(event), { signal });
    canvas.addEventListener('pointermove', (event) => this.onMove(event), { signal });
    canvas.addEventListener('pointerup', (event) => this.onUp(event), { signal });
    canvas.addEventListener('pointercancel', () => this.endDrag(), { signal });
    canvas.addEventListener('pointerleave', () => this.leave(), { signal });
    canvas.addEventListener('dblclick', (event) => void this.onDouble(event), { signal });
  }

  destroy(): void {
    this.destroyed = true;
    cancelAnimationFrame(this.scheduled);
    clearTimeout(this.restTimer);
    this.abort.abort();
  }

  resize(width: number, height: number): void {
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.max(1, Math.round(width * ratio));
    this.canvas.height = Math.max(1, Math.round(height * ratio));
    Object.assign(this.scene, { width, height, ratio });
    this.refresh();
    this.draw(); // at once: resizing has emptied the canvas
  }

  /** Data, lanes or colours are not what they were: ask for a new frame. */
  refresh(): void {
    this.frameWanted = true;
    this.canvas.dataset.waiting = 'true';
    this.invalidate();
    void this.askForFrame();
  }

  /** @param following the view keeps up with a recording by itself */
  update(change: Partial<Omit<Scene, 'width' | 'height' | 'ratio' | 'strip' | 'marked'>>, extent: Range, following: boolean): void {
    this.extent = extent;
    this.following = following;
    const lookedElsewhere = change.view && (change.view.from !== this.scene.view.from || change.view.to !== this.scene.view.to);
    const changedShape =
      (change.layout && change.layout !== this.scene.layout) || (change.palette && change.palette !== this.scene.palette);
    Object.assign(this.scene, change);
    const scrolledAway =
      change.scrollTop !== undefined && this.lanesNear(this.scene.layout, 0).some((key) => !this.scene.strip?.lanes.has(key));
    if (changedShape || scrolledAway || (lookedElsewhere && !this.covered())) this.refresh();
    else this.invalidate();
  }

  /** Keys of the lanes on screen, and so many px above and below: no others are asked for. */
  private lanesNear(layout: TimelineLayout, around: number): string[] {
    const { height, scrollTop } = this.scene;
    return lanesIn(layout)
      .filter((lane) => {
        const top = AXIS_HEIGHT + topOf(layout, lane, scrollTop);
        return top < height + around && top + lane.height > -around;
      })
      .map((lane) => lane.key);
  }

  /** The painted strip has the view's own resolution. */
  private sameZoom(): boolean {
    const { strip, view, width, ratio } = this.scene;
    if (!strip) return false;
    const { frame } = strip;
    return Math.abs((frame.to - frame.from) / frame.width / (spanOf(view) / Math.round(width * ratio)) - 1) < 1e-6;
  }

  /** The painted strip shows the whole view at the view's own resolution. */
  private covered(): boolean {
    const { strip, view } = this.scene;
    return strip !== null && this.sameZoom() && strip.frame.from <= view.from && strip.frame.to >= view.to;
  }

  /** What a short pan needs, once nobody zooms any more. */
  private rest(): void {
    clearTimeout(this.restTimer);
    this.restTimer = setTimeout(() => this.refresh(), REST_MS);
  }

  private async askForFrame(): Promise<void> {
    if (this.frameUnderWay || this.destroyed) return;
    this.frameUnderWay = true;
    try {
      while (this.frameWanted && !this.destroyed) {
        this.frameWanted = false;
        const { view, width, ratio, layout } = this.scene;
        const columns = Math.min(MAX_COLUMNS, Math.round(width * ratio));
        const narrow = !this.following && !this.sameZoom();
        const lanes = this.lanesNear(layout, narrow ? 0 : LANES_AROUND * this.scene.height);
        if (columns < 1 || !lanes.length) continue; // out of sight for a moment: what is painted is there when it comes back
        const margin = this.following ? 0 : Math.round(columns * (narrow ? MARGIN_OF_ZOOM : MARGIN));
        const usPerColumn = spanOf(view) / columns;
        const request = { from: view.from - margin * usPerColumn, to: view.to + margin * usPerColumn, width: columns + 2 * margin, lanes };
        const frame = await this.session.timeline(request);
        if (this.destroyed) return;
        this.scene.strip = paintStrip(frame, this.scene.layout, this.scene.palette.pixels, ratio, this.scene.strip);
        this.canvas.dataset.frame = String(Number(this.canvas.dataset.frame ?? 0) + 1);
        if (narrow) this.rest();
        this.invalidate();
      }
    } catch (error) {
      this.events.onError(error);
    } finally {
      this.frameUnderWay = false;
      this.invalidate();
    }
  }

  private invalidate(): void {
    if (!this.scheduled && !this.destroyed)
      this.scheduled = requestAnimationFrame(() => {
        this.scheduled = 0;
        this.draw();
      });
  }
  private draw(): void {
    const began = performance.now();
    drawScene(this.g, this.scene);
    if (!this.frameWanted && !this.frameUnderWay) delete this.canvas.dataset.waiting; // what is shown is what is wanted
    this.lastDrawMs = performance.now() - began;
  }

  // ---- pointer and wheel ------------------------------------------------------------------------------------------------

  private usAt(x: number): number {
    const { view, width } = this.scene;
    return view.from + (x / width) * spanOf(view);
  }

  private onWheel(event: WheelEvent): void {
    const { view, width, layout, height } = this.scene;
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
    event.preventDefault();
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
      return this.events.onLook(panBy(view, (sideways * unit) / width, this.extent));
    const scrolls = layout.height > height - AXIS_HEIGHT - layout.pinnedHeight;
    if (scrolls && !event.ctrlKey && !event.metaKey && event.offsetY >= AXIS_HEIGHT) return this.events.onScroll(event.deltaY * unit);
    const factor = Math.exp(event.deltaY * unit * WHEEL_ZOOM * (event.ctrlKey && Math.abs(event.deltaY) < 20 ? 5 : 1)); // a pinch comes in small steps
    this.events.onLook(zoomAt(view, this.usAt(event.offsetX), factor, this.extent));
  }

  private onDown(event: PointerEvent): void {
    if (event.button !== 0) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.drag = { x: event.offsetX, view: this.scene.view, moved: false, marking: event.shiftKey || event.offsetY < AXIS_HEIGHT };
  }

  private onMove(event: PointerEvent): void {
    const { drag } = this;
    if (!drag) {
      this.hoverAt = { x: event.offsetX, y: event.offsetY };
      void this.hover();
      return;
    }
    const by = event.offsetX - drag.x;
    if (!drag.moved && Math.abs(by) < CLICK_SLACK_PX) return;
    drag.moved = true;
    this.events.onHover(null);
    if (drag.marking) {
      const ends = [this.usAt(drag.x), this.usAt(event.offsetX)].sort((a, b) => a - b);
      this.scene.marked = { from: ends[0]!, to: ends[1]! };
      this.invalidate();
    } else this.events.onLook(panBy(drag.view, -by / this.scene.width, this.extent));
  }

  private onUp(event: PointerEvent): void {
    const { drag } = this;
    const { marked } = this.scene;
    this.endDrag();
    if (!drag) return;
    if (marked) this.events.onArea(marked);
    else if (!drag.moved)
      void this.find(event.offsetX, event.offsetY).then(
        (found) => this.events.onSelect(found),
        (error: unknown) => this.events.onError(error),
      );
  }
  private endDrag(): void {
    this.drag = null;
    this.scene.marked = null;
    this.invalidate();
  }

  private async onDouble(event: MouseEvent): Promise<void> {
    try {
      this.events.onDoubleClick(await this.find(event.offsetX, event.offsetY));
    } catch (error) {
      this.events.onError(error);
    }
  }

  private async find(x: number, y: number): Promise<{ thread: number; row: number } | null> {
    if (y < AXIS_HEIGHT) return null;
    const lane = laneAt(this.scene.layout, y - AXIS_HEIGHT, this.scene.scrollTop);
    if (!lane) return null;
    return this.session.hit(lane.key, this.usAt(x), (HIT_SLACK_PX / this.scene.width) * spanOf(this.scene.view));
  }

  private leave(): void {
    this.hoverAt = null;
    this.events.onHover(null);
  }
  private async hover(): Promise<void> {
    if (this.hovering) return;
    this.hovering = true;
    try {
      while (this.hoverAt) {
        const at = this.hoverAt;
        const found = await this.find(at.x, at.y);
        if (this.hoverAt !== at) continue; // moved on meanwhile
        this.hoverAt = null;
        this.events.onHover(found && { ...found, ...at });
      }
    } catch (error) {
      this.events.onError(error);
    } finally {
      this.hovering = false;
    }
  }
}
