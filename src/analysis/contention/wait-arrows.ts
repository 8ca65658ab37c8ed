/** Who waited for whom: all waits of one thread for another as one arrow. Those for a thread that was not recorded are one, too. */
import { grouped } from '../core/maps.ts';
import type { EventRef } from '../../trace/store.ts';

/** A wait as far as one holder was in its way. */
interface Wait {
  /** Threads; the holder is null where no recorded thread held the lock. */
  waiter: number;
  holder: number | null;
  /** Name of the lock. */
  name: string;
  /** Microseconds. */
  fromUs: number;
  toUs: number;
  event: EventRef;
}
/** All waits of one thread for another. */
export interface WaitArrow {
  waiter: number;
  /** null = no recorded thread held the lock. */
  holder: number | null;
  waits: number;
  /** Sum over its waits, microseconds. */
  waitedUs: number;
  longestUs: number;
  /** Names of what was waited for, the longest waits first; at most 5. */
  names: string[];
  fromUs: number;
  toUs: number;
  /** The longest waits, in order of time. */
  events: EventRef[];
}

/** At most so many events an arrow. */
const MOST_EVENTS = 500;

/** Waits summed up by waiter and holder; the longest waited first. */
export function arrowsOf(waits: readonly Wait[]): WaitArrow[] {
  const groups = grouped(waits, ({ waiter, holder }) => `${waiter}:${holder ?? ''}`);
  const span = ({ fromUs, toUs }: Wait): number => toUs - fromUs;
  return [...groups.values()]
    .map((lines): WaitArrow => {
      const sorted = [...lines].sort((a, b) => span(b) - span(a));
      return {
        waiter: lines[0]!.waiter,
        holder: lines[0]!.holder,
        waits: lines.length,
        waitedUs: lines.reduce((sum, line) => sum + span(line), 0),
        longestUs: span(sorted[0]!),
        names: [...new Set(sorted.map(({ name }) => name))].slice(0, 5),
        fromUs: lines.reduce((us, line) => Math.min(us, line.fromUs), Infinity),
        toUs: lines.reduce((us, line) => Math.max(us, line.toUs), -Infinity),
        events: sorted
          .slice(0, MOST_EVENTS)
          .sort((a, b) => a.fromUs - b.fromUs)
          .map(({ event }) => event),
      };
    })
    .sort((a, b) => b.waitedUs - a.waitedUs);
}
