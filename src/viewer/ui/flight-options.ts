/** The values of the flight recorder's controls, and its state as text. */
import type { Keep } from '../../trace/retention.ts';
import type { FlightOptions, LiveStats } from '../../protocol/session.ts';

export interface FlightChoice {
  kind: Keep['kind'];
  seconds: number;
  megabytes: number;
  busy: boolean;
  ioerr: boolean;
  corrupt: boolean;
  error: boolean;
  slow: boolean;
  slowCommitMs: number;
}

export const FLIGHT_DEFAULTS: FlightChoice = {
  kind: 'everything',
  seconds: 30,
  megabytes: 50,
  busy: true,
  ioerr: true,
  corrupt: true,
  error: true,
  slow: false,
  slowCommitMs: 200,
};
const LIMITS = { seconds: [1, 3600], megabytes: [1, 2000], slowCommitMs: [0, 3_600_000] } as const;

function within(
  value: number,
  [least, most]: readonly [number, number],
  otherwise: number,
): number {
  return Number.isFinite(value) ? Math.min(most, Math.max(least, value)) : otherwise;
}

/**
 * The options for the session; null keeps everything. Invalid numbers become the nearest valid
 * ones.
 */
export function flightOptionsOf(choice: FlightChoice): FlightOptions | null {
  const { kind, busy, ioerr, corrupt, error, slow } = choice;
  if (kind === 'everything') return null;
  const keep: Keep =
    kind === 'seconds'
      ? { kind, seconds: within(choice.seconds, LIMITS.seconds, FLIGHT_DEFAULTS.seconds) }
      : { kind, megabytes: within(choice.megabytes, LIMITS.megabytes, FLIGHT_DEFAULTS.megabytes) };
  const slowCommitMs = slow
    ? within(choice.slowCommitMs, LIMITS.slowCommitMs, FLIGHT_DEFAULTS.slowCommitMs)
    : null;
  return { keep, freezeOn: { busy, ioerr, corrupt, error, slowCommitMs } };
}

/** `30 s`, `50 MB` */
export function keepText(keep: Keep): string {
  return keep.kind === 'seconds'
    ? `${keep.seconds} s`
    : keep.kind === 'megabytes'
      ? `${keep.megabytes} MB`
      : 'everything';
}

/**
 * `armed` while it waits for its triggers, `stopped` after its recording; null without a flight
 * recorder.
 */
export function flightState(stats: LiveStats | null): 'armed' | 'stopped' | null {
  if (!stats?.flight) return null;
  return stats.recording ? 'armed' : 'stopped';
}
