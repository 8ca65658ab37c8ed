/**
 * What the whole panel is narrowed to. All given parts apply together; an absent one doesn't narrow
 * anything.
 */
import type { ThreadStore } from '../../trace/store.ts';
import type { Part } from './time-parts.ts';
import type { TimeRange } from './time-range.ts';

export interface Scope extends TimeRange {
  /** Place in TraceStore.threads. */
  thread?: number;
  /** A statement's fingerprint; null = statements whose text is unknown. */
  statement?: string | null;
  /** A table's name: statements that read or wrote a page of it, or of its indexes. */
  table?: string;
  /** Only this part of the time. */
  part?: Part;
}

/** Whether it doesn't narrow anything. */
export const isUnlimited = (scope: Scope): boolean =>
  Object.values(scope).every((value) => value === undefined);

/** Whether a thread's events count. */
export const isInScope = (thread: ThreadStore, { thread: only }: Scope): boolean =>
  only === undefined || only === thread.index;
