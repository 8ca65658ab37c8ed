/** Looks at what a tab's page stores, for the popup and for the empty panel. */
import { api } from '../platform/extension-api.ts';
import type { PageStorage } from '../protocol/page-storage.ts';
import { look } from './look.ts';

/** The walk through OPFS ends there. */
const MAX_FILES = 500;

/** @throws where vfscope has no access to the page, or the page gives no answer */
export async function lookAtTab(tabId: number): Promise<PageStorage> {
  const [answer] = await api.scripting.executeScript({
    target: { tabId },
    func: look,
    args: [MAX_FILES],
  });
  if (!answer?.result) throw new Error('the page gave no answer; reload it and try again');
  return answer.result as PageStorage;
}

/** Firefox gives panels of DevTools no scripting API. */
export const canLookHere = (): boolean =>
  typeof (api.scripting as typeof api.scripting | undefined)?.executeScript === 'function';
