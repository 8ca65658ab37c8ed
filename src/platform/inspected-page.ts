/** Which origin the inspected tab shows. DevTools says so even of a site that we may not enter, whose address the browser hides from us. */
import { webOrigin } from './recordable.ts';
import { api } from './extension-api.ts';

/** By its callback: in Chromium this API answers no promises, and Firefox has it under this name, too. */
const evaluated = (): Promise<unknown> =>
  new Promise((done) =>
    chrome.devtools.inspectedWindow.eval('location.origin', (...[value]: unknown[]) => done(value)),
  );

/**
 * Told of the origin now and after every navigation; '' = no web page, or not known.
 * @param tabId asked where this page isn't a panel of DevTools, but a tab of its own
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
