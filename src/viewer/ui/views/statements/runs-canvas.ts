/** Runs of a statement as points: x is the start, y the duration, logarithmic. */
import { ExecutionState } from '../../../../analysis/core/executions.ts';
import { sized } from '../../charts/canvas.ts';
import { timeTicks } from '../../charts/ticks.ts';
import { formatDuration, formatMeasured } from '../../../../text/numbers.ts';
import type { StatementRuns } from '../../../../protocol/answers/statements.ts';

/** Colors, as custom properties. */
export const RUNS_LOOK = {
  point: '--neutral',
  failed: '--error',
  grid: '--grid',
  text: '--text-subtle',
  selected: '--text',
};
const LEFT = 56;
const BOTTOM = 16;
const TOP = 6;
const RIGHT = 8;

interface RunsScale {
  x(us: number): number;
  y(us: number): number;
}

/** Position of runs shorter than the clock can measure. */
const leastOf = (stepUs: number | null): number => (stepUs ? stepUs / 2 : 0.1);

/**
 * Maps moments and durations to pixels. The y axis has at least one power of ten.
 * @param stepUs step of the clock: shorter runs are on one line below it; null = not known
 */
function scaleOf(
  runs: StatementRuns,
  width: number,
  height: number,
  stepUs: number | null,
): RunsScale & { from: number; to: number; decades: [number, number] } {
  const least = leastOf(stepUs);
  let [from, to, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let i = 0; i < runs.shown; i++) {
    from = Math.min(from, runs.fromUs[i]!);
    to = Math.max(to, runs.fromUs[i]! + runs.us[i]!);
    const us = Math.max(runs.us[i]!, least);
    low = Math.min(low, us);
    high = Math.max(high, us);
  }
  if (runs.shown === 0) [from, to, low, high] = [0, 1, 1, 10];
  const first = Math.floor(Math.log10(low));
  const last = Math.max(first + 1, Math.ceil(Math.log10(high)));
  const plot = { w: Math.max(1, width - LEFT - RIGHT), h: Math.max(1, height - TOP - BOTTOM) };
  return {
    from,
    to,
    decades: [first, last],
    x: (us) => LEFT + (to > from ? (us - from) / (to - from) : 0.5) * plot.w,
    y: (us) => TOP + (1 - (Math.log10(Math.max(us, least)) - first) / (last - first)) * plot.h,
  };
}

/** @param selected index of the marked run, or -1 */
export function drawRuns(
  canvas: HTMLCanvasElement,
  runs: StatementRuns,
  look: typeof RUNS_LOOK,
  selected: number,
  stepUs: number | null,
): void {
  const { clientWidth: width, clientHeight: height } = canvas;
  const g = sized(canvas);
  g.font = '10px system-ui, sans-serif';
  const scale = scaleOf(runs, width, height, stepUs);
  g.textBaseline = 'middle';
  for (let d = scale.decades[0]; d <= scale.decades[1]; d++) {
    const y = scale.y(10 ** d);
    g.fillStyle = look.grid;
    g.fillRect(LEFT, Math.round(y), width - LEFT - RIGHT, 1);
    if (stepUs && 10 ** d < 0.999 * stepUs) continue;
    g.fillStyle = look.text;
    g.textAlign = 'right';
    g.fillText(formatDuration(10 ** d), LEFT - 6, y);
  }
  if (stepUs && 10 ** scale.decades[0] < stepUs)
    g.fillText(formatMeasured(0, stepUs), LEFT - 6, scale.y(0));
  g.textAlign = 'center';
  for (const { at, label } of timeTicks({ from: scale.from, to: scale.to }, width - LEFT - RIGHT)) {
    const half = g.measureText(label).width / 2;
    g.fillStyle = look.grid;
    g.fillRect(Math.round(scale.x(at)), TOP, 1, height - TOP - BOTTOM);
    g.fillStyle = look.text;
    g.fillText(label, Math.min(width - half, scale.x(at)), height - BOTTOM / 2);
  }
  const size = runs.shown > 2000 ? 2 : 4;
  for (let i = 0; i < runs.shown; i++) {
    const failed = runs.state[i] === ExecutionState.failed;
    g.fillStyle = failed ? look.failed : look.point;
    g.globalAlpha = failed ? 1 : 0.6;
    const s = failed ? size + 2 : size;
    g.fillRect(scale.x(runs.fromUs[i]!) - s / 2, scale.y(runs.us[i]!) - s / 2, s, s);
  }
  g.globalAlpha = 1;
  if (selected < 0) return;
  g.strokeStyle = look.selected;
  g.lineWidth = 2;
  g.strokeRect(scale.x(runs.fromUs[selected]!) - 5, scale.y(runs.us[selected]!) - 5, 10, 10);
}

/** Runs that ended and took [fromUs, toUs), microseconds. */
export function runsBetween(
  runs: StatementRuns,
  { fromUs, toUs }: { fromUs: number; toUs: number },
): StatementRuns {
  const places = Array.from({ length: runs.shown }, (_, i) => i).filter(
    (i) => runs.us[i]! >= fromUs && runs.us[i]! < toUs && runs.state[i] !== ExecutionState.running,
  );
  return {
    ...runs,
    thread: Uint16Array.from(places, (i) => runs.thread[i]!),
    seq: Uint32Array.from(places, (i) => runs.seq[i]!),
    fromUs: Float64Array.from(places, (i) => runs.fromUs[i]!),
    us: Float64Array.from(places, (i) => runs.us[i]!),
    state: Uint8Array.from(places, (i) => runs.state[i]!),
    shown: places.length,
  };
}

/** The run nearest to a point, within 12 px; -1 = none. */
export function runAt(
  runs: StatementRuns,
  width: number,
  height: number,
  px: number,
  py: number,
  stepUs: number | null,
): number {
  const scale = scaleOf(runs, width, height, stepUs);
  let best = -1;
  let nearest = 12 * 12;
  for (let i = 0; i < runs.shown; i++) {
    const distance = (scale.x(runs.fromUs[i]!) - px) ** 2 + (scale.y(runs.us[i]!) - py) ** 2;
    if (distance < nearest) [nearest, best] = [distance, i];
  }
  return best;
}
