/**
 * The whole trace as a static SVG picture. Each thread has lanes of SQL, VFS, storage, and lock
 * level, shaded by how busy they were.
 */
import { threadTitles } from '../analysis/core/thread-titles.ts';
import { cut } from '../text/clean.ts';
import { CallLanes, type LaneFrame } from '../trace/lanes/frame.ts';
import { ACTIVITIES } from '../event/operations.ts';
import type { LaneKind } from '../trace/lanes/lanes.ts';
import type { TraceStore } from '../trace/store.ts';
import { escapeXml } from './escape.ts';
import { formatDuration } from '../text/numbers.ts';

const LANE_TITLE: Record<LaneKind, string> = {
  sql: 'SQL',
  vfs: 'VFS',
  web: 'storage',
  lock: 'lock level',
};
/**
 * By place in ACTIVITIES: none, cpu, read, write, sync, lock, wait, meta; then an open IndexedDB
 * transaction.
 */
export const ACTIVITY_COLORS = [
  '#9aa0a6',
  '#4c78c8',
  '#2e9d63',
  '#d9822b',
  '#c0392b',
  '#8e5bbf',
  '#7f6a55',
  '#7d8899',
  '#b48ae0',
] as const;
const CPU = ACTIVITIES.indexOf('cpu');
const [COLUMNS, LEFT, WIDTH, LANE, GAP] = [900, 150, 1085, 16, 3];
/** Maximum lanes in the picture, which reports how many it leaves out. */
const MAX_LANES = 60;

/** @returns the picture, or '' for a trace without calls; it scales with its box */
export function svgTimeline(store: TraceStore): string {
  const [from, to] = store.extent();
  const titles = threadTitles(store);
  const callLanes = new CallLanes(store);
  callLanes.update(to);
  const lanes = callLanes.lanes;
  if (!lanes.length || to <= from) return '';
  const shown = lanes.slice(0, MAX_LANES);
  let body = '';
  let y = 4;
  let lastThread = -1;
  for (const lane of shown) {
    const [frame] = callLanes.frames([lane.key], from, to, COLUMNS);
    if (lane.thread.index !== lastThread) {
      lastThread = lane.thread.index;
      body += text(0, y + 12, titles[lastThread]!, 'thread');
      y += 18;
    }
    body += text(LEFT - 8, y + LANE - 4, LANE_TITLE[lane.kind], 'lane');
    body += `<rect x="${LEFT}" y="${y}" width="${COLUMNS}" height="${LANE}" fill="currentColor" opacity=".06"/>`;
    if (frame)
      body += lane.kind === 'lock' ? levels(frame, y) : bars(frame, y, lane.kind === 'sql');
    y += LANE + GAP;
  }
  if (shown.length < lanes.length) {
    body += text(0, y + 12, `${lanes.length - shown.length} more tracks are not shown`, 'thread');
    y += 18;
  }
  for (let i = 0; i <= 4; i++)
    body += text(LEFT + (COLUMNS * i) / 4, y + 14, formatDuration(((to - from) * i) / 4), 'tick');
  return `<svg viewBox="0 0 ${WIDTH} ${y + 20}" role="img" aria-label="Timeline of the recording">${body}</svg>`;
}

/** Characters that fit beside the lanes. */
const LONGEST = 200;
const text = (x: number, y: number, content: string, kind: string): string =>
  `<text x="${x}" y="${y}" class="${kind}">${escapeXml(cut(content, LONGEST))}</text>`;

/** Columns of one color and height are drawn as one rectangle. */
function bars({ busy, activity }: LaneFrame, y: number, sql: boolean): string {
  return runs(busy.length, (i) =>
    busy[i] ? (sql ? CPU : activity[i]!) * 16 + Math.max(1, Math.round(busy[i]! / 17)) : 0,
  )
    .map(({ from, to, value }) => {
      const height = Math.max(1, ((value & 15) / 15) * LANE);
      return rect(
        from,
        to,
        y + LANE - height,
        height,
        ACTIVITY_COLORS[value >> 4] ?? ACTIVITY_COLORS[0],
        ACTIVITIES[value >> 4] ?? '',
      );
    })
    .join('');
}

function levels({ busy }: LaneFrame, y: number): string {
  return runs(busy.length, (i) => busy[i]!)
    .map(({ from, to, value }) =>
      rect(from, to, y + LANE - (value * LANE) / 4, (value * LANE) / 4, ACTIVITY_COLORS[5], 'lock'),
    )
    .join('');
}

const rect = (
  from: number,
  to: number,
  y: number,
  height: number,
  fill: string,
  kind: string,
): string =>
  `<rect x="${LEFT + from}" y="${Math.round(y * 10) / 10}" width="${to - from}" height="${Math.round(height * 10) / 10}" fill="${fill}" class="${kind}"/>`;

function runs(
  n: number,
  value: (i: number) => number,
): { from: number; to: number; value: number }[] {
  const out: { from: number; to: number; value: number }[] = [];
  for (let i = 0; i < n; i++) {
    const v = value(i);
    const last = out.at(-1);
    if (last?.value === v && last.to === i) last.to = i + 1;
    else if (v) out.push({ from: i, to: i + 1, value: v });
  }
  return out;
}
