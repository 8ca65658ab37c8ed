/** The second trace of a comparison: a file opened next to the first, or the previous recording. */
import { Facts } from '../../analysis/core/graph.ts';
import type { TraceStore } from '../../trace/store.ts';
import type { ComparedTraces, NamedTrace } from './queries/context.ts';

/**
 * A recording with more events isn't kept when the next one starts. At about 60 bytes an event, two
 * would take too much memory.
 */
export const MAX_PREVIOUS_EVENTS = 3_000_000;

export class ComparisonTraces implements ComparedTraces {
  other: NamedTrace | null = null;
  previous: NamedTrace | null = null;

  /** A recording is about to replace this one. */
  keep(store: TraceStore, name: string): void {
    if (store.eventCount > 0)
      this.previous =
        store.eventCount <= MAX_PREVIOUS_EVENTS ? { store, name, facts: new Facts(store) } : null;
  }
  usePrevious(): void {
    if (!this.previous) throw new Error("The previous recording isn't stored.");
    this.other = this.previous;
  }
  /** A file was opened for comparison. */
  use(store: TraceStore, name: string): void {
    this.other = { store, name, facts: new Facts(store) };
  }
  forget(): void {
    this.other = this.previous = null;
  }
}
