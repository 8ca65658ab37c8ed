/** Which tabs show an origin, in their page or a frame of it. */
import { api } from './extension-api.ts';
import { webOrigin } from './recordable.ts';

/** What the browser reports of frames: without it, of pages alone. */
const webNavigation = api.webNavigation as typeof chrome.webNavigation | undefined;

async function shows({ id, url }: chrome.tabs.Tab, origin: string): Promise<boolean> {
  if (webOrigin(url) === origin) return true;
  const frames = await webNavigation?.getAllFrames({ tabId: id! }).catch(() => null); // it is gone
  return frames?.some((frame) => webOrigin(frame.url) === origin) ?? false;
}

/** Not by a pattern: Firefox finds none that names a port. */
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
