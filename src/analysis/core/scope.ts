/** What the whole panel is narrowed to. Every part that is given holds at once; an absent one narrows nothing. */
import type { ThreadStore } from '../../trace/store.ts';
import { fingerprintsOf } from './fingerprints.ts';
import type { Part } from './time-parts.ts';
import type { TimeRange } from './time-range.ts';

export interface Scope extends TimeRange {
  /** Place in TraceStore.threads. */
  thread?: number;
  /** A statement's fingerprint; null = statements whose text is unknown. */
  statement?: string | null;
  /** Only this part of the time. */
  part?: Part;
}

/** Whether it narrows nothing. */
export const isUnlimited = (scope: Scope): boolean =>
  Object.values(scope).every((value) => value === undefined);

/** Whether a thread's events count. */
export const isInScope = (thread: ThreadStore, { thread: only }: Scope): boolean =>
  only === undefined || only === thread.index;

/**
 * Whether a statement's text has this fingerprint.
 * @param text null = text unknown
 * @returns a test of ids of `sql` definitions; 0 = unknown
 */
export function hasFingerprint(thread: ThreadStore, text: string | null): (id: number) => boolean {
  const textOf = fingerprintsOf(thread);
  return (id) => textOf(id) === text;
}
