/**
 * What the hook uses of the platform, taken before the app can replace it (zone.js, polyfills and fake timers do), and before
 * our own probes patch it.
 */
const g = globalThis;
const bound = <T extends (...args: never[]) => unknown>(f: T): T => f.bind(g) as T;

export const NativeURL = g.URL;
export const NativeBlob = g.Blob;
export const NativeMessageChannel = g.MessageChannel;
export const NativeBroadcastChannel = g.BroadcastChannel;
export const NativeMessageEvent = g.MessageEvent;
export const NativeErrorEvent = g.ErrorEvent;
export const NativeEvent = g.Event;
/** Absent in service workers, which start no worker either. */
export const createObjectURL = g.URL.createObjectURL?.bind(g.URL);
export const revokeObjectURL = g.URL.revokeObjectURL?.bind(g.URL);
export const setInterval = bound(g.setInterval) as (run: () => void, ms: number) => number;
export const clearInterval = bound(g.clearInterval) as (id: number) => void;
export const setTimeout = bound(g.setTimeout) as unknown as (run: () => void, ms: number) => number;
export const clearTimeout = bound(g.clearTimeout) as (id: number) => void;
export const now = performance.now.bind(performance);
export const clone = bound(g.structuredClone);
export const portPost = MessagePort.prototype.postMessage;

const { addEventListener, removeEventListener, dispatchEvent } = EventTarget.prototype;

export type Listener = (event: Event) => void;
/** addEventListener of the platform itself. */
export const listen = (target: EventTarget, type: string, listener: Listener, options?: AddEventListenerOptions | boolean): void =>
  addEventListener.call(target, type, listener, options);
export const unlisten = (target: EventTarget, type: string, listener: Listener, options?: boolean): void =>
  removeEventListener.call(target, type, listener, options);
/** dispatchEvent of the platform itself. @returns false when a listener prevented the default */
export const dispatch = (target: EventTarget, event: Event): boolean => dispatchEvent.call(target, event);

/** postMessage of a worker to its creator; absent on pages. */
export const postToCreator: ((message: unknown, transfer?: Transferable[]) => void) | null =
  typeof document === 'undefined' && typeof g.postMessage === 'function'
    ? (g.postMessage.bind(g) as (message: unknown, transfer?: Transferable[]) => void)
    : null;

/** A random id of 16 characters; works without a secure context. */
export function randomId(): string {
  const words = crypto.getRandomValues(new Uint32Array(2));
  return [...words].map((word) => word.toString(16).padStart(8, '0')).join('');
}
