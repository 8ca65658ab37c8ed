/** The panel in a window of its own: it records a tab without DevTools, which slow a page down in Chromium. */
import { api } from './extension-api.ts';

const SIZE = { width: 1000, height: 720 };

/** For this tab. A window that is open already comes to the front. */
export async function openPanelWindow(tabId: number): Promise<void> {
  const url = api.runtime.getURL(`devtools/panel.html?tab=${tabId}`);
  const open = (await api.tabs.query({ url: `${url}*` })).find(({ id }) => id !== undefined);
  if (!open) await api.windows.create({ url, type: 'popup', ...SIZE });
  else {
    await api.tabs.update(open.id!, { active: true });
    await api.windows.update(open.windowId, { focused: true });
  }
}
