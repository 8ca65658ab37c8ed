/**
 * What the hook uses of the platform, taken before the app can replace it (zone.js, polyfills and fake timers do), and before
 * our own probes patch it.
 */
import { apply, getterOf } from '../record/reflect.ts';
const g = globalThis;
const bound = <T extends (...args: never[]) => unknown>(f: T): T => f.bind(g) as T;

export const NativeURL = g.URL;
export const NativeBlob = g.Blob;
const NativeMessageChannel = g.MessageChannel;
export const NativeBroadcastChannel = g.BroadcastChannel;
export const NativeMessageEvent = g.MessageEvent;
export const NativeErrorEvent = g.ErrorEvent;
export const NativeEvent = g.Event;
/** An app's variable of that name takes its place. */
export const { origin } = g;
/** Absent in service workers, which start no worker either. */
export const createObjectURL = g.URL.createObjectURL?.bind(g.URL);
export const revokeObjectURL = g.URL.revokeObjectURL?.bind(g.URL);
export const setInterval = bound(g.setInterval) as (run: () => void, ms: number) => number;
export const setTimeout = bound(g.setTimeout) as unknown as (run: () => void, ms: number) => number;
/** Of an interval, too: they have the same ids (https://html.spec.whatwg.org/#dom-cleartimeout). */
export const clearTimeout = bound(g.clearTimeout) as (id: number) => void;
export const now = performance.now.bind(performance);
export const clone = bound(g.structuredClone);
const { addEventListener, removeEventListener, dispatchEvent } = EventTarget.prototype;
const { postMessage, start, close } = MessagePort.prototype;

export type Listener = (event: Event) => void;
type Arguments = [type: string, listener: Listener, options?: AddEventListenerOptions | boolean];

/**
 * What listens to window and document. document.open() removes it, and every child of the document: at that sign it listens again, before
 * the app's next task. What is there still stays as it is.
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

/** What the platform takes in the place of an array that it would read by the app's iterators. */
export const sequence = <T>(item: T): T[] => {
  let done = true; // from the second step on
  const next = (): object => ({ __proto__: null, value: item, done: (done = !done) });
  return {
    __proto__: null,
    [Symbol.iterator]: () => ({ __proto__: null, next }),
  } as unknown as T[];
};

// MessagePort, MessageChannel and MessageEvent of the platform itself: code that gets hold of a port can speak for us
const [port1Of, port2Of, messageData, messagePorts] = [
  getterOf(NativeMessageChannel.prototype, 'port1'),
  getterOf(NativeMessageChannel.prototype, 'port2'),
  getterOf(NativeMessageEvent.prototype, 'data'),
  getterOf(NativeMessageEvent.prototype, 'ports'),
];
export const newChannel = (): { ours: MessagePort; theirs: MessagePort } => {
  const channel = new NativeMessageChannel();
  return {
    ours: apply(port1Of, channel, []) as MessagePort,
    theirs: apply(port2Of, channel, []) as MessagePort,
  };
};
/** `data` of a message, whatever the app has in the getter's place. */
export const dataOf = (event: Event): unknown => apply(messageData, event, []);
export const portsOf = (event: Event): MessagePort[] =>
  apply(messagePorts, event, []) as MessagePort[];
export const portPost = (port: MessagePort, message: unknown, transfer?: Transferable): void =>
  void apply(postMessage, port, transfer ? [message, sequence(transfer)] : [message]);
/** The same of what the app sends on: all of these go with it. */
export const portPostAll = (port: MessagePort, message: unknown, transfer: Transferable[]): void =>
  void apply(postMessage, port, [message, transfer]);
const broadcastPost = NativeBroadcastChannel.prototype.postMessage;
/** postMessage of the platform itself. */
export const broadcast = (channel: BroadcastChannel, message: unknown): void =>
  apply(broadcastPost, channel, [message]);
/** Hear a port, from now on. */
export const portListen = (port: MessagePort, listener: Listener): void => {
  listen(port, 'message', listener);
  apply(start, port, []);
};
export const portClose = (port: MessagePort): void => void apply(close, port, []);

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
