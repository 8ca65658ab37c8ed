/**
 * What a page's user waited for, as the browser itself tells it: tasks of 50 ms and more (w3c.github.io/longtasks), and interactions of
 * 16 ms and more, from the input to the next picture (w3c.github.io/event-timing). Told afterwards: offset = startTime in ms, length = duration in us.
 */
import type { ProbeContext } from '../probes/context.ts';
import { Op } from '../event/event.ts';
import type { Recorder } from '../record/recorder.ts';
import { apply } from '../record/reflect.ts';

interface Interaction extends PerformanceEntry {
  /** 0 = part of none. */
  interactionId?: number;
}
/** The shortest that browsers report. */
const SHORTEST_MS = 16;

/** @returns what ends it; null where the browser tells neither */
export function observePageTimings(recorder: Recorder, context: ProbeContext): (() => void) | null {
  if (typeof PerformanceObserver === 'undefined') return null;
  const known = PerformanceObserver.supportedEntryTypes;
  // the app may put others in their place later
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
  // of a type that it doesn't know a browser warns in the console
  if (known.includes('longtask')) observer.observe({ type: 'longtask' });
  if (known.includes('event'))
    observer.observe({ type: 'event', durationThreshold: SHORTEST_MS } as PerformanceObserverInit);
  return () => observer.disconnect();
}
