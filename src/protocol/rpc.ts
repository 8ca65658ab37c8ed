/**
 * Requests between a page and its worker: one message per request, one per answer, errors as data.
 * Binary answers are transferred, not copied. Every other message of the worker is a push.
 */

interface Request {
  id: number;
  method: string;
  args: unknown[];
}
type Reply =
  | { id: number; ok: true; value: unknown }
  | { id: number; ok: false; error: { name: string; message: string } };
interface Push {
  push: unknown;
}

/** What both ends need of a Worker, a MessagePort or a worker's own scope. */
export interface Channel {
  postMessage(message: unknown, transfer?: Transferable[]): void;
  addEventListener(type: 'message', listener: (event: MessageEvent) => void): void;
}

/** An object whose methods are all asynchronous. */
type Methods<Api> = {
  [Name in keyof Api]: Api[Name] extends (...args: infer A) => Promise<infer R>
    ? (...args: A) => Promise<R>
    : never;
};

/** A failure on the other side: `name` is the error's own, `message` is for the user. */
export class RemoteError extends Error {
  constructor(error: { name: string; message: string }) {
    super(error.message);
    this.name = error.name;
  }
}

/**
 * Longer lists in an answer are table rows. Buffers inside them are copied, because searching each
 * row takes longer.
 */
const LOOKED_AT = 1000;

/**
 * Ports and buffers to transfer with a message: all ports, and the buffers of typed arrays that use
 * their whole buffer.
 */
export function transferables(
  value: unknown,
  buffers: boolean,
  found: Transferable[] = [],
): Transferable[] {
  if (typeof MessagePort !== 'undefined' && value instanceof MessagePort) found.push(value);
  else if (buffers && ArrayBuffer.isView(value)) {
    if (
      value.buffer instanceof ArrayBuffer &&
      value.byteLength === value.buffer.byteLength &&
      !found.includes(value.buffer)
    )
      found.push(value.buffer);
  } else if (Array.isArray(value)) {
    const until = buffers ? Math.min(value.length, LOOKED_AT) : value.length;
    for (let i = 0; i < until; i++) transferables(value[i], buffers, found);
  } else if (
    typeof value === 'object' &&
    value !== null &&
    Object.getPrototypeOf(value) === Object.prototype
  )
    for (const item of Object.values(value)) transferables(item, buffers, found);
  return found;
}

/**
 * Call the methods of an object behind `channel`.
 * @param onPush takes the other side's pushes
 * @returns the methods, and `fail`, which rejects all open requests (the worker died)
 */
export function remote<Api extends object>(
  channel: Channel,
  onPush: (message: unknown) => void,
): { api: Methods<Api>; fail: (error: Error) => void } {
  const open = new Map<
    number,
    { resolve: (value: unknown) => void; reject: (error: Error) => void }
  >();
  let lastId = 0;
  let dead: Error | null = null;
  channel.addEventListener('message', (event) => {
    const message = event.data as Reply | Push;
    if ('push' in message) return onPush(message.push);
    const waiting = open.get(message.id);
    open.delete(message.id);
    if (message.ok) waiting?.resolve(message.value);
    else waiting?.reject(new RemoteError(message.error));
  });
  const call = (method: string, args: unknown[]): Promise<unknown> => {
    if (dead) return Promise.reject(dead);
    return new Promise((resolve, reject) => {
      const id = ++lastId;
      open.set(id, { resolve, reject });
      channel.postMessage({ id, method, args } satisfies Request, transferables(args, false));
    });
  };
  const api = new Proxy({} as Methods<Api>, {
    get: (_, method) =>
      typeof method === 'string' && method !== 'then'
        ? (...args: unknown[]) => call(method, args)
        : undefined,
  });
  const fail = (error: Error): void => {
    dead = error;
    for (const waiting of open.values()) waiting.reject(error);
    open.clear();
  };
  return { api, fail };
}

/** Serve `target`'s methods to the other end. @returns a function that pushes a message there */
export function serve(channel: Channel, target: object): (message: unknown) => void {
  channel.addEventListener('message', (event) => {
    const { id, method, args } = event.data as Request;
    void answer(target, method, args)
      .then((value) =>
        channel.postMessage({ id, ok: true, value } satisfies Reply, transferables(value, true)),
      )
      // also where the answer itself couldn't be sent: the caller would wait forever
      .catch((error: unknown) => {
        const { name, message } = error instanceof Error ? error : new Error(String(error));
        channel.postMessage({ id, ok: false, error: { name, message } } satisfies Reply);
      });
  });
  return (message) => channel.postMessage({ push: message });
}

async function answer(target: object, method: string, args: unknown[]): Promise<unknown> {
  const member: unknown = method in Object.prototype ? undefined : Reflect.get(target, method);
  if (typeof member !== 'function') throw new TypeError(`the worker has no method "${method}"`);
  return (await Reflect.apply(member, target, args)) as unknown;
}
