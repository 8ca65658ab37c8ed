/**
 * SharedWorkers of an origin that run with our script (src/hooks/shared-workers.ts): from which blob: URL its pages start each, which tabs
 * hold one, and which may still hold one that runs natively. As long as there is such a tab, none of ours is started: there would be two
 * of what is to be one. For the same reason the pages of an origin start ours after the recording, too, until no page holds it any more.
 */
import { MOST_DEAD, type SharedAsk } from '../protocol/messages.ts';

export interface Sharing {
  origin: string;
  /** New documents start ours. */
  on: boolean;
  /** The recording is over, and all pages that hold ours load again: the next ones start the browser's own. */
  ends: boolean;
  /** Tabs whose document is to go before a worker starts: it was there before our script or, at the end, holds one of ours. */
  older: number[];
  /** Tabs whose document was told one of these URLs. */
  holders: number[];
  /** Those began before the recording that runs: they say nothing to it. */
  silent: boolean;
  /** By worker. Several where the browser keeps pages apart: a frame's storage is that of the site around it. */
  urls: [key: string, urls: string[]][];
}

const MOST_WORKERS = 100;

/** @param tabs that show the origin @param reloaded those of them that are about to load again */
export const newSharing = (
  origin: string,
  tabs: number[],
  reloaded: readonly number[],
): Sharing => ({
  origin,
  on: tabs.every((tab) => reloaded.includes(tab)),
  ends: false,
  older: tabs,
  holders: [],
  silent: false,
  urls: [],
});

/** A recording begins, and pages hold workers of the one before. */
export function beginsAgain(sharing: Sharing): void {
  if (sharing.ends) [sharing.ends, sharing.older] = [false, []];
  sharing.silent = sharing.holders.length > 0;
}

/** Whether anything of it is left to know. */
export const isOver = ({ urls, ends, older }: Sharing): boolean =>
  urls.length === 0 && !(ends && older.length > 0);

const without = (tabs: readonly number[], tab: number): number[] =>
  tabs.filter((one) => one !== tab);

/** The document of this tab is gone for good. */
export function documentLeaves(sharing: Sharing, tab: number): void {
  sharing.older = without(sharing.older, tab);
  sharing.holders = without(sharing.holders, tab);
  if (sharing.holders.length === 0) [sharing.urls, sharing.silent] = [[], false];
  if (sharing.older.length === 0) sharing.on = true;
}

/** The tab is about to load again: if it alone may hold a native one, its next document starts ours. */
export function tabReloads(sharing: Sharing, tab: number): void {
  if (sharing.older.every((one) => one === tab)) sharing.on = true;
}

/** A new document of this tab speaks, and has our script. */
export function documentComes(sharing: Sharing, tab: number): void {
  const { on } = sharing;
  documentLeaves(sharing, tab);
  if (!on && !sharing.ends) [sharing.on, sharing.older] = [false, [...sharing.older, tab]]; // it came before ours could start
}

/** All pages that this is about load again, together. @returns their tabs */
export function reloadAll(sharing: Sharing, isRecorded: boolean): number[] {
  sharing.ends = !isRecorded;
  if (sharing.ends || sharing.silent) sharing.older = sharing.holders;
  if (isRecorded) [sharing.on, sharing.silent, sharing.urls] = [true, false, []];
  return sharing.older;
}

/** Tabs that the user should know of: their pages hold what a recording cannot see or, after it, what is left of it. */
export const tabsToReload = ({ silent, holders, older }: Sharing, isRecorded: boolean): number[] =>
  isRecorded && !silent ? older : holders;

/** Some of `older` do not go, and this tab's worker waits no longer: it is what theirs are. */
export function waitsNoLonger(sharing: Sharing, tab: number): void {
  if (sharing.ends) [sharing.ends, sharing.older] = [false, []];
  else [sharing.on, sharing.older] = [false, [...without(sharing.older, tab), tab]];
}

/**
 * @param mayBegin a recording runs: a worker that has not begun begins
 * @returns the URL, '' where the worker is to run natively
 */
export function agree(
  sharing: Sharing,
  { key, url, dead }: SharedAsk,
  tab: number,
  mayBegin: boolean,
): string {
  if (!sharing.on || sharing.ends || !url.startsWith(`blob:${sharing.origin}/`)) return '';
  const known = sharing.urls.find(([of]) => of === key);
  const alive = known?.[1].find((one) => !dead.includes(one));
  const agreed = alive ?? (mayBegin && dead.length < MOST_DEAD ? url : '');
  if (agreed) sharing.holders = [...without(sharing.holders, tab), tab];
  if (agreed && !alive) {
    const urls = [...(known?.[1] ?? []), url].slice(-MOST_DEAD);
    const others = sharing.urls.filter((one) => one !== known);
    sharing.urls = [...others, [key, urls] as [string, string[]]].slice(-MOST_WORKERS);
  }
  return agreed;
}
