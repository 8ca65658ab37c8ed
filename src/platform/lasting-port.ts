/**
 * A runtime.Port that outlives the service worker: when the other end dies (30 s without work, or a crash), it connects
 * again, which starts the worker again: at once, but ever later where that does not last.
 */
import { isGreeting } from '../protocol/messages.ts';
import { api } from './extension-api.ts';
import { wirePort, type WirePort } from './wire-port.ts';

/** A port opened while the worker dies is never served, and never told so: without a greeting for this long, connect again. */
const GREETING_MS = 1000;
/** A connection that ends sooner has failed; the first failure is fixed at once, as a worker that fell asleep is. */
const STEADY_MS = 5000;
const FIRST_WAIT_MS = 50;
/** Well below what the background gives a panel to come back (background.ts): it would end the panel's recording. */
const LONGEST_WAIT_MS = 2000;

interface LastingPort<Out> {
  /** Never throws: between two connections a message is lost, and `onReconnect` is the time to say it again. */
  post(message: Out): void;
  /** Give this connection up for a new one: the other end does not answer. */
  reconnect(): void;
  close(): void;
}

interface LastingPortEvents<In> {
  onMessage(message: In): void;
  /** Connected again, to an end that may know nothing. */
  onReconnect?(): void;
  /** The extension was reloaded or removed: this page has no extension now. */
  onOrphaned?(error: Error): void;
}

/** Connect to the background. The messages are those of protocol/messages.ts for the port's name. */
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
    /** @returns false where another connection is the one that counts */
    const giveUp = (): boolean => {
      clearTimeout(timer);
      if (closed || port !== mine) return false;
      port = null;
      return true;
    };
    renew = () => {
      if (giveUp()) connectAgain();
      mine.disconnect(); // after: a background without a connection to this panel ends its recording
    };
    const timer = setTimeout(renew, GREETING_MS);
    mine.onMessage.addListener((message) => {
      clearTimeout(timer);
      if (!isGreeting(message)) events.onMessage(message as In);
    });
    mine.onDisconnect.addListener(() => {
      void api.runtime.lastError; // read, or the browser logs it as unchecked: connecting again is the answer to it
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
