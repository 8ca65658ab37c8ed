/**
 * Messages between threads: when each is posted, when its listeners run, and its bytes where they are cheap to know. Never what is in it.
 *
 *   page     postMessage [206 no. 1] . . . . . . . . . [207 no. 1] the answer's listeners
 *   worker             . . . . . [207 no. 1] listeners [206 no. 1]
 *
 * Messages of one channel arrive in the order in which they were posted, so a number at each end is all that pairs them. A script of its
 * own, called by the hook (host-events.ts) where a recording asks for it; its text goes into workers as the hook's does.
 */
import { byteLengthOf } from '../probes/byte-length.ts';
import { Flag, MessageSize, Op, PortMove } from '../event/event.ts';
import type { ChannelDefinition, ChannelKind } from '../event/channels.ts';
import { ownerOf, type Patches } from '../record/patches.ts';
import { apply, dataProperty, getterOf } from '../record/reflect.ts';
import type { Token } from '../record/recorder.ts';
import type { listen, Listener, unlisten } from './natives.ts';
import type { Thread } from './thread.ts';
import type { Workers } from './workers.ts';

/** Records messages in this realm until `patches` are restored. It may be called when the app has begun, so natives are the hook's. */
export type RecordMessages = (
  patches: Patches,
  thread: Thread,
  workers: Workers,
  ...natives: [typeof listen, typeof unlisten]
) => void;

/** One end of a channel, while the app holds it. */
interface End {
  readonly channel: ChannelKind;
  key: string;
  readonly side: number;
  /** Of its definition; 0 = nothing has gone through it yet. */
  id: number;
  posted: number;
  handled: number;
  /** Its messages are listened to. */
  isHeard: boolean;
  /** The message whose listeners run. */
  open: Token;
  /** Listens behind the app. */
  readonly over: Listener;
}

/** As the recorder's own, of which nothing else is needed here. */
const NOTHING: Token = -1;
/** Ports of a message that are looked at. */
const MOST_PORTS = 100;

const recordMessages: RecordMessages = (patches, { recorder, identity }, workers, ...natives) => {
  const [listen, unlisten] = natives;
  const scope = globalThis as unknown as Record<string, { prototype: object } | undefined>;
  const { Worker, SharedWorker, MessageChannel, MessagePort, BroadcastChannel } = scope;
  const isDedicated = 'DedicatedWorkerGlobalScope' in globalThis;
  const isShared = 'SharedWorkerGlobalScope' in globalThis;
  const self = globalThis as unknown as EventTarget & object;
  const randomId = (): string =>
    String(crypto.getRandomValues(new BigUint64Array(1))[0]!.toString(16));
  const portsOf = getterOf(MessageEvent.prototype, 'ports') as () => MessagePort[];
  const microtask = queueMicrotask.bind(globalThis);
  const BufferOf = [Object.getPrototypeOf(Uint8Array.prototype) as object, DataView.prototype].map(
    (prototype) => getterOf(prototype, 'buffer'),
  );

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
  /** Of an object that messages are posted through; undefined of any other. */
  const endOf = (object: unknown): End | undefined => {
    if (Object(object) !== object) return undefined;
    const known = ends.get(object as object);
    if (known) return known;
    const is = (type: { prototype: object } | undefined): boolean =>
      type !== undefined && Object.prototype.isPrototypeOf.call(type.prototype, object as object);
    if (is(MessagePort)) return make(object as object, 'port');
    if (is(Worker)) return make(object as object, 'worker');
    if (is(BroadcastChannel)) {
      const name = apply(getterOf(BroadcastChannel!.prototype, 'name'), object, []) as string;
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
      // where a worker's own script brings the hook its id is known once that has spoken
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
  const isBuffer = (data: unknown): data is ArrayBuffer =>
    Object.prototype.toString.call(data) === '[object ArrayBuffer]';
  /** What is in a transfer list that is a plain array: reading any other may run code of the app. */
  const listOf = (options: unknown): unknown[] => {
    if (Object(options) !== options) return [];
    const list = Array.isArray(options) ? options : dataProperty(options as object, 'transfer');
    if (!Array.isArray(list)) return [];
    const { length } = list;
    return Array.from({ length: Math.min(length, MOST_PORTS) }, (_, i) =>
      dataProperty(list, String(i)),
    );
  };
  /** Bytes of what is posted: of a view all of its buffer, for that is what gets copied. Strings are UTF-16. */
  const sizeOf = (data: unknown, list: readonly unknown[]): [bytes: number, of: number] => {
    if (typeof data === 'string') return [data.length * 2, MessageSize.whole];
    if (Object(data) === data) {
      const buffer = ArrayBuffer.isView(data) ? bufferOf(data) : data;
      if (isBuffer(buffer)) return [byteLengthOf(buffer), MessageSize.whole];
    }
    const moved = list.filter(isBuffer);
    return moved.length
      ? [moved.reduce((sum, one) => sum + byteLengthOf(one), 0), MessageSize.transferred]
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
            const list = end.channel === 'broadcast' ? [] : listOf(args[1]);
            const [bytes, of] = sizeOf(args[0], list);
            const id = idOf(end, object);
            token = recorder.begin(Op.messagePost, id, NaN, bytes, ++end.posted, 0, of);
            const ports = list.filter((one) => endOf(one)?.channel.includes('port'));
            ports.forEach((port, i) => {
              const { posted, handled } = endOf(port)!;
              const move = posted + handled ? PortMove.sentAfterUse : PortMove.sent;
              portMoves(port as object, id, end!.posted, i, move);
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
   * The app's listeners run between the first of ours and the last: in the order in which they were added, in Chromium whether they
   * capture or not.
   */
  const hear = (target: EventTarget, end: End): void => {
    end.isHeard = true;
    const begin: Listener = (event) => {
      if (!recorder.enabled) {
        end.isHeard = false;
        unlisten(target, 'message', begin, true);
        return unlisten(target, 'message', end.over);
      }
      if (!event.isTrusted) return;
      try {
        const id = idOf(end, target);
        end.open = recorder.begin(Op.messageHandle, id, NaN, 0, ++end.handled);
        const ports = apply(portsOf, event, []) as MessagePort[];
        ports.forEach((port, i) => portMoves(port, id, end.handled, i, PortMove.received));
      } catch (e) {
        recorder.fault('a message', e);
      }
    };
    listen(target, 'message', begin, true);
    listen(target, 'message', end.over);
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
      // no event: the native call says so
    }
    return apply(native, on, args);
  });

  const handlerOf = (owner: object | undefined): void => {
    const { get, set } =
      (owner && Object.getOwnPropertyDescriptor(owner, 'onmessage')) ?? ({} as PropertyDescriptor);
    if (!get || !set) return;
    patches.setter(owner, 'onmessage', (on) => {
      try {
        const target = (on ?? globalThis) as EventTarget;
        const end = recorder.enabled ? endOf(target) : undefined;
        if (!end) return;
        if (!end.isHeard) {
          const handler: unknown = apply(get, target, []);
          apply(set, target, [null]); // else its place is before ours
          hear(target, end);
          apply(set, target, [handler]);
        }
        stayLast(target, end);
      } catch (e) {
        recorder.fault('onmessage', e);
      }
    });
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
      if (end && !end.isHeard) hear(target, end);
    } catch (e) {
      recorder.fault('addEventListener', e);
    }
    const answer = apply(native, on, args);
    if (end) stayLast(target, end);
    return answer;
  });
  if (isDedicated) {
    const end = make(self, 'creator', identity.id);
    posting(self, () => self);
    hear(self, end);
    handlerOf(ownerOf(self, 'onmessage'));
  }
  /** Say what a new object is. */
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
  // what a worker posts before the app listens counts, too
  constructed('Worker', (made) => hear(made as EventTarget, endOf(made)!));
  constructed('MessageChannel', (made) => {
    const key = randomId();
    ['port1', 'port2'].forEach((name, i) =>
      make(
        apply(getterOf(MessageChannel!.prototype, name), made, []) as object,
        'port',
        key,
        i + 1,
      ),
    );
  });
  constructed('SharedWorker', (made, [script, options]) => {
    const name = typeof options === 'string' ? options : dataProperty(Object(options), 'name');
    const port =
      dataProperty(made, 'port') ?? apply(getterOf(SharedWorker!.prototype, 'port'), made, []);
    if (typeof script === 'string')
      make(
        port as object,
        'shared-worker',
        `${new URL(script, document.baseURI).href}\n${typeof name === 'string' ? name : ''}`,
        1,
      );
  });
  if (isShared) {
    const onConnect: Listener = (event) => {
      for (const port of apply(portsOf, event, []) as MessagePort[])
        if (!ends.has(port)) make(port, 'shared-worker', `${identity.url}\n${identity.name}`, 2);
    };
    listen(self, 'connect', onConnect, true);
    patches.onRestore(() => unlisten(self, 'connect', onConnect, true));
  }
};
export default recordMessages;
