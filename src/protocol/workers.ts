/**
 * Module workers that answer over the RPC, and workers beside those. The page starts them all: in Firefox a worker that starts a worker
 * itself stands still at times, for good (about 2 of 100 starts on busy cores).
 */
import { remote, type Channel } from './rpc.ts';

/** What a worker pushes to have another one of its own script started under this name; the port is that one's only message. */
interface WorkerPush {
  k: 'worker';
  name: string;
  port: MessagePort;
  /** Tells the worker that asked, as text, what goes wrong with it; anything from there ends it. */
  control: MessagePort;
}
const isWorkerPush = (message: unknown): message is WorkerPush =>
  (message as Partial<WorkerPush>).k === 'worker';

/** A worker's methods, and its end, which fails every request that is open. */
export interface Started<Api extends object> {
  readonly api: ReturnType<typeof remote<Api>>['api'];
  /** It was ended, or its script failed: it answers nothing any more. */
  readonly dead: boolean;
  /** Ends it and the workers that it asked for. @param error what open requests fail with: null leaves them open */
  end(error: Error | null): void;
}

/**
 * For a page.
 * @param url a module script @param failure of the reason why its script failed: what open requests fail with
 * @param onPush what it reports without being asked
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

/** @param alive takes it in while it runs */
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

/** A worker beside the one that asked for it. */
export interface Helper extends Channel {
  /** Called when its script can't be loaded or throws; without it that is an error of the worker that asked. */
  onFailed: ((message: string) => void) | null;
  terminate(): void;
}

/** Not so in Node, where nothing starts helpers. */
export const inWorker = 'WorkerGlobalScope' in globalThis;

/** For a worker that `startWorker` started: another one, of the same script. */
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

/** In such a helper: resolves with the end of the worker that asked for it. */
export const channelOfHelper = (): Promise<Channel> =>
  new Promise((done) => {
    self.onmessage = ({ data: { port } }: MessageEvent<{ port: MessagePort }>) => {
      port.start();
      done(port);
    };
  });
