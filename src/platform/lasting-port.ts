/**
 * A runtime.Port that outlives the service worker. When the other end dies (30 s without work, or a
 * crash), it reconnects, which restarts the worker: at once, but with growing delays if connections
 * keep failing.
 */
import { isGreeting } from '../protocol/messages.ts';
import { api } from './extension-api.ts';
import { wirePort, type WirePort } from './wire-port.ts';

/**
 * A port opened while the worker dies is never served and gets no event. Reconnect if no greeting
 * arrives within this time.
 */
const GREETING_MS = 1000;
/**
 * A connection that ends sooner has failed. After the first failure it reconnects at once, as after
 * a worker that went idle.
 */
const STEADY_MS = 5000;
const FIRST_WAIT_MS = 50;
/**
 * Well below the time that the background gives a panel to reconnect (background.ts). After that it
 * ends the panel's recording.
 */
const LONGEST_WAIT_MS = 2000;

interface LastingPort<Out> {
  /**
   * Never throws. A message between two connections is lost; use `onReconnect` to send it again.
   */
  post(message: Out): void;
  /** Replace this connection by a new one, because the other end doesn't answer. */
  reconnect(): void;
  close(): void;
}

interface LastingPortEvents<In> {
  onMessage(message: In): void;
  /** Reconnected. The other end may have lost all state. */
  onReconnect?(): void;
  /** The extension was reloaded or removed: this page has lost it. */
  onOrphaned?(error: Error): void;
}

/**
 * Connect to the background. The messages are those of protocol/messages.ts for the port's name.
 */
export function connectLasting<In, Out>(
  name: string,
  events: LastingPortEvents<In>,
): LastingPort<Out> {
  let port: WirePort | null = null;
  let closed = false;
  /** Connections in a row that have failed. */
  let failures = 0;
  let waiting: ReturnType<typeof setTimeout> | undefined;
  let renew: () => void = () => {};

  function connect(): void {
    try {
      port = wirePort(api.runtime.connect({ name }));
    } catch (e) {
      closed = true;
      return events.onOrphaned?.(e as Error);
    }
    const mine = port;
    const since = performance.now();
    /** @returns false where another connection is the current one */
    const giveUp = (): boolean => {
      clearTimeout(timer);
      if (closed || port !== mine) return false;
      port = null;
      return true;
    };
    renew = () => {
      if (giveUp()) connectAgain();
      // only then: a background without a connection to this panel ends its recording
      mine.disconnect();
    };
    const timer = setTimeout(renew, GREETING_MS);
    mine.onMessage.addListener((message) => {
      clearTimeout(timer);
      if (!isGreeting(message)) events.onMessage(message as In);
    });
    mine.onDisconnect.addListener(() => {
      void api.runtime.lastError; // if not read, the browser logs it as unchecked
      if (!giveUp()) return;
      failures = performance.now() - since < STEADY_MS ? failures + 1 : 0;
      if (failures < 2) connectAgain();
      else
        waiting = setTimeout(
          connectAgain,
          Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - 2)),
        );
    });
  }
  function connectAgain(): void {
    connect();
    if (port) events.onReconnect?.();
  }
  connect();
  return {
    post(message) {
      try {
        port?.postMessage(message);
      } catch (e) {
        if (port) console.warn('vfscope: a message could not be sent:', e);
      }
    },
    reconnect: () => renew(),
    close() {
      closed = true;
      clearTimeout(waiting);
      port?.disconnect();
      port = null;
    },
  };
}
