/**
 * The documents that tabs ask for, before they are there: where a recorded tab goes, our scripts must be first. Listened to while a
 * recording runs only, so that nothing wakes the background else.
 */
import type { Policies } from '../protocol/page-policy.ts';
import { api } from './extension-api.ts';

export interface DocumentRequest {
  tabId: number;
  frameId: number;
  url: string;
}

export interface TabEvents {
  /** A document was asked for, or the request was redirected. Where the browser can, the request waits for the promise. */
  onRequest(request: DocumentRequest): Promise<void>;
  /** The response of a document has come, with these policies. It waits as the request does. */
  onPolicies(document: DocumentRequest, policies: Policies): Promise<void>;
  /** The document of a frame is there; with frame 0 its page has loaded, or came out of the back/forward cache. */
  onDocument(tabId: number, frameId: number, url: string): void;
  /** A tab shows a page that we can't enter, or none of the web. */
  onElsewhere(tabId: number): void;
  /** A document that was asked for does not come: given up, refused, or a download. */
  onGone(request: DocumentRequest): void;
  onClosed(tabId: number): void;
}

type Details = chrome.webRequest.OnBeforeRequestDetails;
const urls = ['http://*/*', 'https://*/*'];

const webRequest = api.webRequest as typeof chrome.webRequest | undefined;
const webNavigation = api.webNavigation as typeof chrome.webNavigation | undefined;

/** Whether documents are heard of before they are there: everywhere but in Safari. */
export const canFollowRequests = (): boolean => webRequest !== undefined;
/** Firefox alone lets a request wait. */
const canBlock = (): boolean =>
  (api.runtime.getManifest().permissions ?? []).includes('webRequestBlocking');

let events: TabEvents | null = null;

function onBeforeRequest({ tabId, frameId, url }: Details): Promise<object> | undefined {
  if (tabId < 0 || !events) return undefined;
  return events.onRequest({ tabId, frameId, url }).then(() => ({}));
}
/** Before the request, and for a page that a service worker or a cache answers without one; redirects are seen by their requests alone. */
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
 * Listen to tabs from now on. For the background, at its start, before anything else: the event that woke it reaches only listeners that
 * are there at once; and again while a recording runs.
 * @param isRunning a recording runs. Chromium listens to requests only then: a listener that comes or goes empties the back/forward
 * cache of all tabs, and there `onBeforeNavigate` reports the page whose request wakes the background
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
    // a promise is an answer in Firefox alone, where the request may wait
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
 * No page comes back from the back/forward cache as it was: Chromium empties it, of all tabs, when a listener to requests comes or goes. Firefox
 * puts our script into the workers themselves, so that there what comes back does no harm.
 */
export function emptyPageCache(): void {
  if (!webRequest || canBlock()) return;
  const listener = (): void => {};
  webRequest.onErrorOccurred.addListener(listener, { urls, types: ['main_frame'] });
  webRequest.onErrorOccurred.removeListener(listener);
}

/** Hear from now on only which pages tabs show, and which tabs close. */
export function followPages(told: TabEvents): void {
  unfollowTabs();
  events = told;
  api.tabs.onRemoved.addListener(onRemoved);
  api.tabs.onUpdated.addListener(onUpdated);
}

/** Hear nothing more, and be woken by nothing. */
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
