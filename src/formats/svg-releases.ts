/**
 * A number over releases as a static SVG picture: a line for each package, on one axis of SQLite's
 * versions.
 */
import { escapeXml } from './escape.ts';
import { COLOR, DASHES, WIDTH, type Chart } from './svg-bars.ts';

export interface ReleasePoint {
  /** Position on the axis, from 0. */
  readonly slot: number;
  readonly value: number;
  /** The release and its number, as text. */
  readonly text: string;
}
export interface ReleaseLine {
  readonly label: string;
  readonly points: readonly ReleasePoint[];
}
export interface ReleaseAxis {
  readonly slots: number;
  /** Where a version of SQLite begins. */
  readonly ticks: readonly { readonly slot: number; readonly label: string }[];
}

const [LEFT, RIGHT, TOP, PLOT, FOOT] = [110, 20, 44, 200, 62];
/** Space that two rotated labels need. */
const LABEL_ROOM = 13;
/** If a value is below this share of the largest, the axis begins at 0. */
const NEAR = 0.6;
const ROWS = 4;

/**
 * Round values for the axis that enclose `least` and `most`.
 * @param binary for bytes: steps are powers of 2
 */
export function roundScale(least: number, most: number, binary = false): number[] {
  const from = least < most * NEAR ? 0 : least;
  const rough = Math.max((most - from) / ROWS, most / 1e6);
  const power = 10 ** Math.floor(Math.log10(rough));
  const decimal = [1, 2, 2.5, 5, 10].map((n) => n * power).find((n) => n >= rough)!;
  const step = binary ? 2 ** Math.ceil(Math.log2(rough)) : decimal;
  const begin = Math.floor(from / step) * step;
  const count = Math.max(1, Math.ceil((most - begin) / step - 1e-9));
  return Array.from({ length: count + 1 }, (_, i) => begin + i * step);
}

/** A mark for each line, so that lines that meet can be distinguished. */
const MARKS: readonly ((x: number, y: number) => string)[] = [
  (x, y) => `<circle cx="${x}" cy="${y}" r="3"/>`,
  (x, y) => `<rect x="${x - 2.8}" y="${y - 2.8}" width="5.6" height="5.6"/>`,
  (x, y) => `<path d="M${x},${y - 3.6}l3.4,6h-6.8z"/>`,
  (x, y) => `<path d="M${x},${y - 3.8}l3.8,3.8l-3.8,3.8l-3.8,-3.8z"/>`,
];
const text = (x: number, y: number, words: string, more = ''): string =>
  `<text x="${x}" y="${y}"${more}>${escapeXml(words)}</text>`;
const tenth = (n: number): number => Math.round(n * 10) / 10;

/**
 * @param worth formats a value @param binary whether values are bytes
 * @returns null without points
 */
export function releaseChart(
  title: string,
  { slots, ticks }: ReleaseAxis,
  lines: readonly ReleaseLine[],
  worth: (value: number) => string,
  binary = false,
): Chart | null {
  const values = lines.flatMap(({ points }) => points.map(({ value }) => value));
  if (values.length === 0) return null;
  const scale = roundScale(Math.min(...values), Math.max(...values), binary);
  const [low, high] = [scale[0]!, scale.at(-1)!];
  const room = (WIDTH - LEFT - RIGHT) / slots;
  const x = (slot: number): number => tenth(LEFT + (slot + 0.5) * room);
  const y = (value: number): number =>
    tenth(TOP + PLOT - ((value - low) / Math.max(high - low, 1)) * PLOT);
  const grid = scale.map((value) =>
    [
      `<path d="M${LEFT},${y(value)}H${WIDTH - RIGHT}" stroke="currentColor" opacity=".15"/>`,
      text(LEFT - 10, y(value) + 4, worth(value), ' text-anchor="end"'),
    ].join(''),
  );
  let drawnTo = -Infinity;
  const labels = ticks.flatMap(({ slot, label }) => {
    if (x(slot) - drawnTo < LABEL_ROOM) return [];
    drawnTo = x(slot);
    const [left, top] = [x(slot) + 4, TOP + PLOT + 12];
    return text(left, top, label, ` text-anchor="end" transform="rotate(-60 ${left} ${top})"`);
  });
  const bases = ticks.map(
    ({ slot }) => `<path d="M${x(slot)},${TOP + PLOT}v4" stroke="currentColor" opacity=".4"/>`,
  );
  let key = LEFT;
  const drawn = lines.flatMap(({ label, points }, i) => {
    if (points.length === 0) return [];
    const [dash, mark] = [DASHES[i % DASHES.length], MARKS[i % MARKS.length]!];
    const style = `stroke="${COLOR}" stroke-width="1.5" fill="none" stroke-dasharray="${dash}"`;
    const path = points.map((p) => `${x(p.slot)},${y(p.value)}`).join('L');
    const at = key;
    key += 60 + label.length * 7;
    return [
      `<path d="M${path}" ${style}/>`,
      ...points.map(
        (p) =>
          `<g fill="${COLOR}"><title>${escapeXml(p.text)}</title>${mark(x(p.slot), y(p.value))}</g>`,
      ),
      `<path d="M${at},${TOP - 16}h28" ${style}/><g fill="${COLOR}">${mark(at + 14, TOP - 16)}</g>`,
      text(at + 36, TOP - 12, label),
    ];
  });
  return {
    title,
    height: TOP + PLOT + FOOT,
    body: [
      text(0, 14, title, ' font-weight="600"'),
      ...grid,
      ...labels,
      ...bases,
      ...drawn,
      text(0, TOP + PLOT + 26, 'SQLite'),
    ].join('\n'),
  };
}
