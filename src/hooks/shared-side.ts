/**
 * The hook in a shared or service worker, before the app's first line. It belongs to no page: any recorded page of the origin relays
 * its records, and when that page goes, the next one does.
 */
import { RelayEnd } from '../protocol/relay.ts';
import { MARK } from '../protocol/messages.ts';
import {
  dataOf,
  listen,
  NativeBroadcastChannel,
  newChannel,
  randomId,
  setTimeout,
} from './natives.ts';
import { ownSource, Session } from './session.ts';
import { CHANNEL, isSharedMessage, type SharedMessage } from './shared-wire.ts';
import type { WorkerEnvironment } from './source.ts';
import { createThread } from './thread.ts';
import { Transport } from './transport.ts';
import { Workers } from './workers.ts';

/**
 * No recorded page has answered for this long: nothing is recorded (a service worker keeps its script, and ours in it, until the
 * browser looks for a newer one), and everything is given back.
 */
const ALONE_MS = 10_000;

/** Record this worker while a recorded page of its origin is there. */
export function startShared(): void {
  const name = typeof self.name === 'string' ? self.name : '';
  const environment: WorkerEnvironment = {
    role: 'worker',
    base: location.href,
    id: randomId(),
    name,
    parent: null,
  };
  const kind = 'SharedWorkerGlobalScope' in globalThis ? 'shared-worker' : 'service-worker';
  const { id: thread, base: url } = environment;
  const channel = new NativeBroadcastChannel(CHANNEL);
  const say = (message: SharedMessage): void => channel.postMessage(message);

  const made = createThread(environment, kind);
  const { recorder } = made;
  const session = new Session(made);
  const transport = new Transport(
    (where, e) => recorder.fault(where, e),
    () => session.announce(),
  );
  transport.add(ownSource(session, transport));
  let page: string | null = null;
  let relay: RelayEnd | null = null;
  let over = false;

  const stop = (): void => {
    if (over) return;
    over = true;
    session.restore();
    transport.finish('stopped');
    // what was said last still has to get through the relay
    setTimeout(() => channel.close(), ALONE_MS);
  };
  transport.onStop = stop;

  const connect = (taker: string): void => {
    relay?.close();
    page = taker;
    say({ mark: MARK, k: 'taken', thread, page });
    relay = new RelayEnd(`${thread}:${taker}`, (message) =>
      say({ mark: MARK, k: 'relay', to: taker, message }),
    );
    const { ours, theirs } = newChannel();
    relay.carry(theirs);
    transport.connect(ours);
  };
  const leave = (): void => {
    page = null;
    if (over) return;
    say({ mark: MARK, k: 'here', thread, url });
    giveUpLater();
  };
  const giveUpLater = (): void =>
    void setTimeout(() => {
      if (page === null) stop();
    }, ALONE_MS);

  listen(channel, 'message', (event) => {
    const data = dataOf(event);
    if (!isSharedMessage(data)) return;
    if (data.k === 'who' && page === null && !over) say({ mark: MARK, k: 'here', thread, url });
    else if (data.k === 'take' && data.thread === thread && page === null && !over)
      connect(data.page);
    else if (data.k === 'leave' && data.page === page) leave();
    else if (data.k === 'relay' && data.to === thread) relay?.receive(data.message);
  });
  session.install(
    new Workers({
      recorder,
      id: thread,
      base: () => url,
      refuses: () => false, // its response's headers are not known
      onChild: (port) => transport.child(port),
      onMessage: () => {}, // rings are shared with pages only
      onTerminated: (child) => transport.bye(child, 'terminated'),
    }),
  );
  say({ mark: MARK, k: 'here', thread, url });
  giveUpLater();
}
