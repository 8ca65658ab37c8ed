/**
 * The hook in a dedicated worker, before the app's first line. It checks that the app has the same
 * rights here as in a native worker, repairs the base URL, and records, over its own port or, on an
 * isolated page, into a ring that the page reads.
 */
import { MARK } from '../protocol/messages.ts';
import { WRAPPED } from '../protocol/native-workers.ts';
import { drainBeforeMessages } from './before-messages.ts';
import { isToWorker, type Said } from './creator-wire.ts';
import {
  dataOf,
  listen,
  newChannel,
  postToCreator,
  randomId,
  setInterval,
  setTimeout,
  clearTimeout,
  unlisten,
  type Listener,
} from './natives.ts';
import { atLastTask } from './last-task.ts';
import { ownSource, Session } from './session.ts';
import {
  environment as here,
  NATIVES_DRIVEN,
  says,
  WORKERS_FILTERED,
  type WorkerEnvironment,
} from './source.ts';
import { createThread, forgetHook } from './thread.ts';
import { DRAIN_EVERY_MS } from '../event/capture.ts';
import { Transport } from './transport.ts';
import { repairBaseUrl, unfitness } from './worker-repairs.ts';
import { Workers } from './workers.ts';
import { Patches } from '../record/patches.ts';
import { apply } from '../record/reflect.ts';

/**
 * In Firefox, a port carries nothing before its thread has returned to its event loop, and for some
 * turns after that. If the worker was terminated in that time, its first batches would be lost. So
 * they go to the panel through the worker's creator, and this much later over the port, too.
 */
const COLD_MS = 200;

type Tell = (said: Said, ports?: Transferable[]) => void;
const toCreator =
  (id: string): Tell =>
  (said, ports = []) =>
    postToCreator?.({ ...said, mark: MARK, id }, ports);

/**
 * Record this worker from now on.
 * @throws where the app's script must not run here: the creator then starts a native worker in its
 * place
 */
export function startWorker(environment: WorkerEnvironment): void {
  const { id, base } = environment;
  const tell = toCreator(id);
  const unfit = unfitness(base);
  if (unfit) {
    tell({ k: 'unfit', reason: unfit });
    globalThis.close();
    throw new Error(unfit);
  }
  const { href } = location; // of our bootstrap
  repairBaseUrl(base);
  // a script that throws runs, too, and the creator doesn't learn of it where the app handles the
  // error here
  const onError: Listener = (event) => {
    const { filename } = event as ErrorEvent;
    const unmarked = NATIVES_DRIVEN && filename + WRAPPED === href;
    if (filename !== href && !unmarked) environment.runs!();
  };
  listen(globalThis as unknown as EventTarget, 'error', onError);
  environment.runs = () => {
    unlisten(globalThis as unknown as EventTarget, 'error', onError);
    tell({ k: 'runs' });
  };
  begin(environment, tell);
}

/** Record this worker, whose own script carries the hook. The app runs in its original worker. */
export function startFiltered(): void {
  const environment: WorkerEnvironment = {
    role: 'worker',
    base: location.href,
    id: randomId(),
    name: self.name,
    parent: null,
  };
  if (NATIVES_DRIVEN && says) {
    begin(environment, (message, [port] = []) => {
      if (message.k === 'ready' && port)
        (here as { takes?: (port: Transferable) => void }).takes?.(port);
      else if (message.k === 'failed')
        console.warn("vfscope: this worker can't be recorded:", message.reason);
    });
    return;
  }
  begin(environment, toCreator(environment.id));
}

function begin(environment: WorkerEnvironment, tell: Tell): void {
  const ports: Transferable[] = [];
  try {
    const port = record(environment, tell);
    if (port) ports.push(port);
  } catch (e) {
    tell({ k: 'failed', reason: String(e) });
  }
  tell({ k: 'ready' }, ports); // whether the recording works or not, the app's script runs next
}

/** @returns the panel's end of this thread's port, where the thread sends its own records */
function record(environment: WorkerEnvironment, tell: Tell): MessagePort | null {
  const { id, base } = environment;
  const thread =
    NATIVES_DRIVEN && says ? createThread(environment, 'worker') : createThread(environment);
  const { recorder, identity } = thread;
  const session = new Session(thread);
  const transport = recorder.shared
    ? null
    : new Transport(
        (where, e) => recorder.fault(where, e),
        () => session.announce(),
      );
  const announcer = recorder.shared ? setInterval(() => session.announce(), DRAIN_EVERY_MS) : null;
  const lifetime = new Patches();

  const stop = (): void => {
    if (!session.restore()) return;
    transport?.finish('stopped');
    if (announcer !== null) clearTimeout(announcer);
    lifetime.restore();
    forgetHook();
  };
  const onMessage: Listener = (event) => {
    const data = event.isTrusted && dataOf(event);
    if (!isToWorker(data, id)) return;
    event.stopImmediatePropagation();
    unlisten(scope, 'message', onMessage, true);
    stop();
    if (data.k === 'close') globalThis.close();
  };
  const scope = globalThis as unknown as EventTarget;
  listen(scope, 'message', onMessage, true);
  // It stays until the creator has said that the recording is over: this worker's own port may have
  // said so before, and the app would hear it. The creator of a worker that records itself says
  // nothing.
  if (NATIVES_DRIVEN && says) lifetime.onRestore(() => unlisten(scope, 'message', onMessage, true));

  let panelEnd: MessagePort | null = null;
  if (recorder.shared) {
    const buffer = recorder.memory.buffer as unknown as SharedArrayBuffer;
    tell({
      k: 'ring',
      thread: identity,
      timeOrigin: performance.timeOrigin,
      buffer,
    });
  } else if (transport) {
    // what is sent waits in the other end, wherever that is on its way to the panel
    const { ours, theirs } = newChannel();
    panelEnd = theirs;
    if (NATIVES_DRIVEN) transport.connect(ours, says);
    else if (WORKERS_FILTERED) {
      const { post } = transport;
      transport.post = (message, transfer) => {
        apply(post, transport, [message, transfer]);
        if (message.k !== 'child') tell({ k: 'said', message });
      };
      const connect = (): void => {
        transport.post = post;
        transport.connect(ours);
      };
      setTimeout(() => setTimeout(connect, COLD_MS), 0);
    } else transport.connect(ours);
    transport.add(ownSource(session, transport));
    transport.onStop = stop;
    drainBeforeMessages(lifetime, recorder, () => transport.drain());
  }
  lifetime.method(globalThis, 'close', (native, self, args) => {
    transport?.drain();
    atLastTask(recorder, () => {
      transport?.finish('closed');
      if (recorder.shared) tell({ k: 'closed', thread: id });
    });
    return apply(native, self, args);
  });
  session.install(
    new Workers({
      recorder,
      id,
      base: () => base,
      refusals: () => environment.refused ?? [],
      onChild: (port) => transport?.child(port),
      // up to the page, under this worker's own id
      onMessage: tell,
      onTerminated: (child) =>
        transport ? transport.bye(child, 'terminated') : tell({ k: 'closed', thread: child }),
    }),
  );
  return panelEnd;
}
