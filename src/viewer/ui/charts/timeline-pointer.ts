/**
 * What wheel and pointer do on the timeline's canvas: change the view, select an area or an event,
 * and report what is under the pointer.
 */
import type { EventRef } from '../../../trace/store.ts';
import { shown } from '../../../text/clean.ts';
import { LatestOnly } from '../requests/latest-only.ts';
import type { SessionApi } from '../../../protocol/session.ts';
import { laneTooltip, timeColumn, type TimeColumn } from './lane-tooltip.ts';
import { AXIS_HEIGHT, laneAt, type LaneBox } from './timeline-layout.ts';
import { noteAt, type Scene } from './timeline-overlay.ts';
import { panBy, spanOf, type Range } from './viewport.ts';
import { wheeled, wheelPx } from './wheel.ts';

const CLICK_SLACK_PX = 4;
const HIT_SLACK_PX = 3;

/**
 * The place under the pointer, CSS px of the canvas, and what is known about it without a query.
 */
export interface Pointed {
  x: number;
  y: number;
  us: number;
  /** The range that the user is dragging. */
  marked: Range | null;
  /** Text for a note's flag, or for a lane that draws values; '' = none. */
  text: string;
  /** What the lane of CPU and I/O shows there. */
  time: TimeColumn | null;
}

export interface TimelineEvents {
  onLook(range: Range): void;
  /** The user has dragged a range. */
  onArea(range: Range): void;
  onSelect(found: EventRef | null): void;
  /** The event under the pointer, or null; x and y in CSS px of the canvas. */
  onHover(found: (EventRef & { x: number; y: number }) | null): void;
  /** null = the pointer is elsewhere. */
  onPoint(pointed: Pointed | null): void;
  /** A note's flag was clicked. */
  onNote(id: number): void;
  /** The track of the evidence was clicked. @param slackUs tolerance next to an event */
  onEvidence(us: number, slackUs: number): void;
  onDoubleClick(found: EventRef | null): void;
  onScroll(byPx: number): void;
  onError(error: unknown): void;
}

interface Drag {
  x: number;
  /** Last vertical position of the pointer: lanes scroll with it. */
  y: number;
  view: Range;
  moved: boolean;
  marking: boolean;
}

export class TimelinePointer {
  /** Limits of the view. */
  extent: Range = { from: 0, to: 1 };
  private drag: Drag | null = null;
  /** Where the pointer is; null = elsewhere. */
  private at: { x: number; y: number } | null = null;
  private readonly hover = new LatestOnly<{ x: number; y: number }>(
    async (at, wanted) => {
      const found = await this.find(at.x, at.y);
      if (wanted()) this.events.onHover(found && { ...found, ...at });
    },
    (error) => this.events.onError(error),
  );

  /** @param redraw called when what is marked has changed @param signal ends it */
  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly scene: Scene,
    private readonly session: Pick<SessionApi, 'hit'>,
    private readonly events: TimelineEvents,
    private readonly redraw: () => void,
    signal: AbortSignal,
  ) {
    canvas.addEventListener('wheel', (event) => this.onWheel(event), { passive: false, signal });
    canvas.addEventListener('pointerdown', (event) => this.onDown(event), { signal });
    canvas.addEventListener('pointermove', (event) => this.onMove(event), { signal });
    canvas.addEventListener('pointerup', (event) => this.onUp(event), { signal });
    canvas.addEventListener('pointercancel', () => this.endDrag(), { signal });
    canvas.addEventListener('pointerleave', () => this.leave(), { signal });
    canvas.addEventListener('dblclick', (event) => void this.onDouble(event), { signal });
  }

  /** The moment under the pointer; null = it is elsewhere. */
  get us(): number | null {
    return this.at && this.scene.time.unfold(this.usAt(this.at.x));
  }

  /**
   * The picture has moved under the pointer. @param following it moves continuously: the last
   * result is shown until the next one arrives
   */
  moved(following: boolean): void {
    this.tell();
    if (!this.at || this.drag) return;
    if (!following) this.events.onHover(null);
    this.hover.want(this.at);
  }

  /** Restore everything from before the drag. @returns whether there was one */
  cancelDrag(): boolean {
    const { drag } = this;
    if (!drag) return false;
    this.endDrag();
    if (drag.moved && !drag.marking) this.events.onLook(drag.view);
    return true;
  }

  private usAt(x: number): number {
    const { view, width } = this.scene;
    return view.from + (x / width) * spanOf(view);
  }
  private laneUnder(y: number): LaneBox | null {
    return y < AXIS_HEIGHT
      ? null
      : laneAt(this.scene.layout, y - AXIS_HEIGHT, this.scene.scrollTop);
  }

  private onWheel(event: WheelEvent): void {
    const { view, width } = this.scene;
    event.preventDefault();
    const to = wheeled(event, { view, width, x: event.offsetX, extent: this.extent });
    if (to) this.events.onLook(to);
    else this.events.onScroll(wheelPx(event, event.deltaY));
  }

  private onDown(event: PointerEvent): void {
    if (event.button !== 0) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.drag = {
      x: event.offsetX,
      y: event.offsetY,
      view: this.scene.view,
      moved: false,
      marking: event.shiftKey || event.offsetY < AXIS_HEIGHT,
    };
  }

  private onMove(event: PointerEvent): void {
    const { drag } = this;
    this.at = { x: event.offsetX, y: event.offsetY };
    if (drag) this.dragTo(drag, event.offsetX, event.offsetY);
    else {
      this.canvas.style.cursor = noteAt(this.scene, this.at.x, this.at.y) ? 'pointer' : '';
      this.hover.want(this.at);
    }
    this.tell();
  }
  private dragTo(drag: Drag, x: number, y: number): void {
    const by = x - drag.x;
    if (!drag.moved && Math.abs(by) < CLICK_SLACK_PX && Math.abs(y - drag.y) < CLICK_SLACK_PX)
      return;
    drag.moved = true;
    this.unhover();
    if (drag.marking) {
      const ends = [this.usAt(drag.x), this.usAt(x)].sort((a, b) => a - b);
      this.scene.marked = { from: ends[0]!, to: ends[1]! };
      this.redraw();
    } else {
      if (y !== drag.y) this.events.onScroll(drag.y - y);
      drag.y = y;
      this.events.onLook(panBy(drag.view, -by / this.scene.width, this.extent));
    }
  }

  private onUp({ offsetX, offsetY }: PointerEvent): void {
    const { drag } = this;
    const { marked } = this.scene;
    this.endDrag();
    if (!drag) return;
    const note = drag.moved ? null : noteAt(this.scene, offsetX, offsetY);
    if (marked) this.events.onArea(marked);
    else if (note) this.events.onNote(note.id);
    else if (!drag.moved && this.onEvidenceTrack(offsetY))
      this.events.onEvidence(
        this.usAt(offsetX),
        ((2 * HIT_SLACK_PX) / this.scene.width) * spanOf(this.scene.view),
      );
    else if (!drag.moved)
      void this.find(offsetX, offsetY).then(
        (found) => this.events.onSelect(found),
        (error: unknown) => this.events.onError(error),
      );
  }
  private onEvidenceTrack(y: number): boolean {
    return y >= AXIS_HEIGHT && y < AXIS_HEIGHT + this.scene.layout.evidenceHeight;
  }
  private endDrag(): void {
    this.drag = null;
    this.scene.marked = null;
    this.tell();
    this.redraw();
  }

  private async onDouble(event: MouseEvent): Promise<void> {
    try {
      this.events.onDoubleClick(await this.find(event.offsetX, event.offsetY));
    } catch (error) {
      this.events.onError(error);
    }
  }

  private async find(x: number, y: number): Promise<EventRef | null> {
    const lane = this.laneUnder(y);
    if (!lane) return null;
    const at = this.scene.time.unfold(this.usAt(x));
    // the lane of CPU and I/O has no events of its own: use the statement that took the time
    if (lane.kind === 'time') return this.session.hit(`${lane.thread}:sql`, at, 0);
    return this.session.hit(
      lane.key,
      at,
      (HIT_SLACK_PX / this.scene.width) * spanOf(this.scene.view),
    );
  }

  private leave(): void {
    this.at = null;
    this.unhover();
    this.events.onPoint(null);
  }
  /** What is known without a query: computed again for a new picture. */
  tell(): void {
    const { at, drag, scene } = this;
    if (!at) return;
    const us = this.usAt(at.x);
    const note = drag ? null : noteAt(scene, at.x, at.y);
    const lane = drag ? null : this.laneUnder(at.y);
    const text = note
      ? shown(note.text) || 'bookmark'
      : lane
        ? laneTooltip(scene.strip, lane, us)
        : '';
    const time = lane && !note ? timeColumn(scene.strip, lane, us) : null;
    const { marked } = scene;
    this.events.onPoint({
      ...at,
      us: scene.time.unfold(us),
      marked: marked && scene.time.unfoldRange(marked),
      text,
      time: time && {
        ...time,
        fromUs: scene.time.unfold(time.fromUs),
        toUs: scene.time.unfold(time.toUs),
      },
    });
  }
  private unhover(): void {
    this.hover.forget();
    this.events.onHover(null);
  }
}
