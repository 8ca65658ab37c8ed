/**
 * The panel in its own window: it records a tab without DevTools, which slow a page down in
 * Chromium.
 */
import { api } from './extension-api.ts';

const SIZE = { width: 1000, height: 720 };

/**
 * Opens it for this tab. A window that is already open comes to the front.
 * @param view to show; by default a new window shows how to record
 */
export async function openPanelWindow(tabId: number, view?: string): Promise<void> {
  const page = api.runtime.getURL(`devtools/panel.html?tab=${tabId}`);
  const open = (await api.tabs.query({ url: `${page}*` })).find(({ id }) => id !== undefined);
  const url = view === undefined ? page : `${page}#tab=${view}`; // an open window isn't reloaded
  if (!open) await api.windows.create({ url, type: 'popup', ...SIZE });
  else {
    await api.tabs.update(open.id!, { active: true, ...(view === undefined ? {} : { url }) });
    await api.windows.update(open.windowId, { focused: true });
  }
}
