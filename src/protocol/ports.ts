/**
 * Ports through the platform's own functions, taken at the thread's start. So our messages bypass
 * the app's replacements, and app code that gets hold of a port can't impersonate us.
 */
const { apply } = Reflect;
const Channel = MessageChannel;
const { postMessage, start, close } = MessagePort.prototype;
const { addEventListener } = EventTarget.prototype;
const getter = (prototype: object, name: string): (() => unknown) | undefined =>
  Object.getOwnPropertyDescriptor(prototype, name)?.get;
const [port1Of, port2Of] = ['port1', 'port2'].map((name) => getter(Channel.prototype, name));
const [messageData, messagePorts] = ['data', 'ports'].map((name) =>
  getter(MessageEvent.prototype, name)!,
);

export const newChannel = (): { ours: MessagePort; theirs: MessagePort } => {
  const channel = new Channel();
  // Node has them as fields
  if (!port1Of || !port2Of) return { ours: channel.port1, theirs: channel.port2 };
  return {
    ours: apply(port1Of, channel, []) as MessagePort,
    theirs: apply(port2Of, channel, []) as MessagePort,
  };
};

/** `data` of a message. */
export const dataOf = (event: Event): unknown => apply(messageData!, event, []);
export const portsOf = (event: Event): MessagePort[] =>
  apply(messagePorts!, event, []) as MessagePort[];

/**
 * An iterable for the platform, instead of an array: an app may have replaced the array's
 * iterators.
 */
export const sequence = <T>(item: T): T[] => {
  let done = true; // from the second step on
  const next = (): object => ({ __proto__: null, value: item, done: (done = !done) });
  return {
    __proto__: null,
    [Symbol.iterator]: () => ({ __proto__: null, next }),
  } as unknown as T[];
};

export const portPost = (port: MessagePort, message: unknown, transfer?: Transferable): void =>
  void apply(postMessage, port, transfer ? [message, sequence(transfer)] : [message]);
/** The same for the app's transfers: all of these go along. */
export const portPostAll = (port: MessagePort, message: unknown, transfer: Transferable[]): void =>
  void apply(postMessage, port, [message, transfer]);
/** Listen to a port, from now on. */
export const portListen = (port: MessagePort, listener: (event: Event) => void): void => {
  apply(addEventListener, port, ['message', listener]);
  apply(start, port, []);
};
export const portClose = (port: MessagePort): void => void apply(close, port, []);
