/** The shown recording's name, and whether it is from the tab's page. */
import type { Spool, ThreadRow } from '../../protocol/session.ts';
import { shown } from '../../text/clean.ts';
import { countOf, formatBytes, formatDuration } from '../../text/numbers.ts';

const MOST_NAME = 60;
const time = (ms: number): string =>
  new Date(ms).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
const host = (origin: string): string =>
  shown(URL.canParse(origin) ? new URL(origin).host || origin : origin, MOST_NAME);

/**
 * Origins of the recorded pages; without a page, of all threads. A thread without a web origin has
 * none.
 */
function originsOf(threads: readonly Pick<ThreadRow, 'kind' | 'url'>[]): string[] {
  const pages = threads.filter(({ kind }) => kind === 'page');
  const origins = (pages.length ? pages : threads).map(({ url }) =>
    URL.canParse(url) ? new URL(url).origin : 'null',
  );
  return [...new Set(origins)].filter((origin) => origin !== 'null');
}

/** `app.example, 14:03, 31 s`. @param begunMs when it started; null = not known */
export function recordingName(
  threads: readonly Pick<ThreadRow, 'kind' | 'url'>[],
  begunMs: number | null,
  durationUs: number,
): string {
  const parts = [host(originsOf(threads)[0] ?? '') || 'Recording'];
  if (begunMs !== null) parts.push(time(begunMs));
  return [...parts, formatDuration(durationUs)].join(', ');
}

/** The same for a copy on disk; without the length if that isn't known before it is opened. */
export const copyName = ({ origin, begunMs, durationUs }: Spool): string =>
  [
    host(origin) || 'Recording',
    new Date(begunMs).toLocaleString([], { dateStyle: 'short', timeStyle: 'short' }),
    ...(durationUs === null ? [] : [formatDuration(durationUs)]),
  ].join(', ');

/** Further details in the list. */
export const copyFacts = ({ events, bytes, frozen, savedAt }: Spool): string =>
  [
    events === null ? 'length unknown until you open it' : countOf(events, 'event'),
    formatBytes(bytes),
    ...(frozen ? ['frozen by the flight recorder'] : []),
    savedAt === null ? 'not saved as a file' : 'saved as a file',
  ].join(' · ');

/**
 * @returns both hosts if the recording is from another page than the tab's; null if it isn't, or
 * that isn't known
 */
export function otherPage(
  threads: readonly Pick<ThreadRow, 'kind' | 'url'>[],
  tabOrigin: string,
): { shown: string; tab: string } | null {
  const origins = originsOf(threads);
  if (!tabOrigin || !origins.length || origins.includes(tabOrigin)) return null;
  return { shown: host(origins[0]!), tab: host(tabOrigin) };
}
