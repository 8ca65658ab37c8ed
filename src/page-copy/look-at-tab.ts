/**
 * Looks at what a tab's page stores, for the popup and the empty panel, and at everything that
 * Doctor shows. The page's answers are validated.
 */
import { api } from '../platform/extension-api.ts';
import { runInPage } from '../platform/in-page.ts';
import { isOneOrigin, type PageLook } from '../protocol/page-look.ts';
import { isPageState, MOST_LOCKS, type PageState } from '../protocol/page-state.ts';
import { isPageStorage, MOST_FILES, type PageStorage } from '../protocol/page-storage.ts';
import { databasesOf } from './copy.ts';
import { look } from './look.ts';
import { lookAtState } from './state.ts';

/**
 * @param maxFiles of OPFS: only the first bytes of each are read, and only whether they are
 * SQLite's is reported
 * @param opens also open IndexedDB databases for the names of their stores
 * @throws Error with a message for the user, if vfscope has no access to the page, or the page
 * doesn't answer in time
 */
export async function lookAtTab(
  tabId: number,
  maxFiles = MOST_FILES,
  opens = false,
): Promise<PageStorage> {
  const answer = await runInPage(tabId, look, [maxFiles, opens]);
  if (!isPageStorage(answer))
    throw new Error("The page's answer isn't a list of what it stores. Reload it and try again.");
  return answer;
}

/** Current locks, quota, and isolation. @throws Error with a message for the user */
export async function stateOfTab(tabId: number): Promise<PageState> {
  const answer = await runInPage(tabId, lookAtState, [MOST_LOCKS]);
  if (!isPageState(answer))
    throw new Error("The page's answer about its locks isn't valid. Reload it and try again.");
  return answer;
}

/** Everything that Doctor shows. @throws Error with a message for the user */
export async function lookAtAll(tabId: number): Promise<PageLook> {
  const [state, storage, databases] = await Promise.all([
    stateOfTab(tabId),
    lookAtTab(tabId, MOST_FILES, true),
    databasesOf(tabId),
  ]);
  const all = { state, storage, databases };
  if (!isOneOrigin(all)) throw new Error('The page navigated to another origin. Look again.');
  return all;
}

/** Firefox gives DevTools panels no scripting API. */
export const canLookHere = (): boolean =>
  typeof (api.scripting as typeof api.scripting | undefined)?.executeScript === 'function';
