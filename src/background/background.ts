/**
 * The service worker: wires panels, pages and tabs to the recordings. It may die at any time; panels and relays connect again,
 * and what it knows beyond that lies in the session's storage.
 */
import { api } from '../platform/extension-api.ts';
import { hasSiteAccess, openAccessPage, watchSiteAccess } from '../platform/site-access.ts';
import { welcomeAfterInstall } from '../platform/welcome.ts';
import { wirePort, type WirePort } from '../platform/wire-port.ts';
import type { Ask, BackgroundMessage, Greeting, PanelMessage } from '../protocol/messages.ts';
import {
  answer,
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
import { Relays } from './relays.ts';

/** Panels reconnect at once after this worker was restarted; one that has not by then is gone, and its recording with it. */
const PANELS_RECONNECT_MS = 5000;

const panels = new Map<number, Set<WirePort>>();

function say(port: WirePort, message: BackgroundMessage | Greeting): void {
  try {
    port.postMessage(message);
  } catch (e) {
    console.warn('vfscope: the other end of a port is gone:', e); // its onDisconnect follows
  }
}
function tell(panel: number, message: BackgroundMessage): void {
  for (const port of panels.get(panel) ?? []) say(port, message);
}
/** For what nobody waits for. */
const warn = (e: unknown): void => console.warn('vfscope: a recording did not end well:', e);
const relays = new Relays(tell);
watchRecordings((panel, recording) => tell(panel, { k: 'state', recording }));

welcomeAfterInstall();

watchSiteAccess((granted) => {
  for (const panel of panels.keys()) tell(panel, { k: 'access', granted });
});

const failed =
  (panel: number) =>
  (e: unknown): void =>
    tell(panel, { k: 'failed', message: e instanceof Error ? e.message : String(e) });

function onPanel(port: WirePort, panel: number): void {
  const ports = panels.get(panel) ?? new Set();
  panels.set(panel, ports.add(port));
  port.onMessage.addListener((said) => {
    const message = said as PanelMessage; // only our own pages get here
    if (message.k === 'start') start(panel, message).catch(failed(panel));
    else if (message.k === 'stop') stop(panel).catch(failed(panel));
    else if (message.k === 'allow') openAccessPage(panel).catch(failed(panel));
    else if (message.k === 'relay') relays.toPage(message);
  });
  port.onDisconnect.addListener(() => {
    ports.delete(port);
    if (ports.size === 0) stop(panel).catch(warn);
  });
  hasSiteAccess().then((granted) => say(port, { k: 'access', granted }), failed(panel));
  recordingOf(panel).then((recording) => say(port, { k: 'state', recording }), failed(panel));
}

api.runtime.onConnect.addListener((connected) => {
  const port = wirePort(connected);
  say(port, { k: 'greeting' });
  const [kind, name = ''] = port.name.split(':');
  if (kind === 'panel' && port.sender?.url?.startsWith(api.runtime.getURL(''))) onPanel(port, Number(name));
  else if (kind === 'relay') relays.onPage(port, name);
});

/** An answer to come, or null to what nobody may ask. */
function answerTo(ask: Ask, sender: chrome.runtime.MessageSender): Promise<unknown> | null {
  if (ask.k === 'recorded?') return answer(sender);
  if (ask.k === 'redeem') return redeem(ask.token, sender);
  // only our own pages learn of other tabs
  return ask.k === 'recording?' && sender.url?.startsWith(api.runtime.getURL('')) ? recordingCovering(ask.tabId) : null;
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

api.tabs.onRemoved.addListener((tabId) => void tabClosed(tabId).catch(warn));

async function endOrphans(): Promise<void> {
  for (const panel of await recordingPanels()) if (!panels.get(panel)?.size) await stop(panel);
}
tidy().catch(warn);
setTimeout(() => void endOrphans().catch(warn), PANELS_RECONNECT_MS);
