/**
 * The origin that the inspected tab shows. DevTools reports it even for a site that we can't
 * access, whose address the browser hides.
 */
import { webOrigin } from './recordable.ts';
import { api } from './extension-api.ts';

/**
 * With a callback: this API returns no promises in Chromium, and Firefox supports it under the same
 * name.
 */
const evaluated = (): Promise<unknown> =>
  new Promise((done) =>
    chrome.devtools.inspectedWindow.eval('location.origin', (...[value]: unknown[]) => done(value)),
  );

/**
 * Reports the origin now and after every navigation; '' = not a web page, or not known.
 * @param tabId asked where this page is in a tab of its own instead of DevTools
 */
export function watchInspectedOrigin(tabId: number, listener: (origin: string) => void): void {
  if (!api.devtools?.inspectedWindow) {
    const say = (tab: { url?: string }): void => listener(webOrigin(tab.url));
    void api.tabs.get(tabId).then(say, () => listener(''));
    api.tabs.onUpdated.addListener((id, { status }, tab) => {
      if (id === tabId && status === 'complete') say(tab);
    });
    return;
  }
  let navigated = false;
  void evaluated().then((origin) => {
    if (!navigated) listener(typeof origin === 'string' ? webOrigin(origin) : '');
  });
  api.devtools.network.onNavigated.addListener((url) => {
    navigated = true;
    listener(webOrigin(url));
  });
}
