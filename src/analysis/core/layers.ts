/**
 * Layers that a thread's recording has, and those that it was set to leave out: a layer that was
 * left out differs from a layer without calls.
 */
import type { CapturedLayer } from '../../event/capture.ts';
import { isSqlOp, isVfsOp, isWebOp, opTable } from '../../event/operations.ts';
import type { ThreadStore, TraceStore } from '../../trace/store.ts';

/**
 * By operation code. A held lock and an event of a database belong to the web layer, but aren't
 * calls. `aside` would leave out Atomics.notify, which is one.
 */
export const IS_WEB_CALL = opTable(({ layer, activity }) => layer === 'web' && activity !== 'none');

/** On every thread. false if a thread doesn't report its settings. */
export const leavesOut = ({ threads }: TraceStore, layer: CapturedLayer): boolean =>
  threads.length > 0 &&
  threads.every(
    ({ environment }) => environment !== null && !environment.capture.layers.includes(layer),
  );

/** Whether a thread has one of these calls. */
export function hasCall(
  { events: { op, count } }: ThreadStore,
  is: (code: number) => boolean,
): boolean {
  for (let row = 0; row < count; row++) if (is(op[row]!)) return true;
  return false;
}
/** An engine of this thread reports that its VFS calls are recorded. */
export const saysVfs = ({ engines }: ThreadStore): boolean =>
  engines.some(({ layers }) => layers.vfs);
/** Whether VFS calls of this thread were recorded. */
export const hasVfs = (thread: ThreadStore): boolean => saysVfs(thread) || hasCall(thread, isVfsOp);
/**
 * Whether this thread's SQL calls were recorded. An engine's exports may be hooked but never
 * called: some apps call SQLite from inside its own module.
 */
export const hasSql = (thread: ThreadStore): boolean => hasCall(thread, isSqlOp);

/** The thread reports that its storage calls are hooked. */
export const capturesWeb = ({ environment }: ThreadStore): boolean =>
  environment?.capture.layers.includes('web') === true;
/** Storage calls are hooked on every recorded thread, unless the user left that layer out. */
export const seesWeb = (thread: ThreadStore): boolean =>
  capturesWeb(thread) || hasCall(thread, isWebOp);
/**
 * Storage calls weren't recorded on this thread, so what happens below its VFS calls isn't known,
 * and their time counts instead.
 */
export const storageIsUnseen = (thread: ThreadStore): boolean =>
  thread.environment !== null && !seesWeb(thread);
