/**
 * SharedWorkers of an origin that run with our script (src/hooks/shared-workers.ts): the blob: URL
 * that pages start each from, the tabs that hold one, and the tabs that may hold a native one.
 * While such a tab is open, no recorded worker starts, because the app would then have two
 * instances of one worker. For the same reason pages still start the recorded worker after the
 * recording, until no page holds it.
 */
import { MOST_DEAD, SHARED_MISMATCH, SHARED_WAIT, type SharedAsk } from '../protocol/messages.ts';
import type { Policies } from '../protocol/page-policy.ts';

interface SharedUrls {
  key: string;
  /**
   * Type and credentials: a page that requests the same worker with others gets an error, as it
   * does without vfscope.
   */
  traits: string;
  /**
   * Several where the browser partitions pages: a frame's storage depends on its top-level site.
   */
  urls: string[];
  /** Tabs whose document got one of them. */
  tabs: number[];
}
/** An origin's policies that are replaced with wider ones in all tabs. */
interface WidePolicies {
  /** Id of the browser's rule. */
  rule: number;
  /** The site's own policies. */
  policies: Policies;
}
export interface Sharing {
  origin: string;
  /**
   * The recording is over, and all pages that hold a recorded worker reload. The next ones start it
   * natively.
   */
  ends: boolean;
  /**
   * Tabs whose document must close before a recorded worker starts: it loaded before our script, or
   * holds a recorded worker that is to end.
   */
  older: number[];
  /** Those of `older` that are about to reload: a worker waits for them. */
  leaving: number[];
  /**
   * Tabs whose document runs this worker natively, or may: the recorded one doesn't start beside
   * it. Key '' = any worker.
   */
  natives: { tab: number; key: string }[];
  /**
   * Tabs whose document can't start the recorded worker and must not start another one: they wait
   * until no page holds it.
   */
  waiting: number[];
  /** While this is set, a page with the site's own policies can't join. */
  widened: WidePolicies | null;
  /**
   * The workers that pages hold were started before the current recording, so they don't report to
   * it.
   */
  silent: boolean;
  workers: SharedUrls[];
}

const MOST_WORKERS = 100;
/** A page can name any number of workers. Beyond this limit, one entry stands for all of them. */
const MOST_NATIVES = 1000;

/** @param tabs that show the origin @param reloaded those of them that are about to reload */
export const newSharing = (
  origin: string,
  tabs: number[],
  reloaded: readonly number[],
): Sharing => ({
  origin,
  ends: false,
  older: tabs,
  leaving: [...reloaded],
  natives: [],
  waiting: [],
  widened: null,
  silent: false,
  workers: [],
});

/** A recording starts while pages hold workers of the previous one. */
export function beginsAgain(sharing: Sharing): void {
  if (sharing.ends) [sharing.ends, sharing.older, sharing.leaving] = [false, [], []];
  sharing.silent = sharing.workers.length > 0;
}

/** Whether this entry can be dropped, once no recording shows its origin. */
export const isOver = ({ workers, ends, older }: Sharing): boolean =>
  workers.length === 0 && !(ends && older.length > 0);

const without = (tabs: readonly number[], tab: number): number[] =>
  tabs.filter((one) => one !== tab);
const withTab = (tabs: readonly number[], tab: number): number[] => [...without(tabs, tab), tab];

/** Tabs whose document got the URL of a recorded worker. */
export const holdersOf = ({ workers }: Sharing): number[] => [
  ...new Set(workers.flatMap(({ tabs }) => tabs)),
];
/** A worker ends when no page holds it. */
function letGo(sharing: Sharing, tab: number, of: readonly SharedUrls[] = sharing.workers): void {
  for (const worker of of) worker.tabs = without(worker.tabs, tab);
  sharing.workers = sharing.workers.filter(({ tabs }) => tabs.length > 0);
  if (sharing.workers.length === 0) sharing.silent = false;
}

/** The document of this tab is closed and can't come back. */
export function documentLeaves(sharing: Sharing, tab: number): void {
  sharing.older = without(sharing.older, tab);
  sharing.leaving = without(sharing.leaving, tab);
  sharing.natives = sharing.natives.filter((one) => one.tab !== tab);
  sharing.waiting = without(sharing.waiting, tab);
  letGo(sharing, tab);
}

/** The tab is about to reload. */
export function tabReloads(sharing: Sharing, tab: number): void {
  sharing.leaving = withTab(sharing.leaving, tab);
}

/** Whether all tabs that a worker waits for are about to reload. */
export const waits = ({ older, leaving }: Sharing): boolean =>
  older.length > 0 && older.every((tab) => leaving.includes(tab));

function runsNatively(sharing: Sharing, tab: number, key: string): void {
  const others = sharing.natives.filter((one) => one.tab !== tab || one.key !== key);
  sharing.natives =
    others.length < MOST_NATIVES ? [...others, { tab, key }] : [{ tab, key: '' }, ...others];
}
/** Our script ran late in this tab's document, which may have started a native worker. */
export const documentWasLate = (sharing: Sharing, tab: number): void =>
  runsNatively(sharing, tab, '');
/** Tabs whose documents run a worker natively, or may. */
export const nativeTabs = ({ natives }: Sharing): number[] => natives.map(({ tab }) => tab);

/**
 * Tabs to show to the user: their pages hold workers that the recording can't see or, after it,
 * recorded workers.
 */
export const tabsToReload = (sharing: Sharing, isRecorded: boolean): number[] =>
  isRecorded && !sharing.silent
    ? [...new Set([...sharing.older, ...nativeTabs(sharing)])]
    : holdersOf(sharing);

/** Mark all affected pages to reload together. @returns their tabs */
export function reloadAll(sharing: Sharing, isRecorded: boolean): number[] {
  sharing.older = tabsToReload(sharing, isRecorded);
  sharing.ends = !isRecorded;
  sharing.leaving = sharing.older;
  return sharing.older;
}

/** Some tabs in `older` don't reload, so workers stop waiting and run as they do in those tabs. */
export function waitsNoLonger(sharing: Sharing): void {
  if (sharing.ends || sharing.silent) [sharing.ends, sharing.older] = [false, []];
  sharing.leaving = [];
}

/**
 * @param mayBegin a recording runs, so a worker that hasn't started may start
 * @returns the URL; '' to run the worker natively; SHARED_MISMATCH if it must fail; SHARED_WAIT if
 * pages hold a worker that this page can't join
 */
export function agree(
  sharing: Sharing,
  { key, traits, url, dead, closed = false }: SharedAsk,
  tab: number,
  mayBegin: boolean,
): string {
  const known = sharing.workers.find((worker) => worker.key === key);
  const natively = (): string => {
    runsNatively(sharing, tab, key);
    return '';
  };
  sharing.waiting = without(sharing.waiting, tab);
  if (closed) {
    if (known) letGo(sharing, tab, [known]); // it requested one before it knew its policies
    if (!known?.tabs.length || !known.urls.length) return natively();
    sharing.waiting = withTab(sharing.waiting, tab);
    return SHARED_WAIT;
  }
  const failed = dead.includes(url);
  if (failed && known) known.urls = known.urls.filter((one) => one !== url);
  const isOurs = url === '' || url.startsWith(`blob:${sharing.origin}/`);
  if (sharing.ends || traits === '' || !isOurs) return natively();
  const nativelyAlone = (): string => {
    if (known) letGo(sharing, tab, [known]); // it could start none of the URLs that it got
    return natively();
  };
  const alive = known?.urls.find((one) => !dead.includes(one));
  if (known && alive && known.traits !== traits) return SHARED_MISMATCH;
  if (!alive) {
    if (failed || url === '') return nativelyAlone();
    const isFull = !known && sharing.workers.length >= MOST_WORKERS;
    const isBeside =
      sharing.older.length > 0 || sharing.natives.some((one) => one.key === '' || one.key === key);
    if (!mayBegin || isFull || isBeside) return nativelyAlone();
    if (known)
      known.urls = [...known.urls.slice(1 - MOST_DEAD), url]; // drop the oldest
    else sharing.workers.push({ key, traits, urls: [url], tabs: [tab] });
  }
  if (known) known.tabs = withTab(known.tabs, tab);
  return alive ?? url;
}
