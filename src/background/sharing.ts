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
  /** Tabs whose document runs one natively, or may: none of ours begins beside it. */
  natives: number[];
  /** Tabs whose document was told one of these URLs. */
  holders: number[];
  /** Those began before the recording that runs: they say nothing to it. */
  silent: boolean;
  workers: SharedUrls[];
}

const MOST_WORKERS = 100;

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
  sharing.natives = without(sharing.natives, tab);
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

/** Our script came late to this tab's document: it may have started a native one. */
export function documentWasLate(sharing: Sharing, tab: number): void {
  sharing.natives = withTab(sharing.natives, tab);
}

/** Tabs that the user should know of: their pages hold what a recording cannot see or, after it, what is left of it. */
export const tabsToReload = (
  { silent, holders, older, natives }: Sharing,
  isRecorded: boolean,
): number[] => (isRecorded && !silent ? [...new Set([...older, ...natives])] : holders);

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
  if (url === '' && known) known.urls = known.urls.filter((one) => !dead.includes(one)); // it could not run so
  const natively = (): string => {
    sharing.natives = withTab(sharing.natives, tab);
    return '';
  };
  if (sharing.ends || !url.startsWith(`blob:${sharing.origin}/`)) return natively();
  const alive = known?.urls.find((one) => !dead.includes(one));
  if (known && alive && known.traits !== traits) return SHARED_MISMATCH;
  if (!alive) {
    const isFull = !known && sharing.workers.length >= MOST_WORKERS;
    const isBeside = sharing.older.length > 0 || sharing.natives.length > 0;
    if (!mayBegin || isFull || isBeside) return natively();
    if (known)
      known.urls = [...known.urls.slice(1 - MOST_DEAD), url]; // the oldest are gone
    else sharing.workers.push({ key, traits, urls: [url] });
  }
  sharing.holders = withTab(sharing.holders, tab);
  return alive ?? url;
}
