/**
 * Firefox: puts the hook before the scripts of workers, as they come from the network, the cache or a service worker. The rest of a
 * response passes as it is. Chromium has no filter: there every function here does nothing.
 *
 * A filter is attached to every script request of a followed tab, since later is too late for cached scripts; what isn't a worker's
 * passes untouched. What a request is for stands in its Sec-Fetch-Dest header. A script that a service worker answers has none, nor has
 * one of an insecure origin: there the page knows its workers' scripts, and the hook comes behind a test of where it runs.
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

/** Of a page; it holds up nothing but a script whose destination is not known. */
const ANSWER_MS = 1000;

const webRequest = (api as unknown as { webRequest?: WebRequest.Static }).webRequest;
/** By request; UNSAID = it was sent without the header. */
const destinations = new Map<string, string>();
const UNSAID = '';
/** Requests that a filter is attached to. */
const filtered = new Set<string>();
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

/** The same of worker-messages.js and worker-instructions.js: scripts. @returns those that are asked for */
function carriedText({ messages, instructions }: CaptureOptions): string {
  const { vfscopeWorkerMessages = '', vfscopeWorkerInstructions = '' } = globalThis as {
    vfscopeWorkerMessages?: string;
    vfscopeWorkerInstructions?: string;
  };
  return (messages ? vfscopeWorkerMessages : '') + (instructions ? vfscopeWorkerInstructions : '');
}

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

/** Where a worker asks for an import, both addresses are its own script's. A frame of an opaque origin has none. */
const askedByWorker = ({
  originUrl = '',
  documentUrl,
}: Pick<ScriptRequest, 'originUrl' | 'documentUrl'>): boolean =>
  (documentUrl !== undefined && originUrl !== documentUrl) ||
  workerScripts.has(originUrl) ||
  /^(?:blob|data):/.test(originUrl);

/**
 * A response that the browser refuses for its type ends for a filter as an empty script that runs: the app would never hear of its
 * failure. Only without a filter it fails, and a filter cannot be taken from a request, so the browser asks again.
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
  if (destination === undefined) return false; // a service worker answers
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
    filter.disconnect(); // what follows passes by us
  };
  /** What came while the page was asked, or while it did not show where the hook goes. */
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
  // a request that a service worker passes on comes again, with a filter of its own
  filter.onerror = forget;
}

/** Whether a worker asks for that script, as its page knows. Without an answer, no: a script of ours is not in that page, so none belongs into its workers. */
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
