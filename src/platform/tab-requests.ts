/**
 * The documents that tabs request, before they arrive: our scripts must be first in a recorded tab.
 * Listens only while a recording runs, so that it doesn't wake the background otherwise.
 */
import type { Policies } from '../protocol/page-policy.ts';
import { api } from './extension-api.ts';

export interface DocumentRequest {
  tabId: number;
  frameId: number;
  url: string;
}

export interface TabEvents {
  /**
   * A document was requested, or the request was redirected. Where the browser supports it, the
   * request waits for the promise.
   */
  onRequest(request: DocumentRequest): Promise<void>;
  /** The response of a document arrived, with these policies. It waits as the request does. */
  onPolicies(document: DocumentRequest, policies: Policies): Promise<void>;
  /**
   * The document of a frame is there. For frame 0, the page has loaded, or was restored from the
   * back/forward cache.
   */
  onDocument(tabId: number, frameId: number, url: string): void;
  /** A tab shows a page that we can't access, or no web page. */
  onElsewhere(tabId: number): void;
  /** A requested document won't arrive: canceled, refused, or a download. */
  onGone(request: DocumentRequest): void;
  onClosed(tabId: number): void;
}

type Details = chrome.webRequest.OnBeforeRequestDetails;
const urls = ['http://*/*', 'https://*/*'];

const webRequest = api.webRequest as typeof chrome.webRequest | undefined;
const webNavigation = api.webNavigation as typeof chrome.webNavigation | undefined;

/** Whether requests are reported before their documents arrive: everywhere except in Safari. */
export const canFollowRequests = (): boolean => webRequest !== undefined;
/** Only Firefox lets a request wait. */
const canBlock = (): boolean =>
  (api.runtime.getManifest().permissions ?? []).includes('webRequestBlocking');

let events: TabEvents | null = null;

function onBeforeRequest({ tabId, frameId, url }: Details): Promise<object> | undefined {
  if (tabId < 0 || !events) return undefined;
  return events.onRequest({ tabId, frameId, url }).then(() => ({}));
}
/**
 * Before the request, and for a page that a service worker or a cache answers without one.
 * Redirects show only in their requests.
 */
function onBeforeNavigate({
  tabId,
  frameId,
  url,
}: Parameters<Parameters<typeof chrome.webNavigation.onBeforeNavigate.addListener>[0]>[0]): void {
  if (frameId === 0) void events?.onRequest({ tabId, frameId, url });
}
type Received = chrome.webRequest.OnHeadersReceivedDetails;
function onHeadersReceived({
  tabId,
  frameId,
  url,
  responseHeaders = [],
}: Received): Promise<object> | undefined {
  if (tabId < 0 || !events) return undefined;
  const values = (header: string): string =>
    responseHeaders
      .filter(({ name }) => name.toLowerCase() === header)
      .map(({ value = '' }) => value)
      .join();
  const policies = {
    enforced: values('content-security-policy'),
    reported: values('content-security-policy-report-only'),
  };
  return events.onPolicies({ tabId, frameId, url }, policies).then(() => ({}));
}
const onErrorOccurred = ({ tabId, frameId, url }: DocumentRequest): void =>
  events?.onGone({ tabId, frameId, url });
const onCompleted = ({ tabId, frameId, url }: chrome.webRequest.OnCompletedDetails): void =>
  events?.onDocument(tabId, frameId, url);
function onUpdated(
  tabId: number,
  { status }: chrome.tabs.OnUpdatedInfo,
  { url }: chrome.tabs.Tab,
): void {
  if (status !== 'complete') return;
  if (url && /^https?:/.test(url)) events?.onDocument(tabId, 0, url);
  else events?.onElsewhere(tabId);
}
const onRemoved = (tabId: number): void => events?.onClosed(tabId);

/**
 * Listen to tabs from now on. The background calls it at its start, before anything else, because
 * the event that woke it reaches only listeners that exist at once, and again while a recording
 * runs.
 * @param isRunning a recording runs. Chromium listens to requests only then, because adding or
 * removing a listener empties the back/forward cache of all tabs. There, `onBeforeNavigate` reports
 * the page whose request wakes the background
 */
export function followTabs(told: TabEvents, isRunning: boolean): void {
  events = told;
  if (!api.tabs.onRemoved.hasListener(onRemoved)) {
    api.tabs.onRemoved.addListener(onRemoved);
    api.tabs.onUpdated.addListener(onUpdated);
    webNavigation?.onBeforeNavigate.addListener(onBeforeNavigate);
    webNavigation?.onErrorOccurred.addListener(onErrorOccurred);
  }
  if (
    webRequest &&
    (isRunning || canBlock()) &&
    !webRequest.onErrorOccurred.hasListener(onErrorOccurred)
  ) {
    type Listener = Parameters<typeof webRequest.onBeforeRequest.addListener>[0];
    // only Firefox treats a promise as an answer, and lets the request wait
    webRequest.onBeforeRequest.addListener(
      onBeforeRequest as unknown as Listener,
      { urls, types: ['main_frame', 'sub_frame'] },
      canBlock() ? ['blocking'] : [],
    );
    type HeadersListener = Parameters<typeof webRequest.onHeadersReceived.addListener>[0];
    webRequest.onHeadersReceived.addListener(
      onHeadersReceived as unknown as HeadersListener,
      { urls, types: ['main_frame', 'sub_frame'] },
      ['responseHeaders', ...(canBlock() ? (['blocking'] as const) : [])],
    );
    webRequest.onCompleted.addListener(onCompleted, { urls, types: ['sub_frame'] });
    webRequest.onErrorOccurred.addListener(onErrorOccurred, {
      urls,
      types: ['main_frame', 'sub_frame'],
    });
  }
}

/**
 * Prevents restores from the back/forward cache: Chromium empties it for all tabs when a request
 * listener is added or removed. Firefox puts our script into the workers themselves, so restored
 * pages do no harm there.
 */
export function emptyPageCache(): void {
  if (!webRequest || canBlock()) return;
  const listener = (): void => {};
  webRequest.onErrorOccurred.addListener(listener, { urls, types: ['main_frame'] });
  webRequest.onErrorOccurred.removeListener(listener);
}

/** From now on, report only which pages tabs show and which tabs close. */
export function followPages(told: TabEvents): void {
  unfollowTabs();
  events = told;
  api.tabs.onRemoved.addListener(onRemoved);
  api.tabs.onUpdated.addListener(onUpdated);
}

/** Stop listening, so that nothing wakes the background. */
export function unfollowTabs(): void {
  events = null;
  api.tabs.onRemoved.removeListener(onRemoved);
  api.tabs.onUpdated.removeListener(onUpdated);
  webNavigation?.onBeforeNavigate.removeListener(onBeforeNavigate);
  webNavigation?.onErrorOccurred.removeListener(onErrorOccurred);
  webRequest?.onBeforeRequest.removeListener(onBeforeRequest as never);
  webRequest?.onHeadersReceived.removeListener(onHeadersReceived as never);
  webRequest?.onCompleted.removeListener(onCompleted);
  webRequest?.onErrorOccurred.removeListener(onErrorOccurred);
}
