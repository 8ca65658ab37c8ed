/**
 * Isolated world of a page while recordings run. Takes the port that the hook offers and hands it
 * to the panel of this tab's recording, or tells the hook that there is none. The two scripts share
 * a private line, so the app can't hear them.
 */
import { api } from '../platform/extension-api.ts';
import {
  CONTACT,
  SHARED_WAIT,
  WORKER,
  isPageMessage,
  type PageMessage,
  type Answer,
  type Ask,
  type ContentMessage,
  type Tell,
  type DocumentState,
} from '../protocol/messages.ts';
import { unwatchFrames, watchFrames } from './frames.ts';
import { handOver } from './hand-over.ts';
import { answerPolicy, headersRefuse, watchPolicies } from './page-policy.ts';
import { relay } from './relay.ts';

/**
 * Lines to the hook of this page, and to earlier hooks. The page can fake lines, so their number is
 * limited.
 */
const lines: MessagePort[] = [];
const MAX_LINES = 1000;
const answer = (line: MessagePort, message: ContentMessage): void => line.postMessage(message);

/**
 * A background that stops while it is being asked doesn't answer. The next question starts it
 * again.
 */
const ASK_AGAIN_MS = 200;
const TRIES = 5;

/**
 * Whether the extension is still there. It isn't if it was reloaded or removed while this page was
 * open.
 */
const isInstalled = (): boolean =>
  (api.runtime as typeof api.runtime | undefined)?.id !== undefined;

/** @throws if the extension is gone, or repeatedly doesn't answer */
async function askBackground<Said>(ask: Ask): Promise<Said> {
  for (let tries = 1; ; tries++) {
    try {
      const said: Said | null = await api.runtime.sendMessage(ask);
      if (said !== null) return said;
      throw new Error('the background could not answer');
    } catch (e) {
      if (tries === TRIES || !isInstalled()) throw e;
      await new Promise((done) => setTimeout(done, ASK_AGAIN_MS));
    }
  }
}
async function isRecorded(state: DocumentState = 'known'): Promise<Answer> {
  const [entry] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  const reloads = entry?.type === 'reload';
  const said = await askBackground<Answer>({ k: 'recorded?', document: state, reloads });
  headersRefuse(said.refused);
  return said;
}
/**
 * The answer to the first offer, requested early because the hook may wait for it. It expires soon.
 */
const FRESH_MS = 300;
let askedAt = 0;
let first: Promise<Answer> | null = null;

/** Start time of the recording that this page's hook belongs to; 0 = none yet. */
let since = 0;

async function passOn(port: MessagePort): Promise<ContentMessage> {
  const asked = first && performance.now() - askedAt < FRESH_MS ? first : isRecorded();
  first = null;
  const said = await asked;
  if (!said.recorded) return { k: 'restore', joins: said.joins };
  since = said.since;
  watchFrames();
  // in a sandboxed frame, the handover frame would have no origin either and couldn't reach a panel
  const outcome =
    said.transport === 'runtime' || origin === 'null' ? 'silent' : await handOver(port, said.token);
  if (outcome === 'silent') relay(port);
  return { k: outcome === 'no-panel' ? 'no-panel' : 'connected' };
}

/** Addresses of the scripts that this page's workers requested. */
const workerScripts = new Set<string>();
const MAX_WORKER_SCRIPTS = 1000;

function onWorker(event: Event): void {
  const { data } = event as MessageEvent<unknown>;
  if (typeof data !== 'string') return;
  workerScripts.add(data.split('#', 1)[0]!);
  const [oldest] = workerScripts;
  if (workerScripts.size > MAX_WORKER_SCRIPTS) workerScripts.delete(oldest!);
}

/**
 * Whether the page has an element with this script's digest. For an import map, only whether it has
 * any digests is known.
 */
function isGuarded(url: string): boolean {
  for (const element of document.querySelectorAll('script[integrity], link[integrity]'))
    if ((element as HTMLScriptElement).src === url || (element as HTMLLinkElement).href === url)
      return true;
  return [...document.querySelectorAll('script[type="importmap"]')].some((map) =>
    /"integrity"/.test(map.textContent),
  );
}

/** How often a page asks whether a SharedWorker that it can't join has ended. */
const WAIT_MS = 500;

/** The URL to start this SharedWorker from. Without an answer it runs natively. */
function onShared(line: MessagePort, message: PageMessage & { k: 'shared' }): void {
  const { n, key, traits, url, dead, closed } = message;
  const told = (agreed: string): void => answer(line, { k: 'shared', n, url: agreed });
  askBackground<string>({ k: 'shared', key, traits, url, dead, closed }).then(
    (agreed) => {
      if (agreed === SHARED_WAIT) setTimeout(() => onShared(line, message), WAIT_MS);
      else told(String(agreed));
    },
    () => told(''),
  );
}

function beginning(): DocumentState {
  const loads = document.readyState === 'loading';
  if (loads && !document.head) return 'new';
  // an empty frame is complete from the start
  const isWeb = /^https?:$/.test(location.protocol);
  return isWeb && (!loads || document.querySelector('script')) ? 'late' : 'known';
}

let offers = 0;

function onOffer(line: MessagePort, { data, ports: [port] }: MessageEvent<unknown>): void {
  if (!isPageMessage(data)) return;
  if (data.k === 'shared') return onShared(line, data);
  if (!port) return;
  const mine = ++offers;
  passOn(port).then(
    (outcome) => {
      if (outcome.k === 'restore') leave(outcome.joins);
      else if (mine === offers) answer(line, outcome); // otherwise a newer offer is pending and gets the answer
    },
    // the hook asks again while the extension is there
    () => (isInstalled() ? answer(line, { k: 'no-panel' }) : leave()),
  );
}

/** A hook opens its line. Our own event of this name has no port. */
function onContact(event: Event): void {
  const [port] = (event as Partial<MessageEvent>).ports ?? [];
  if (!port || lines.length === MAX_LINES || !isInstalled()) return;
  event.stopImmediatePropagation();
  event.preventDefault(); // taken
  lines.push(port);
  answerPolicy(port);
  port.addEventListener(WORKER, onWorker);
  port.onmessage = (offer) => onOffer(port, offer);
}

/**
 * The page returned from the back/forward cache, where no message reaches it. Its recording may
 * have ended meanwhile.
 */
function onPageShow({ persisted }: PageTransitionEvent): void {
  if (!persisted || since === 0) return;
  isRecorded().then(
    (now) => now.since !== since && leave(now.joins),
    () => leave(),
  );
}

/**
 * How soon a page is restored after the extension is reloaded, updated, or disabled. Content
 * scripts get no event for that.
 */
const GONE_MS = 2000;
let watch: ReturnType<typeof setInterval> | null = null;
let listening = false;
/** document.open() removes every listener, and every child of the document. */
const emptied = new MutationObserver(listen);

/** Has no side effect on existing content. */
function listen(): void {
  addEventListener(CONTACT, onContact, true);
  addEventListener('pageshow', onPageShow, true);
  emptied.observe(document, { childList: true });
  listening = true;
  watch ??= setInterval(() => isInstalled() || leave(), GONE_MS);
}

/**
 * Restore everything and stop listening, because a page that isn't recorded must not detect us.
 * This script is injected again for the next recording.
 * @param joins its hook stays for SharedWorkers only, and so does its line
 */
function leave(joins = false): void {
  removeEventListener(CONTACT, onContact, true);
  removeEventListener('pageshow', onPageShow, true);
  emptied.disconnect();
  listening = false;
  if (watch !== null && !joins) {
    clearInterval(watch);
    watch = null;
  }
  unwatchFrames();
  for (const line of joins ? lines : lines.splice(0)) {
    answer(line, { k: 'restore', joins });
    if (!joins) line.close(); // earlier messages still arrive
  }
  workerScripts.clear();
}

const realm = globalThis as { vfscopeListen?: () => void };
if (!realm.vfscopeListen) {
  realm.vfscopeListen = listen;
  api.runtime.onMessage.addListener((message: Tell, _sender, reply) => {
    if (message.k === 'restore') leave(message.joins.includes(origin));
    else if (message.k === 'here?') reply(listening);
    else if (message.k === 'hooked?') reply(lines.length > 0);
    else reply(workerScripts.has(message.url) && !isGuarded(message.url));
  });
  watchPolicies();
  askedAt = performance.now();
  first = isRecorded(beginning());
  first.then(
    ({ recorded }) => recorded && lines.forEach((line) => answer(line, { k: 'recorded' })),
    () => undefined, // the same as the answer to its offer
  );
}
realm.vfscopeListen();
dispatchEvent(new Event(CONTACT)); // for a hook that was here first
