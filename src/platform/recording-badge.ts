/** The toolbar icon of a tab says whether it is recorded. */
import { api } from './extension-api.ts';

const paths = (name: string): Record<string, string> => ({
  16: `icons/${name}-16.png`,
  32: `icons/${name}-32.png`,
});

/** Show a tab as recorded, or not. The browser forgets it with each navigation. Does nothing where the tab is gone. */
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
