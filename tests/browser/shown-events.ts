/**
 * The events that the Events view shows without filters: rows about the recording itself are
 * hidden.
 */
import { IS_OWN } from '../../src/event/operations.ts';
import type { ThreadStore } from '../../src/trace/store.ts';

export const shownEvents = (threads: readonly ThreadStore[]): number =>
  threads.reduce(
    (n, { events }) => n + events.op.subarray(0, events.count).filter((op) => !IS_OWN[op]).length,
    0,
  );
