/**
 * What the hook in a shared or service worker and the hooks in the pages of its origin say to each other, over a BroadcastChannel, over
 * which no port travels: one page relays the worker's port (protocol/relay.ts). A page that started the worker with our script has a line
 * to it: over that the worker's records come before the app's messages, which a BroadcastChannel may overtake or not.
 */
import { isRelayMessage, MARK, type RelayMessage } from '../protocol/messages.ts';

export const CHANNEL = 'vfscope';

/** `page` names a page's hook, `thread` a worker's: both are drawn at random. */
export type SharedMessage =
  /** A page: who is there? */
  | { mark: typeof MARK; k: 'who' }
  /** A worker: I am; who relays for me? Once a page does, a word to those that ask. A page that it has a line to need not be asked. */
  | { mark: typeof MARK; k: 'here'; thread: string; worker: string }
  /** A page: I would. */
  | { mark: typeof MARK; k: 'take'; thread: string; page: string }
  /** The worker: then do. Its first relayed message follows. */
  | { mark: typeof MARK; k: 'taken'; thread: string; page: string; worker: string }
  /** A page goes and relays no more. */
  | { mark: typeof MARK; k: 'leave'; page: string }
  /** Relayed, between a page and a worker. */
  | { mark: typeof MARK; k: 'relay'; to: string; message: RelayMessage };

/** Between a page and the SharedWorker that it started with our script, over the port of that start. */
type FromShared =
  /** The app's script has run: the page's port may come. */
  | { mark: typeof MARK; k: 'ready' }
  /** It cannot run here. */
  | { mark: typeof MARK; k: 'failed'; reason: string };
export const fromShared = (reason: string): FromShared =>
  reason ? { mark: MARK, k: 'failed', reason } : { mark: MARK, k: 'ready' };
export function isFromShared(v: unknown): v is FromShared {
  if (typeof v !== 'object' || v === null) return false;
  const { mark, k, reason } = v as Record<string, unknown>;
  return mark === MARK && (k === 'ready' || (k === 'failed' && typeof reason === 'string'));
}
/** The page: `ports[0]` is the app's line to the worker, and ours goes on where the page is recorded. */
interface ToShared {
  mark: typeof MARK;
  k: 'connect';
  /** '' = it is not. */
  page: string;
}
export const toShared = (page: string): ToShared => ({ mark: MARK, k: 'connect', page });
export function isToShared(v: unknown): v is ToShared {
  if (typeof v !== 'object' || v === null) return false;
  const { mark, k, page } = v as Record<string, unknown>;
  return mark === MARK && k === 'connect' && isId(page);
}

/** Which worker is meant: pages that ask for the same script by the same name get the same one. */
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
