/** The page's own marks: waiting for one, and cutting a saved trace to the part between them. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from 'puppeteer-core';
import { cutTo, markedRanges, START_MARK } from '../analysis/report/cut.ts';
import { reworkTrace } from './rework-trace.ts';

const POLL_MS = 100;

/**
 * Wait until the page or one of its dedicated workers has made a mark with this name.
 * `performance.clearMarks()` and leaving the page remove the mark, so it must stay.
 * @param signal ends the wait with an AbortError
 * @returns false when the mark wasn't made in time
 */
export async function markMade(
  page: Page,
  name: string,
  seconds: number,
  signal?: AbortSignal,
): Promise<boolean> {
  const made = (mark: string): boolean => performance.getEntriesByName(mark, 'mark').length > 0;
  let seen = false;
  const asked = new Set<object>();
  for (
    const end = Date.now() + seconds * 1000;
    Date.now() < end;
    await delay(POLL_MS, undefined, { signal })
  ) {
    for (const realm of [page, ...page.workers()]) {
      if (asked.has(realm)) continue; // a blocked one answers when it continues
      asked.add(realm);
      const answer: Promise<boolean> = realm.evaluate(made, name);
      void answer.then(
        (yes) => {
          seen ||= yes;
          asked.delete(realm);
        },
        () => asked.delete(realm), // between two documents, or of a worker that has ended
      );
    }
    if (seen) return true;
  }
  return seen;
}

/**
 * Cut a trace file to the marked part.
 * @returns null, or why the file wasn't cut
 */
export function keepMarked(file: string, say: (line: string) => void): Promise<string | null> {
  return reworkTrace(file, (store) => {
    const ranges = markedRanges(store);
    if (ranges.length === 0)
      return {
        answer: `The page made no performance.mark('${START_MARK}'): the whole recording is saved.`,
      };
    const cut = cutTo(store, ranges);
    say(
      `saved ${cut.store.eventCount} events in ${ranges.length} marked ${ranges.length === 1 ? 'range' : 'ranges'}, left ${cut.left} out`,
    );
    return { store: cut.store, answer: null };
  });
}
