/**
 * The service worker connects panels, pages, and tabs to the recordings. The browser may stop it at
 * any time: panels and relays then reconnect, and all other state is in session storage.
 */
import { api } from '../platform/extension-api.ts';
import { serveHandover } from '../platform/handover-page.ts';
import { openPanelWindow } from '../platform/panel-window.ts';
import { openAccessPage, watchSiteAccess } from '../platform/site-access.ts';
import { followPages, followTabs, unfollowTabs, type TabEvents } from '../platform/tab-requests.ts';
import { welcomeAfterInstall } from '../platform/welcome.ts';
import { wirePort, type WirePort } from '../platform/wire-port.ts';
import type {
  Ask,
  BackgroundMessage,
  Greeting,
  PanelMessage,
  RecordingState,
} from '../protocol/messages.ts';
import {
  documentGone,
  expectDocument,
  notePolicies,
  policyOf,
  reach,
  sharesWorkers,
  watchCoverage,
  widenPolicy,
} from './coverage.ts';
import {
  documentRequested,
  originTabs,
  otherTabShows,
  pageShown,
  pageWasLate,
  reloadTabs,
  sharedUrl,
  sharesAgain,
} from './shared-workers.ts';
import {
  answer,
  isOpen,
  recordingCovering,
  recordingOf,
  recordingPanels,
  redeem,
  start,
  stop,
  tabClosed,
  tidy,
  watchRecordings,
} from './recordings.ts';
import { webOrigin } from '../platform/recordable.ts';
import { Relays } from './relays.ts';
import { accessTo, frameSeen } from './site-access.ts';
import { slowdownOf } from './page-pace.ts';
import { storageOf } from './storage-health.ts';

/**
 * After this worker restarts, panels reconnect soon. A panel that hasn't is closed, and its
 * recording ends.
 */
const PANELS_RECONNECT_MS = 5000;

/** Open panels by tab: their ports, and the page behind each. */
const panels = new Map<number, Map<WirePort, string>>();
/**
 * What each open panel reports about its page. Panels report it again when the background restarts.
 */
const inspected = new Map<WirePort, Extract<PanelMessage, { k: 'page' }>>();

function say(port: WirePort, message: BackgroundMessage | Greeting): void {
  try {
    port.postMessage(message);
  } catch (e) {
    console.warn('vfscope: a port was closed at its other end:', e); // its onDisconnect follows
  }
}
function tell(panel: number, message: BackgroundMessage): void {
  for (const port of panels.get(panel)?.keys() ?? []) say(port, message);
}
/** For promises that no caller awaits. */
const warn = (e: unknown): void => console.warn("vfscope: can't end a recording:", e);
const relays = new Relays(tell);

/**
 * A background that has just started first finds out which recordings run. After that, documents
 * that load don't wait.
 */
let started: Promise<void> | null = null;
const known = (run: () => Promise<void>): Promise<void> =>
  (started ? started.then(run) : run()).catch((e: unknown) =>
    console.warn('vfscope: a page may not be recorded:', e),
  );

/**
 * While a recording runs, tab events also wake a background that was stopped. Otherwise they don't.
 */
const tabEvents: TabEvents = {
  onRequest: (request) =>
    known(() => documentRequested(request).then(() => expectDocument(request))),
  onPolicies: (document, policies) => known(() => notePolicies(document, policies)),
  onGone: (request) => void known(() => documentGone(request)),
  onDocument: (tabId, frameId, url) =>
    void known(async () => {
      const hadLeft = await reach(tabId, frameId, url);
      if (frameId === 0) await pageShown(tabId);
      if (hadLeft) await pageWasLate(tabId, webOrigin(url));
      else if (frameId === 0) await otherTabShows(tabId, webOrigin(url));
    }),
  onElsewhere: (tabId) => void known(() => pageShown(tabId)),
  onClosed: (tabId) => void tabClosed(tabId).catch(warn),
};
followTabs(tabEvents, false);
let isRunning = false;
/** After a recording, pages still report until none holds one of its SharedWorkers. */
async function followWhatIsLeft(): Promise<void> {
  const shares = isRunning ? null : await sharesWorkers();
  if (isRunning || shares === 'policies') followTabs(tabEvents, true);
  else if (shares) followPages(tabEvents);
  else unfollowTabs();
}
watchRecordings(
  (panel, recording) => tell(panel, { k: 'state', recording }),
  (any) => {
    isRunning = any;
    followWhatIsLeft().catch(warn);
  },
);

welcomeAfterInstall();
serveHandover(isOpen);

/** Tell a panel which sites of its page we may access. */
async function sayAccess(port: WirePort): Promise<void> {
  const page = inspected.get(port);
  if (!page) return;
  const access = await accessTo(page);
  if (inspected.get(port) === page) say(port, { k: 'access', access });
}
const saidOfPage = new WeakMap<WirePort, string>();
/**
 * Tell a panel about other tabs of its page's origin and about its policies, if either has changed.
 */
async function sayOfPage(port: WirePort, panel: number): Promise<void> {
  const page = inspected.get(port);
  if (!page?.origin) return;
  const [tabs, policy] = await Promise.all([originTabs(panel, page.origin), policyOf(panel)]);
  const text = JSON.stringify([page.origin, tabs, policy]);
  if (inspected.get(port) !== page || saidOfPage.get(port) === text) return;
  saidOfPage.set(port, text);
  say(port, { k: 'tabs', tabs });
  say(port, { k: 'policy', policy });
}
watchCoverage(() => {
  if (!isRunning) followWhatIsLeft().catch(warn);
  for (const [panel, ports] of panels)
    for (const port of ports.keys()) sayOfPage(port, panel).catch(warn);
});
watchSiteAccess(() => {
  for (const port of inspected.keys()) sayAccess(port).catch(warn);
});

const failed =
  (panel: number) =>
  (e: unknown): void =>
    tell(panel, { k: 'failed', message: e instanceof Error ? e.message : String(e) });

/**
 * This panel's recording, if a panel receives it. After a crash, the recording of a closed panel
 * can remain.
 */
async function takenIn(panel: number): Promise<RecordingState | null> {
  const recording = await recordingOf(panel);
  return recording && [...(panels.get(panel)?.values() ?? [])].includes(recording.owner)
    ? recording
    : null;
}
async function endOrphan(panel: number): Promise<void> {
  if ((await recordingOf(panel)) && !(await takenIn(panel))) await stop(panel);
}

/** Tell a panel about its page's storage while that is recorded. */
async function sayStorage(panel: number, when: 'start' | 'stop'): Promise<void> {
  const health = (await recordingOf(panel)) && (await storageOf(panel));
  if (health) tell(panel, { k: 'storage', when, health });
}

/** Tell a panel how much slower its page runs under DevTools. */
async function saySlowdown(panel: number): Promise<void> {
  const slowdown = (await recordingOf(panel)) && (await slowdownOf(panel));
  if (slowdown) tell(panel, { k: 'slowdown', slowdown });
}

/**
 * @param page of the panel: distinguishes a panel that reconnects from one that was opened later
 */
function onPanel(port: WirePort, panel: number, page: string): void {
  const ports = panels.get(panel) ?? new Map<WirePort, string>();
  panels.set(panel, ports.set(port, page));
  port.onMessage.addListener((said) => {
    const message = said as PanelMessage; // only our own pages get here
    if (message.k === 'start')
      endOrphan(panel)
        .then(() => start(panel, page, message))
        .catch(failed(panel));
    else if (message.k === 'stop')
      Promise.all([sayStorage(panel, 'stop'), saySlowdown(panel)])
        .then(() => stop(panel))
        .catch(failed(panel));
    else if (message.k === 'page') {
      inspected.set(port, message);
      saidOfPage.delete(port);
      sayAccess(port).catch(failed(panel));
      sayOfPage(port, panel).catch(failed(panel));
    } else if (message.k === 'allow') openAccessPage(panel, message.wanted).catch(failed(panel));
    else if (message.k === 'widen-policy')
      widenPolicy(panel, (origin) => sharesAgain(panel, origin)).catch(failed(panel));
    else if (message.k === 'reload-tabs')
      reloadTabs(inspected.get(port)?.origin ?? '').catch(failed(panel));
    else if (message.k === 'window') openPanelWindow(panel).catch(failed(panel));
    else if (message.k === 'relay') relays.toPage(message);
  });
  port.onDisconnect.addListener(() => {
    ports.delete(port);
    inspected.delete(port);
    endOrphan(panel).catch(warn);
  });
  takenIn(panel).then((recording) => tell(panel, { k: 'state', recording }), failed(panel));
  relays.panelIsHere(panel);
}

api.runtime.onConnect.addListener((connected) => {
  const port = wirePort(connected);
  say(port, { k: 'greeting' });
  const [kind, name = '', page = ''] = port.name.split(':');
  if (kind === 'panel' && port.sender?.url?.startsWith(api.runtime.getURL('')))
    onPanel(port, Number(name), page);
  else if (kind === 'relay') relays.onPage(port, name);
});

/** A pending answer, or null for a request that isn't allowed. */
function answerTo(ask: Ask, sender: chrome.runtime.MessageSender): Promise<unknown> | null {
  if (ask.k === 'recorded?') {
    const tab = sender.tab?.id;
    if (sender.frameId === 0 && tab !== undefined) sayStorage(tab, 'start').catch(warn);
    return answer(sender, ask.document, ask.reloads);
  }
  if (ask.k === 'redeem') return redeem(ask.token, sender);
  // first clean up after a recording that ran before this background started: its address belongs
  // to no living worker
  if (ask.k === 'shared') return (started ?? Promise.resolve()).then(() => sharedUrl(ask, sender));
  if (ask.k === 'frame') return frameSeen(ask.origin, sender, tell);
  // only our own pages may learn about other tabs
  if (!sender.url?.startsWith(api.runtime.getURL(''))) return null;
  return ask.k === 'recording?'
    ? recordingCovering(ask.tabId)
    : expectDocument({ ...ask, frameId: 0 }).then(() => true);
}

api.runtime.onMessage.addListener((ask: Ask, sender, reply) => {
  const answered = answerTo(ask, sender);
  if (!answered) return false;
  answered.then(reply, (e: unknown) => {
    console.warn('vfscope: a page got no answer:', e);
    reply(null);
  });
  return true; // the reply comes later
});

async function endOrphans(): Promise<void> {
  for (const panel of await recordingPanels()) await endOrphan(panel);
}
started = tidy()
  .catch(warn)
  .finally(() => (started = null));
setTimeout(() => void endOrphans().catch(warn), PANELS_RECONNECT_MS);
