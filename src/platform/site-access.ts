/**
 * Which sites the user has given us access to. None at install: at Record, the browser asks for the
 * inspected page's site or for all sites. The user can revoke either at any time. Without access,
 * none of our scripts run there.
 */
import type { AccessWanted } from '../protocol/messages.ts';
import { webOrigin } from './recordable.ts';
import { isSafariBuild } from './safari.ts';
import { api } from './extension-api.ts';

const ALL_SITES = '*://*/*';
/** The page with the buttons, for a DevTools panel that can't ask. */
const ACCESS_PAGE = '/devtools/access.html';

/**
 * What the browser is asked for. Firefox has no patterns with a port, so all ports of a host are
 * one site.
 */
function pattern(origin: string): string {
  const { protocol, hostname } = new URL(origin);
  return `${protocol}//${hostname}/*`;
}
const patterns = (wanted: AccessWanted): string[] =>
  wanted === 'all' ? [ALL_SITES] : wanted.map(pattern);

export const hasAllSites = (): Promise<boolean> =>
  api.permissions.contains({ origins: [ALL_SITES] });

/** @param origin of a web page */
export const hasSiteAccess = (origin: string): Promise<boolean> =>
  api.permissions.contains({ origins: [pattern(origin)] });

/** At least one site. */
export const hasSomeAccess = async (): Promise<boolean> =>
  ((await api.permissions.getAll()).origins ?? []).length > 0;

/**
 * Firefox gives DevTools panels no permissions API. Whether Safari's panels can ask isn't known.
 */
export const canAskHere = (): boolean =>
  typeof api.permissions?.request === 'function' && !isSafariBuild();

/**
 * Ask the user; only works inside a click. Doesn't prompt where access is given already.
 * @returns whether it is granted
 */
export const requestSiteAccess = (wanted: AccessWanted): Promise<boolean> =>
  api.permissions.request({ origins: patterns(wanted) });

/** Reports every change. The background calls it at its start, so that a change wakes it. */
export function watchSiteAccess(listener: () => void): void {
  api.permissions.onAdded.addListener(listener);
  api.permissions.onRemoved.addListener(listener);
}

/** Show the page with the buttons, in a tab beside the one to record. Reuses an open one. */
export async function openAccessPage(besides: number, wanted: AccessWanted): Promise<void> {
  const { index, windowId } = await api.tabs.get(besides);
  const page = api.runtime.getURL(ACCESS_PAGE);
  const asked = new URLSearchParams([
    ['tab', String(besides)],
    ...(wanted === 'all' ? [] : wanted.map((origin) => ['origin', origin])),
  ]);
  const [open] = await api.tabs.query({ url: `${page}*`, windowId });
  const url = `${page}?${asked}`;
  if (open?.id === undefined) await api.tabs.create({ url, index: index + 1, windowId });
  else await api.tabs.update(open.id, { url, active: true });
}

/** What the page with the buttons asks for, from its address. */
export function accessAsked(search: string): { tab: number | null; origins: string[] } {
  const asked = new URLSearchParams(search);
  const tab = asked.get('tab');
  const origins = asked
    .getAll('origin')
    .filter((text) => URL.canParse(text) && webOrigin(text) === text);
  return { tab: tab !== null && /^\d{1,10}$/.test(tab) ? Number(tab) : null, origins };
}
