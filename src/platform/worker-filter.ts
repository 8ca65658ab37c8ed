/**
 * Firefox: puts the hook before the scripts of workers, as they come from the network, the cache or a service worker. The rest of a
 * response passes as it is. Chromium has no filter: there every function here does nothing.
 *
 * A filter is attached to every script request of a followed tab, since later is too late for cached scripts; what is no worker's
 * passes untouched. What a request is for stands in its Sec-Fetch-Dest header, which a script that a service worker answers never
 * sends: such a script gets the hook behind a test of where it runs.
 */
import type { WebRequest } from 'webextension-polyfill';
import type { CaptureOptions } from '../protocol/capture.ts';
import type { Tell } from '../protocol/messages.ts';
import { api } from './extension-api.ts';
import { isOpen, prefixed } from './worker-prefix.ts';

/** `frameAncestors`: of a frame, its page last. */
export type ScriptRequest = Pick<
  WebRequest.OnBeforeRequestDetailsType,
  'url' | 'tabId' | 'originUrl' | 'documentUrl'
> & {
  frameAncestors?: { url: string; frameId: number }[];
};

const WORKERS: readonly string[] = ['worker', 'sharedworker', 'serviceworker'];
/** What workers may run, and all that a server may forbid to take for a script. */
const JAVASCRIPT =
  /^(?:(?:text|application)\/(?:x-)?(?:java|ecma)script|text\/(?:javascript1\.[0-5]|jscript|livescript))$/i;
/** What no page may take for a script. */
const NO_SCRIPT = /^(?:(?:image|audio|video)\/|text\/csv$)/i;
const FILTER: WebRequest.RequestFilter = { urls: ['http://*/*', 'https://*/*'], types: ['script'] };
/** Of each collection; the oldest are forgotten: requests whose response never came, workers that ended long ago. */
const MAX_KNOWN = 1000;

/** Of a page; it holds up nothing but a script that its service worker answers. */
const ANSWER_MS = 1000;

const webRequest = (api as unknown as { webRequest?: WebRequest.Static }).webRequest;
const destinations = new Map<string, string>();
/** Addresses of workers' own scripts, which is all that tells a worker's imports from a page's scripts. */
const workerScripts = new Set<string>();
/** Requests that the browser will refuse; they go again, without a filter. */
const refused = new Set<string>();
/** What to capture in that script's worker; null = nothing. */
type Wants = (request: ScriptRequest) => CaptureOptions | null;
let wanted: Wants = () => null;

/** Whether this browser can do it. */
const canFilterWorkers = (): boolean =>
  typeof webRequest?.filterResponseData === 'function' && hookText() !== undefined;

/** What the build leaves in worker-hook.js: a function's text, called with its environment. */
const hookText = (): string | undefined =>
  (globalThis as { vfscopeWorkerHook?: string }).vfscopeWorkerHook;

/** Hook the workers whose script request is wanted, from now on. */
export function filterWorkers(wants: Wants): void {
  wanted = wants;
  if (!webRequest || !canFilterWorkers() || webRequest.onBeforeRequest.hasListener(onRequest))
    return;
  webRequest.onBeforeRequest.addListener(onRequest, FILTER, ['blocking']);
  // blocking, for the order: the first bytes could come before what the headers say
  webRequest.onBeforeSendHeaders.addListener(onHeaders, FILTER, ['blocking', 'requestHeaders']);
  webRequest.onHeadersReceived.addListener(onAnswer, FILTER, ['blocking', 'responseHeaders']);
}

/** Let every script pass as it is. */
export function unfilterWorkers(): void {
  wanted = () => null;
  destinations.clear();
  workerScripts.clear();
  refused.clear();
  webRequest?.onBeforeRequest.removeListener(onRequest);
  webRequest?.onBeforeSendHeaders.removeListener(onHeaders);
  webRequest?.onHeadersReceived.removeListener(onAnswer);
}

function onHeaders(details: WebRequest.OnBeforeSendHeadersDetailsType): void {
  const { requestId, requestHeaders, url } = details;
  const header = requestHeaders?.find(({ name }) => name.toLowerCase() === 'sec-fetch-dest');
  if (header?.value === undefined) return;
  destinations.set(requestId, header.value);
  forgetOldest(destinations);
  if (!WORKERS.includes(header.value)) return;
  workerScripts.add(url);
  forgetOldest(workerScripts);
}

function forgetOldest(known: Map<string, unknown> | Set<string>): void {
  if (known.size > MAX_KNOWN) for (const oldest of known.keys()) return void known.delete(oldest);
}

/** Where a worker asks for an import, both addresses are its own script's. */
const askedByWorker = ({
  originUrl = '',
  documentUrl,
}: Pick<ScriptRequest, 'originUrl' | 'documentUrl'>): boolean =>
  originUrl !== documentUrl || workerScripts.has(originUrl) || /^(?:blob|data):/.test(originUrl);

/**
 * A response that the browser refuses for its type ends for a filter as an empty script that runs: the app would never hear of its
 * failure. Only without a filter it fails, and a filter cannot be taken from a request, so the browser asks again.
 */
function onAnswer(
  details: WebRequest.OnHeadersReceivedDetailsType,
): WebRequest.BlockingResponse | undefined {
  const { requestId, statusCode, url } = details;
  if (
    refused.delete(requestId) ||
    statusCode >= 300 ||
    !destinations.has(requestId) ||
    !isRefused(details)
  )
    return undefined;
  refused.add(requestId);
  return { redirectUrl: url };
}

function isRefused(details: WebRequest.OnHeadersReceivedDetailsType): boolean {
  const { requestId, responseHeaders } = details;
  const valueOf = (wanted: string): string =>
    responseHeaders?.find(({ name }) => name.toLowerCase() === wanted)?.value ?? '';
  const type = valueOf('content-type').split(';')[0]!.trim();
  if (JAVASCRIPT.test(type)) return false;
  const inWorker = WORKERS.includes(destinations.get(requestId)!) || askedByWorker(details);
  return inWorker || NO_SCRIPT.test(type) || /^nosniff\b/i.test(valueOf('x-content-type-options'));
}

function onRequest(details: WebRequest.OnBeforeRequestDetailsType): void {
  const capture = wanted(details);
  const { requestId } = details;
  if (!capture || refused.has(requestId)) return;
  const filter = webRequest!.filterResponseData(requestId);
  const destination = (): string | undefined => destinations.get(requestId);
  const end = (): void => {
    destinations.delete(requestId);
    filter.disconnect(); // what follows passes by us
  };
  /** What came while the page was asked, or while it did not tell where the hook goes. */
  let start = new Uint8Array();
  let [stopped, unsure] = [false, false];
  /** null = not known yet. */
  let guarded: boolean | null = null;
  const begin = (): void => {
    if (guarded === null || !(guarded || stopped || !isOpen(start))) return;
    for (const part of guarded ? [start] : prefixed(start, hookText()!, unsure, capture))
      filter.write(part);
    end();
  };
  filter.onstart = () => {
    if (destination() !== undefined && !WORKERS.includes(destination()!)) end();
  };
  filter.ondata = ({ data }) => {
    const isFirst = start.length === 0;
    const longer = new Uint8Array(start.length + data.byteLength);
    longer.set(start);
    longer.set(new Uint8Array(data), start.length);
    start = longer;
    if (destination() !== undefined) guarded = false;
    else if (isFirst) {
      unsure = true;
      void isGuarded(details).then((answer) => {
        guarded = answer;
        begin();
      });
    }
    begin();
  };
  filter.onstop = () => {
    stopped = true;
    if (start.length === 0)
      end(); // an empty script
    else begin();
  };
  // a request that a service worker passes on comes again, with a filter of its own
  filter.onerror = () => void destinations.delete(requestId);
}

/** Whether the page has the script's digest (integrity), so that not a byte may change: its elements know. Without an answer, yes. */
async function isGuarded(details: WebRequest.OnBeforeRequestDetailsType): Promise<boolean> {
  const { url, tabId, frameId } = details;
  if (tabId < 0 || askedByWorker(details)) return false;
  const ask = api.tabs.sendMessage(tabId, { k: 'guarded?', url } satisfies Tell, {
    frameId,
  }) as Promise<boolean>;
  const late = new Promise<boolean>((done) => setTimeout(done, ANSWER_MS, true));
  return Promise.race([ask, late]).then(
    (guarded) => guarded !== false,
    () => true, // no script of ours in that page: then none belongs into its workers
  );
}
