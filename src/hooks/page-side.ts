/** The hook in a page or frame: session, handshake, and on an isolated page the rings of all its workers. */
import { Handshake } from './handshake.ts';
import { noteLateStart } from './late-start.ts';
import { listen } from './natives.ts';
import { ownSource, Session } from './session.ts';
import { SharedRelay } from './shared-relay.ts';
import { SharedRings } from './shared-rings.ts';
import { WORKERS_FILTERED } from './source.ts';
import type { Recorder } from '../trace/recorder.ts';
import { createThread, forgetHook } from './thread.ts';
import { Transport } from './transport.ts';
import { Workers } from './workers.ts';

/** Record this page from now on, until the panel or the content script says stop, or the page goes. */
export function startPage(): void {
  let session: Session | null = null;
  let transport: Transport | null = null;
  let connected = false;
  let gone = false;

  const stop = (drop: boolean): void => {
    if (gone) return;
    gone = true;
    handshake.close();
    rings.disable();
    sharedRelay?.leave(drop);
    session!.restore();
    if (drop) transport!.close();
    else transport!.finish('stopped');
    forgetHook();
  };
  const handshake = new Handshake({
    onConnected(port) {
      connected = true;
      transport!.connect(port);
    },
    onRestore: () => stop(!connected),
  });

  const thread = createThread({ role: 'page' });
  const { recorder, identity } = thread;
  session = new Session(thread);
  transport = new Transport(
    (where, e) => recorder.fault(where, e),
    () => session.announce(),
  );
  const rings = new SharedRings(transport);
  const sharedRelay = WORKERS_FILTERED ? relayShared(identity.id, transport, recorder) : null;
  const workers = new Workers({
    recorder,
    id: identity.id,
    base: () => document.baseURI,
    onChild: (port) => transport.child(port),
    onMessage(message) {
      try {
        if (message.k === 'ring') rings.add(message.thread, message.timeOrigin, message.buffer);
        else if (message.k === 'closed') rings.finish(message.thread, 'closed');
      } catch (e) {
        recorder.fault('a worker of this page', e);
      }
    },
    onTerminated(id) {
      if (rings.has(id)) rings.finish(id, 'terminated');
      else transport.bye(id, 'terminated');
    },
    sharedRelay,
  });
  transport.add(ownSource(session, transport));
  transport.onStop = () => stop(false);
  session.install(workers);
  noteLateStart(recorder);
  // Not from here: for a message Chromium notes the place in the script, and to find it V8 parses each function on the stack once
  // more, the whole hook among them: 12 ms.
  void Promise.resolve().then(() => gone || handshake.offer());

  let leaving = false;
  const leave = (): void => {
    if (gone) return;
    gone = true;
    const port = connected ? null : handshake.takeOffered();
    if (port) transport.connect(port);
    rings.finishAll('terminated');
    sharedRelay?.leave(true);
    transport.finish('pagehide');
  };
  // A page that goes for good hides after its pagehide listeners, if it was to be seen: what those do is recorded, too.
  listen(document, 'visibilitychange', () => (leaving ? leave() : gone || transport.drain()));
  listen(
    window,
    'pagehide',
    (event) => {
      if (gone) return;
      transport.drain();
      leaving = !(event as PageTransitionEvent).persisted; // else it may come back
      if (leaving && document.hidden) leave();
    },
    true,
  );
}

/** Null in an opaque origin, which has no shared or service workers. */
function relayShared(id: string, transport: Transport, recorder: Recorder): SharedRelay | null {
  try {
    return new SharedRelay({ id, onChild: (port) => transport.child(port), fault: (where, e) => recorder.fault(where, e) });
  } catch (e) {
    if (origin !== 'null') recorder.fault('relaying for shared workers', e);
    return null;
  }
}
