/** What pages, tabs and panels ask about the SharedWorkers of recorded origins. */
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

/** How long a page's SharedWorker waits for the last page that may hold another one to go. */
const OLDER_MS = 4000;
const LOOK_EVERY_MS = 50;
const MOST_TABS = 20;
const LONGEST_TITLE = 100;

/** Origins whose tabs are being looked for. */
const looking = new Map<string, Promise<void>>();

const find = async (origin: string): Promise<Sharing | undefined> =>
  (await load()).sharing.find((one) => one.origin === origin);
/** Once its tabs are known. */
async function sharingOf(origin: string): Promise<Sharing | undefined> {
  await looking.get(origin);
  return find(origin);
}

/** A recording of this origin begins. @param tabs that show it @param reloaded those that load again at once */
export async function share(
  origin: string,
  tabs: number[],
  reloaded: readonly number[],
): Promise<void> {
  const known = await sharingOf(origin);
  if (known) beginsAgain(known);
  else (await load()).sharing.push(newSharing(origin, tabs, reloaded));
}

/** A tab has asked for a document: to be known before the scripts of a recorded one are registered. The document does not wait for a look at the other tabs. */
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
  looked.catch((e: unknown) => console.warn(`vfscope: the tabs of ${origin} are not known:`, e)); // who asks hears it, too
}

/** Tabs whose documents have a SharedWorker, or may. */
const knownTabs = (sharing: Sharing): number[] => [
  ...new Set([...sharing.older, ...nativeTabs(sharing), ...holdersOf(sharing), ...sharing.waiting]),
];

/** A document that has a SharedWorker must not come back from the back/forward cache beside the one of the pages that follow. @param mayReturn it is not gone for good */
function leaves(sharing: Sharing, tabId: number, mayReturn: boolean): void {
  if (mayReturn && knownTabs(sharing).includes(tabId)) emptyPageCache();
  documentLeaves(sharing, tabId);
}

/** A tab shows another page now, or is closed: then none of its pages comes back. */
export async function pageShown(tabId: number, isClosed = false): Promise<void> {
  const now = await load();
  const before = JSON.stringify(now.sharing);
  for (const sharing of now.sharing)
    if (!(await showsNow(tabId, sharing.origin))) leaves(sharing, tabId, !isClosed);
  if (JSON.stringify(now.sharing) !== before) await apply();
}

/** Our script came to this tab's page after the page's own. */
export async function pageWasLate(tabId: number, origin: string): Promise<void> {
  const known = await sharingOf(origin);
  if (!known) return;
  documentWasLate(known, tabId);
  await apply();
}

/**
 * A tab that no recording has shows a page of this origin, perhaps since before our scripts were registered: one without them may have
 * started a SharedWorker of its own.
 */
export async function otherTabShows(tabId: number, origin: string): Promise<void> {
  if (covers(tabId) || !showsOrigin(origin)) return;
  const known = await sharingOf(origin);
  if (!known || knownTabs(known).includes(tabId)) return;
  const isHooked = await api.tabs.sendMessage(tabId, { k: 'hooked?' } satisfies Tell).then(
    (hooked) => hooked === true,
    () => false, // no script of ours is there
  );
  if (isHooked || !(await showsNow(tabId, origin))) return;
  documentWasLate(known, tabId);
  await apply();
}

/** A recording of this origin has begun, and tabs are followed: which have come to show it while it began? @param shown those that did before */
export async function lookForNewTabs(origin: string, shown: readonly number[]): Promise<void> {
  const tabs = (await tabsOf(origin)).filter((tab) => !shown.includes(tab));
  await Promise.all(tabs.map((tab) => otherTabShows(tab, origin)));
}

/** Origins whose SharedWorkers run with our script. */
export const sharedOrigins = async (): Promise<string[]> =>
  (await load()).sharing.map(({ origin }) => origin);

/** Which URL is this page's SharedWorker started from? '' = none of ours. */
export async function sharedUrl(
  ask: SharedAsk,
  sender: chrome.runtime.MessageSender,
): Promise<string> {
  const origin = webOrigin(sender.origin ?? sender.url);
  const tab = sender.tab?.id ?? -1;
  let sharing = await sharingOf(origin);
  for (let ms = 0; sharing && waits(sharing) && ms < OLDER_MS; ms += LOOK_EVERY_MS) {
    await new Promise((done) => setTimeout(done, LOOK_EVERY_MS));
    sharing = await sharingOf(origin); // the recording may have ended, and the next one agree on other addresses
  }
  if (!sharing) return '';
  if (waits(sharing)) waitsNoLonger(sharing);
  const waited = sharing.waiting.includes(tab);
  const url = agree(sharing, ask, tab, showsOrigin(sharing.origin));
  if (waited && url === SHARED_WAIT) return url; // nothing is new
  const warn = (e: unknown): void => console.warn('vfscope: a SharedWorker may start twice:', e);
  await keep().catch(warn); // a background that ended now would give the next page another URL
  apply().catch(warn); // the page does not wait for it
  return url;
}

/** A page with our script has taken the place of another one: told before it can ask for a worker. @param reloads the tab loaded it again: the one before it is gone */
export async function pageIsNew(tabId: number, origin: string, reloads: boolean): Promise<void> {
  const sharing = await sharingOf(origin);
  if (!sharing) return;
  const before = JSON.stringify(sharing);
  leaves(sharing, tabId, !reloads);
  if (!showsOrigin(origin)) await lookAtTabs(sharing);
  if (JSON.stringify(sharing) !== before) await apply();
}

/** Whether the SharedWorkers of a document with our script run with it. */
export async function joins(origin: string): Promise<boolean> {
  const sharing = await sharingOf(origin);
  if (!sharing) return false;
  if (sharing.ends) return sharing.older.length > 0; // its worker waits for theirs to go
  return showsOrigin(origin) || sharing.workers.length > 0;
}

/** Nothing follows tabs once a recording is over: those that show something else are gone. */
async function lookAtTabs(sharing: Sharing): Promise<void> {
  const open = await tabsOf(sharing.origin);
  for (const tab of knownTabs(sharing)) if (!open.includes(tab)) documentLeaves(sharing, tab);
}

/** Which tabs does a panel's user have to know of? @param panel the tab that it inspects */
export async function originTabs(panel: number, origin: string): Promise<OriginTabs> {
  const sharing = await sharingOf(origin);
  const isRecorded = showsOrigin(origin);
  if (sharing && !isRecorded) await lookAtTabs(sharing);
  const waiting = isRecorded ? (sharing?.waiting ?? []) : []; // after it, the panel offers to load again what they wait for
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
 * From their next load on documents of this origin have wider policies in all tabs: none of ours begins while a tab shows one from before.
 * @param tabId loads again at once
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

/** The user lets these load again: where a recording runs, its SharedWorkers are recorded then; after it, they are the browser's own. */
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
