/**
 * The platform functions that the hook uses, taken before the app can replace them (zone.js,
 * polyfills, and fake timers do), and before our own probes patch them.
 */
import { apply } from '../record/reflect.ts';

export {
  dataOf,
  newChannel,
  portClose,
  portListen,
  portPost,
  portPostAll,
  portsOf,
  sequence,
} from '../protocol/ports.ts';
const g = globalThis;
const bound = <T extends (...args: never[]) => unknown>(f: T): T => f.bind(g) as T;

export const NativeURL = g.URL;
export const NativeBlob = g.Blob;
export const NativeBroadcastChannel = g.BroadcastChannel;
export const NativeMessageEvent = g.MessageEvent;
export const NativeErrorEvent = g.ErrorEvent;
export const NativeEvent = g.Event;
/** An app's variable with that name would shadow it. */
export const { origin } = g;
/** Absent in service workers, which can't start workers either. */
export const createObjectURL = g.URL.createObjectURL?.bind(g.URL);
export const revokeObjectURL = g.URL.revokeObjectURL?.bind(g.URL);
export const setInterval = bound(g.setInterval) as (run: () => void, ms: number) => number;
export const setTimeout = bound(g.setTimeout) as unknown as (run: () => void, ms: number) => number;
/** Of an interval, too: they have the same ids (https://html.spec.whatwg.org/#dom-cleartimeout). */
export const clearTimeout = bound(g.clearTimeout) as (id: number) => void;
export const now = performance.now.bind(performance);
export const clone = bound(g.structuredClone);
export const NativeEventTarget = g.EventTarget;
export const NativePromise = g.Promise;
export const queueMicrotask = bound(g.queueMicrotask);
const { addEventListener, removeEventListener, dispatchEvent } = EventTarget.prototype;

export type Listener = (event: Event) => void;
type Arguments = [type: string, listener: Listener, options?: AddEventListenerOptions | boolean];

/**
 * Listeners on window and document. document.open() removes them, along with every child of the
 * document. At that sign they are added again, before the app's next task. Listeners that are still
 * there stay in place.
 */
const standing = new Map<Arguments, EventTarget>();
const listenAgain = (): void =>
  standing.forEach((target, args) => void apply(addEventListener, target, args));
const { observe, disconnect } =
  typeof document === 'undefined' ? ({} as Partial<MutationObserver>) : MutationObserver.prototype;
const opened = observe && new MutationObserver(listenAgain);

/** addEventListener of the platform itself. */
export const listen = (target: EventTarget, ...args: Arguments): void => {
  apply(addEventListener, target, args);
  if (!observe || (target !== (g as EventTarget) && target !== document)) return;
  if (!standing.size) apply(observe, opened, [document, { childList: true }]);
  standing.set(args, target);
};
export const unlisten = (target: EventTarget, ...args: Arguments): void => {
  apply(removeEventListener, target, args);
  standing.forEach(
    (on, of) => on === target && of[0] === args[0] && of[1] === args[1] && standing.delete(of),
  );
  if (disconnect && !standing.size) apply(disconnect, opened, []);
};
/** dispatchEvent of the platform itself. @returns false when a listener prevented the default */
export const dispatch = (target: EventTarget, event: Event): boolean =>
  apply(dispatchEvent, target, [event]) as boolean;

const { postMessage: broadcastPost, close: broadcastClose } = NativeBroadcastChannel.prototype;
/** postMessage of the platform itself. */
export const broadcast = (channel: BroadcastChannel, message: unknown): void =>
  apply(broadcastPost, channel, [message]);
export const channelClose = (channel: BroadcastChannel): void =>
  void apply(broadcastClose, channel, []);
/** postMessage of a worker to its creator; absent on pages. */
export const postToCreator: ((message: unknown, transfer?: Transferable[]) => void) | null =
  typeof document === 'undefined' && typeof g.postMessage === 'function'
    ? (g.postMessage.bind(g) as (message: unknown, transfer?: Transferable[]) => void)
    : null;

const getRandomValues = crypto.getRandomValues.bind(crypto);
/** A random id of 16 characters; works without a secure context. */
export function randomId(): string {
  const [number] = getRandomValues(new BigUint64Array(1));
  return number!.toString(16).padStart(16, '0');
}
