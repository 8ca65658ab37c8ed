/**
 * Messages between the hook in a shared or service worker and the hooks in the pages of its origin.
 * They use a BroadcastChannel, which can't carry ports, so one page relays the worker's port
 * (protocol/relay.ts). A page that started the worker with our script has a line to it. Over that
 * line, the worker's records arrive before the app's messages. A BroadcastChannel doesn't guarantee
 * this order.
 */
import { isRelayMessage, MARK, type RelayMessage } from '../protocol/messages.ts';

export const CHANNEL = 'vfscope';

/** `page` identifies a page's hook, `thread` a worker's. Both are random. */
export type SharedMessage =
  /** A page: which workers are there? */
  | { mark: typeof MARK; k: 'who' }
  /**
   * A worker: I am here; who relays for me? While a page relays, the answer to pages that ask. A
   * worker doesn't ask a page that it has a line to.
   */
  | { mark: typeof MARK; k: 'here'; thread: string; worker: string }
  /** A page: I can relay. */
  | { mark: typeof MARK; k: 'take'; thread: string; page: string }
  /** The worker: then do so. Its first relayed message follows. */
  | { mark: typeof MARK; k: 'taken'; thread: string; page: string; worker: string }
  /** A page ends and stops relaying. */
  | { mark: typeof MARK; k: 'leave'; page: string }
  /** A relayed message between a page and a worker. */
  | { mark: typeof MARK; k: 'relay'; to: string; message: RelayMessage };

/**
 * Between a page and the SharedWorker that it started with our script, over the port from that
 * start.
 */
type FromShared =
  /** The app's script has run: the page can send its port. */
  | { mark: typeof MARK; k: 'ready' }
  /** It can't run here. */
  | { mark: typeof MARK; k: 'failed'; reason: string };
export const fromShared = (reason: string): FromShared =>
  reason ? { mark: MARK, k: 'failed', reason } : { mark: MARK, k: 'ready' };
export function isFromShared(v: unknown): v is FromShared {
  if (typeof v !== 'object' || v === null) return false;
  const { mark, k, reason } = v as Record<string, unknown>;
  return mark === MARK && (k === 'ready' || (k === 'failed' && typeof reason === 'string'));
}
/**
 * The page: `ports[0]` is the app's line to the worker. Our line continues if the page is recorded.
 */
interface ToShared {
  mark: typeof MARK;
  k: 'connect';
  /** '' = the page isn't recorded. */
  page: string;
}
export const toShared = (page: string): ToShared => ({ mark: MARK, k: 'connect', page });
export function isToShared(v: unknown): v is ToShared {
  if (typeof v !== 'object' || v === null) return false;
  const { mark, k, page } = v as Record<string, unknown>;
  return mark === MARK && k === 'connect' && isId(page);
}

/** Identifies a worker: pages that use the same script and name get the same worker. */
export const sharedKey = (url: string, name: string): string => `${url}\0${name}`;

const isId = (v: unknown): boolean => typeof v === 'string' && v.length <= 64;

/** A well-formed message of a hook. Any script of the origin can send one. */
export function isSharedMessage(v: unknown): v is SharedMessage {
  if (typeof v !== 'object' || v === null) return false;
  const { mark, k, thread, page, worker, to, message } = v as Record<string, unknown>;
  if (mark !== MARK) return false;
  if (k === 'who') return true;
  if (k === 'here') return isId(thread) && typeof worker === 'string';
  if (k === 'take') return isId(thread) && isId(page);
  if (k === 'taken') return isId(thread) && isId(page) && typeof worker === 'string';
  if (k === 'leave') return isId(page);
  return k === 'relay' && isId(to) && isRelayMessage(message);
}
