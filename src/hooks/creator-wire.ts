/**
 * What a hooked worker and the hook of its creator say to each other, over the worker's own message channel. Both ends take these
 * messages out before the app's listeners see them; the id, which only the two hooks know, tells them from the app's own.
 */
import { MARK, type ThreadIdentity } from '../protocol/messages.ts';

export type FromWorker =
  /** The hook runs; the app's script comes next. `ports[0]`, if any, carries the worker's records to the panel. */
  | { mark: typeof MARK; k: 'ready'; id: string }
  /** The app's script has run to its end, where the hook's script imports it: not a line of it had to run natively instead. */
  | { mark: typeof MARK; k: 'runs'; id: string }
  /** A wrapped worker would be worse off than a native one here. */
  | { mark: typeof MARK; k: 'unfit'; id: string; reason: string }
  /** The recording could not begin here; the app's script runs anyway. */
  | { mark: typeof MARK; k: 'failed'; id: string; reason: string }
  /** The worker's trace memory, or that of a worker below it, on its way up to the page, which reads it. */
  | {
      mark: typeof MARK;
      k: 'ring';
      id: string;
      thread: ThreadIdentity;
      timeOrigin: number;
      buffer: SharedArrayBuffer;
    }
  /** The worker closes itself: its trace memory will not change any more. `thread` is it, or one below it. */
  | { mark: typeof MARK; k: 'closed'; id: string; thread: string };

/** The same without what marks it. */
export type Said<One = FromWorker> = One extends FromWorker ? Omit<One, 'mark' | 'id'> : never;

/** The recording is over; or the worker is, since a native one runs in its place. */
export interface ToWorker {
  mark: typeof MARK;
  k: 'restore' | 'close';
  id: string;
}

type Loose = Record<string, unknown>;
const ours = (v: unknown, id: string): v is Loose =>
  typeof v === 'object' && v !== null && (v as Loose).mark === MARK && (v as Loose).id === id;

/** A message from the worker with that id to its creator. */
export function isFromWorker(v: unknown, id: string): v is FromWorker {
  if (!ours(v, id)) return false;
  if (v.k === 'ready' || v.k === 'runs') return true;
  if (v.k === 'unfit' || v.k === 'failed') return typeof v.reason === 'string';
  if (v.k === 'closed') return typeof v.thread === 'string';
  const thread = v.thread as Partial<ThreadIdentity> | undefined;
  return (
    v.k === 'ring' &&
    typeof v.timeOrigin === 'number' &&
    typeof SharedArrayBuffer === 'function' &&
    v.buffer instanceof SharedArrayBuffer &&
    typeof thread === 'object' &&
    typeof thread?.id === 'string' &&
    typeof thread.url === 'string'
  );
}

/** The id that a worker gives in its first message, whose own script brings the hook; null = a message of the app's. */
export function idOfWorker(v: unknown): string | null {
  const { id } = (typeof v === 'object' && v !== null ? v : {}) as Loose;
  return typeof id === 'string' && id.length <= 64 && isFromWorker(v, id) ? id : null;
}

/** A message of the creator to the worker with that id. */
export const isToWorker = (v: unknown, id: string): v is ToWorker =>
  ours(v, id) && (v.k === 'restore' || v.k === 'close');
