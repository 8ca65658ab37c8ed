/**
 * A frame of the timeline, painted once off screen with its lanes one below the other. Panning and
 * zooming only move and stretch it.
 */
import type { LaneFrame, LaneKind, TimelineFrame } from '../../../protocol/session.ts';
import type { PaintColors } from './timeline-paint.ts';
import {
  mixed,
  mostOf,
  paintArea,
  paintCalls,
  paintLock,
  paintSql,
  paintStorage,
  paintTime,
} from './timeline-paint.ts';
import { lanesIn, type TimelineLayout } from './timeline-layout.ts';

export interface FrameStrip {
  frame: TimelineFrame;
  canvas: OffscreenCanvas;
  image: ImageData;
  lanes: Map<
    string,
    {
      frame: LaneFrame;
      y: number;
      height: number;
      /** of a counter: the value that fills the height */ most: number;
    }
  >;
}

/**
 * @param ratio device pixels per CSS pixel
 * @param last the previous strip. Its pixels are reused if the size is the same, so that a live
 * picture doesn't create megabytes of garbage.
 */
export function paintStrip(
  frame: TimelineFrame,
  layout: TimelineLayout,
  colors: PaintColors,
  ratio: number,
  last: FrameStrip | null,
): FrameStrip {
  const byKey = new Map(frame.lanes.map((lane) => [lane.key, lane]));
  const lanes: FrameStrip['lanes'] = new Map();
  const kinds = new Map<string, LaneKind>();
  let y = 0;
  for (const lane of lanesIn(layout)) {
    const found = byKey.get(lane.key);
    if (!found) continue;
    const height = Math.round(lane.height * ratio);
    lanes.set(lane.key, {
      frame: found,
      y,
      height,
      most: lane.kind === 'cache' ? 1 : found.values ? mostOf(found.values) : 0,
    });
    kinds.set(lane.key, lane.kind);
    y += height;
  }
  const tall = Math.max(1, y);
  const again = last?.canvas.width === frame.width && last.canvas.height === tall;
  const canvas = again ? last.canvas : new OffscreenCanvas(frame.width, tall);
  const image = again ? last.image : new ImageData(frame.width, tall);
  const surface = { pixels: new Uint32Array(image.data.buffer), width: frame.width, height: y };
  if (again) surface.pixels.fill(0);
  const least = Math.max(2, Math.round(2 * ratio));
  for (const [key, lane] of lanes) {
    const kind = kinds.get(key);
    const { frame, y, height, most } = lane;
    if (kind === 'lock') paintLock(surface, frame, y, height, colors, least);
    else if (kind === 'sql') paintSql(surface, frame, y, height, colors, least);
    else if (kind === 'time') paintTime(surface, frame, y, height, colors, 1);
    else if (frame.values)
      paintArea(surface, frame.values, most, y, height, counterColors(kind, colors));
    else if (kind === 'marks')
      paintCalls(surface, frame, y, height, { ...colors, activity: plain(colors) }, height);
    else if (kind === 'txn' || kind === 'requests') {
      const activity = kind === 'txn' ? colors.phases : colors.requests;
      paintCalls(surface, frame, y, height, { ...colors, activity }, height);
    } else if (kind === 'web') paintStorage(surface, frame, y, height, colors, least);
    else paintCalls(surface, frame, y, height, colors, least);
  }
  canvas.getContext('2d')!.putImageData(image, 0, 0);
  return { frame, canvas, image, lanes };
}

/** The app's marks aren't activity. */
const plain = ({ activity, neutral }: PaintColors): Uint32Array => activity.map(() => neutral);

/** Indexes of read and write among the activities. */
const [READ, WRITE] = [2, 3];
/** Share of the line's color in the area below it. */
const AREA = 0.35;
function counterColors(
  kind: LaneKind | undefined,
  { activity, neutral, background }: PaintColors,
): { line: number; area: number } {
  const line = kind === 'reads' ? activity[READ]! : kind === 'writes' ? activity[WRITE]! : neutral;
  return { line, area: mixed(line, background, AREA) };
}
