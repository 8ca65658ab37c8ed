/**
 * Firefox: puts the hook before the scripts of workers as they arrive from the network, the cache,
 * or a service worker. The rest of a response passes unchanged. Chromium has no filter, so every
 * function here does nothing there.
 *
 * Every script request of a followed tab gets a filter, since adding one later is too late for
 * cached scripts. Scripts that aren't a worker's pass untouched. A request's purpose is in its
 * Sec-Fetch-Dest header. Scripts from a service worker or an insecure origin have no such header.
 * Then the page knows its workers' scripts, and the hook follows a test of where it runs.
 */
import type { WebRequest } from 'webextension-polyfill';
import type { CaptureOptions } from '../protocol/capture.ts';
import type { Tell } from '../protocol/messages.ts';
import { api } from './extension-api.ts';
import { isOpen, prefixed } from './worker-prefix.ts';

/** `frameAncestors`: of a frame, the page last. */
export type ScriptRequest = Pick<
  WebRequest.OnBeforeRequestDetailsType,
  'url' | 'tabId' | 'originUrl' | 'documentUrl'
> & {
  frameAncestors?: { url: string; frameId: number }[];
};

const WORKERS: readonly string[] = ['worker', 'sharedworker', 'serviceworker'];
/** Types that workers may run, and all types that a server may forbid to treat as a script. */
const JAVASCRIPT =
  /^(?:(?:text|application)\/(?:x-)?(?:java|ecma)script|text\/(?:javascript1\.[0-5]|jscript|livescript))$/i;
/** Types that no page may treat as a script. */
const NO_SCRIPT = /^(?:(?:image|audio|video)\/|text\/csv$)/i;
const FILTER: WebRequest.RequestFilter = { urls: ['http://*/*', 'https://*/*'], types: ['script'] };
/**
 * Maximum entries of each collection. The oldest are dropped: requests whose response never came,
 * and workers that ended long ago.
 */
const MAX_KNOWN = 1000;

/** How long to wait for a page's answer. It delays only scripts with an unknown destination. */
const ANSWER_MS = 1000;

const webRequest = (api as unknown as { webRequest?: WebRequest.Static }).webRequest;
/** By request; UNSAID = sent without the header. */
const destinations = new Map<string, string>();
const UNSAID = '';
/** Requests that a filter is attached to. */
const filtered = new Set<string>();
/**
 * Addresses of workers' own scripts. Only they distinguish a worker's imports from a page's
 * scripts.
 */
const workerScripts = new Set<string>();
/** Requests that the browser will refuse. They are sent again, without a filter. */
const refused = new Set<string>();
/** What to capture in that script's worker; null = nothing. */
type Wants = (request: ScriptRequest) => CaptureOptions | null;
let wanted: Wants = () => null;

/** Whether this browser supports it. */
const canFilterWorkers = (): boolean =>
  typeof webRequest?.filterResponseData === 'function' && hookText() !== undefined;

/** The build's worker-hook.js: a function's text, called with its environment. */
const hookText = (): string | undefined =>
  (globalThis as { vfscopeWorkerHook?: string }).vfscopeWorkerHook;

/** The build's worker-messages.js and worker-instructions.js. @returns the requested scripts */
function carriedText({ messages, instructions }: CaptureOptions): string {
  const { vfscopeWorkerMessages = '', vfscopeWorkerInstructions = '' } = globalThis as {
    vfscopeWorkerMessages?: string;
    vfscopeWorkerInstructions?: string;
  };
  return (messages ? vfscopeWorkerMessages : '') + (instructions ? vfscopeWorkerInstructions : '');
}

/** Hook the workers whose script requests are wanted, from now on. */
export function filterWorkers(wants: Wants): void {
  wanted = wants;
  if (!webRequest || !canFilterWorkers() || webRequest.onBeforeRequest.hasListener(onRequest))
    return;
  webRequest.onBeforeRequest.addListener(onRequest, FILTER, ['blocking']);
  // blocking keeps the order: otherwise the first bytes could come before the headers
  webRequest.onBeforeSendHeaders.addListener(onHeaders, FILTER, ['blocking', 'requestHeaders']);
  webRequest.onHeadersReceived.addListener(onAnswer, FILTER, ['blocking', 'responseHeaders']);
}

/** Let every script pass unchanged. */
export function unfilterWorkers(): void {
  wanted = () => null;
  destinations.clear();
  filtered.clear();
  workerScripts.clear();
  refused.clear();
  webRequest?.onBeforeRequest.removeListener(onRequest);
  webRequest?.onBeforeSendHeaders.removeListener(onHeaders);
  webRequest?.onHeadersReceived.removeListener(onAnswer);
}

function onHeaders(details: WebRequest.OnBeforeSendHeadersDetailsType): void {
  const { requestId, requestHeaders, url } = details;
  const header = requestHeaders?.find(({ name }) => name.toLowerCase() === 'sec-fetch-dest');
  const destination = header?.value ?? UNSAID;
  destinations.set(requestId, destination);
  forgetOldest(destinations);
  if (WORKERS.includes(destination)) isOfWorker(url);
}

function isOfWorker(script: string): void {
  workerScripts.add(script);
  forgetOldest(workerScripts);
}

function forgetOldest(known: Map<string, unknown> | Set<string>): void {
  if (known.size > MAX_KNOWN) for (const oldest of known.keys()) return void known.delete(oldest);
}

/**
 * In a worker's request for an import, both addresses are its own script's. A frame with an opaque
 * origin has none.
 */
const askedByWorker = ({
  originUrl = '',
  documentUrl,
}: Pick<ScriptRequest, 'originUrl' | 'documentUrl'>): boolean =>
  (documentUrl !== undefined && originUrl !== documentUrl) ||
  workerScripts.has(originUrl) ||
  /^(?:blob|data):/.test(originUrl);

/**
 * If the browser refuses a response for its type, the filter sees an empty script that runs, so the
 * app would never see the failure. It only fails without a filter, and a filter can't be removed
 * from a request, so the request is sent again.
 */
async function onAnswer(
  details: WebRequest.OnHeadersReceivedDetailsType,
): Promise<WebRequest.BlockingResponse> {
  const { requestId, statusCode, url } = details;
  const again = refused.delete(requestId) || !filtered.has(requestId);
  if (again || statusCode >= 300 || !(await isRefused(details))) return {};
  refused.add(requestId);
  return { redirectUrl: url };
}

async function isRefused(details: WebRequest.OnHeadersReceivedDetailsType): Promise<boolean> {
  const { requestId, responseHeaders } = details;
  const destination = destinations.get(requestId);
  if (destination === undefined) return false; // answered by a service worker
  const valueOf = (wanted: string): string =>
    responseHeaders?.find(({ name }) => name.toLowerCase() === wanted)?.value ?? '';
  const type = valueOf('content-type').split(';')[0]!.trim();
  if (JAVASCRIPT.test(type)) return false;
  const inWorker =
    askedByWorker(details) ||
    (destination === UNSAID ? await isWorker(details) : WORKERS.includes(destination));
  return inWorker || NO_SCRIPT.test(type) || /^nosniff\b/i.test(valueOf('x-content-type-options'));
}

function onRequest(details: WebRequest.OnBeforeRequestDetailsType): void {
  const capture = wanted(details);
  const { requestId } = details;
  if (!capture || refused.has(requestId)) return;
  const filter = webRequest!.filterResponseData(requestId);
  filtered.add(requestId);
  forgetOldest(filtered);
  const destination = (): string => destinations.get(requestId) ?? UNSAID;
  const forget = (): void => {
    destinations.delete(requestId);
    filtered.delete(requestId);
  };
  const end = (): void => {
    forget();
    filter.disconnect(); // the rest bypasses us
  };
  /** Data that arrived while the page was asked, or before it was clear where the hook goes. */
  let start = new Uint8Array();
  let stopped = false;
  /** null = not known yet. */
  let ofWorker: boolean | null = null;
  const begin = (): void => {
    if (ofWorker === null || (ofWorker && !stopped && isOpen(start))) return;
    const unsure = destination() === UNSAID;
    for (const part of ofWorker
      ? prefixed(start, hookText()!, unsure, capture, carriedText(capture))
      : [start])
      filter.write(part);
    end();
  };
  filter.onstart = () => {
    if (destination() !== UNSAID && !WORKERS.includes(destination())) end();
  };
  filter.ondata = ({ data }) => {
    const isFirst = start.length === 0;
    const longer = new Uint8Array(start.length + data.byteLength);
    longer.set(start);
    longer.set(new Uint8Array(data), start.length);
    start = longer;
    if (destination() !== UNSAID) ofWorker = true;
    else if (isFirst)
      void isWorker(details).then((answer) => {
        ofWorker = answer;
        begin();
      });
    begin();
  };
  filter.onstop = () => {
    stopped = true;
    if (start.length === 0)
      end(); // an empty script
    else begin();
  };
  // a request that a service worker forwards appears again, with its own filter
  filter.onerror = forget;
}

/**
 * Whether a worker requested that script, according to its page. No answer means no: our script
 * isn't in that page, so the hook doesn't belong in its workers.
 */
async function isWorker(details: WebRequest.OnBeforeRequestDetailsType): Promise<boolean> {
  const { url, tabId, frameId } = details;
  if (tabId < 0 || askedByWorker(details)) return true;
  const ask = api.tabs.sendMessage(tabId, { k: 'worker?', url } satisfies Tell, {
    frameId,
  }) as Promise<boolean>;
  const late = new Promise<boolean>((done) => setTimeout(done, ANSWER_MS, false));
  const answer = await Promise.race([ask, late]).catch(() => false);
  if (answer) isOfWorker(url);
  return answer;
}
