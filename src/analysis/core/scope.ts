/** What the whole panel is narrowed to. Every part that is given holds at once; an absent one narrows nothing. */
import type { Part } from './time-parts.ts';

export interface Scope {
  /** [fromUs, toUs), microseconds of the trace. */
  fromUs?: number;
  toUs?: number;
  /** Place in TraceStore.threads. */
  thread?: number;
  /** A statement's fingerprint; null = statements whose text is unknown. */
  statement?: string | null;
  /** A table's name: what statements did that read or wrote a page of it or of its indexes. */
  table?: string;
  /** Only this part of the time. */
  part?: Part;
}
