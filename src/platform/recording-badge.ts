/** The toolbar icon of a tab shows whether the tab is recorded. */
import { api } from './extension-api.ts';

const paths = (name: string): Record<string, string> => ({
  16: `icons/${name}-16.png`,
  32: `icons/${name}-32.png`,
});

/**
 * Show whether a tab is recorded. The browser resets it with each navigation. Does nothing where
 * the tab is closed.
 */
export async function showRecording(tabId: number, recording: boolean): Promise<void> {
  try {
    await api.action.setIcon({ tabId, path: paths(recording ? 'recording' : 'icon') });
    await api.action.setTitle({
      tabId,
      title: recording ? 'vfscope: recording this tab' : 'vfscope',
    });
  } catch (e) {
    if (await tabExists(tabId)) throw e;
  }
}

/** Whether a tab with this id is open. */
export const tabExists = (tabId: number): Promise<boolean> =>
  api.tabs.get(tabId).then(
    () => true,
    () => false,
  );
