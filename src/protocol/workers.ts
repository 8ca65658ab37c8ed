/**
 * Module workers that answer over the RPC, with their helper workers. The page starts all of them,
 * because in Firefox a worker that starts a worker sometimes hangs forever (about 2 of 100 starts
 * on busy cores).
 */
import { remote, type Channel } from './rpc.ts';

/**
 * A worker's push message that requests another worker of the same script under this name. The port
 * is the only message to the new worker.
 */
interface WorkerPush {
  k: 'worker';
  name: string;
  port: MessagePort;
  /**
   * Sends an error of the new worker, as text, to the worker that requested it. Any message in the
   * other direction ends the new worker.
   */
  control: MessagePort;
}
const isWorkerPush = (message: unknown): message is WorkerPush =>
  (message as Partial<WorkerPush>).k === 'worker';

/** A worker's methods, and a function that ends it, which rejects every open request. */
export interface Started<Api extends object> {
  readonly api: ReturnType<typeof remote<Api>>['api'];
  /** It was terminated, or its script failed: it answers nothing from then on. */
  readonly dead: boolean;
  /** Ends it and its helper workers. @param error for the open requests; null leaves them open */
  end(error: Error | null): void;
}

/**
 * For a page.
 * @param url a module script
 * @param failure turns the reason why its script failed into the error for open requests
 * @param onPush receives its pushes
 */
export function startWorker<Api extends object>(
  url: string,
  name: string,
  failure: (reason: string) => Error,
  onPush: (message: unknown) => void = () => {},
): Started<Api> {
  const worker = new Worker(url, { type: 'module', name });
  const alive = new Set([worker]);
  const { api, fail } = remote<Api>(worker, (message) =>
    isWorkerPush(message) ? startBeside(url, message, alive) : onPush(message),
  );
  const started = {
    api,
    dead: false,
    end(error: Error | null): void {
      this.dead = true;
      for (const each of alive) each.terminate();
      if (error) fail(error);
    },
  };
  worker.onerror = ({ message }) => started.end(failure(message || NOT_LOADED));
  return started;
}
const NOT_LOADED = 'its script could not be loaded';

/** @param alive contains it while it runs */
function startBeside(url: string, { name, port, control }: WorkerPush, alive: Set<Worker>): void {
  const worker = new Worker(url, { type: 'module', name });
  alive.add(worker);
  worker.postMessage({ port }, [port]);
  worker.onerror = ({ message }) => control.postMessage(message || NOT_LOADED);
  control.onmessage = () => {
    worker.terminate();
    alive.delete(worker);
    control.close();
  };
}

/** A helper, beside the worker that requested it. */
export interface Helper extends Channel {
  /**
   * Called when its script can't be loaded or throws. Without it, the requesting worker gets an
   * error.
   */
  onFailed: ((message: string) => void) | null;
  terminate(): void;
}

/** Doesn't work in Node, where nothing starts helpers. */
export const inWorker = 'WorkerGlobalScope' in globalThis;

/** In a worker that `startWorker` started: starts another one with the same script. */
export function startHelper(name: string): Helper {
  const [talk, control] = [new MessageChannel(), new MessageChannel()];
  const helper: Helper = Object.assign(talk.port1, {
    onFailed: null,
    terminate: () => control.port1.postMessage(null),
  });
  control.port1.onmessage = ({ data }: MessageEvent<string>) =>
    helper.onFailed ? helper.onFailed(data) : reportError(new Error(data));
  talk.port1.start();
  const push: WorkerPush = { k: 'worker', name, port: talk.port2, control: control.port2 };
  self.postMessage({ push }, { transfer: [push.port, push.control] });
  return helper;
}

/** In such a helper: resolves when the worker that requested it ends. */
export const channelOfHelper = (): Promise<Channel> =>
  new Promise((done) => {
    self.onmessage = ({ data: { port } }: MessageEvent<{ port: MessagePort }>) => {
      port.start();
      done(port);
    };
  });
