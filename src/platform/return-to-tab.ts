/** From a tab of ours back to the user's. */
import { api } from './extension-api.ts';

/** Show that tab, and close the one that this page is in. */
export async function returnToTab(tabId: number): Promise<void> {
  const own = await api.tabs.getCurrent();
  await api.tabs.update(tabId, { active: true });
  if (own?.id !== undefined) await api.tabs.remove(own.id);
}
