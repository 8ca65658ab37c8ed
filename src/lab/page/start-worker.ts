/** A worker of the Lab, asked over the same RPC as the viewer's store. */
import { remote } from '../../protocol/rpc.ts';

/** A worker's methods, and its end, which fails every request that is open. */
export interface Started<Api extends object> {
  readonly api: ReturnType<typeof remote<Api>>['api'];
  /** It was ended, or its script failed: it answers nothing any more. */
  readonly dead: boolean;
  end(error: Error): void;
}

/** @param what the subject of the sentence where its script fails @param onPush what it reports without being asked */
export function startWorker<Api extends object>(
  url: string,
  name: string,
  what: string,
  onPush: (message: unknown) => void = () => {},
): Started<Api> {
  const worker = new Worker(url, { type: 'module', name });
  const { api, fail } = remote<Api>(worker, onPush);
  const started = {
    api,
    dead: false,
    end(error: Error): void {
      this.dead = true;
      worker.terminate();
      fail(error);
    },
  };
  worker.onerror = ({ message }) =>
    started.end(new Error(`${what} failed: ${message || 'its script could not be loaded'}`));
  return started;
}
