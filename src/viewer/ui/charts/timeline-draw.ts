/**
 * One picture of the timeline: the painted strip at the current view, and sharp parts on top:
 * slices, text, selection.
 */
import { ACTIVITIES } from '../../../event/operations.ts';
import { RUN_FIELDS, SLICE_FIELDS } from '../../../trace/lanes/frame.ts';
import { formatCount } from '../../../text/numbers.ts';
import { drawStretched } from './canvas.ts';
import { IDB_WAIT } from '../../../trace/lanes/lanes.ts';
import type { Palette } from './palette.ts';
import { IDB_HATCH, IDB_PALE, mixed } from './timeline-paint.ts';
import { scaleText } from './lane-tooltip.ts';
import { AXIS_HEIGHT, GROUP_HEIGHT, type LaneBox } from './timeline-layout.ts';
import {
  drawArea,
  drawArrows,
  drawAxis,
  drawEvidence,
  drawLines,
  drawMarks,
  drawPauses,
  type Scene,
  type ToX,
} from './timeline-overlay.ts';
import { spanOf } from './viewport.ts';

const LOCK = ACTIVITIES.indexOf('lock');
const FONT = '11px system-ui, sans-serif';
const MIN_TEXT_PX = 24;
/** Height below the box of many runs, where the columns show each run, px. */
const RUN_EDGE = 3;
/** Maximum number of cached text widths. */
const MAX_WIDTHS = 5000;

export function drawScene(g: CanvasRenderingContext2D, scene: Scene): void {
  const { width, height, ratio, view, palette, layout, scrollTop } = scene;
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.fillStyle = palette.background;
  g.fillRect(0, 0, width, height);
  g.font = FONT;
  g.textBaseline = 'middle';
  const x: ToX = (us) => ((us - view.from) / spanOf(view)) * width;
  g.fillStyle = palette.grid;
  for (const tick of scene.time.ticks(view, width))
    g.fillRect(Math.round(x(tick.at)), AXIS_HEIGHT, 1, height);
  const below = AXIS_HEIGHT + layout.pinnedHeight;
  g.save();
  g.beginPath();
  g.rect(0, below, width, height - below);
  g.clip();
  for (const group of layout.groups) {
    const top = below + group.y - scrollTop;
    if (top + group.height < below || top > height) continue;
    g.fillStyle = palette.header;
    g.fillRect(0, top, width, GROUP_HEIGHT - 1);
    for (const lane of group.lanes) drawLane(g, scene, lane, below + lane.y - scrollTop, x);
  }
  g.restore();
  for (const lane of layout.pinned) drawLane(g, scene, lane, AXIS_HEIGHT + lane.y, x);
  if (layout.pinned.length) {
    g.fillStyle = palette.subtle;
    g.fillRect(0, below - 2, width, 1);
  }
  drawEvidence(g, scene, x);
  drawMarks(g, scene, x);
  drawLines(g, scene, x);
  const area = scene.marked ?? scene.area;
  if (area) drawArea(g, scene, area, x);
  drawArrows(g, scene, x);
  drawAxis(g, scene, x);
  drawPauses(g, scene, x);
}

function drawLane(
  g: CanvasRenderingContext2D,
  scene: Scene,
  lane: LaneBox,
  y: number,
  x: ToX,
): void {
  const { width, height, strip, palette, selected, view } = scene;
  if (y + lane.height < AXIS_HEIGHT || y > height) return;
  g.fillStyle = palette.grid;
  g.fillRect(0, y + lane.height + 1, width, 1);
  const painted = strip?.lanes.get(lane.key);
  if (strip && painted) {
    drawStretched(g, strip.canvas, strip.frame, view, width, painted, { y, height: lane.height });
    drawSlices(g, scene, lane, y, x);
    if (painted.most > 0)
      drawScale(g, scene, y, scaleText(lane.kind, painted.most, strip.frame.binUs));
  }
  if (selected?.lane === lane.key) {
    const left = x(selected.t0);
    const right = Math.max(left + 3, x(selected.t0 + selected.dur));
    g.strokeStyle = palette.accent;
    g.lineWidth = 2;
    g.strokeRect(left - 1, y + 1, right - left + 2, lane.height - 2);
  }
}

/** A slice wide enough to distinguish from its neighbors, CSS pixels. */
interface SliceBox {
  left: number;
  right: number;
  top: number;
  tall: number;
  /** In ACTIVITIES; of statements in STATEMENT_KINDS. */
  activity: number;
  label: string | undefined;
}

function sliceBoxes({ strip, width }: Scene, lane: LaneBox, y: number, x: ToX): SliceBox[] {
  const { frame } = strip!;
  const { slices, labels } = strip!.lanes.get(lane.key)!.frame;
  const usPerColumn = (frame.to - frame.from) / frame.width;
  const boxes: SliceBox[] = [];
  for (let i = 0; i < slices.length; i += SLICE_FIELDS) {
    const left = Math.max(-2, x(frame.from + slices[i + 1]! * usPerColumn));
    const right = Math.min(width + 2, x(frame.from + slices[i + 2]! * usPerColumn));
    if (right - left < 2 || right < 0 || left > width) continue;
    const kind = slices[i + 3]!;
    let [top, tall, activity] = [y, lane.height, kind];
    if (lane.kind === 'sql') [top, tall] = [y + 1, lane.height - 2];
    else if (lane.kind === 'lock') {
      tall = Math.round((kind / 4) * lane.height);
      [top, activity] = [y + lane.height - tall, LOCK];
    }
    boxes.push({ left, right, top, tall, activity, label: labels[slices[i + 4]!] });
  }
  return boxes;
}

/** Colors of a lane's slices by what they show, and of text on them. */
function inksOf({ kind }: LaneBox, palette: Palette): { fill: string[]; text: string[] } {
  if (kind === 'sql') return { fill: palette.statement, text: palette.onStatement };
  if (kind === 'txn') return { fill: palette.phases, text: palette.onPhase };
  if (kind === 'requests') return { fill: palette.requests, text: palette.onRequest };
  if (kind === 'marks') return { fill: [palette.neutral], text: [palette.onNeutral] };
  return { fill: palette.activity, text: palette.onSlice };
}

/** Grouped by color, because setting a color costs as much as a fill. */
function drawSlices(
  g: CanvasRenderingContext2D,
  scene: Scene,
  lane: LaneBox,
  y: number,
  x: ToX,
): void {
  const boxes = sliceBoxes(scene, lane, y, x);
  const { palette } = scene;
  const lock = lane.kind === 'lock';
  const inks = inksOf(lane, palette);
  const isHatched = (activity: number): boolean => lane.kind === 'web' && activity === IDB_WAIT;
  for (const activity of new Set(boxes.map((box) => box.activity))) {
    g.fillStyle = isHatched(activity) ? hatchOf(g, palette) : inks.fill[activity]!;
    for (const box of boxes)
      if (box.activity === activity && !lock)
        g.fillRect(box.left, box.top, box.right - box.left, box.tall);
  }
  if (lock) drawHolds(g, palette, boxes);
  else {
    g.fillStyle = palette.background;
    // a hairline between neighbors
    for (const { right, top, tall } of boxes) g.fillRect(right - 1, top, 1, tall);
  }
  let inkNow = '';
  for (const { left, right, top, tall, activity, label } of boxes) {
    const inside = Math.max(left, 0);
    if (!label || right - inside < MIN_TEXT_PX || tall < 7) continue;
    const text = fitting(g, label, right - inside - 6, lock);
    if (!text) continue;
    if (isHatched(activity)) {
      g.fillStyle = inkNow = palette.activity[IDB_WAIT]!;
      g.fillRect(inside, top, widthOf(g, text) + 6, tall);
    }
    const low = lock && tall < 12;
    const color = lock ? palette.text : inks.text[activity]!;
    if (color !== inkNow) g.fillStyle = inkNow = color;
    g.fillText(text, inside + 3, low ? top - 6 : lock ? top + 8 : top + tall / 2 + 0.5);
  }
  if (lane.kind === 'sql') drawRuns(g, scene, lane, y, x);
  if (lane.kind === 'marks') drawMarkTexts(g, scene, lane, y, x);
}

/** Outlines: the thread does something else while it holds a lock. */
function drawHolds(g: CanvasRenderingContext2D, palette: Palette, boxes: SliceBox[]): void {
  g.fillStyle = palette.background;
  for (const { left, right, top, tall } of boxes) g.fillRect(left, top, right - left, tall);
  g.fillStyle = palette.hold;
  for (const { left, right, top, tall } of boxes) g.fillRect(left, top, right - left, tall);
  g.fillStyle = palette.activity[LOCK]!;
  for (const { left, right, top, tall } of boxes) {
    g.fillRect(left, top, right - left, 2);
    g.fillRect(left, top, 1, tall);
    g.fillRect(right - 1, top, 1, tall);
  }
}

const hatches = new WeakMap<Palette, CanvasPattern>();
/** For an IndexedDB transaction without a running request. */
function hatchOf(g: CanvasRenderingContext2D, palette: Palette): CanvasPattern | string {
  const known = hatches.get(palette);
  if (known) return known;
  const tile = new OffscreenCanvas(IDB_HATCH, IDB_HATCH);
  const image = new ImageData(IDB_HATCH, IDB_HATCH);
  const pixels = new Uint32Array(image.data.buffer);
  const { activity, background } = palette.pixels;
  const pale = mixed(activity[IDB_WAIT]!, background, IDB_PALE);
  for (let y = 0; y < IDB_HATCH; y++)
    for (let x = 0; x < IDB_HATCH; x++)
      pixels[y * IDB_HATCH + x] = (x + y) % IDB_HATCH < IDB_HATCH / 2 ? pale : activity[IDB_WAIT]!;
  tile.getContext('2d')!.putImageData(image, 0, 0);
  const made = g.createPattern(tile, 'repeat');
  if (made) hatches.set(palette, made);
  return made ?? palette.activity[IDB_WAIT]!;
}

/**
 * Many short runs of one statement: one box with their number. The lane's lower edge still shows
 * each run.
 */
function drawRuns(
  g: CanvasRenderingContext2D,
  { strip, palette, width }: Scene,
  lane: LaneBox,
  y: number,
  x: ToX,
): void {
  const { frame, lanes } = strip!;
  const found = lanes.get(lane.key)!.frame.runs;
  if (!found) return;
  const { runs, labels } = found;
  const usPerColumn = (frame.to - frame.from) / frame.width;
  const tall = lane.height - 1 - RUN_EDGE;
  for (let i = 0; i < runs.length; i += RUN_FIELDS) {
    const left = Math.max(0, x(frame.from + runs[i]! * usPerColumn));
    const right = Math.min(width, x(frame.from + runs[i + 1]! * usPerColumn));
    if (right - left < MIN_TEXT_PX) continue;
    const kind = runs[i + 2]!;
    g.fillStyle = palette.statement[kind]!;
    g.fillRect(left, y + 1, right - left - 1, tall);
    const times = ` × ${formatCount(runs[i + 3]!)}`;
    const text = fitting(g, labels[runs[i + 4]!]!, right - left - 6 - widthOf(g, times), false);
    g.fillStyle = palette.onStatement[kind]!;
    if (text) g.fillText(text + times, left + 3, y + 1 + tall / 2 + 0.5);
  }
}

/** Next to a moment, up to the next one's text. */
function drawMarkTexts(
  g: CanvasRenderingContext2D,
  { strip, palette, width }: Scene,
  lane: LaneBox,
  y: number,
  x: ToX,
): void {
  const { frame, lanes } = strip!;
  const found = lanes.get(lane.key)!.frame.texts;
  if (!found) return;
  const usPerColumn = (frame.to - frame.from) / frame.width;
  const at = (i: number): number => x(frame.from + (found.x[i] ?? Infinity) * usPerColumn);
  found.texts.forEach((text, i) => {
    const left = at(i);
    if (left < -MOST_MARK_PX || left > width) return;
    g.fillStyle = palette.neutral;
    g.fillRect(left, y, 2, lane.height);
    const fits = fitting(g, text, Math.min(MOST_MARK_PX, at(i + 1) - left - 8), false);
    if (!fits) return;
    g.fillStyle = palette.background;
    g.globalAlpha = 0.8;
    g.fillRect(left + 2, y, widthOf(g, fits) + 4, lane.height);
    g.globalAlpha = 1;
    g.fillStyle = palette.text;
    g.fillText(fits, left + 4, y + lane.height / 2 + 0.5);
  });
}
const MOST_MARK_PX = 160;

/** What the full height of a counter's lane stands for. */
function drawScale(g: CanvasRenderingContext2D, { palette }: Scene, y: number, text: string): void {
  g.fillStyle = palette.background;
  g.globalAlpha = 0.75;
  g.fillRect(0, y, widthOf(g, text) + 6, 12);
  g.globalAlpha = 1;
  g.fillStyle = palette.subtle;
  g.fillText(text, 3, y + 6);
}

const widths = new Map<string, number>();
/** Width of a text in `FONT`, measured once. */
function widthOf(g: CanvasRenderingContext2D, text: string): number {
  let width = widths.get(text);
  if (width === undefined) {
    if (widths.size >= MAX_WIDTHS) widths.clear();
    widths.set(text, (width = g.measureText(text).width));
  }
  return width;
}

/**
 * As much of a label as fits, estimated from its average character width; '' if too little would be
 * readable.
 */
function fitting(g: CanvasRenderingContext2D, label: string, px: number, whole: boolean): string {
  const width = widthOf(g, label);
  if (width <= px) return label;
  const room = Math.floor((label.length * px) / width);
  return room >= 4 && !whole ? `${label.slice(0, room - 1)}…` : '';
}
