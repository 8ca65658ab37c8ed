/**
 * Draws one lane of the Locks view: waits as a solid strip at the top, holds as outlines below,
 * filled more for stronger modes.
 */
import { colorsOf, sized } from '../../charts/canvas.ts';
import type { Range } from '../../charts/viewport.ts';
import type { LockTrack } from '../../../../protocol/answers/lock-lanes.ts';

/** Height of a lane and of its parts, CSS px. */
export const LANE_HEIGHT = 22;
const [WAIT_Y, WAIT_HEIGHT] = [3, 5];
const [HOLD_Y, HOLD_HEIGHT] = [10, 9];
/** Maximum share of its color inside a hold, and the share of that by mode 1..4. */
const FILL = 0.45;
const STRENGTH = [0, 0.4, 0.65, 0.8, 1];

/** As custom properties. */
const COLORS = {
  hold: '--activity-lock',
  wait: '--activity-lock-wait',
  refused: '--error',
  grid: '--grid',
  shade: '--shade',
};

/** @param mark a time range to highlight, or null @param ticks moments of the grid, microseconds */
export function drawTrack(
  canvas: HTMLCanvasElement,
  track: LockTrack | undefined,
  {
    view,
    width,
    mark,
    ticks,
  }: { view: Range; width: number; mark: Range | null; ticks: readonly number[] },
): void {
  const colors = colorsOf(canvas, COLORS);
  const context = sized(canvas, width, LANE_HEIGHT);
  const perUs = width / (view.to - view.from);
  const x = (us: number): number => Math.min(width + 2, Math.max(-2, (us - view.from) * perUs));
  context.fillStyle = colors.grid;
  for (const us of ticks) context.fillRect(Math.round(x(us)), 0, 1, LANE_HEIGHT);
  if (mark) {
    context.fillStyle = colors.shade;
    context.fillRect(x(mark.from), 0, Math.max(2, x(mark.to) - x(mark.from)), LANE_HEIGHT);
  }
  if (!track) return;
  for (let i = 0; i < track.from.length; i++) {
    const [from, to] = [track.from[i]!, track.to[i]!];
    if (to < view.from || from > view.to) continue;
    const left = x(from);
    const wide = Math.max(1, x(to) - left);
    const cover =
      track.count[i]! > 1 ? 0.4 + 0.6 * (track.covered[i]! / Math.max(1e-9, to - from)) : 1;
    if (track.wait[i]) {
      context.globalAlpha = cover;
      context.fillStyle = track.outcome[i] === 1 ? colors.refused : colors.wait;
      context.fillRect(left, WAIT_Y, Math.max(track.outcome[i] === 1 ? 2 : 1, wide), WAIT_HEIGHT);
    } else {
      // an outline: the thread does something else meanwhile, or nothing
      context.fillStyle = context.strokeStyle = colors.hold;
      context.globalAlpha = cover * FILL * (STRENGTH[track.mode[i]!] ?? 1);
      context.fillRect(left, HOLD_Y, wide, HOLD_HEIGHT);
      context.globalAlpha = cover;
      if (wide < 3) context.fillRect(left, HOLD_Y, wide, HOLD_HEIGHT);
      else context.strokeRect(left + 0.5, HOLD_Y + 0.5, wide - 1, HOLD_HEIGHT - 1);
    }
  }
  context.globalAlpha = 1;
}

/**
 * The narrowest span under a point of a lane, within `slackUs`; -1 = none. @param y CSS px within
 * the lane
 */
export function spanAt(track: LockTrack, us: number, y: number, slackUs: number): number {
  const wait = y < (WAIT_Y + WAIT_HEIGHT + HOLD_Y) / 2 ? 1 : 0;
  let best = -1;
  for (let i = 0; i < track.from.length; i++) {
    if (track.from[i]! - slackUs > us || track.to[i]! + slackUs < us) continue;
    const worse = (at: number): number =>
      (track.wait[at] === wait ? 0 : 1e15) + track.to[at]! - track.from[at]!;
    if (best < 0 || worse(i) < worse(best)) best = i;
  }
  return best;
}

/** Index of the span that starts with an event; -1 = it isn't drawn. */
export function spanOf(track: LockTrack, { seq, wait }: { seq: number; wait: number }): number {
  return track.seq.findIndex((one, i) => one === seq && track.wait[i] === wait);
}
