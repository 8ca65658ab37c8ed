/**
 * Ascending times in a file as differences in whole microseconds, which are short in JSON and gzip.
 */
import { isTraceUs } from '../event/clock.ts';

/** @param us of the trace, ascending, microseconds */
export function stepsOf(us: Float64Array): number[] {
  let last = 0;
  return Array.from(us, (at) => {
    const whole = Math.round(at);
    const step = whole - last;
    last = whole;
    return step;
  });
}

/** @param steps whole numbers @returns null if times go back or are outside of a trace's range */
export function timesOf(steps: readonly number[]): Float64Array | null {
  const us = new Float64Array(steps.length);
  let last = 0;
  for (const [i, step] of steps.entries()) {
    us[i] = last += step;
    if ((i > 0 && step < 0) || !isTraceUs(last)) return null;
  }
  return us;
}
