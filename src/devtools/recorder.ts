/**
 * Implements the record button: commands to the background, and ports of recorded pages, either
 * from the hub or, if none can be handed over, from relays through the background.
 */
import { api } from '../platform/extension-api.ts';
import { watchInspectedOrigin } from '../platform/inspected-page.ts';
import { connectLasting } from '../platform/lasting-port.ts';
import { isSafariBuild } from '../platform/safari.ts';
import { canAskHere, requestSiteAccess } from '../platform/site-access.ts';
import {
  isRelayMessage,
  panelPortName,
  type Answer,
  type BackgroundMessage,
  type HandoverMessage,
  type PanelMessage,
} from '../protocol/messages.ts';
import { drawName, RelayEnd } from '../protocol/relay.ts';
import { captureOptionsOf, type CaptureOptions } from '../event/capture.ts';
import type {
  RecorderControl,
  RecordingStatus,
  SlowdownListener,
  StorageListener,
} from '../viewer/ui/host.ts';
import { copyFrom, databasesOf } from '../page-copy/copy.ts';
import { canLookHere, lookAtAll, lookAtTab, stateOfTab } from '../page-copy/look-at-tab.ts';
import { PageAccessState } from './page-access.ts';

/** The empty panel looks at this many files without being asked. */
const LOOKED_AT = 50;
/**
 * The service worker stops after 30 s without work. During a recording, this keeps it running and
 * saves restarts.
 */
const PING_EVERY_MS = 20_000;
/**
 * A command or a registration without an answer within this time is repeated over a new connection.
 * Both may safely be repeated.
 */
const ANSWER_MS = 3000;
const TRIES = 10;
const accessLost = (origin: string): string =>
  `vfscope no longer has access to ${origin}. Your recording is intact, and pages that are already open keep recording. Pages that load from now on aren't recorded until you allow access again.`;

interface Command {
  message: PanelMessage;
  /** The requested state. */
  recording: boolean;
  done: () => void;
  failed: (error: Error) => void;
}

/** @param tabId the tab whose pages are recorded */
export function recordTab(tabId: number): RecorderControl {
  let status: RecordingStatus = { recording: false, busy: false, origin: '', error: null };
  const listeners = new Set<(status: RecordingStatus) => void>();
  const portListeners = new Set<(port: MessagePort) => void>();
  const storageListeners = new Set<StorageListener>();
  const slowdownListeners = new Set<SlowdownListener>();
  let command: Command | null = null;

  const update = (change: Partial<RecordingStatus>): void => {
    status = { ...status, ...change };
    for (const listener of listeners) listener(status);
  };
  const handOut = (port: MessagePort): void => portListeners.forEach((listener) => listener(port));

  const hub = isSafariBuild() ? null : connectHub(tabId, handOut);

  const site = new PageAccessState();

  // ports that are relayed
  const relays = new Map<string, RelayEnd>();
  const relay = (source: string): RelayEnd => {
    const found =
      relays.get(source) ?? new RelayEnd(source, (message) => background.post(message), handOut);
    relays.set(source, found);
    return found;
  };

  const finish = (error: Error | null): void => {
    const finished = command;
    command = null;
    // a command's promise reports its failure
    update({ busy: false, error: error && !finished ? error.message : null });
    if (error) finished?.failed(error);
    else finished?.done();
  };

  const background = connectLasting<BackgroundMessage, PanelMessage>(
    panelPortName(tabId, drawName()),
    {
      onMessage(message) {
        if (message.k === 'relay') {
          if (isRelayMessage(message)) relay(message.source).receive(message);
        } else if (message.k === 'storage')
          storageListeners.forEach((listener) => listener(message.when, message.health));
        else if (message.k === 'slowdown')
          slowdownListeners.forEach((listener) => listener(message.slowdown));
        else if (message.k === 'access') {
          const lost = site.answered(message.access);
          update({
            access: site.now,
            ...(status.recording && lost ? { error: accessLost(message.access.origin) } : {}),
          });
        } else if (message.k === 'tabs') update({ tabs: message.tabs });
        else if (message.k === 'policy') update({ policy: message.policy });
        else if (message.k === 'frame') {
          if (site.frame(message.origin)) background.post(site.asked);
        } else if (message.k === 'failed') finish(new Error(message.message));
        else {
          const recording = message.recording !== null;
          update({ recording, origin: message.recording?.origin ?? '' });
          if (command?.recording === recording) finish(null);
        }
      },
      onReconnect() {
        background.post(site.asked);
        if (command) background.post(command.message);
        for (const end of relays.values()) end.repair();
      },
      onOrphaned: () => finish(new Error(`vfscope was updated or removed. ${reopen()}`)),
    },
  );
  watchInspectedOrigin(tabId, (origin) => {
    site.navigated(origin);
    update({ access: site.now, tabs: null, policy: null });
    background.post(site.asked);
  });
  // while nothing is recorded, no event reports opened and closed tabs
  addEventListener('focus', () => background.post(site.asked));
  setInterval(() => status.recording && background.post({ k: 'ping' }), PING_EVERY_MS);

  /** One command at a time. The answer to it is the state that it requested. */
  const run = (message: PanelMessage, recording: boolean): Promise<void> => {
    const answered = new Promise<void>((done, failed) => {
      if (command)
        return failed(
          new Error('vfscope is still working on your last command. Try again in a moment.'),
        );
      command = { message, recording, done, failed };
      update({ busy: true, error: null });
      background.post(message);
    });
    return insist(
      answered,
      () => background.reconnect(), // which repeats the command
      () =>
        finish(
          new Error(
            `The background part of vfscope doesn't answer. Reload vfscope on the extensions page. ${reopen()}`,
          ),
        ),
    );
  };

  return {
    async start({ scope, reload, others = false, capture }) {
      await hub?.register();
      const transport = await chosenTransport(tabId);
      await run(
        {
          k: 'start',
          scope,
          reload,
          others,
          transport,
          capture: capture ?? (await chosenCapture()),
          origin: site.asked.origin,
        },
        true,
      );
    },
    stop: () => run({ k: 'stop' }, false),
    async allow(wanted) {
      if (canAskHere()) return (await requestSiteAccess(wanted)) ? 'granted' : 'refused';
      background.post({ k: 'allow', wanted });
      return 'asked';
    },
    widenPolicy: () => background.post({ k: 'widen-policy' }),
    reloadTabs: () => background.post({ k: 'reload-tabs' }),
    subscribe(listener) {
      listeners.add(listener);
      listener(status);
      return () => void listeners.delete(listener);
    },
    onPort: listening(portListeners),
    onStorage: listening(storageListeners),
    onSlowdown: listening(slowdownListeners),
    ...(canLookHere()
      ? {
          lookAtPage: () => lookAtTab(tabId, LOOKED_AT),
          doctor: { look: () => lookAtAll(tabId), state: () => stateOfTab(tabId) },
          databases: {
            list: () => databasesOf(tabId),
            copy: (database) => copyFrom(tabId, database),
          },
        }
      : {}),
    devtools: inDevTools() ? true : null,
    ...(inDevTools() ? { openWindow: () => background.post({ k: 'window' }) } : {}),
  };
}

/** Otherwise this page is a window or a tab. */
const inDevTools = (): boolean =>
  (api.devtools as typeof api.devtools | undefined)?.panels !== undefined;

/** Identifies this panel as new. */
const reopen = (): string =>
  inDevTools()
    ? 'Close DevTools and open it again.'
    : "Close this window, then open it again from your app's tab.";

const listening =
  <Listener>(listeners: Set<Listener>) =>
  (listener: Listener): (() => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };

/** The SharedWorker through which pages hand their ports over. */
function connectHub(
  panel: number,
  handOut: (port: MessagePort) => void,
): { register(): Promise<void> } {
  let registered: () => void = () => {};
  const connect = (): MessagePort => {
    const port = new SharedWorker(api.runtime.getURL('handover/hub.js')).port;
    port.onmessage = ({ data, ports: [handed] }: MessageEvent<HandoverMessage>) => {
      if (data.k === 'ping') port.postMessage({ k: 'pong' } satisfies HandoverMessage);
      else if (data.k === 'registered') registered();
      else if (data.k === 'port' && handed) handOut(handed);
    };
    return port;
  };
  let hub = connect();
  const say = (): void => hub.postMessage({ k: 'register', panel } satisfies HandoverMessage);
  return {
    register() {
      let failed: (error: Error) => void;
      const done = new Promise<void>((resolve, reject) => {
        registered = resolve;
        failed = reject;
      });
      say();
      const again = (): void => {
        hub = connect();
        say();
      };
      return insist(done, again, () =>
        failed(new Error(`vfscope's connection to its panels doesn't respond. ${reopen()}`)),
      );
    },
  };
}

/**
 * Wait for an answer: call `again` after every delay, and after the last one `giveUp`, which must
 * make `answer` fail.
 */
async function insist(answer: Promise<void>, again: () => void, giveUp: () => void): Promise<void> {
  let tries = 0;
  const timer = setInterval(() => (++tries < TRIES ? again() : giveUp()), ANSWER_MS);
  try {
    await answer;
  } finally {
    clearInterval(timer);
  }
}

/**
 * `{capture, layers, buffer, stacks, messages, instructions}` in the extension's local storage, as
 * the settings page writes them.
 */
async function chosenCapture(): Promise<CaptureOptions> {
  return captureOptionsOf(
    await api.storage.local.get([
      ...['capture', 'layers', 'buffer', 'stacks', 'messages', 'instructions'],
    ]),
  );
}

/**
 * `{transport: 'runtime'}` in the extension's local storage: never hand over ports. For browsers
 * where that fails silently. Always set in Safari, and in a normal window for a tab in a private
 * one: these don't share SharedWorkers.
 */
async function chosenTransport(tabId: number): Promise<Answer['transport']> {
  const { transport } = await api.storage.local.get('transport');
  if (transport === 'runtime' || isSafariBuild()) return 'runtime';
  if (inDevTools() || api.extension.inIncognitoContext) return 'port';
  const tab = await api.tabs.get(tabId).catch(() => null); // closed: the background reports it
  return tab?.incognito ? 'runtime' : 'port';
}
