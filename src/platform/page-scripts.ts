/** Our two scripts in web pages: registered for pages to come only while a recording runs, injected into pages that are open. */
import { captureScripts, type CaptureOptions } from '../protocol/capture.ts';
import { api } from './extension-api.ts';

const HOOKS = 'vfscope-hooks';
const CONTENT = 'vfscope-content';
const WEB = ['http://*/*', 'https://*/*'];

/** The hook, and before it what tells it its options. */
const hookFiles = (capture: CaptureOptions): string[] => [...captureScripts(capture), 'hooks.js'];

/** From now on every new document gets the hook and the content script before its first line. Does nothing where that is so. */
export async function registerPageScripts(capture: CaptureOptions): Promise<void> {
  const there = await api.scripting.getRegisteredContentScripts();
  const common = {
    matches: WEB,
    runAt: 'document_start',
    allFrames: true,
    matchOriginAsFallback: true,
    persistAcrossSessions: false,
  } as const;
  const scripts: chrome.scripting.RegisteredContentScript[] = [
    { ...common, id: CONTENT, js: ['content.js'], world: 'ISOLATED', matches: [...WEB] },
    { ...common, id: HOOKS, js: hookFiles(capture), world: 'MAIN', matches: [...WEB] },
  ];
  // of an earlier recording with other options
  const stale = there.filter(({ id, js }) => scripts.find((s) => s.id === id)?.js?.join() !== js?.join()).map(({ id }) => id);
  if (stale.length) await api.scripting.unregisterContentScripts({ ids: stale });
  const missing = scripts.filter(({ id }) => stale.includes(id) || !there.some((t) => t.id === id));
  if (missing.length) await api.scripting.registerContentScripts(missing);
}

/** No new document gets anything of ours. */
export async function unregisterPageScripts(): Promise<void> {
  const ids = (await api.scripting.getRegisteredContentScripts()).map(({ id }) => id);
  if (ids.length) await api.scripting.unregisterContentScripts({ ids });
}

/** Into the page that a tab shows now; engines that it has loaded before stay unseen. @throws where the browser forbids it */
export async function injectPageScripts(tabId: number, capture: CaptureOptions): Promise<void> {
  const target = { tabId, allFrames: true };
  await api.scripting.executeScript({ target, files: ['content.js'], world: 'ISOLATED', injectImmediately: true });
  await api.scripting.executeScript({ target, files: hookFiles(capture), world: 'MAIN', injectImmediately: true });
}
