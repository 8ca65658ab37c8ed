/** The theme's colours as canvases need them, read from the CSS custom properties of theme.svelte. */
import { ACTIVITIES } from '../session-api.ts';
import { pixelOf, type PaintColors } from './timeline-paint.ts';

export interface Palette {
  /** For ImageData. */
  pixels: PaintColors;
  /** For fillStyle, by activity. */
  activity: string[];
  background: string;
  text: string;
  /** Text on a slice. */
  onSlice: string;
  subtle: string;
  grid: string;
  header: string;
  accent: string;
  statement: string;
  shade: string;
  error: string;
  /** Notes and bookmarks. */
  note: string;
}

/** Of the parts of the time partition with SQL in flight, in their order: cpu read write sync idbTransaction lock tracer other. */
const PART_COLORS = ['cpu', 'read', 'write', 'sync', 'idb', 'lock', 'meta', 'wait'];

/** @param element within the viewer's root */
export function paletteOf(element: Element): Palette {
  const style = getComputedStyle(element);
  const color = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  const activity = ACTIVITIES.map((a) => color(`activity-${a}`));
  return {
    pixels: {
      activity: Uint32Array.from(activity, pixelOf),
      parts: Uint32Array.from(PART_COLORS, (name) => pixelOf(color(`activity-${name}`))),
      ...{ statement: pixelOf(color('statement')), accent: pixelOf(color('accent')), background: pixelOf(color('bg')) },
    },
    activity,
    background: color('bg'),
    text: color('text'),
    onSlice: color('on-slice'),
    subtle: color('text-subtle'),
    grid: color('grid'),
    header: color('bg-header'),
    accent: color('accent'),
    statement: color('statement'),
    shade: color('shade'),
    error: color('error'),
    note: color('record'),
  };
}
