/** Looks at what a tab's page stores, for the popup and for the empty panel. */
import { api } from '../platform/extension-api.ts';
import type { PageStorage } from '../protocol/page-storage.ts';
import { look } from './look.ts';

/** The walk through OPFS ends there. */
const MAX_FILES = 500;

/**
 * @param maxFiles of OPFS: of each the first bytes are read, and only whether they are SQLite's is reported
 * @throws where vfscope has no access to the page, or the page gives no answer
 */
export async function lookAtTab(tabId: number, maxFiles = MAX_FILES): Promise<PageStorage> {
  const [answer] = await api.scripting.executeScript({
    target: { tabId },
    func: look,
    args: [maxFiles],
  });
  if (!answer?.result) throw new Error('the page gave no answer; reload it and try again');
  return answer.result as PageStorage;
}

/** Firefox gives panels of DevTools no scripting API. */
export const canLookHere = (): boolean =>
  typeof (api.scripting as typeof api.scripting | undefined)?.executeScript === 'function';
