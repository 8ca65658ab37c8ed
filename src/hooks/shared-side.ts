/**
 * The hook in a shared or service worker, before the app's first line. It belongs to no page: any
 * recorded page of the origin relays its records. When that page ends, another one takes over.
 */
import { Patches } from '../record/patches.ts';
import { apply } from '../record/reflect.ts';
import { RelayEnd } from '../protocol/relay.ts';
import { drainBeforeMessages } from './before-messages.ts';
import { MARK } from '../protocol/messages.ts';
import type { Refusal } from '../protocol/page-policy.ts';
import {
  broadcast,
  channelClose,
  clearTimeout,
  dataOf,
  dispatch,
  listen,
  NativeBroadcastChannel,
  NativeMessageEvent,
  newChannel,
  portClose,
  portListen,
  portPost,
  portsOf,
  randomId,
  sequence,
  setTimeout,
  unlisten,
  type Listener,
} from './natives.ts';
import { atLastTask } from './last-task.ts';
import { NOT_STARTED } from './refusals.ts';
import { ownSource, Session } from './session.ts';
import {
  CHANNEL,
  fromShared,
  isSharedMessage,
  isToShared,
  sharedKey,
  type SharedMessage,
} from './shared-wire.ts';
import { WORKERS_FILTERED, type WorkerEnvironment } from './source.ts';
import { createThread } from './thread.ts';
import { SharedRings } from './shared-rings.ts';
import { Transport } from './transport.ts';
import { repairBaseUrl, unfitness } from './worker-repairs.ts';
import { Workers } from './workers.ts';

/**
 * If no recorded page answers within this time, nothing is recorded and everything is restored. A
 * service worker stores its script, with ours in it, until the browser looks for a newer one. A
 * shared worker has it from a recording, whose page may be reloading.
 */
const ALONE_MS = { 'shared-worker': 60_000, 'service-worker': 10_000 };
/** How long the last message may take to get through the relay. */
const LINGER_MS = 10_000;
/** A page that acknowledges nothing for this long has crashed, so it isn't the relay any more. */
const SILENT_MS = 5000;
/** Or it is paused in a debugger: within this time it may continue and become the relay again. */
const HALTED_MS = 600_000;

/**
 * A recorded page started this worker with our script. It relays where no other page does, over a
 * line that the app's messages can't overtake.
 */
type Offer = (page: string, line: MessagePort) => void;

/**
 * The same in a SharedWorker that pages started with our script. It serves their connections as
 * long as it lives.
 * @throws where the app's script must not run here
 */
export function startWrappedShared(
  environment: WorkerEnvironment,
  type: 'classic' | 'module',
): void {
  const { base } = environment;
  const { href } = location; // of our script
  const scope = globalThis as unknown as EventTarget;
  let offer: Offer = (_, line) => portClose(line);
  let failed = unfitness(base);
  const unfit = failed;
  /** The app's connect event is being dispatched. */
  let passing = false;
  listen(scope, 'connect', (event) => {
    if (passing) return; // WebKit marks none of them as trusted
    event.stopImmediatePropagation();
    const [line] = portsOf(event);
    const data = dataOf(event); // null in Chromium, '' by the standard
    portListen(line!, (said) => {
      const [port] = portsOf(said);
      const connects = dataOf(said);
      if (!isToShared(connects) || !port) return;
      if (connects.page) offer(connects.page, line!);
      else portClose(line!);
      const init = { __proto__: null, data, ports: sequence(port), source: port };
      passing = true;
      dispatch(scope, new NativeMessageEvent('connect', init as MessageEventInit));
      passing = false;
    });
    portPost(line!, fromShared(failed));
  });
  if (unfit) throw new Error(unfit);
  repairBaseUrl(base);
  if (type === 'classic') {
    failed = NOT_STARTED;
    // a script that throws runs, too
    const runs = (): void => {
      failed = '';
      unlisten(scope, 'error', onError);
    };
    const onError: Listener = (event) => {
      if ((event as ErrorEvent).filename !== href) runs();
    };
    listen(scope, 'error', onError);
    environment.runs = runs;
  }
  try {
    offer = startShared(base, environment.refused);
  } catch (e) {
    console.warn('vfscope: this worker cannot be recorded:', e);
  }
}

/**
 * Record this worker while a recorded page of its origin exists.
 * @param base address of the app's script
 * @param refused by the policy of the page that started it, which also applies to this worker and
 * to those that it makes
 */
export function startShared(base = location.href, refused?: Refusal[]): Offer {
  const name = typeof self.name === 'string' ? self.name : '';
  const environment: WorkerEnvironment = {
    role: 'worker',
    base,
    id: randomId(),
    name,
    parent: null,
  };
  const kind = 'SharedWorkerGlobalScope' in globalThis ? 'shared-worker' : 'service-worker';
  const { id: thread } = environment;
  const channel = new NativeBroadcastChannel(CHANNEL);
  const lines = new Map<string, MessagePort>();
  let silent = false;
  const say = (message: SharedMessage): void => {
    if (!silent) broadcast(channel, message); // throws once it is closed
  };
  const sayTo = (to: string, message: SharedMessage): void => {
    const line = lines.get(to);
    if (line) portPost(line, message);
    else say(message);
  };
  const worker = sharedKey(base, name);
  const here = (): void => say({ mark: MARK, k: 'here', thread, worker });

  const made = createThread(environment, kind);
  const { recorder } = made;
  const session = new Session(made);
  const transport = new Transport(
    (where, e) => recorder.fault(where, e),
    () => {
      session.announce();
      if (transport.unacknowledgedBytes === 0) heard = recorder.now();
      else if (page !== null && recorder.now() - heard > SILENT_MS) abandon();
    },
  );
  transport.add(ownSource(session, transport));
  const rings = new SharedRings(transport, recorder);
  let page: string | null = null;
  /** When the page last sent a message, or had nothing more to send. */
  let heard = 0;
  let relay: RelayEnd | null = null;
  let over = false;

  const lifetime = new Patches();
  const stop = (): void => {
    if (over) return;
    over = true;
    rings.disable();
    session.restore();
    lifetime.restore(); // under the session's patches
    transport.finish('stopped');
    // the last message still has to get through the relay
    setTimeout(() => {
      silent = true;
      channelClose(channel);
    }, LINGER_MS);
  };
  transport.onStop = stop;

  const connect = (taker: string): void => {
    relay?.close();
    clearTimeout(givesUp);
    page = taker;
    heard = recorder.now();
    sayTo(page, { mark: MARK, k: 'taken', thread, page, worker });
    relay = new RelayEnd(`${thread}:${taker}`, (message) =>
      sayTo(taker, { mark: MARK, k: 'relay', to: taker, message }),
    );
    const { ours, theirs } = newChannel();
    transport.connect(ours, relay.carry(theirs));
  };
  const leave = (): void => {
    page = null;
    if (over) return;
    here();
    giveUpLater(ALONE_MS[kind]);
  };
  let givesUp = 0;
  const giveUpLater = (ms: number): void => {
    clearTimeout(givesUp);
    givesUp = setTimeout(stop, ms);
  };
  /**
   * The page ended without a message, or is paused. Another one may relay, or the same one once it
   * continues.
   */
  const abandon = (): void => {
    page = null;
    here();
    giveUpLater(HALTED_MS);
  };
  listen(channel, 'message', (event) => {
    const data = dataOf(event);
    if (!isSharedMessage(data)) return;
    if (data.k === 'leave') {
      const line = lines.get(data.page);
      if (line) portClose(line);
      lines.delete(data.page);
    }
    if (data.k === 'who' && !over) here();
    else if (data.k === 'take' && data.thread === thread && page === null && !over)
      connect(data.page);
    else if (data.k === 'leave' && data.page === page) leave();
    else if (data.k === 'relay' && data.to === thread) {
      heard = recorder.now();
      relay?.receive(data.message);
    }
  });
  drainBeforeMessages(lifetime, recorder, () => transport.drain());
  lifetime.method(globalThis, 'close', (native, self, args) => {
    rings.finishAll('closed');
    transport.drain();
    const end = (): void => transport.finish('closed');
    // a closing worker can't send over a BroadcastChannel
    // (https://html.spec.whatwg.org/#eligible-for-messaging)
    if (page !== null && lines.has(page)) atLastTask(recorder, end);
    else end();
    return apply(native, self, args);
  });
  session.install(
    new Workers({
      recorder,
      id: thread,
      base: () => base,
      refusals: () => (WORKERS_FILTERED ? [] : (refused ?? [])), // a native worker isn't known
      onChild: (port) => transport.adopt(port, thread),
      onMessage: (message) => rings.receive(message),
      onTerminated: (child) => rings.terminated(child),
    }),
  );
  here();
  giveUpLater(ALONE_MS[kind]);
  return (taker, line) => {
    if (over || lines.has(taker)) return portClose(line);
    lines.set(taker, line);
    try {
      if (page === null) connect(taker);
    } catch (e) {
      recorder.fault('the line of a page', e);
    }
  };
}
