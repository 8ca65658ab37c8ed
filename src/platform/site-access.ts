/** Whether the user lets us into web pages. It is granted at install, may be withheld or taken back, and then no script of ours runs. */
import { api } from './extension-api.ts';

const ALL_SITES = { origins: ['<all_urls>'] };
/** The page with the button: panels of DevTools cannot ask (Firefox gives them no permissions API). */
const ACCESS_PAGE = '/devtools/access.html';

export const hasSiteAccess = (): Promise<boolean> => api.permissions.contains(ALL_SITES);

/** Ask the user, from inside a click only. @returns whether it is granted */
export const requestSiteAccess = (): Promise<boolean> => api.permissions.request(ALL_SITES);

/** Told of every change. For the background; call at its start, so that a change wakes it. */
export function watchSiteAccess(listener: (granted: boolean) => void): void {
  const changed = (): void => void hasSiteAccess().then(listener, (e: unknown) => console.warn('vfscope: site access is not known:', e));
  api.permissions.onAdded.addListener(changed);
  api.permissions.onRemoved.addListener(changed);
}

/** Show the page with the button, in a tab of its own beside the one that is to be recorded. */
export async function openAccessPage(besides: number): Promise<void> {
  const { index, windowId } = await api.tabs.get(besides);
  await api.tabs.create({ url: api.runtime.getURL(ACCESS_PAGE), index: index + 1, windowId });
}
