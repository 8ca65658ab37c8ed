/** Layers that a thread's recording has, and those that it was told not to look at: no call of such a layer is not the same as a layer without calls. */
import type { CapturedLayer } from '../../event/capture.ts';
import { isSqlOp, isVfsOp, isWebOp, opTable } from '../../event/operations.ts';
import type { ThreadStore, TraceStore } from '../../trace/store.ts';

/** By operation code. A lock that is held and an event of a database are of the web layer, but no calls. `aside` would leave out Atomics.notify, which is one. */
export const IS_WEB_CALL = opTable(({ layer, activity }) => layer === 'web' && activity !== 'none');

/** On every thread. false where a thread does not say what it was told. */
export const leavesOut = ({ threads }: TraceStore, layer: CapturedLayer): boolean =>
  threads.length > 0 &&
  threads.every(
    ({ environment }) => environment !== null && !environment.capture.layers.includes(layer),
  );

/** Whether a thread has a call of these. */
export function hasCall(
  { events: { op, count } }: ThreadStore,
  is: (code: number) => boolean,
): boolean {
  for (let row = 0; row < count; row++) if (is(op[row]!)) return true;
  return false;
}
/** An engine of this thread says that its VFS calls are recorded. */
export const saysVfs = ({ engines }: ThreadStore): boolean =>
  engines.some(({ layers }) => layers.vfs);
/** Whether VFS calls of this thread were recorded. */
export const hasVfs = (thread: ThreadStore): boolean => saysVfs(thread) || hasCall(thread, isVfsOp);
/** Whether SQL calls of this thread were recorded. An engine's exports may be hooked and never called: some apps call SQLite from inside its own module. */
export const hasSql = (thread: ThreadStore): boolean => hasCall(thread, isSqlOp);

/** The thread reports that its storage calls are hooked. */
export const capturesWeb = ({ environment }: ThreadStore): boolean =>
  environment?.capture.layers.includes('web') === true;
/** Storage calls are hooked on every recorded thread, unless the user left that layer out. */
export const seesWeb = (thread: ThreadStore): boolean =>
  capturesWeb(thread) || hasCall(thread, isWebOp);
/** On this thread no storage call was looked at: what lies under its VFS calls is not seen, so their time stands for it. */
export const storageIsUnseen = (thread: ThreadStore): boolean =>
  thread.environment !== null && !seesWeb(thread);
