/** A function of ours, run once in the isolated world of the page that a tab shows: the page's own code neither sees nor shares it. */
import { api } from './extension-api.ts';
import { whyNotRecordable } from './recordable.ts';

/**
 * @param run is carried over as text: it uses nothing from outside its own braces
 * @returns what it answered, unchecked @throws Error with a message for the user where the browser lets us not in
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
      throw cause ? new Error(cause) : e; // the browser's own words speak of manifests
    });
  if (!answer || answer.result === undefined || answer.result === null)
    throw new Error("The page didn't answer. Reload it, and try again.");
  return answer.result;
}
