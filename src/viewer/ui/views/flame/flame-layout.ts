/**
 * Positions of a flame graph's frames, keyboard navigation between them, and their names across
 * updates of a growing trace. Pure.
 */
import type { Frame } from '../../../../analysis/statements/flame-graph.ts';
import { oneLine, UNKNOWN_SQL } from '../../../../text/clean.ts';

/** A frame that is drawn. */
export interface Box {
  /** Index in the list of frames. */
  at: number;
  /** Shares of the width. */
  left: number;
  width: number;
  /** It is above the zoomed frame, so it has more time than its width shows. */
  above: boolean;
}

/**
 * The zoomed frame, and what is above and below it, from the top. @param zoom its index, -1 = all
 * @param least share of the width below which a frame isn't drawn
 */
export function boxesOf(
  frames: readonly Frame[],
  totalUs: number,
  zoom: number,
  least: number,
): Box[] {
  const whole = frames[zoom]?.totalUs ?? totalUs;
  if (whole <= 0) return [];
  const boxes: Box[] = ancestorsOf(frames, zoom).map((at) => ({
    ...{ at, left: 0, width: 1 },
    above: true,
  }));
  /** Where the next frame below each starts. */
  const next = new Map<number, number>();
  if (zoom >= 0) {
    boxes.push({ at: zoom, left: 0, width: 1, above: false });
    next.set(zoom, 0);
  } else next.set(-1, 0);
  for (let at = zoom + 1; at < frames.length; at++) {
    const { parent, totalUs: us } = frames[at]!;
    if (zoom >= 0 && frames[at]!.depth <= frames[zoom]!.depth) break;
    const left = next.get(parent);
    if (left === undefined) continue;
    const width = us / whole;
    next.set(parent, left + width);
    if (width < least) continue;
    next.set(at, left);
    boxes.push({ at, left, width, above: false });
  }
  return boxes;
}

/** Frames above one, the topmost first. */
export function ancestorsOf(frames: readonly Frame[], at: number): number[] {
  const found: number[] = [];
  for (let up = frames[at]?.parent ?? -1; up >= 0; up = frames[up]!.parent) found.unshift(up);
  return found;
}

type Direction = 'ArrowLeft' | 'ArrowRight' | 'ArrowUp' | 'ArrowDown';
/**
 * The box that an arrow key goes to: along a row, up, or down to the widest; the same one if there
 * is none.
 */
export function nextBox(
  frames: readonly Frame[],
  boxes: readonly Box[],
  from: number,
  key: Direction,
): number {
  const place = boxes.findIndex(({ at }) => at === from);
  if (place < 0) return boxes[0]?.at ?? -1;
  const { depth, parent } = frames[from]!;
  if (key === 'ArrowUp') return parent >= 0 ? parent : from;
  if (key === 'ArrowDown') return boxes.find(({ at }) => frames[at]!.parent === from)?.at ?? from;
  const row = boxes.filter(({ at }) => frames[at]!.depth === depth);
  const step = key === 'ArrowRight' ? 1 : -1;
  return row[row.findIndex(({ at }) => at === from) + step]?.at ?? from;
}

/** Names from the topmost frame down to one. */
export const pathOf = (frames: readonly Frame[], at: number): (string | null)[] =>
  at < 0 ? [] : [...ancestorsOf(frames, at), at].map((place) => frames[place]!.name);

/** The frame at this path; -1 = none, or not any more. */
export function frameAt(frames: readonly Frame[], path: readonly (string | null)[]): number {
  let parent = -1;
  for (const [depth, name] of path.entries()) {
    const from: number = parent;
    parent = frames.findIndex((f) => f.depth === depth && f.parent === from && f.name === name);
    if (parent < 0) return -1;
  }
  return parent;
}

/** Texts of an address are of this form. */
export function parsePath(text: string): (string | null)[] | undefined {
  try {
    const said: unknown = JSON.parse(text);
    return Array.isArray(said) && said.every((name) => name === null || typeof name === 'string')
      ? said
      : undefined;
  } catch {
    return undefined;
  }
}

/** In one line, safe to display. */
export const frameTitle = ({ name, sql, kind }: Frame): string =>
  name === null ? (kind === 'statement' ? UNKNOWN_SQL : '') : oneLine(sql ?? name);
