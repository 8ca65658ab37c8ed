/**
 * SharedWorkers of an origin that run with our script (src/hooks/shared-workers.ts): from which blob: URL its pages start each, which tabs
 * hold one, and which may hold one that runs natively. As long as there is such a tab, none of ours begins: there would be two of what is
 * to be one. For the same reason the pages of an origin start ours after the recording, too, until no page holds it any more.
 */
import { MOST_DEAD, SHARED_MISMATCH, SHARED_WAIT, type SharedAsk } from '../protocol/messages.ts';
import type { Policies } from '../protocol/page-policy.ts';

interface SharedUrls {
  key: string;
  /** Type and credentials: pages that ask for the same worker with others get an error, as without us. */
  traits: string;
  /** Several where the browser keeps pages apart: a frame's storage is that of the site around it. */
  urls: string[];
  /** Whose document was told one of them. */
  tabs: number[];
}
/** Policies of an origin's documents, in the place of which all tabs get wider ones. */
interface WidePolicies {
  /** Id of the browser's rule. */
  rule: number;
  /** The site's own. */
  policies: Policies;
}
export interface Sharing {
  origin: string;
  /** The recording is over, and all pages that hold ours load again: the next ones start the browser's own. */
  ends: boolean;
  /** Tabs whose document is to go before a worker begins: it was there before our script, or holds one of ours that is to end. */
  older: number[];
  /** Those of them that are about to load again: a worker waits for them. */
  leaving: number[];
  /** Tabs whose document runs this worker natively, or may: none of ours begins beside it. Key '' = whatever worker. */
  natives: { tab: number; key: string }[];
  /** Tabs whose document can't start ours, and may start no other one: they wait until no page holds it. */
  waiting: number[];
  /** As long as this is known: a page with the site's own policies could not join. */
  widened: WidePolicies | null;
  /** Those that pages hold began before the recording that runs: they say nothing to it. */
  silent: boolean;
  workers: SharedUrls[];
}

const MOST_WORKERS = 100;
/** A page can name any number: beyond this one stands for all. */
const MOST_NATIVES = 1000;

/** @param tabs that show the origin @param reloaded those of them that are about to load again */
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

/** A recording begins, and pages hold workers of the one before. */
export function beginsAgain(sharing: Sharing): void {
  if (sharing.ends) [sharing.ends, sharing.older, sharing.leaving] = [false, [], []];
  sharing.silent = sharing.workers.length > 0;
}

/** Whether nothing of it is left to know, once no recording shows its origin. */
export const isOver = ({ workers, ends, older }: Sharing): boolean =>
  workers.length === 0 && !(ends && older.length > 0);

const without = (tabs: readonly number[], tab: number): number[] =>
  tabs.filter((one) => one !== tab);
const withTab = (tabs: readonly number[], tab: number): number[] => [...without(tabs, tab), tab];

/** Tabs whose document was told a URL of ours. */
export const holdersOf = ({ workers }: Sharing): number[] => [
  ...new Set(workers.flatMap(({ tabs }) => tabs)),
];
/** A worker that no page holds is gone. */
function letGo(sharing: Sharing, tab: number, of: readonly SharedUrls[] = sharing.workers): void {
  for (const worker of of) worker.tabs = without(worker.tabs, tab);
  sharing.workers = sharing.workers.filter(({ tabs }) => tabs.length > 0);
  if (sharing.workers.length === 0) sharing.silent = false;
}

/** The document of this tab is gone for good. */
export function documentLeaves(sharing: Sharing, tab: number): void {
  sharing.older = without(sharing.older, tab);
  sharing.leaving = without(sharing.leaving, tab);
  sharing.natives = sharing.natives.filter((one) => one.tab !== tab);
  sharing.waiting = without(sharing.waiting, tab);
  letGo(sharing, tab);
}

/** The tab is about to load again. */
export function tabReloads(sharing: Sharing, tab: number): void {
  sharing.leaving = withTab(sharing.leaving, tab);
}

/** Whether those that a worker waits for are all about to go. */
export const waits = ({ older, leaving }: Sharing): boolean =>
  older.length > 0 && older.every((tab) => leaving.includes(tab));

function runsNatively(sharing: Sharing, tab: number, key: string): void {
  const others = sharing.natives.filter((one) => one.tab !== tab || one.key !== key);
  sharing.natives =
    others.length < MOST_NATIVES ? [...others, { tab, key }] : [{ tab, key: '' }, ...others];
}
/** Our script came late to this tab's document: it may have started a native one. */
export const documentWasLate = (sharing: Sharing, tab: number): void =>
  runsNatively(sharing, tab, '');
/** Tabs whose documents run a worker natively, or may. */
export const nativeTabs = ({ natives }: Sharing): number[] => natives.map(({ tab }) => tab);

/** Tabs that the user should know of: their pages hold what a recording cannot see or, after it, what is left of it. */
export const tabsToReload = (sharing: Sharing, isRecorded: boolean): number[] =>
  isRecorded && !sharing.silent
    ? [...new Set([...sharing.older, ...nativeTabs(sharing)])]
    : holdersOf(sharing);

/** All pages that this is about load again, together. @returns their tabs */
export function reloadAll(sharing: Sharing, isRecorded: boolean): number[] {
  sharing.older = tabsToReload(sharing, isRecorded);
  sharing.ends = !isRecorded;
  sharing.leaving = sharing.older;
  return sharing.older;
}

/** Some of `older` do not go, and no worker waits for them any more: it is what theirs are. */
export function waitsNoLonger(sharing: Sharing): void {
  if (sharing.ends || sharing.silent) [sharing.ends, sharing.older] = [false, []];
  sharing.leaving = [];
}

/**
 * @param mayBegin a recording runs: a worker that has not begun begins
 * @returns the URL, '' where the worker is to run natively, SHARED_MISMATCH where it fails, SHARED_WAIT where pages hold one that this page can't join
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
    if (known) letGo(sharing, tab, [known]); // it asked for one before it knew its policies
    if (!known?.tabs.length || !known.urls.length) return natively();
    sharing.waiting = withTab(sharing.waiting, tab);
    return SHARED_WAIT;
  }
  const failed = dead.includes(url);
  if (failed && known) known.urls = known.urls.filter((one) => one !== url);
  const isOurs = url === '' || url.startsWith(`blob:${sharing.origin}/`);
  if (sharing.ends || traits === '' || !isOurs) return natively();
  const nativelyAlone = (): string => {
    if (known) letGo(sharing, tab, [known]); // it could start none of those that it was told
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
      known.urls = [...known.urls.slice(1 - MOST_DEAD), url]; // the oldest are gone
    else sharing.workers.push({ key, traits, urls: [url], tabs: [tab] });
  }
  if (known) known.tabs = withTab(known.tabs, tab);
  return alive ?? url;
}
