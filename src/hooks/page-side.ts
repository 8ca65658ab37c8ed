/**
 * The hook in a page or frame: session, handshake, and on an isolated page the rings of all its
 * workers.
 */
import { NOW_EVENT } from '../protocol/capture.ts';
import { shares, waits } from './capture.ts';
import { Handshake } from './handshake.ts';
import { noteLateStart } from './late-start.ts';
import { listen, origin, unlisten, type Listener } from './natives.ts';
import { ownSource, Session } from './session.ts';
import { SharedRelay } from './shared-relay.ts';
import { SharedWorkers } from './shared-workers.ts';
import { sharedKey } from './shared-wire.ts';
import { SHARED_WAS_RUNNING, WORKER } from '../protocol/messages.ts';
import { SharedRings } from './shared-rings.ts';
import { NATIVES_DRIVEN, NATIVES_HOOKED, says, WORKERS_FILTERED } from './source.ts';
import type { Recorder } from '../record/recorder.ts';
import { createThread, forgetHook, leaveSign, parentThread } from './thread.ts';
import { Transport } from './transport.ts';
import { Workers } from './workers.ts';
import { absoluteBy } from './worker-repairs.ts';

/** Records this page. */
interface Recording {
  readonly transport: Transport;
  /**
   * @param drop discard records that weren't received
   * @param joins from now on, SharedWorkers also start with our script
   */
  stop(drop: boolean, joins: boolean): void;
}
/** The page's hook, as seen by its recording. */
interface Hook {
  connected: boolean;
  /** The recording ended: stopped, or the page ends. */
  gone: boolean;
  readonly handshake: Handshake;
  /** Our SharedWorkers, where they run with our script, recorded or not. */
  sharedWorkers: SharedWorkers | null;
  stop(drop: boolean): void;
}

/**
 * Record this page until the panel or the content script stops it, or the page ends. It begins at
 * once, or if another tab could show the same page, when it is known that this tab is recorded.
 * Until then nothing is patched.
 */
export function startPage(): void {
  let recording: Recording | null = null;
  const begin = (): void => {
    unlisten(window, NOW_EVENT, begin, true);
    recording ??= record(hook);
  };
  const wait = (): void => {
    leaveSign();
    listen(window, NOW_EVENT, begin, true);
  };
  const stop = (drop: boolean, joins = false): void => {
    if (hook.gone) return;
    recording?.stop(drop, joins);
    unlisten(window, NOW_EVENT, begin, true);
    if (joins && hook.sharedWorkers) {
      recording = null;
      hook.connected = false;
      hook.handshake.rest();
      return wait();
    }
    hook.gone = true;
    hook.handshake.close();
    hook.sharedWorkers?.restore();
    forgetHook();
  };
  const hook: Hook = {
    connected: false,
    gone: false,
    stop,
    handshake: new Handshake({
      onRecorded: begin,
      onConnected(port) {
        begin();
        hook.connected = true;
        if (NATIVES_DRIVEN) recording!.transport.connect(port, says);
        else recording!.transport.connect(port);
      },
      onRestore: (joins) => stop(!hook.connected, joins),
    }),
    sharedWorkers: null,
  };
  if (!WORKERS_FILTERED && shares) {
    hook.sharedWorkers = new SharedWorkers({
      base: () => document.baseURI,
      ask: (ask) => hook.handshake.ask(ask),
      refusals: hook.handshake.refusals,
    });
    hook.sharedWorkers.install();
  }
  // a frame learns it from the page around it
  if (waits && parentThread() === null) wait();
  else begin();
  // Not from here: for a message, Chromium records the position in the script, and to find it V8
  // parses each function on the stack again, including the whole hook: 12 ms.
  void Promise.resolve().then(() => hook.gone || hook.handshake.offer());
}

function record(hook: Hook): Recording {
  const thread = createThread({ role: 'page' });
  const { recorder, identity } = thread;
  const session = new Session(thread);
  const transport = new Transport(
    (where, e) => recorder.fault(where, e),
    () => session.announce(),
  );
  const rings = new SharedRings(transport, recorder);
  let sharedRelay = NATIVES_HOOKED ? relayShared(identity.id, transport, recorder) : null;
  const workers = new Workers({
    recorder,
    id: identity.id,
    base: () => document.baseURI,
    refusals: hook.handshake.refusals,
    ...(WORKERS_FILTERED && { requests: (url: string) => hook.handshake.tell(WORKER, url) }),
    onChild: (port) => transport.child(port),
    onMessage: (message) => rings.receive(message),
    onTerminated: (worker) => rings.terminated(worker),
    sharedRelay,
    wrapsShared: hook.sharedWorkers !== null,
  });
  if (!WORKERS_FILTERED && hook.sharedWorkers)
    hook.sharedWorkers.recorded = {
      page: identity.id,
      hears: (said) => sharedRelay?.hear(said),
      expects(worker, url) {
        sharedRelay ??= relayShared(identity.id, transport, recorder);
        sharedRelay?.expect(worker, () => workers.note(SHARED_WAS_RUNNING, url));
      },
      note(reason, script, name) {
        const url = NATIVES_DRIVEN && sharedRelay ? scriptUrl(script) : '';
        if (url) sharedRelay!.expect(sharedKey(url, name), () => workers.note(reason, script));
        else workers.note(reason, script);
      },
    };
  transport.add(ownSource(session, transport));
  transport.onStop = () => hook.stop(false);
  session.install(workers);
  noteLateStart(recorder);

  /** How many events are left until this page ends; 0 = it doesn't. */
  let ending = 0;
  const leave = (): void => {
    if (hook.gone) return;
    hook.gone = true;
    const port = hook.connected ? null : hook.handshake.takeOffered();
    if (port) transport.connect(port);
    rings.finishAll('terminated');
    sharedRelay?.leave(true);
    transport.finish('pagehide');
  };
  const onEnd: Listener = (event) => {
    const { persisted } = event as Partial<PageTransitionEvent>;
    // a cached page may come back; a visible one becomes hidden after its pagehide listeners
    if (persisted !== undefined) ending = persisted ? 0 : document.hidden ? 1 : 2;
    if (ending && !--ending) leave();
    else if (!hook.gone) transport.drain();
    // What the app's listeners do is recorded, too: ours are the last again at the next event.
    atEnd(unlisten);
    atEnd(listen);
  };
  const atEnd = (change: typeof listen): void => {
    change(window, 'pagehide', onEnd);
    change(window, 'visibilitychange', onEnd);
    change(document, 'freeze', onEnd);
  };
  atEnd(listen);
  return {
    transport,
    stop(drop, joins) {
      atEnd(unlisten);
      rings.disable();
      sharedRelay?.leave(drop);
      if (hook.sharedWorkers) hook.sharedWorkers.recorded = null;
      if (WORKERS_FILTERED || joins) session.restore();
      else session.restore(hook.sharedWorkers);
      if (drop) transport.close();
      else transport.finish('stopped');
    },
  };
}

/** '' for a worker that never has a hook, because its script isn't from the network. */
function scriptUrl(script: unknown): string {
  const url = absoluteBy(() => document.baseURI)(String(script)) as string;
  return /^https?:/.test(url) ? url : '';
}

/** Null in an opaque origin, which has no shared or service workers. */
function relayShared(id: string, transport: Transport, recorder: Recorder): SharedRelay | null {
  try {
    return new SharedRelay({
      id,
      onChild: (port) => transport.child(port),
      fault: (where, e) => recorder.fault(where, e),
    });
  } catch (e) {
    if (origin !== 'null') recorder.fault('relaying for shared workers', e);
    return null;
  }
}
