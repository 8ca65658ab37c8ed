/**
 * What the hook in a shared or service worker and the hooks in the pages of its origin say to each other. Nothing of theirs connects
 * them but a BroadcastChannel, over which no port travels: one page relays the worker's port (protocol/relay.ts).
 */
import { isRelayMessage, MARK, type RelayMessage } from '../protocol/messages.ts';

export const CHANNEL = 'vfscope';

/** `page` names a page's hook, `thread` a worker's: both are drawn at random. */
export type SharedMessage =
  /** A page: who is there? */
  | { mark: typeof MARK; k: 'who' }
  /** A worker: I am; who relays for me? Once a page does, a word to those that ask. */
  | { mark: typeof MARK; k: 'here'; thread: string; worker: string }
  /** A page: I would. */
  | { mark: typeof MARK; k: 'take'; thread: string; page: string }
  /** The worker: then do. Its first relayed message follows. */
  | { mark: typeof MARK; k: 'taken'; thread: string; page: string }
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
/** The page: `ports[0]` is the app's line to the worker. */
export const toShared = { mark: MARK, k: 'connect' };
export const isToShared = (v: unknown): boolean =>
  typeof v === 'object' &&
  v !== null &&
  (v as typeof toShared).mark === MARK &&
  (v as typeof toShared).k === 'connect';

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
  if (k === 'take' || k === 'taken') return isId(thread) && isId(page);
  if (k === 'leave') return isId(page);
  return k === 'relay' && isId(to) && isRelayMessage(message);
}
