/**
 * Static SVG charts: a bar for each number, with the range in which it was measured, and curves on
 * logarithmic axes.
 */
import { cut } from '../text/clean.ts';
import { escapeXml } from './escape.ts';

/**
 * Readable on white and on black. It isn't an activity's color: charts of the Lab are gray-blue.
 */
export const COLOR = '#7d8899';
export const WIDTH = 1085;
const [LABEL, VALUE, ROW, BAR, TOP] = [330, 130, 20, 13, 26];
const LONGEST_LABEL = 52;

export interface Bar {
  readonly label: string;
  /** At least 0; null where it is not known. */
  readonly value: number | null;
  readonly text: string;
  /** The smallest and largest of several measurements. */
  readonly range?: readonly [from: number, to: number];
}
export interface Chart {
  readonly title: string;
  readonly height: number;
  /** SVG with coordinates from 0, 0. */
  readonly body: string;
}

const text = (x: number, y: number, words: string, more = ''): string =>
  `<text x="${x}" y="${y}"${more}>${escapeXml(words)}</text>`;
const place = (n: number): string => n.toFixed(1);

/** A bar a row, from 0 to the largest. */
export function barChart(title: string, bars: readonly Bar[]): Chart {
  const most = Math.max(0, ...bars.map(({ value, range }) => range?.[1] ?? value ?? 0));
  const room = WIDTH - LABEL - VALUE;
  const px = (n: number): number => (most > 0 ? (n / most) * room : 0);
  const rows = bars.map(({ label, value, text: words, range }, i) => {
    const y = TOP + i * ROW;
    const middle = y + BAR / 2;
    const [from, to] = range ?? [0, 0];
    const whisker =
      range && to > from
        ? `<path d="M${place(LABEL + px(from))},${middle - 3}v6m0,-3H${place(LABEL + px(to))}m0,-3v6" stroke="currentColor" fill="none"/>`
        : '';
    const end = LABEL + px(Math.max(value ?? 0, to));
    return [
      `<g><title>${escapeXml(`${label}: ${words}`)}</title>`,
      text(LABEL - 8, y + 11, cut(label, LONGEST_LABEL), ' text-anchor="end"'),
      value === null
        ? ''
        : `<rect x="${LABEL}" y="${y}" width="${place(Math.max(px(value), value > 0 ? 1 : 0))}" height="${BAR}" fill="${COLOR}"/>`,
      whisker,
      text(Math.round(end) + 6, y + 11, words),
      '</g>',
    ].join('');
  });
  return {
    title,
    height: TOP + bars.length * ROW,
    body: `${text(0, 14, title, ' font-weight="600"')}${rows.join('\n')}`,
  };
}

export interface Curve {
  readonly label: string;
  readonly points: readonly { readonly x: number; readonly y: number }[];
}
const [CURVES, PLOT, LEFT] = [240, 560, 110];
/** Lines differ by their dashes: a color would stand for an activity. */
export const DASHES = ['', '6 3', '2 3', '8 3 2 3', '4 2', '1 2'];

/**
 * Curves of points above 0, both axes logarithmic.
 * @param worth formats a value of y @param at formats one of x
 */
export function curveChart(
  title: string,
  curves: readonly Curve[],
  worth: (y: number) => string,
  at: (x: number) => string,
): Chart | null {
  const shown = curves.map(({ label, points }) => ({
    label,
    points: points.filter(({ x, y }) => x > 0 && y > 0),
  }));
  const points = shown.flatMap((curve) => curve.points);
  if (points.length < 2) return null;
  const scale = (values: readonly number[], start: number, end: number) => {
    const [from, to] = [Math.min(...values), Math.max(...values)].map(Math.log) as [number, number];
    return (n: number): number =>
      to > from ? start + ((Math.log(n) - from) / (to - from)) * (end - start) : (start + end) / 2;
  };
  const xs = [...new Set(points.map(({ x }) => x))].sort((a, b) => a - b);
  const ys = points.map(({ y }) => y);
  const x = scale(xs, LEFT, LEFT + PLOT);
  const y = scale(ys, TOP + CURVES, TOP + 8);
  const ticks = xs
    .map((n) => text(Math.round(x(n)), TOP + CURVES + 18, at(n), ' text-anchor="middle"'))
    .join('');
  const ends = [Math.min(...ys), Math.max(...ys)]
    .map((n) => text(LEFT - 12, Math.round(y(n)) + 4, worth(n), ' text-anchor="end"'))
    .join('');
  const lines = shown
    .filter((curve) => curve.points.length)
    .map(({ label, points: own }, i) => {
      const path = own.map((p) => `${place(x(p.x))},${place(y(p.y))}`).join('L');
      const dots = own.map((p) => `<circle cx="${place(x(p.x))}" cy="${place(y(p.y))}" r="2.5"/>`);
      const key = TOP + 12 + i * 16;
      return [
        `<g fill="${COLOR}"><path d="M${path}" fill="none" stroke="${COLOR}" stroke-width="1.5" stroke-dasharray="${DASHES[i % DASHES.length]}"/>`,
        ...dots,
        `</g><path d="M${LEFT + PLOT + 30},${key}h26" stroke="${COLOR}" stroke-width="1.5" stroke-dasharray="${DASHES[i % DASHES.length]}"/>`,
        text(LEFT + PLOT + 62, key + 4, cut(label, LONGEST_LABEL)),
      ].join('');
    });
  const height = Math.max(TOP + CURVES + 26, TOP + 12 + lines.length * 16);
  return {
    title,
    height,
    body: `${text(0, 14, title, ' font-weight="600"')}<path d="M${LEFT},${TOP}V${TOP + CURVES}H${LEFT + PLOT}" fill="none" stroke="currentColor" opacity=".4"/>${ticks}${ends}${lines.join('\n')}`,
  };
}

/** A chart inside an HTML page. */
export const chartSvg = ({ title, height, body }: Chart): string =>
  `<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escapeXml(title)}">${body}</svg>`;

const BETWEEN = 18;
/** All charts as one file, below one another, on white. */
export function chartsFile(title: string, note: string, charts: readonly Chart[]): string {
  let y = 44;
  const parts = charts.map(({ height, body }) => {
    const part = `<g transform="translate(0 ${y})">${body}</g>`;
    y += height + BETWEEN;
    return part;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" viewBox="-12 -6 ${WIDTH + 24} ${y + 6}" font-family="system-ui,sans-serif" font-size="11" color="#222" fill="#222"><title>${escapeXml(title)}</title>
<rect x="-12" y="-6" width="${WIDTH + 24}" height="${y + 6}" fill="#fff"/>
${text(0, 14, title, ' font-size="14" font-weight="600"')}${text(0, 32, note)}
${parts.join('\n')}
</svg>
`;
}
