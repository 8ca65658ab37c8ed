/**
 * Which thread waited for which: all waits of one thread for another as one arrow. Waits for
 * threads that weren't recorded are one arrow, too.
 */
import { grouped } from '../core/maps.ts';
import type { EventRef } from '../../trace/store.ts';

/** The part of a wait that one holder caused. */
interface Wait {
  /** Threads; the holder is null if no recorded thread held the lock. */
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
  /** Names of the locks, the longest waits first; at most 5. */
  names: string[];
  fromUs: number;
  toUs: number;
  /** The longest waits, in order of time. */
  events: EventRef[];
}

/** Maximum events of an arrow. */
const MOST_EVENTS = 500;

/** Waits summed by waiter and holder, the longest sum first. */
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
