/**
 * The theme's colors as canvases need them, read from the CSS custom properties of Theme.svelte.
 */
import { SQL_PARTS } from '../../../analysis/core/time-parts.ts';
import { REQUEST_PARTS, type RequestPart } from '../../../analysis/messages/request-parts.ts';
import { ACTIVITIES, type Activity } from '../../../event/operations.ts';
import { STATEMENT_KINDS } from '../../../sqlite/statement-kind.ts';
import { PART_COLORS } from './time-parts.ts';
import { pixelOf, type PaintColors } from './timeline-paint.ts';

export interface Palette {
  /** For ImageData. */
  pixels: PaintColors;
  /** For fillStyle, by activity; followed by the color of an open IndexedDB transaction. */
  activity: string[];
  background: string;
  text: string;
  /** Text on a slice, by activity. */
  onSlice: string[];
  /** Text on a statement's slice, by kind. */
  onStatement: string[];
  /** Not activity: counters, the app's marks. */
  neutral: string;
  /**
   * Phases of transactions, by the activity whose color they use. They aren't activity themselves.
   */
  phases: string[];
  onPhase: string[];
  /** Parts of requests, in the order of REQUEST_PARTS. */
  requests: string[];
  onRequest: string[];
  /** Inside a lock level that is held. */
  hold: string;
  onNeutral: string;
  subtle: string;
  grid: string;
  header: string;
  accent: string;
  /** Statements by kind, in the order of STATEMENT_KINDS: the hue of CPU, lighter or darker. */
  statement: string[];
  shade: string;
  error: string;
  /** Notes and bookmarks. */
  note: string;
}

const WHITE = '#ffffff';
const BLACK = '#000000';

/** Contrast of two colors by WCAG 2, 1 to 21. @throws RangeError if one isn't `#rrggbb` */
export function contrastOf(a: string, b: string): number {
  const luminance = (color: string): number => {
    const pixel = pixelOf(color);
    const [r, g, blue] = [0, 8, 16].map((shift) => {
      const value = ((pixel >>> shift) & 255) / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    }) as [number, number, number];
    return 0.2126 * r + 0.7152 * g + 0.0722 * blue;
  };
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}
/** Black or white, whichever is easier to read: a contrast of at least 4.5 on any color. */
export const textOn = (color: string): string =>
  contrastOf(WHITE, color) >= contrastOf(BLACK, color) ? WHITE : BLACK;

/** For transactions: read, write, commit; rolled back ones have none. */
const PHASES: Partial<Record<Activity, string>> = {
  read: 'neutral-pale',
  write: 'neutral',
  sync: 'neutral-strong',
};

/** For requests: what isn't activity differs by strength. */
const REQUEST_COLORS: Readonly<Record<RequestPart, string>> = {
  ...PART_COLORS,
  queue: '--neutral-pale',
  rest: '--neutral-strong',
};

/** @param element within the viewer's root */
export function paletteOf(element: Element): Palette {
  const style = getComputedStyle(element);
  const property = (name: string): string => style.getPropertyValue(name).trim();
  const color = (name: string): string => property(`--${name}`);
  const phases = ACTIVITIES.map((a) => color(PHASES[a] ?? 'activity-none'));
  const requests = REQUEST_PARTS.map((part) => property(REQUEST_COLORS[part]));
  const statement = STATEMENT_KINDS.map((kind) =>
    color(`statement-${kind === 'none' ? 'other' : kind}`),
  );
  const activity = [...ACTIVITIES, 'idb'].map((a) => color(`activity-${a}`));
  return {
    pixels: {
      activity: Uint32Array.from(activity, pixelOf),
      parts: Uint32Array.from(SQL_PARTS, (part) => pixelOf(property(PART_COLORS[part]))),
      statement: Uint32Array.from(statement, pixelOf),
      accent: pixelOf(color('accent')),
      neutral: pixelOf(color('neutral')),
      phases: Uint32Array.from(phases, pixelOf),
      requests: Uint32Array.from(requests, pixelOf),
      background: pixelOf(color('bg')),
    },
    activity,
    background: color('bg'),
    text: color('text'),
    onSlice: activity.map(textOn),
    onStatement: statement.map(textOn),
    phases,
    onPhase: phases.map(textOn),
    requests,
    onRequest: requests.map(textOn),
    hold: `${activity[ACTIVITIES.indexOf('lock')]!}40`,
    neutral: color('neutral'),
    onNeutral: textOn(color('neutral')),
    subtle: color('text-subtle'),
    grid: color('grid'),
    header: color('bg-header'),
    accent: color('accent'),
    statement,
    shade: color('shade'),
    error: color('error'),
    note: color('record'),
  };
}
