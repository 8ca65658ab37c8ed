/** The tabs that show an origin, in their page or in a frame. */
import { api } from './extension-api.ts';
import { webOrigin } from './recordable.ts';

/** Uses the browser's report about frames where it exists, else only pages. */
const webNavigation = api.webNavigation as typeof chrome.webNavigation | undefined;

async function shows({ id, url }: chrome.tabs.Tab, origin: string): Promise<boolean> {
  if (webOrigin(url) === origin) return true;
  const frames = await webNavigation?.getAllFrames({ tabId: id! }).catch(() => null); // it is gone
  return frames?.some((frame) => webOrigin(frame.url) === origin) ?? false;
}

/** Without a pattern: in Firefox, a pattern with a port matches nothing. */
export async function tabsOf(origin: string): Promise<number[]> {
  const tabs = (await api.tabs.query({})).filter(({ id }) => id !== undefined);
  const found = await Promise.all(tabs.map((tab) => shows(tab, origin)));
  return tabs.flatMap(({ id }, i) => (found[i] ? [id!] : []));
}

export const showsNow = (tabId: number, origin: string): Promise<boolean> =>
  api.tabs.get(tabId).then(
    (tab) => shows(tab, origin),
    () => false, // it is closed
  );
