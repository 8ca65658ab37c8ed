// Ports that outlive the background: how soon they reconnect when it stops, stops again, and
// recovers, without losing messages.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ThreadMessage } from '../../src/protocol/messages.ts';
import { RelayEnd } from '../../src/protocol/relay.ts';
import type { RelayMessage } from '../../src/protocol/messages.ts';

type Listener = (message?: unknown) => void;
interface FakePort {
  name: string;
  say: (message: unknown) => void;
  die: () => void;
}

/** Virtual ms at which each connection was requested. */
let connects: number[];
/** What the background does with a new connection, immediately. */
let serve: (port: FakePort) => void;
/** Receives what was sent to it. */
let receive: (message: unknown, from: FakePort) => void;

let runtime: { connect: (info: { name: string }) => object; getManifest: () => object };
function connect({ name }: { name: string }): object {
  connects.push(Math.round(performance.now()));
  const [onMessage, onDisconnect]: [Listener[], Listener[]] = [[], []];
  let open = true;
  const port: FakePort = {
    name,
    say: (message) =>
      queueMicrotask(() => open && onMessage.forEach((listener) => listener(message))),
    die: () =>
      queueMicrotask(() => {
        if (!open) return;
        open = false;
        onDisconnect.forEach((listener) => listener());
      }),
  };
  queueMicrotask(() => serve(port));
  return {
    name,
    onMessage: { addListener: (listener: Listener) => onMessage.push(listener) },
    onDisconnect: { addListener: (listener: Listener) => onDisconnect.push(listener) },
    postMessage(message: unknown) {
      if (!open) throw new Error('Attempting to use a disconnected port object');
      const copy = structuredClone(message);
      queueMicrotask(() => receive(copy, port));
    },
    disconnect: () => void (open = false),
  };
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  connects = [];
  receive = () => {};
  runtime = { connect, getManifest: () => ({}) };
  vi.stubGlobal('chrome', { runtime });
  vi.resetModules();
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const lasting = async () => (await import('../../src/platform/lasting-port.ts')).connectLasting;
const waits = (): number[] => connects.slice(1).map((at, i) => at - connects[i]!);

test('a background that stops at once, again and again: each connection waits longer, up to a cap, and none follows after close', async () => {
  serve = (port) => {
    port.say({ k: 'greeting' });
    port.die();
  };
  let reconnects = 0;
  const port = (await lasting())('panel:1:a', {
    onMessage: () => {},
    onReconnect: () => reconnects++,
  });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(waits().slice(0, 9)).toEqual([0, 50, 100, 200, 400, 800, 1600, 2000, 2000]);
  expect(connects).toHaveLength(36);
  expect(reconnects).toBe(35);
  port.close();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(connects).toHaveLength(36);
});

test('one that has lasted is replaced at once, however often', async () => {
  let ports: FakePort[] = [];
  serve = (port) => {
    port.say({ k: 'greeting' });
    ports.push(port);
  };
  (await lasting())('panel:1:a', { onMessage: () => {} });
  for (let times = 0; times < 5; times++) {
    await vi.advanceTimersByTimeAsync(6000);
    for (const port of ports.splice(0)) port.die();
    await vi.advanceTimersByTimeAsync(0);
    expect(ports).toHaveLength(1);
  }
  // after three quick stops and a healthy period, delays are short again
  for (let times = 0; times < 3; times++) {
    ports[0]!.die();
    ports = [];
    await vi.advanceTimersByTimeAsync(200);
  }
  await vi.advanceTimersByTimeAsync(6000);
  const before = connects.length;
  ports[0]!.die();
  await vi.advanceTimersByTimeAsync(0);
  expect(connects).toHaveLength(before + 1);
});

test('a background that never answers is asked again every second, and the old connection is then abandoned', async () => {
  serve = () => {};
  (await lasting())('panel:1:a', { onMessage: () => {} });
  await vi.advanceTimersByTimeAsync(10_500);
  expect(waits()).toEqual(Array.from({ length: 10 }, () => 1000));
});

test('an extension that is gone is reported once', async () => {
  serve = (port) => port.die();
  let orphaned = 0;
  (await lasting())('relay:a', { onMessage: () => {}, onOrphaned: () => orphaned++ });
  await vi.advanceTimersByTimeAsync(500);
  runtime.connect = () => {
    throw new Error('Extension context invalidated.');
  };
  await vi.advanceTimersByTimeAsync(60_000);
  expect(orphaned).toBe(1);
});

test('a relay through a background that stops with every seventh message, twelve times: every batch arrives once, in order', async () => {
  const alive = new Map<string, FakePort>();
  let [passed, deaths] = [0, 0];
  serve = (port) => {
    port.say({ k: 'greeting' });
    alive.set(port.name, port);
  };
  receive = (message, from) => {
    if (alive.get(from.name) !== from) return;
    if (++passed % 7 === 0 && deaths < 12) {
      deaths++;
      for (const port of alive.values()) port.die();
      alive.clear(); // this message is lost with it
    } else alive.get(from.name === 'relay:s' ? 'panel:1:a' : 'relay:s')?.say(message);
  };
  const connectLasting = await lasting();
  function end(name: string, onPort?: (port: MessagePort) => void): RelayEnd {
    const wire = connectLasting<RelayMessage, RelayMessage>(name, {
      onMessage: (message) => relay.receive(message),
      onReconnect: () => relay.repair(),
    });
    const relay = new RelayEnd('s', (message) => wire.post(message), onPort);
    return relay;
  }
  const arrived: string[] = [];
  end('panel:1:a', (port) => {
    port.onmessage = ({ data }: MessageEvent<ThreadMessage>) =>
      void arrived.push(data.k === 'bye' ? data.thread : data.k);
  });
  const { port1: hook, port2: offered } = new MessageChannel();
  end('relay:s').carry(offered);
  const sent = Array.from({ length: 40 }, (_, i) => `thread ${i}`);
  for (const thread of sent) {
    hook.postMessage({ k: 'bye', thread, reason: 'closed' } satisfies ThreadMessage);
    await new Promise(setImmediate); // ports deliver in their own task
    await vi.advanceTimersByTimeAsync(150);
  }
  for (let round = 0; round < 200 && arrived.length < sent.length; round++) {
    await vi.advanceTimersByTimeAsync(1000);
    await new Promise(setImmediate);
  }
  expect(arrived).toEqual(sent);
  expect(deaths).toBe(12);
  hook.close();
});
