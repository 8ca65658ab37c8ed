/**
 * What is drawn over the timeline's lanes: the selected area, notes, search hits, and arrows from
 * cause to effect.
 */
import { shown } from '../../../text/clean.ts';
import type { FrameStrip } from './frame-strip.ts';
import type { Palette } from './palette.ts';
import { AXIS_HEIGHT, lanesIn, topOf, type TimelineLayout } from './timeline-layout.ts';
import { formatDuration } from '../../../text/numbers.ts';
import type { FoldedTime } from './folded-time.ts';
import { spanOf, type Range } from './viewport.ts';

export interface Arrow {
  from: { lane: string; us: number };
  to: { lane: string; us: number };
  kind: 'io' | 'wait';
}
/** The events of a finding, by start time: start and end, microseconds; and the selected one. */
export interface EvidenceMarks {
  ranges: Float64Array;
  /** The statements that they belong to, which aren't dimmed. */
  statements: Float64Array;
  now: Range | null;
}
/** Ranges that are marked on a lane: start and end, microseconds. */
export interface LaneMarks {
  lane: string;
  ranges: Float64Array;
}
export interface NoteMark {
  id: number;
  fromUs: number;
  toUs: number;
  text: string;
}

/** What one picture of the timeline shows. */
export interface Scene {
  /** CSS pixels. */
  width: number;
  height: number;
  ratio: number;
  scrollTop: number;
  /** On the axis of `time`, like all moments here. */
  view: Range;
  time: FoldedTime;
  layout: TimelineLayout;
  strip: FrameStrip | null;
  palette: Palette;
  /** Lane, start, and duration of the selected event. */
  selected: { lane: string; t0: number; dur: number } | null;
  /** A range that the user is dragging. */
  marked: Range | null;
  /** The range that was chosen last. */
  area: Range | null;
  notes: readonly NoteMark[];
  /** Start times of events that the search found, microseconds. */
  hits: readonly number[];
  arrows: readonly Arrow[];
  /** Where the statement under the pointer, or the selected one, runs. */
  marks: readonly LaneMarks[];
  evidence: EvidenceMarks | null;
}

export type ToX = (us: number) => number;
/** More arrows than this can't be distinguished, so they aren't drawn. */
const MAX_ARROWS = 200;

/** A dragged or selected range: everything else is shaded. */
export function drawArea(
  g: CanvasRenderingContext2D,
  { width, height, palette }: Scene,
  area: Range,
  x: ToX,
): void {
  const left = Math.max(-2, Math.min(width + 2, x(area.from)));
  const right = Math.max(-2, Math.min(width + 2, x(area.to)));
  g.fillStyle = palette.shade;
  g.fillRect(0, AXIS_HEIGHT, left, height);
  g.fillRect(right, AXIS_HEIGHT, width - right, height);
  g.fillStyle = palette.accent;
  g.fillRect(left - 1, 0, 1, height);
  g.fillRect(right, 0, 1, height);
}

export function drawAxis(g: CanvasRenderingContext2D, scene: Scene, x: ToX): void {
  const { width, palette, view } = scene;
  g.fillStyle = palette.background;
  g.fillRect(0, 0, width, AXIS_HEIGHT);
  g.fillStyle = palette.grid;
  g.fillRect(0, AXIS_HEIGHT - 1, width, 1);
  for (const tick of scene.time.ticks(view, width)) {
    const at = Math.round(x(tick.at));
    g.fillStyle = palette.grid;
    g.fillRect(at, 0, 1, AXIS_HEIGHT);
    g.fillStyle = palette.subtle;
    g.fillText(tick.label, at + 4, AXIS_HEIGHT / 2);
  }
  const area = scene.marked ?? scene.area;
  if (area) {
    g.fillStyle = palette.accent;
    g.fillRect(
      Math.max(0, x(area.from)),
      AXIS_HEIGHT - 3,
      Math.min(width, x(area.to)) - Math.max(0, x(area.from)),
      3,
    );
  }
  for (const us of scene.hits) {
    const at = x(us);
    if (at < 0 || at > width) continue;
    g.fillStyle = palette.accent;
    g.fillRect(at - 0.5, AXIS_HEIGHT - 8, 1.5, 8);
  }
  scene.notes.forEach((note, i) => drawFlag(g, scene, note, scene.notes[i + 1], x));
}

/** Width of a note's flag, and the tolerance next to it, CSS px. */
const [FLAG, FLAG_SLACK] = [8, 2];
/** The note whose flag is at a place of the picture; of several the one that is drawn last. */
export function noteAt(
  { notes, view, width }: Pick<Scene, 'notes' | 'view' | 'width'>,
  x: number,
  y: number,
): NoteMark | null {
  if (y >= AXIS_HEIGHT) return null;
  const left = ({ fromUs }: NoteMark): number => ((fromUs - view.from) / spanOf(view)) * width;
  return (
    notes.findLast((note) => x >= left(note) - FLAG_SLACK && x <= left(note) + FLAG + FLAG_SLACK) ??
    null
  );
}

/** Next to its flag, over the axis, up to the next note. */
function drawNoteText(
  g: CanvasRenderingContext2D,
  palette: Palette,
  text: string,
  left: number,
  end: number,
): void {
  const room = Math.min(MOST_NOTE_PX, end - left - 2);
  if (!text || room < LEAST_NOTE_PX) return;
  let fits = text.slice(0, MOST_NOTE_PX); // a pixel a character at least
  const all = g.measureText(fits).width;
  if (all > room || fits.length < text.length)
    fits = `${fits.slice(0, Math.max(1, Math.floor((fits.length * Math.min(room, all)) / all) - 1))}…`;
  const wide = Math.min(room, g.measureText(fits).width + 4);
  g.fillStyle = palette.background;
  g.fillRect(left, 0, wide, AXIS_HEIGHT - 1);
  g.fillStyle = palette.note;
  g.fillText(fits, left + 2, AXIS_HEIGHT / 2);
}
const [LEAST_NOTE_PX, MOST_NOTE_PX] = [24, 180];

function drawFlag(
  g: CanvasRenderingContext2D,
  { width, palette }: Scene,
  note: NoteMark,
  next: NoteMark | undefined,
  x: ToX,
): void {
  const at = x(note.fromUs);
  if (at < -MOST_NOTE_PX || at > width) return;
  drawNoteText(g, palette, shown(note.text), at + FLAG + 1, next ? x(next.fromUs) : Infinity);
  g.fillStyle = palette.note;
  g.beginPath();
  g.moveTo(at, AXIS_HEIGHT - 1);
  g.lineTo(at, 2);
  g.lineTo(at + FLAG, 6);
  g.lineTo(at + 1.5, 10);
  g.lineTo(at + 1.5, AXIS_HEIGHT - 1);
  g.fill();
}

/** Where a pause is skipped: a torn line across the lanes, and the length of the pause. */
export function drawPauses(
  g: CanvasRenderingContext2D,
  { width, height, view, palette, time }: Scene,
  x: ToX,
): void {
  for (const { at, us } of time.marks(view)) {
    const middle = x(at);
    g.fillStyle = palette.header;
    g.fillRect(middle - TEAR_PX, 0, 2 * TEAR_PX, height);
    g.strokeStyle = palette.subtle;
    g.lineWidth = 1;
    for (const side of [-TEAR_PX, TEAR_PX]) {
      g.beginPath();
      g.moveTo(middle + side, 0);
      for (let y = 0, turn = 1; y < height; y += TEAR_PX * 2, turn = -turn)
        g.lineTo(middle + side + turn * 1.5, y + TEAR_PX * 2);
      g.stroke();
    }
    const text = `${formatDuration(us)} idle`;
    const wide = g.measureText(text).width + 6;
    const left = Math.min(Math.max(0, middle - wide / 2), width - wide);
    g.fillStyle = palette.header;
    g.fillRect(left, 0, wide, AXIS_HEIGHT - 1);
    g.fillStyle = palette.text;
    g.fillText(text, left + 3, AXIS_HEIGHT / 2);
  }
}
/** Half the width of a mark. */
const TEAR_PX = 3;

/** Thin lines across the lanes at notes and hits. */
export function drawLines(
  g: CanvasRenderingContext2D,
  { width, height, palette, notes, hits }: Scene,
  x: ToX,
): void {
  g.fillStyle = palette.accent;
  g.globalAlpha = 0.35;
  for (const us of hits) {
    const at = x(us);
    if (at >= 0 && at <= width) g.fillRect(at - 0.5, AXIS_HEIGHT, 1, height);
  }
  g.fillStyle = palette.note;
  g.globalAlpha = 0.7;
  for (const { fromUs, toUs } of notes) {
    const [left, right] = [x(fromUs), x(toUs)];
    if (right < 0 || left > width) continue;
    g.fillRect(left, AXIS_HEIGHT, 1, height);
    if (toUs > fromUs) g.fillRect(right, AXIS_HEIGHT, 1, height);
  }
  g.globalAlpha = 1;
}

/** Narrower events are drawn this wide, px. */
const LEAST_EVIDENCE_PX = 2;
/** Opacity of the background over what isn't evidence. */
const VEIL = 0.55;
/** The track of a finding's events, and everything else dimmed. */
export function drawEvidence(
  g: CanvasRenderingContext2D,
  { width, height, layout, palette, evidence }: Scene,
  x: ToX,
): void {
  if (!evidence) return;
  const top = AXIS_HEIGHT + layout.evidenceHeight;
  g.fillStyle = palette.header;
  g.fillRect(0, AXIS_HEIGHT, width, layout.evidenceHeight - 2);
  const { ranges, statements, now } = evidence;
  const veil = (from: number, to: number): void => {
    if (to <= from) return;
    g.fillStyle = palette.background;
    g.globalAlpha = VEIL;
    g.fillRect(from, top, to - from, height - top);
    g.globalAlpha = 1;
  };
  const tick = (left: number, right: number, color: string): void => {
    g.fillStyle = color;
    g.fillRect(left, AXIS_HEIGHT + 2, right - left, layout.evidenceHeight - 6);
  };
  let clear = 0;
  for (let i = 0; i < ranges.length; i += 2) {
    const left = x(ranges[i]!);
    const right = Math.max(left + LEAST_EVIDENCE_PX, x(ranges[i + 1]!));
    if (right >= 0 && left <= width) tick(left, right, palette.accent);
  }
  for (let i = 0; i < statements.length; i += 2) {
    const left = x(statements[i]!);
    const right = Math.max(left + LEAST_EVIDENCE_PX, x(statements[i + 1]!));
    if (right < 0 || left > width) continue;
    veil(clear, left);
    clear = Math.max(clear, right);
  }
  veil(clear, width);
  if (now) {
    const left = x(now.from);
    tick(left - 1, Math.max(left + LEAST_EVIDENCE_PX + 1, x(now.to)), palette.text);
  }
}

/** A line under each run of the hovered or selected statement. */
export function drawMarks(
  g: CanvasRenderingContext2D,
  { layout, scrollTop, palette, width, marks }: Scene,
  x: ToX,
): void {
  if (!marks.length) return;
  const lanes = new Map(lanesIn(layout).map((lane) => [lane.key, lane]));
  g.fillStyle = palette.accent;
  for (const { lane: key, ranges } of marks) {
    const lane = lanes.get(key);
    if (!lane) continue;
    const y = AXIS_HEIGHT + topOf(layout, lane, scrollTop) + lane.height;
    if (y < AXIS_HEIGHT + layout.pinnedHeight && !layout.pinned.includes(lane)) continue;
    for (let i = 0; i < ranges.length; i += 2) {
      const [left, right] = [Math.max(0, x(ranges[i]!)), Math.min(width, x(ranges[i + 1]!))];
      if (right >= 0 && left <= width)
        g.fillRect(left, y - 1, Math.max(2, right - left), MARK_TALL);
    }
  }
}
const MARK_TALL = 3;

export function drawArrows(g: CanvasRenderingContext2D, scene: Scene, x: ToX): void {
  const { layout, scrollTop, palette, width } = scene;
  const places = new Map(
    lanesIn(layout).map((lane) => [
      lane.key,
      { top: AXIS_HEIGHT + topOf(layout, lane, scrollTop), lane },
    ]),
  );
  g.lineWidth = 1;
  for (const { from, to, kind } of scene.arrows.slice(0, MAX_ARROWS)) {
    const [a, b] = [places.get(from.lane), places.get(to.lane)];
    if (!a || !b) continue;
    const down = b.top > a.top;
    const [x0, x1] = [x(from.us), x(to.us)];
    if (Math.max(x0, x1) < -50 || Math.min(x0, x1) > width + 50) continue;
    const y0 = down ? a.top + a.lane.height - 2 : a.top + 2;
    const y1 = b.top + b.lane.height / 2;
    const reach = Math.max(10, Math.min(40, Math.abs(x1 - x0) / 2));
    g.strokeStyle = g.fillStyle = kind === 'wait' ? palette.error : palette.accent;
    g.beginPath();
    g.moveTo(x0, y0);
    g.bezierCurveTo(x0 + reach * 0.2, y0 + (y1 - y0) * 0.7, x1 - reach, y1, x1 - 4, y1);
    g.stroke();
    g.beginPath();
    g.moveTo(x1, y1);
    g.lineTo(x1 - 5, y1 - 3);
    g.lineTo(x1 - 5, y1 + 3);
    g.fill();
  }
}
