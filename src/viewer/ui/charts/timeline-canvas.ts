/**
 * The timeline's canvas: requests frames from the session and shows the last one stretched until
 * the next one arrives. Only one request runs at a time; the newest wish wins. timeline-pointer.ts
 * handles wheel and pointer.
 */
import type { SessionApi } from '../../../protocol/session.ts';
import { paintStrip } from './frame-strip.ts';
import { sized } from './canvas.ts';
import type { Palette } from './palette.ts';
import { drawScene } from './timeline-draw.ts';
import type { Scene } from './timeline-overlay.ts';
import { roundStep } from './ticks.ts';
import { AXIS_HEIGHT, lanesIn, topOf, type TimelineLayout } from './timeline-layout.ts';
import { TimelinePointer, type TimelineEvents } from './timeline-pointer.ts';
import { UNFOLDED } from './folded-time.ts';
import { spanOf, type Range } from './viewport.ts';

/**
 * Columns to request beyond each edge, as a share of the width, so that a short pan finds them
 * painted. A view that follows a recording isn't panned.
 */
const MARGIN = 0.5;
/**
 * The same for a picture at a new zoom. The zoom often changes again, and half the columns take
 * half the time. The rest follows.
 */
const MARGIN_OF_ZOOM = 0.125;
/**
 * Lanes to request above and below those on screen, as a share of the height, so that scrolling
 * finds them painted. At a new zoom they follow later, too.
 */
const LANES_AROUND = 1;
const REST_MS = 200;
const MAX_COLUMNS = 16384;
/**
 * Maximum bins of a counter on screen. The length of a bin depends on the zoom only, not on the
 * window.
 */
const BINS = 500;

export class TimelineCanvas {
  /** Script time of the last picture, ms; shown by the benchmark. */
  lastDrawMs = 0;
  private readonly g: CanvasRenderingContext2D;
  private readonly scene: Scene;
  private following = false;
  /** Target of the view's animation: pictures are requested for it. */
  private aim: Range = { from: 0, to: 1 };
  private frameWanted = false;
  private frameUnderWay = false;
  private scheduled = 0;
  /** Fires when the zoom has been the same for a while. */
  private restTimer: ReturnType<typeof setTimeout> | undefined;
  private destroyed = false;
  private readonly abort = new AbortController();
  readonly pointer: TimelinePointer;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly session: Pick<SessionApi, 'timeline' | 'hit'>,
    private readonly events: TimelineEvents,
    palette: Palette,
  ) {
    this.g = canvas.getContext('2d', { alpha: false })!;
    const view = { from: 0, to: 1 };
    const layout: TimelineLayout = {
      groups: [],
      height: 0,
      evidenceHeight: 0,
      pinned: [],
      pinnedHeight: 0,
    };
    this.scene = {
      width: 0,
      height: 0,
      ratio: 1,
      scrollTop: 0,
      view,
      layout,
      strip: null,
      palette,
      selected: null,
      marked: null,
      area: null,
      notes: [],
      hits: [],
      arrows: [],
      marks: [],
      time: UNFOLDED,
      evidence: null,
    };
    this.pointer = new TimelinePointer(
      canvas,
      this.scene,
      session,
      events,
      () => this.invalidate(),
      this.abort.signal,
    );
  }

  destroy(): void {
    this.destroyed = true;
    cancelAnimationFrame(this.scheduled);
    clearTimeout(this.restTimer);
    this.abort.abort();
  }

  resize(width: number, height: number): void {
    const ratio = window.devicePixelRatio || 1;
    sized(this.canvas, width, height);
    Object.assign(this.scene, { width, height, ratio });
    this.refresh();
    this.draw(); // at once: resizing has cleared the canvas
  }

  /** Data, lanes, or colors have changed: request a new frame. */
  refresh(): void {
    this.frameWanted = true;
    this.canvas.dataset.waiting = 'true';
    this.invalidate();
    void this.askForFrame();
  }

  /** @param aim target of the view's animation @param following the view follows a recording */
  update(
    change: Partial<Omit<Scene, 'width' | 'height' | 'ratio' | 'strip' | 'marked'>>,
    aim: Range,
    extent: Range,
    following: boolean,
  ): void {
    this.pointer.extent = extent;
    this.following = following;
    const scrolled = change.scrollTop !== undefined && change.scrollTop !== this.scene.scrollTop;
    const lookedElsewhere =
      change.view &&
      (change.view.from !== this.scene.view.from || change.view.to !== this.scene.view.to);
    const changedShape =
      (change.layout && change.layout !== this.scene.layout) ||
      (change.palette && change.palette !== this.scene.palette) ||
      (change.time && change.time !== this.scene.time);
    const aimedElsewhere = aim.from !== this.aim.from || aim.to !== this.aim.to;
    this.aim = aim;
    Object.assign(this.scene, change);
    const scrolledAway =
      change.scrollTop !== undefined &&
      this.lanesNear(this.scene.layout, 0).some((key) => !this.scene.strip?.lanes.has(key));
    if (changedShape || scrolledAway || (aimedElsewhere && !this.covered())) this.refresh();
    else this.invalidate();
    if (lookedElsewhere || changedShape || scrolled) this.pointer.moved(following);
  }

  /**
   * Keys of the lanes on screen, and of those within this many px above and below. Only these are
   * requested.
   */
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
    const { strip, width, ratio } = this.scene;
    if (!strip) return false;
    const { frame } = strip;
    return (
      Math.abs(
        (frame.to - frame.from) / frame.width / (spanOf(this.aim) / Math.round(width * ratio)) - 1,
      ) < 1e-6
    );
  }

  /** The painted strip shows the whole view at the view's own resolution. */
  private covered(): boolean {
    const { strip } = this.scene;
    return (
      strip !== null &&
      this.sameZoom() &&
      strip.frame.from <= this.aim.from &&
      strip.frame.to >= this.aim.to
    );
  }

  /** What a short pan needs, requested after the zoom has ended. */
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
        const { width, ratio, layout } = this.scene;
        const view = this.aim;
        const columns = Math.min(MAX_COLUMNS, Math.round(width * ratio));
        const narrow = !this.following && !this.sameZoom();
        const lanes = this.lanesNear(layout, narrow ? 0 : LANES_AROUND * this.scene.height);
        // out of sight for a moment: the painted part is reused when it returns
        if (columns < 1 || !lanes.length) continue;
        const margin = this.following
          ? 0
          : Math.round(columns * (narrow ? MARGIN_OF_ZOOM : MARGIN));
        const usPerColumn = spanOf(view) / columns;
        const request = {
          from: view.from - margin * usPerColumn,
          to: view.to + margin * usPerColumn,
          width: columns + 2 * margin,
          lanes,
          pauses: this.scene.time.pauses,
          binUs: roundStep(spanOf(view) / BINS),
        };
        const frame = await this.session.timeline(request);
        if (this.destroyed) return;
        this.scene.strip = paintStrip(
          frame,
          this.scene.layout,
          this.scene.palette.pixels,
          ratio,
          this.scene.strip,
        );
        this.canvas.dataset.frame = String(Number(this.canvas.dataset.frame ?? 0) + 1);
        this.pointer.tell();
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
    // the current picture is the wanted one
    if (!this.frameWanted && !this.frameUnderWay) delete this.canvas.dataset.waiting;
    this.lastDrawMs = performance.now() - began;
  }
}
