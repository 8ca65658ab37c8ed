/** The panel in its own window: it records a tab without DevTools, which slow a page down in Chromium. */
import { api } from './extension-api.ts';

const SIZE = { width: 1000, height: 720 };

/**
 * For this tab. A window that is open already comes to the front.
 * @param view that it shows; by default a new one shows how to record
 */
export async function openPanelWindow(tabId: number, view?: string): Promise<void> {
  const page = api.runtime.getURL(`devtools/panel.html?tab=${tabId}`);
  const open = (await api.tabs.query({ url: `${page}*` })).find(({ id }) => id !== undefined);
  const url = view === undefined ? page : `${page}#tab=${view}`; // of a window that is open the fragment alone changes: it isn't loaded again
  if (!open) await api.windows.create({ url, type: 'popup', ...SIZE });
  else {
    await api.tabs.update(open.id!, { active: true, ...(view === undefined ? {} : { url }) });
    await api.windows.update(open.windowId, { focused: true });
  }
}
