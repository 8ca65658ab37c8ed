/** The parts of a time partition for bars. */
import {
  PART_WORDS,
  PARTS,
  SQL_PARTS,
  type Part,
  type PartTimes,
} from '../../../analysis/core/time-parts.ts';

/** CSS custom properties of Theme.svelte. */
export const PART_COLORS: Readonly<Record<Part, string>> = {
  cpu: '--activity-cpu',
  read: '--activity-read',
  write: '--activity-write',
  sync: '--activity-sync',
  idbTransaction: '--activity-idb',
  lock: '--activity-lock',
  lockWait: '--activity-lock-wait',
  tracer: '--activity-meta',
  other: '--activity-wait',
  outside: '--activity-none',
  idle: '--bg-header',
};
type TimedPart = (typeof PART_WORDS)[Part] & { part: Part; color: string; us: number };
/** Each part with its time. @param whole include idle time and storage calls outside SQL */
export const timedParts = (times: PartTimes, whole = false): TimedPart[] =>
  (whole ? PARTS : SQL_PARTS).map((part) => ({
    ...PART_WORDS[part],
    part,
    color: PART_COLORS[part],
    us: times[`${part}Us`],
  }));
