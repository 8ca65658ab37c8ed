/**
 * Workers beside the store's. The page starts them: in Firefox a worker that starts a worker itself stands still at times, for good (about 2
 * of 100 starts on busy cores).
 */
import type { Channel } from '../../protocol/rpc.ts';
import type { WorkerPush } from '../../protocol/session.ts';

/** A worker that runs the store's script under another name. */
export interface Helper extends Channel {
  /** Called when its script can't be loaded or throws; without it that is an error of the store's worker. */
  onFailed: ((message: string) => void) | null;
  terminate(): void;
}

/** Not so in Node, where nobody starts helpers. */
export const inWorker = 'WorkerGlobalScope' in globalThis;

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

/** In such a worker: resolves with the store's end. */
export const channelOfHelper = (): Promise<Channel> =>
  new Promise((done) => {
    self.onmessage = ({ data: { port } }: MessageEvent<{ port: MessagePort }>) => {
      port.start();
      done(port);
    };
  });
