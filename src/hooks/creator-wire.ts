/**
 * Messages between a hooked worker and the hook of its creator, over the worker's own message
 * channel. Both ends remove these messages before the app's listeners see them. An id that only the
 * two hooks know distinguishes them from the app's messages.
 */
import {
  isThreadMessage,
  MARK,
  type ThreadIdentity,
  type ThreadMessage,
} from '../protocol/messages.ts';
import { WORKERS_FILTERED } from './source.ts';

export type FromWorker =
  /**
   * The hook runs, and the app's script is next. `ports[0]`, if any, carries the worker's records
   * to the panel.
   */
  | { mark: typeof MARK; k: 'ready'; id: string }
  /**
   * The app's script has finished, where the hook's script imports it: every line ran here, none
   * had to run natively.
   */
  | { mark: typeof MARK; k: 'runs'; id: string }
  /** A wrapped worker would have fewer rights here than a native one. */
  | { mark: typeof MARK; k: 'unfit'; id: string; reason: string }
  /** The recording couldn't begin here. The app's script runs anyway. */
  | { mark: typeof MARK; k: 'failed'; id: string; reason: string }
  /**
   * In Firefox, a message that the worker, or one below it, also sends over its port, which may not
   * carry it yet.
   */
  | { mark: typeof MARK; k: 'said'; id: string; message: ThreadMessage }
  /**
   * The trace memory of the worker or of a worker below it, on its way up to the page, which reads
   * it.
   */
  | {
      mark: typeof MARK;
      k: 'ring';
      id: string;
      thread: ThreadIdentity;
      timeOrigin: number;
      buffer: SharedArrayBuffer;
    }
  /**
   * The worker closes itself, so its trace memory no longer changes. `thread` is this worker or one
   * below it.
   */
  | { mark: typeof MARK; k: 'closed'; id: string; thread: string };

/** The message without our mark. */
export type Said<One = FromWorker> = One extends FromWorker ? Omit<One, 'mark' | 'id'> : never;

/** The recording has ended, or the worker has, since a native one replaces it. */
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
  if (WORKERS_FILTERED && v.k === 'said') return isThreadMessage(v.message);
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

/**
 * The id in the first message of a worker whose own script brings the hook; null = a message of the
 * app.
 */
export function idOfWorker(v: unknown): string | null {
  const { id } = (typeof v === 'object' && v !== null ? v : {}) as Loose;
  return typeof id === 'string' && id.length <= 64 && isFromWorker(v, id) ? id : null;
}

/** A message from the creator to the worker with that id. */
export const isToWorker = (v: unknown, id: string): v is ToWorker =>
  ours(v, id) && (v.k === 'restore' || v.k === 'close');
