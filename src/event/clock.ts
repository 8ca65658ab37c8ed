/**
 * One timeline for many threads: performance.timeOrigin + performance.now() is one clock over the
 * workers, tabs and processes of a browser (never mix it with Date.now(), which is off by up to 1
 * ms).
 */

/** A trace's time 0, and how a thread's clock readings become trace time. */
interface ThreadClock {
  /** performance.timeOrigin of the thread, ms since the epoch */
  readonly timeOrigin: number;
}

/** Microseconds since the trace began, from a thread's performance.now() in ms. */
export function toTraceUs(nowMs: number, clock: ThreadClock, traceOriginMs: number): number {
  // whole nanoseconds: sums and differences stay exact in a double for 104 days
  return Math.round((clock.timeOrigin - traceOriginMs + nowMs) * 1e6) / 1e3;
}

/**
 * Times are less than this far from the trace's begin, 52 days. In nanoseconds, they and their
 * differences fit a file's numbers, at most 2^53. The rest is for the rounding of microseconds.
 */
export const MAX_TRACE_NS = 2 ** 52 - 2 ** 20;
const MAX_TRACE_US = MAX_TRACE_NS / 1e3;
/** Whether a trace can hold this moment. False for NaN, too. */
export const isTraceUs = (us: number): boolean => us > -MAX_TRACE_US && us < MAX_TRACE_US;

/**
 * Smallest step of the clock in microseconds, measured over `tries` changes; 0.001 if each reading
 * differs.
 */
export function measureClockStepUs(now: () => number = () => performance.now(), tries = 3): number {
  let smallest = Infinity;
  for (let i = 0; i < tries; i++) {
    const start = now();
    let next = start;
    for (let spin = 0; spin < 200_000 && next === start; spin++) next = now();
    if (next > start) smallest = Math.min(smallest, next - start);
  }
  return smallest === Infinity ? NaN : Math.max(0.001, Math.round(smallest * 1e6) / 1e3);
}
