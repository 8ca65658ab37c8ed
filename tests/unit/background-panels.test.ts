// The background and its panels: a panel that reconnects keeps its recording; a panel opened after
// a crash doesn't inherit one.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { CAPTURE_DEFAULTS } from '../../src/event/capture.ts';
import type { BackgroundMessage, PanelMessage, RelayMessage } from '../../src/protocol/messages.ts';

const ORIGIN = 'http://app.test';
const OURS = 'moz-extension://us/';
type Listener = (...args: unknown[]) => void;
/** Session storage: outlives the background. */
let stored: Record<string, unknown>;
/** Tabs that were told to restore everything. */
let restored: number[];
let reloads: number;
let onConnect: Listener[];
/** Whether requests may wait for the background, as in Firefox. */
let requestsWait: boolean;
/** Listeners for requests. */
let toRequests: Set<Listener>;

const event = () => ({ addListener: () => {}, removeListener: () => {}, hasListener: () => false });
const requestEvent = () => ({
  addListener: (listener: Listener) => toRequests.add(listener),
  removeListener: (listener: Listener) => toRequests.delete(listener),
  hasListener: (listener: Listener) => toRequests.has(listener),
});
const done = (): Promise<void> => Promise.resolve();
const api = () => ({
  runtime: {
    getURL: (path: string) => OURS + path,
    getManifest: () => ({
      background: { scripts: ['background.js'] },
      permissions: requestsWait ? ['webRequestBlocking'] : [],
    }),
    onConnect: { addListener: (listener: Listener) => onConnect.push(listener) },
    onMessage: event(),
    onInstalled: event(),
  },
  storage: {
    session: {
      get: (key: string) =>
        Promise.resolve(structuredClone(key in stored ? { [key]: stored[key] } : {})),
      set: (values: object) => Promise.resolve(void Object.assign(stored, structuredClone(values))),
    },
  },
  tabs: {
    onRemoved: event(),
    onUpdated: event(),
    get: (id: number) => Promise.resolve({ id, url: `${ORIGIN}/` }),
    query: () => Promise.resolve([{ id: 1, url: `${ORIGIN}/` }]),
    reload: () => Promise.resolve(void reloads++),
    sendMessage: (id: number) => Promise.resolve(void restored.push(id)),
  },
  webRequest: Object.fromEntries(
    [
      'onBeforeRequest',
      'onBeforeSendHeaders',
      'onHeadersReceived',
      'onCompleted',
      'onErrorOccurred',
    ].map((name) => [name, requestEvent()]),
  ),
  scripting: {
    getRegisteredContentScripts: () => Promise.resolve([]),
    registerContentScripts: done,
    unregisterContentScripts: done,
    executeScript: done,
  },
  permissions: { contains: () => Promise.resolve(true), onAdded: event(), onRemoved: event() },
  action: { setIcon: done, setTitle: done },
});

/** A background that has just been started. */
async function boot(): Promise<void> {
  onConnect = [];
  toRequests = new Set();
  vi.clearAllTimers(); // the previous one is dead
  vi.stubGlobal('chrome', api());
  vi.resetModules();
  await import('../../src/background/background.ts');
}
interface Panel {
  say: (message: PanelMessage) => void;
  leave: () => void;
  /** For each message whether it was told that it records. */
  states: boolean[];
  relayed: unknown[];
}
function panel(page: string, tab = 1): Panel {
  const [onMessage, onDisconnect]: [Listener[], Listener[]] = [[], []];
  const [states, relayed]: [boolean[], unknown[]] = [[], []];
  const port = {
    name: `panel:${tab}:${page}`,
    sender: { url: `${OURS}devtools/panel.html?tab=${tab}` },
    onMessage: { addListener: (listener: Listener) => onMessage.push(listener) },
    onDisconnect: { addListener: (listener: Listener) => onDisconnect.push(listener) },
    postMessage(message: BackgroundMessage) {
      if (message.k === 'state') states.push(message.recording !== null);
      else if (message.k === 'relay') relayed.push(message);
    },
    disconnect: () => {},
  };
  onConnect.forEach((listener) => listener(port));
  return {
    say: (message) => onMessage.forEach((listener) => listener(message)),
    leave: () => onDisconnect.forEach((listener) => listener(port)),
    states,
    relayed,
  };
}
/** A relaying page of this tab. @returns what it was told, without greetings */
function relayingPage(
  source: string,
  tab = 1,
): { say: (message: RelayMessage) => void; told: unknown[] } {
  const [onMessage, told]: [Listener[], unknown[]] = [[], []];
  const port = {
    name: `relay:${source}`,
    sender: { tab: { id: tab } },
    onMessage: { addListener: (listener: Listener) => onMessage.push(listener) },
    onDisconnect: event(),
    postMessage: (message: { k: string }) => message.k !== 'greeting' && told.push(message),
    disconnect: () => {},
  };
  onConnect.forEach((listener) => listener(port));
  return { say: (message) => onMessage.forEach((listener) => listener(message)), told };
}
const START: PanelMessage = {
  k: 'start',
  scope: 'tab',
  reload: true,
  transport: 'port',
  capture: CAPTURE_DEFAULTS,
};
const settled = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0);

beforeEach(() => {
  vi.useFakeTimers();
  [stored, restored, reloads, requestsWait] = [{}, [], 0, false];
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

async function recording(): Promise<Panel> {
  await boot();
  const first = panel('first');
  first.say(START);
  await settled();
  expect(first.states).toEqual([false, true]);
  return first;
}

test('a panel that reconnects keeps its recording, however often the background restarts', async () => {
  await recording();
  for (let times = 0; times < 3; times++) {
    await boot();
    const again = panel('first');
    await vi.advanceTimersByTimeAsync(10_000);
    expect(again.states).toEqual([true]);
  }
  expect(restored).toEqual([]);
});

test("a panel that was opened after both crashed doesn't inherit the recording, which ends", async () => {
  await recording();
  await boot();
  const next = panel('next');
  await settled();
  expect(next.states).toEqual([false]);
  expect(restored).toEqual([]);
  await vi.advanceTimersByTimeAsync(5000);
  expect(next.states).toEqual([false, false]);
  expect(restored).toEqual([1]);
});

test('nor does Record continue it: the page reloads for a recording of its own', async () => {
  await recording();
  await boot();
  const next = panel('next');
  next.say(START);
  await settled();
  expect(restored).toEqual([1]);
  expect(reloads).toBe(2);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(next.states.at(-1)).toBe(true);
  expect(restored).toEqual([1]);
});

test('of two panels of a tab, only the one that records ends its recording when it closes', async () => {
  const first = await recording();
  const second = panel('second');
  await settled();
  expect(second.states).toEqual([true]);
  second.leave();
  await settled();
  expect(restored).toEqual([]);
  const third = panel('third');
  first.leave();
  await settled();
  expect(restored).toEqual([1]);
  expect(third.states.at(-1)).toBe(false);
});

test('what pages relay before the panel has reconnected is requested again', async () => {
  await recording();
  await boot();
  const [page, ofAnother] = [relayingPage('a'), relayingPage('b', 2)];
  // reaches no panel
  page.say({ k: 'relay', source: 'a', n: 1, seen: 0, body: { k: 'open', channel: 'c' } });
  await settled();
  const again = panel('first');
  await settled();
  expect(again.relayed).toEqual([]);
  expect(page.told).toEqual([{ k: 'relay', source: 'a', n: 0, seen: 0, body: null }]);
  expect(ofAnother.told).toEqual([]);
  page.say({ k: 'relay', source: 'a', n: 1, seen: 0, body: { k: 'open', channel: 'c' } });
  await settled();
  expect(again.relayed).toMatchObject([{ n: 1, body: { k: 'open' } }]);
});

test('replacing a port by a newer one of the same page ends nothing', async () => {
  const first = await recording();
  panel('first');
  first.leave();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(restored).toEqual([]);
});

test.each([false, true])(
  'a background that starts listens to requests while a recording runs, and earlier only where requests can wait: %s',
  async (wait) => {
    requestsWait = wait;
    await boot();
    expect(toRequests.size).toBe(wait ? 4 : 0);
    await settled();
    expect(toRequests.size).toBe(0);
    await recording();
    expect(toRequests.size).toBe(4);
    await boot();
    expect(toRequests.size).toBe(wait ? 4 : 0);
    panel('first').say({ k: 'page', origin: ORIGIN, frames: [] });
    await settled();
    expect(toRequests.size).toBe(4);
  },
);
