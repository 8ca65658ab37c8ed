/**
 * What a page's user waited for, as the browser reports it: tasks of 50 ms and more
 * (w3c.github.io/longtasks), and interactions of 16 ms and more, from the input to the next frame
 * (w3c.github.io/event-timing). Reported afterwards: offset = startTime in ms, length = duration in
 * us.
 */
import type { ProbeContext } from '../probes/context.ts';
import { Op } from '../event/event.ts';
import type { Recorder } from '../record/recorder.ts';
import { apply } from '../record/reflect.ts';

interface Interaction extends PerformanceEntry {
  /** 0 = not part of an interaction. */
  interactionId?: number;
}
/** The shortest duration that browsers report. */
const SHORTEST_MS = 16;

/** @returns a function that ends it; null where the browser reports neither */
export function observePageTimings(recorder: Recorder, context: ProbeContext): (() => void) | null {
  if (typeof PerformanceObserver === 'undefined') return null;
  const known = PerformanceObserver.supportedEntryTypes;
  // the app may replace these later
  const { getEntries } = PerformanceObserverEntryList.prototype;
  const record = (op: number, name: string, { startTime, duration }: PerformanceEntry): void =>
    recorder.instant(op, context.textId('name', name), startTime, Math.round(duration * 1000));
  const observer = new PerformanceObserver((list) => {
    try {
      if (!recorder.enabled) return;
      /** The longest event of each interaction: pointerup and click are one. */
      const interactions = new Map<number, Interaction>();
      for (const entry of apply(getEntries, list, []) as Interaction[]) {
        const { entryType, interactionId = 0, duration } = entry;
        if (entryType === 'longtask') record(Op.longTask, 'long task', entry);
        else if (interactionId > 0 && duration >= (interactions.get(interactionId)?.duration ?? 0))
          interactions.set(interactionId, entry);
      }
      interactions.forEach((entry) => record(Op.interaction, entry.name, entry));
    } catch (e) {
      recorder.fault('page timings', e);
    }
  });
  // the browser logs a warning for a type that it doesn't know
  if (known.includes('longtask')) observer.observe({ type: 'longtask' });
  if (known.includes('event'))
    observer.observe({ type: 'event', durationThreshold: SHORTEST_MS } as PerformanceObserverInit);
  return () => observer.disconnect();
}
