/**
 * Runs a function of ours once, in the isolated world of a tab's page. The page's code can't see or
 * access it.
 */
import { api } from './extension-api.ts';
import { whyNotRecordable } from './recordable.ts';

/**
 * @param run is sent as text, so it can't use anything outside its braces
 * @returns its result, unchecked
 * @throws Error with a message for the user where the browser denies access
 */
export async function runInPage<A extends unknown[]>(
  tabId: number,
  run: (...args: A) => unknown,
  args: A,
): Promise<unknown> {
  const [answer] = await api.scripting
    .executeScript({
      target: { tabId },
      func: run as (...args: unknown[]) => unknown,
      args,
      injectImmediately: true,
    })
    .catch(async (e: unknown) => {
      const cause = whyNotRecordable((await api.tabs.get(tabId)).url);
      throw cause ? new Error(cause) : e; // the browser's message is about manifests
    });
  if (!answer || answer.result === undefined || answer.result === null)
    throw new Error("The page didn't answer. Reload it, and try again.");
  return answer.result;
}
