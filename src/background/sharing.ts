/**
 * SharedWorkers of an origin that run with our script (src/hooks/shared-workers.ts): from which blob: URL its pages start each, which tabs
 * hold one, and which may hold one that runs natively. As long as there is such a tab, none of ours begins: there would be two of what is
 * to be one. For the same reason the pages of an origin start ours after the recording, too, until no page holds it any more.
 */
import { MOST_DEAD, SHARED_MISMATCH, type SharedAsk } from '../protocol/messages.ts';

interface SharedUrls {
  key: string;
  /** Type and credentials: pages that ask for the same worker with others get an error, as without us. */
  traits: string;
  /** Several where the browser keeps pages apart: a frame's storage is that of the site around it. */
  urls: string[];
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
  /** Tabs whose document was told one of these URLs. */
  holders: number[];
  /** Those began before the recording that runs: they say nothing to it. */
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
  holders: [],
  silent: false,
  workers: [],
});

/** A recording begins, and pages hold workers of the one before. */
export function beginsAgain(sharing: Sharing): void {
  if (sharing.ends) [sharing.ends, sharing.older, sharing.leaving] = [false, [], []];
  sharing.silent = sharing.holders.length > 0;
}

/** Whether nothing of it is left to know, once no recording shows its origin. */
export const isOver = ({ workers, ends, older }: Sharing): boolean =>
  workers.length === 0 && !(ends && older.length > 0);

const without = (tabs: readonly number[], tab: number): number[] =>
  tabs.filter((one) => one !== tab);
const withTab = (tabs: readonly number[], tab: number): number[] => [...without(tabs, tab), tab];

/** The document of this tab is gone for good. */
export function documentLeaves(sharing: Sharing, tab: number): void {
  sharing.older = without(sharing.older, tab);
  sharing.leaving = without(sharing.leaving, tab);
  sharing.natives = sharing.natives.filter((one) => one.tab !== tab);
  sharing.holders = without(sharing.holders, tab);
  if (sharing.holders.length === 0) [sharing.workers, sharing.silent] = [[], false];
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
    : sharing.holders;

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
 * @returns the URL, '' where the worker is to run natively, SHARED_MISMATCH where it fails
 */
export function agree(
  sharing: Sharing,
  { key, traits, url, dead }: SharedAsk,
  tab: number,
  mayBegin: boolean,
): string {
  const known = sharing.workers.find((worker) => worker.key === key);
  const failed = dead.includes(url);
  if (failed && known) known.urls = known.urls.filter((one) => one !== url);
  const natively = (): string => {
    runsNatively(sharing, tab, key);
    return '';
  };
  const isOurs = url === '' || url.startsWith(`blob:${sharing.origin}/`);
  if (sharing.ends || traits === '' || !isOurs) return natively();
  const alive = known?.urls.find((one) => !dead.includes(one));
  if (known && alive && known.traits !== traits) return SHARED_MISMATCH;
  if (!alive) {
    if (failed || url === '') return natively();
    const isFull = !known && sharing.workers.length >= MOST_WORKERS;
    const isBeside =
      sharing.older.length > 0 || sharing.natives.some((one) => one.key === '' || one.key === key);
    if (!mayBegin || isFull || isBeside) return natively();
    if (known)
      known.urls = [...known.urls.slice(1 - MOST_DEAD), url]; // the oldest are gone
    else sharing.workers.push({ key, traits, urls: [url] });
  }
  sharing.holders = withTab(sharing.holders, tab);
  return alive ?? url;
}
