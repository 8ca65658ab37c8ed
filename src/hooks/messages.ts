/**
 * Messages between threads: when each is posted, when its listeners run, and its size where that is
 * cheap to get. Never their content.
 *
 *   page     postMessage [206 no. 1] . . . . . . . . . [207 no. 1] the answer's listeners
 *   worker             . . . . . [207 no. 1] listeners [206 no. 1]
 *
 * Messages of one channel arrive in the order in which they were posted, so a number at each end is
 * enough to pair them. A separate script, called by the hook (host-events.ts) where a recording
 * needs it. Its text goes into workers as the hook's does.
 */
import { Flag, MessageSize, Op, PortMove } from '../event/event.ts';
import type { ChannelDefinition, ChannelKind } from '../event/channels.ts';
import { ownerOf, type Patches } from '../record/patches.ts';
import { apply, dataProperty, getterOf } from '../record/reflect.ts';
import type { Token } from '../record/recorder.ts';
import type {
  listen,
  Listener,
  NativeURL,
  portsOf,
  queueMicrotask,
  randomId,
  unlisten,
} from './natives.ts';
import type { Thread } from './thread.ts';
import type { Workers } from './workers.ts';

/**
 * Records messages in this realm until `patches` are restored. It may be called after the app has
 * begun, so it uses the hook's natives.
 */
export type RecordMessages = (
  patches: Patches,
  thread: Thread,
  workers: Workers,
  ...natives: [
    typeof listen,
    typeof unlisten,
    typeof randomId,
    typeof queueMicrotask,
    typeof portsOf,
    typeof NativeURL,
  ]
) => void;

/** One end of a channel, for as long as the app holds it. */
interface End {
  readonly channel: ChannelKind;
  key: string;
  readonly side: number;
  /** Id of its definition; 0 = no message has gone through it yet. */
  id: number;
  posted: number;
  handled: number;
  /** The app listens to its messages. */
  isHeard: boolean;
  /** The message whose listeners run. */
  open: Token;
  /** Listens after the app's listeners. */
  readonly over: Listener;
}

/** The recorder's NOTHING, repeated because nothing else of the recorder is needed here. */
const NOTHING: Token = -1;
/** How many ports of a message are checked. */
const MOST_PORTS = 100;

const recordMessages: RecordMessages = (patches, { recorder, identity }, workers, ...natives) => {
  const [listen, unlisten, randomId, microtask, portsOf, URL] = natives;
  const scope = globalThis as unknown as Record<string, { prototype: object } | undefined>;
  const { Worker, SharedWorker, MessageChannel, MessagePort, BroadcastChannel } = scope;
  const isDedicated = 'DedicatedWorkerGlobalScope' in globalThis;
  const isShared = 'SharedWorkerGlobalScope' in globalThis;
  const self = globalThis as unknown as EventTarget & object;
  const BufferOf = [Object.getPrototypeOf(Uint8Array.prototype) as object, DataView.prototype].map(
    (prototype) => getterOf(prototype, 'buffer'),
  );
  const nameOf = BroadcastChannel && getterOf(BroadcastChannel.prototype, 'name');
  const portOf = SharedWorker && getterOf(SharedWorker.prototype, 'port');
  const pairOf = ['port1', 'port2'].map((name) => getterOf(MessageChannel!.prototype, name));
  const { isView } = ArrayBuffer;
  const { isPrototypeOf } = Object.prototype;
  const bufferBytes = getterOf(ArrayBuffer.prototype, 'byteLength');
  const hrefOf = getterOf(URL.prototype, 'href');
  const trustedText = (
    scope.TrustedScriptURL as { prototype: { toString: () => unknown } } | undefined
  )?.prototype.toString;

  const ends = new WeakMap<object, End>();
  const make = (object: object, channel: ChannelKind, key = '', side = 0): End => {
    const end: End = {
      ...{ channel, key, side },
      ...{ id: 0, posted: 0, handled: 0, isHeard: false, open: NOTHING },
      over: (event) => event.isTrusted && finish(end),
    };
    ends.set(object, end);
    return end;
  };
  /** The channel end of an object that posts messages; undefined for any other object. */
  const endOf = (object: unknown): End | undefined => {
    if (Object(object) !== object) return undefined;
    const known = ends.get(object as object);
    if (known) return known;
    const is = (type: { prototype: object } | undefined): boolean =>
      type !== undefined && (apply(isPrototypeOf, type.prototype, [object]) as boolean);
    if (is(MessagePort)) return make(object as object, 'port');
    if (is(Worker)) return make(object as object, 'worker');
    if (is(BroadcastChannel)) {
      const name = apply(nameOf!, object, []) as string;
      return make(object as object, 'broadcast', name);
    }
    return undefined;
  };
  const say = ({ channel, key, side, id }: End): void =>
    recorder.emit({ kind: 'channel', id, channel, key, side } satisfies ChannelDefinition);
  /** @returns the id of its definition */
  const idOf = (end: End, object: object): number => {
    const isNew = end.id === 0;
    if (isNew) end.id = recorder.nextId();
    if (isNew || (end.channel === 'worker' && !end.key)) {
      // if a worker's own script brings the hook, its id is known after its first message
      if (end.channel === 'worker')
        for (const [id, ref] of workers.living) if (ref.deref() === object) end.key = id;
      if (isNew || end.key) say(end);
    }
    return end.id;
  };

  const bufferOf = (data: object): unknown => {
    for (const getter of BufferOf)
      try {
        return apply(getter, data, []);
      } catch {
        // of another kind
      }
    return data;
  };
  /** Size of an ArrayBuffer, by its brand; null for everything else, including shared memory. */
  const bytesIn = (data: unknown): number | null => {
    try {
      return apply(bufferBytes, data, []) as number;
    } catch {
      return null;
    }
  };
  const isPort = (object: unknown): boolean => {
    const channel = endOf(object)?.channel;
    return channel === 'port' || channel === 'shared-worker';
  };
  /**
   * Elements of a transfer list that is a plain array. Reading any other could run code of the app.
   */
  const listOf = (options: unknown): unknown[] => {
    if (Object(options) !== options) return [];
    const list = Array.isArray(options) ? options : dataProperty(options as object, 'transfer');
    if (!Array.isArray(list)) return [];
    const { length } = list;
    return Array.from({ length: Math.min(length, MOST_PORTS) }, (_, i) =>
      dataProperty(list, String(i)),
    );
  };
  /**
   * Bytes of a message. A view counts with its whole buffer, because the whole buffer is copied.
   * Strings are UTF-16.
   */
  const sizeOf = (data: unknown, list: readonly unknown[]): [bytes: number, of: number] => {
    if (typeof data === 'string') return [data.length * 2, MessageSize.whole];
    const whole = bytesIn(isView(data) ? bufferOf(data) : data);
    if (whole !== null) return [whole, MessageSize.whole];
    const moved = list.map(bytesIn).filter((bytes) => bytes !== null);
    return moved.length
      ? [moved.reduce((sum, bytes) => sum + bytes, 0), MessageSize.transferred]
      : [0, MessageSize.unknown];
  };
  const portMoves = (port: object, by: number, message: number, at: number, move: number): void =>
    recorder.instant(Op.messagePort, idOf(endOf(port)!, port), NaN, move, message, by, at);

  const posting = (owner: object | undefined, endFor: (self: unknown) => object): void =>
    void patches.method(owner, 'postMessage', (native, on, args) => {
      let token: Token = NOTHING;
      let end: End | undefined;
      if (recorder.enabled)
        try {
          const object = endFor(on);
          end = endOf(object);
          if (end) {
            const number = ++end.posted; // even if the rest fails: the other end counts it, too
            let list: unknown[] = [];
            try {
              if (end.channel !== 'broadcast') list = listOf(args[1]);
            } catch {
              // traps of a Proxy threw: the platform will call them itself
            }
            const [bytes, of] = sizeOf(args[0], list);
            const id = idOf(end, object);
            token = recorder.begin(Op.messagePost, id, NaN, bytes, number, 0, of);
            list.filter(isPort).forEach((port, i) => {
              const { posted, handled } = endOf(port)!;
              const move = posted + handled ? PortMove.sentAfterUse : PortMove.sent;
              portMoves(port as object, id, number, i, move);
            });
          }
        } catch (e) {
          recorder.fault('postMessage', e);
        }
      try {
        const answer = apply(native, on, args);
        recorder.end(token, 0);
        return answer;
      } catch (e) {
        if (end) end.posted--;
        recorder.end(token, 0, Flag.threw);
        throw e;
      }
    });

  const finish = (end: End): void => {
    recorder.end(end.open, 0);
    end.open = NOTHING;
  };
  /**
   * The app's listeners run between our first and our last one: in the order in which they were
   * added, in Chromium also regardless of capture.
   */
  const hear = (target: EventTarget, end: End): void => {
    end.isHeard = true;
    const begin: Listener = (event) => {
      if (!recorder.enabled) {
        end.isHeard = false;
        unlisten(target, 'message', begin, true);
        unlisten(target, 'messageerror', begin, true);
        return unlisten(target, 'message', end.over);
      }
      if (!event.isTrusted) return;
      try {
        const id = idOf(end, target);
        const token = recorder.begin(Op.messageHandle, id, NaN, 0, ++end.handled);
        if (event.type === 'messageerror') return recorder.end(token, 0, Flag.threw);
        end.open = token;
        portsOf(event).forEach((port, i) => portMoves(port, id, end.handled, i, PortMove.received));
      } catch (e) {
        recorder.fault('a message', e);
      }
    };
    listen(target, 'message', begin, true);
    listen(target, 'messageerror', begin, true);
    listen(target, 'message', end.over);
  };
  const hearOnce = (target: EventTarget, end: End): void => {
    if (!end.isHeard) hear(target, end);
  };
  /** The listener that calls this was the last: it ends before the next microtask. */
  const endSoon = (end: End): void => {
    if (end.open !== NOTHING) microtask(() => finish(end));
  };
  /** A listener was added. */
  const stayLast = (target: EventTarget, end: End): void => {
    endSoon(end);
    unlisten(target, 'message', end.over);
    listen(target, 'message', end.over);
  };
  const currentTarget = getterOf(Event.prototype, 'currentTarget');
  patches.method(Event.prototype, 'stopImmediatePropagation', (native, on, args) => {
    try {
      const end = ends.get(apply(currentTarget, on, []) as object);
      if (end) endSoon(end);
    } catch {
      // not an event: the native call throws
    }
    return apply(native, on, args);
  });

  const handlerOf = (owner: object | undefined): void => {
    const heard =
      (then: (target: EventTarget, end: End) => void) =>
      (on: unknown): void => {
        try {
          const target = (on ?? globalThis) as EventTarget;
          const end = recorder.enabled ? endOf(target) : undefined;
          if (end) then(target, end);
        } catch (e) {
          recorder.fault('onmessage', e);
        }
      };
    // set it before, because a handler keeps the position of its first assignment
    patches.setter(owner, 'onmessage', heard(stayLast), heard(hearOnce));
  };
  for (const type of [Worker, MessagePort, BroadcastChannel]) {
    posting(type?.prototype, (on) => on as object);
    handlerOf(type?.prototype);
  }
  patches.method(EventTarget.prototype, 'addEventListener', (native, on, args) => {
    if (args[0] !== 'message' || !recorder.enabled) return apply(native, on, args);
    const target = (on ?? globalThis) as EventTarget;
    let end: End | undefined;
    try {
      end = endOf(target);
      if (end) hearOnce(target, end);
    } catch (e) {
      recorder.fault('addEventListener', e);
    }
    const answer = apply(native, on, args);
    if (end) stayLast(target, end);
    return answer;
  });
  // nothing else counts the messages that come before there is a listener
  patches.method(MessagePort?.prototype, 'start', (native, on, args) => {
    try {
      const end = recorder.enabled ? endOf(on) : undefined;
      if (end) hearOnce(on as EventTarget, end);
    } catch (e) {
      recorder.fault('start', e);
    }
    return apply(native, on, args);
  });
  if (isDedicated) {
    const end = make(self, 'creator', identity.id);
    posting(self, () => self);
    hear(self, end);
    handlerOf(ownerOf(self, 'onmessage'));
  }
  /** Add the definition of a new object. */
  const constructed = (name: string, then: (made: object, args: unknown[]) => void): void => {
    const prototype = scope[name]?.prototype;
    if (
      !patches.construction(globalThis, name, (construct, args) => {
        const made = construct(args);
        try {
          if (recorder.enabled) then(made, args);
        } catch (e) {
          recorder.fault(`new ${name}`, e);
        }
        return made;
      })
    )
      return;
    const ours = scope[name];
    patches.value(prototype, 'constructor', () => ours);
  };
  // counts messages that a worker posts before the app listens, too
  constructed('Worker', (made) => hear(made as EventTarget, endOf(made)!));
  constructed('MessageChannel', (made) => {
    const key = randomId();
    pairOf.forEach((side, i) => make(apply(side, made, []) as object, 'port', key, i + 1));
  });
  /** Address of a worker's script, as far as it is available without running code of the app. */
  const addressOf = (script: unknown): string | undefined => {
    if (typeof script === 'string') return script;
    for (const read of [hrefOf, trustedText])
      try {
        if (read) return apply(read, script, []) as string;
      } catch {
        // of another kind
      }
    return undefined;
  };
  constructed('SharedWorker', (made, [script, options]) => {
    const name = typeof options === 'string' ? options : dataProperty(Object(options), 'name');
    const port = dataProperty(made, 'port') ?? apply(portOf!, made, []);
    const address = addressOf(script);
    if (address === undefined) return;
    const { href } = new URL(address, document.baseURI);
    const key = `${href}\n${typeof name === 'string' ? name : ''}`;
    make(port as object, 'shared-worker', key, 1);
  });
  if (isShared) {
    const onConnect: Listener = (event) => {
      for (const port of portsOf(event))
        if (!ends.has(port)) make(port, 'shared-worker', `${identity.url}\n${identity.name}`, 2);
    };
    listen(self, 'connect', onConnect, true);
    patches.onRestore(() => unlisten(self, 'connect', onConnect, true));
  }
};
export default recordMessages;
