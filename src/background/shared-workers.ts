/** Answers what pages, tabs, and panels ask about the SharedWorkers of recorded origins. */
import { webOrigin } from '../platform/recordable.ts';
import { emptyPageCache } from '../platform/tab-requests.ts';
import { showsNow, tabsOf } from '../platform/tabs-of.ts';
import { api } from '../platform/extension-api.ts';
import type { DocumentRequest } from '../platform/tab-requests.ts';
import { SHARED_WAIT, type OriginTabs, type SharedAsk, type Tell } from '../protocol/messages.ts';
import { apply, covers, keep, load, showsOrigin } from './coverage.ts';
import {
  agree,
  beginsAgain,
  documentLeaves,
  documentWasLate,
  holdersOf,
  nativeTabs,
  newSharing,
  reloadAll,
  tabReloads,
  tabsToReload,
  waits,
  waitsNoLonger,
  type Sharing,
} from './sharing.ts';

/** How long a page's SharedWorker waits for the last page that may hold another one to close. */
const OLDER_MS = 4000;
const LOOK_EVERY_MS = 50;
const MOST_TABS = 20;
const LONGEST_TITLE = 100;

/** Origins whose tabs are being looked up. */
const looking = new Map<string, Promise<void>>();

const find = async (origin: string): Promise<Sharing | undefined> =>
  (await load()).sharing.find((one) => one.origin === origin);
/** Resolves when its tabs are known. */
async function sharingOf(origin: string): Promise<Sharing | undefined> {
  await looking.get(origin);
  return find(origin);
}

/**
 * A recording of this origin starts. @param tabs that show it @param reloaded those that reload at
 * once
 */
export async function share(
  origin: string,
  tabs: number[],
  reloaded: readonly number[],
): Promise<void> {
  const known = await sharingOf(origin);
  if (known) beginsAgain(known);
  else (await load()).sharing.push(newSharing(origin, tabs, reloaded));
}

/**
 * A tab requests a document. Record this before the scripts of a recorded document are registered.
 * The document doesn't wait for the other tabs to be looked up.
 */
export async function documentRequested({ tabId, frameId, url }: DocumentRequest): Promise<void> {
  const origin = webOrigin(url);
  if (frameId !== 0 || !origin || !covers(tabId)) return;
  const known = await find(origin);
  if (known) return tabReloads(known, tabId);
  const sharing = newSharing(origin, [], [tabId]);
  (await load()).sharing.push(sharing);
  const looked = tabsOf(origin)
    .then((tabs) => {
      sharing.older = tabs;
      return apply();
    })
    .finally(() => looking.delete(origin));
  looking.set(origin, looked);
  // the caller that asks gets the error, too
  looked.catch((e: unknown) => console.warn(`vfscope: can't list the tabs of ${origin}:`, e));
}

/** Tabs whose documents have a SharedWorker, or may have one. */
const knownTabs = (sharing: Sharing): number[] => [
  ...new Set([...sharing.older, ...nativeTabs(sharing), ...holdersOf(sharing), ...sharing.waiting]),
];

/**
 * A document that has a SharedWorker must not return from the back/forward cache beside the
 * SharedWorker of later pages. @param mayReturn the document may come back
 */
function leaves(sharing: Sharing, tabId: number, mayReturn: boolean): void {
  if (mayReturn && knownTabs(sharing).includes(tabId)) emptyPageCache();
  documentLeaves(sharing, tabId);
}

/** A tab shows another page, or was closed. After closing, none of its pages comes back. */
export async function pageShown(tabId: number, isClosed = false): Promise<void> {
  const now = await load();
  const before = JSON.stringify(now.sharing);
  for (const sharing of now.sharing)
    if (!(await showsNow(tabId, sharing.origin))) leaves(sharing, tabId, !isClosed);
  if (JSON.stringify(now.sharing) !== before) await apply();
}

/** Our script ran in this tab's page after the page's own scripts. */
export async function pageWasLate(tabId: number, origin: string): Promise<void> {
  const known = covers(tabId) ? await sharingOf(origin) : undefined;
  if (!known) return;
  documentWasLate(known, tabId);
  await apply();
}

/**
 * A tab outside all recordings shows a page of this origin. If the page loaded before our scripts
 * were registered, it may have started its own SharedWorker.
 */
export async function otherTabShows(tabId: number, origin: string): Promise<void> {
  if (covers(tabId) || !showsOrigin(origin)) return;
  const known = await sharingOf(origin);
  if (!known || knownTabs(known).includes(tabId)) return;
  const isHooked = await api.tabs.sendMessage(tabId, { k: 'hooked?' } satisfies Tell).then(
    (hooked) => hooked === true,
    () => false, // our script isn't there
  );
  if (isHooked || !(await showsNow(tabId, origin))) return;
  documentWasLate(known, tabId);
  await apply();
}

/**
 * A recording of this origin has started. Check which tabs have opened the origin meanwhile. @param
 * shown tabs that showed it before
 */
export async function lookForNewTabs(origin: string, shown: readonly number[]): Promise<void> {
  const tabs = (await tabsOf(origin)).filter((tab) => !shown.includes(tab));
  await Promise.all(tabs.map((tab) => otherTabShows(tab, origin)));
}

/** Origins whose SharedWorkers run with our script. */
export const sharedOrigins = async (): Promise<string[]> =>
  (await load()).sharing.map(({ origin }) => origin);

/** The URL to start this page's SharedWorker from. '' = start it natively. */
export async function sharedUrl(
  ask: SharedAsk,
  sender: chrome.runtime.MessageSender,
): Promise<string> {
  const origin = webOrigin(sender.origin ?? sender.url);
  const tab = sender.tab?.id ?? -1;
  let sharing = await sharingOf(origin);
  for (let ms = 0; sharing && waits(sharing) && ms < OLDER_MS; ms += LOOK_EVERY_MS) {
    await new Promise((done) => setTimeout(done, LOOK_EVERY_MS));
    // the recording may have ended, and the next one may use other URLs
    sharing = await sharingOf(origin);
  }
  if (!sharing) return '';
  if (waits(sharing)) waitsNoLonger(sharing);
  const waited = sharing.waiting.includes(tab);
  const url = agree(sharing, ask, tab, showsOrigin(sharing.origin));
  if (waited && url === SHARED_WAIT) return url; // nothing has changed
  const warn = (e: unknown): void => console.warn('vfscope: a SharedWorker may start twice:', e);
  await keep().catch(warn); // if the background stopped here, the next page would get another URL
  apply().catch(warn); // the page doesn't wait for it
  return url;
}

/**
 * A page with our script has replaced another page. Called before it can request a worker. @param
 * reloads the tab was reloaded, so the page before it can't come back
 */
export async function pageIsNew(tabId: number, origin: string, reloads: boolean): Promise<void> {
  const sharing = await sharingOf(origin);
  if (!sharing) return;
  const before = JSON.stringify(sharing);
  leaves(sharing, tabId, !reloads);
  if (!showsOrigin(origin)) await lookAtTabs(sharing);
  if (JSON.stringify(sharing) !== before) await apply();
}

/** Whether SharedWorkers of documents with our script run with it, too. */
export async function joins(origin: string): Promise<boolean> {
  const sharing = await sharingOf(origin);
  if (!sharing) return false;
  if (sharing.ends) return sharing.older.length > 0; // its worker waits until theirs are closed
  return showsOrigin(origin) || sharing.workers.length > 0;
}

/** Tabs aren't followed after a recording: drop those that show something else. */
async function lookAtTabs(sharing: Sharing): Promise<void> {
  const open = await tabsOf(sharing.origin);
  for (const tab of knownTabs(sharing)) if (!open.includes(tab)) documentLeaves(sharing, tab);
}

/** Which tabs the user of a panel should know about. @param panel the tab that it inspects */
export async function originTabs(panel: number, origin: string): Promise<OriginTabs> {
  const sharing = await sharingOf(origin);
  const isRecorded = showsOrigin(origin);
  if (sharing && !isRecorded) await lookAtTabs(sharing);
  // after the recording, the panel offers to reload the tabs that they wait for
  const waiting = isRecorded ? (sharing?.waiting ?? []) : [];
  const toReload = sharing ? tabsToReload(sharing, isRecorded) : [];
  const state = waiting.length
    ? 'waiting'
    : isRecorded
      ? 'unseen'
      : toReload.length
        ? 'held'
        : 'open';
  const ids =
    state === 'waiting'
      ? waiting
      : state === 'open'
        ? (await tabsOf(origin)).filter((id) => id !== panel)
        : toReload;
  const tabs = await Promise.all(
    ids.slice(0, MOST_TABS).map((id) => api.tabs.get(id).catch(() => null)),
  );
  return {
    state,
    count: ids.length,
    titles: tabs.flatMap((tab) =>
      tab ? [(tab.title || tab.url || '').slice(0, LONGEST_TITLE)] : [],
    ),
  };
}

/**
 * From their next load on, documents of this origin have wider policies in all tabs. No recorded
 * worker starts while a tab shows a document from before.
 * @param tabId reloads at once
 */
export async function sharesAgain(tabId: number, origin: string): Promise<Sharing | undefined> {
  const sharing = await sharingOf(origin);
  if (!sharing) return undefined;
  sharing.older = await tabsOf(origin);
  sharing.leaving = [];
  tabReloads(sharing, tabId);
  emptyPageCache();
  return sharing;
}

/**
 * The user has asked to reload these tabs. During a recording, their SharedWorkers are then
 * recorded; after it, they run natively.
 */
export async function reloadTabs(origin: string): Promise<void> {
  const sharing = await sharingOf(origin);
  if (!sharing) return;
  await lookAtTabs(sharing);
  const tabs = reloadAll(sharing, showsOrigin(origin));
  await apply();
  await Promise.all(
    tabs.map((tab) => api.tabs.reload(tab).catch(() => documentLeaves(sharing, tab))),
  ); // it was closed
}
