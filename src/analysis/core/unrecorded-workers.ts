/** Workers that the recording didn't see. What they did isn't in any number. */
import { scriptName } from '../../text/clean.ts';
import { countOf, formatCount } from '../../text/numbers.ts';
import { LATE_START } from '../../trace/describe.ts';
import type { TraceStore } from '../../trace/store.ts';
import { fact } from './graph.ts';
import { getOrMake } from './maps.ts';
import { sqliteThreads } from './main-threads.ts';
import { pageOf } from './thread-origin.ts';

/**
 * What can run there: `any` may own a database, a `service` worker seldom does, and a `data:`
 * worker has no storage.
 */
export type UnrecordedKind = 'any' | 'service' | 'data';
const KINDS: readonly UnrecordedKind[] = ['any', 'service', 'data'];

export interface UnrecordedWorker {
  /** URL of its script; '' if not known. */
  url: string;
  /** Why it isn't recorded. */
  cause: string;
  kind: UnrecordedKind;
  /**
   * Ids of the pages that created it; for a worker at the top, those where its page isn't known.
   */
  pages: string[];
}

/**
 * Each script once for each cause: first those that may own a database, then in order of
 * appearance.
 */
export const unrecordedWorkers = fact(
  'unrecordedWorkers',
  'workers not recorded',
  {},
  (store): readonly UnrecordedWorker[] => {
    const found = new Map<string, UnrecordedWorker>();
    for (const { notes, index } of store.threads)
      for (const { topic, text, url = '' } of notes) {
        if (topic !== 'worker-native' && topic !== 'service-worker-native') continue;
        const kind =
          topic === 'service-worker-native' ? 'service' : url.startsWith('data:') ? 'data' : 'any';
        const cause = text.replace(/^Not recorded: /, '');
        const { pages } = getOrMake(found, `${url} ${text}`, (): UnrecordedWorker => ({
          url,
          cause,
          kind,
          pages: [],
        }));
        const page = pageOf(store, index);
        if (!pages.includes(page)) pages.push(page);
      }
    return [...found.values()].sort((a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind));
  },
);

/** Its page was already running when the recording began. */
const isLate = ({ topic }: { topic: string }): boolean => topic === 'late-start';

/** Whether a page's workers may have run before the recording began. @param page its id */
export const mayHaveEarlierWorkers = (store: TraceStore, page: string): boolean =>
  store.threads.some(({ notes, index }) => notes.some(isLate) && pageOf(store, index) === page);

/** The notices on pages that were already running, each once. */
export const lateStarts = ({ threads }: TraceStore): string[] => {
  const notes = threads.flatMap((thread) => thread.notes.filter(isLate));
  return [...new Set(notes.map(({ text, url = '' }) => `${LATE_START}: ${text} (${url})`))];
};

/**
 * How unrecorded workers affect numbers: not at all (null), they are `least` numbers, or none is
 * known, because SQLite wasn't seen anywhere else.
 */
export const unseenWork = fact(
  'unseenWork',
  'what is not recorded',
  { unrecordedWorkers, sqliteThreads },
  (
    { threads },
    { unrecordedWorkers: workers, sqliteThreads: ran },
  ): { isLeast: boolean; text: string } | null => {
    const may = workers.filter(({ kind }) => kind === 'any');
    const isLeast = ran.length > 0;
    if (!may.length)
      return threads.some(({ notes }) => notes.some(isLate))
        ? {
            isLeast,
            text: "workers that ran before the recording began aren't recorded; reload the page while you record",
          }
        : null;
    const [first] = may;
    const more = may.length > 1 ? ` and ${countOf(may.length - 1, 'other worker')}` : '';
    const named = `${scriptName(first!.url) || 'a worker'}${more} ${more ? "aren't" : "isn't"} recorded`;
    return {
      isLeast,
      text: isLeast ? named : `${named}, and SQLite was seen nowhere else`,
    };
  },
);

/** How many a text names. */
const NAMED = 3;
/** The effect on the numbers, by the worst kind. */
const CONSEQUENCE: Readonly<Record<UnrecordedKind, string>> = {
  any: 'if SQLite or its storage runs there, the real counts are higher',
  service: 'if SQLite runs there, which is rare, the real counts are higher',
  data: 'no storage can be reached from there, so counts are exact',
};

/** Which they are, why, and how they affect the numbers. @param workers at least one */
export function unrecordedText(workers: readonly UnrecordedWorker[]): string {
  const named = workers.slice(0, NAMED).map(({ url, cause }) => `${scriptName(url)}: ${cause}`);
  const more = workers.length - named.length;
  const count = `${countOf(workers.length, 'worker')} ${workers.length === 1 ? "isn't" : "aren't"} recorded`;
  return `${count}: ${CONSEQUENCE[workers[0]!.kind]}. ${named.join(' ')}${more ? ` And ${formatCount(more)} more.` : ''}`;
}
