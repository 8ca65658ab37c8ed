/**
 * Unpacks chunks of a large file in a separate worker, next to the one that takes in their events,
 * so that two threads share the work of opening a file. Started with the file and ended with it.
 * Until it has started, or if it fails, chunks are unpacked here.
 */
import { EventColumns } from '../../trace/columns.ts';
import { MalformedError } from '../../trace/file/bytes.ts';
import { CHUNK_EVENTS } from '../../trace/file/format.ts';
import { unpackChunk, type UnpackElsewhere } from '../../trace/file/load.ts';
import { remote, RemoteError, serve, type Channel } from '../../protocol/rpc.ts';
import { inWorker, startHelper } from '../../protocol/workers.ts';

/** Name of the worker: the same script as the store's. */
export const UNPACKER = 'vfscope unpacker';
const READY = 'ready';

/** The worker's side. */
class Unpacking {
  /**
   * Reused for each chunk, because separate buffers would be megabytes that wait for garbage
   * collection.
   */
  private readonly rows = new EventColumns(CHUNK_EVENTS);

  /** @param payload of a chunk @returns its events in narrow columns without spare room */
  async unpack(payload: Uint8Array): Promise<object> {
    return { ...(await unpackChunk(payload, narrowed, this.rows)) };
  }
}
function narrowed(rows: EventColumns): EventColumns {
  const narrow = new EventColumns(rows.count, 'narrow');
  narrow.append(rows);
  return narrow;
}

export const serveUnpacking = (channel: Channel): void => serve(channel, new Unpacking())(READY);

export class Unpacker {
  private ready = false;
  private readonly far: ReturnType<typeof remote<Unpacking>>;

  /** @param channel to a worker that runs `serveUnpacking` */
  constructor(private readonly channel: Channel & { terminate?(): void }) {
    this.far = remote<Unpacking>(channel, (message) => (this.ready = message === READY));
  }

  /**
   * Start a worker. @param worthIt whether it pays off on a machine with so many processors
   * @returns null if it doesn't, or if there can't be one
   */
  static start(worthIt: (processors: number) => boolean): Unpacker | null {
    if (!inWorker || navigator.hardwareConcurrency < 2 || !worthIt(navigator.hardwareConcurrency))
      return null;
    const worker = startHelper(UNPACKER);
    const unpacker = new Unpacker(worker);
    // its script could not be loaded, or it ran out of memory
    worker.onFailed = () => unpacker.stop();
    return unpacker;
  }

  readonly unpack: UnpackElsewhere = (payload) => (this.ready ? this.ask(payload) : null);

  /** @throws MalformedError as `unpackChunk` does */
  private async ask(payload: Uint8Array): Promise<EventColumns> {
    try {
      return Object.assign(
        new EventColumns(0, 'narrow'),
        await this.far.api.unpack(payload.slice()),
      ); // transferring part of a view would transfer the whole buffer
    } catch (error) {
      if (error instanceof RemoteError && error.name === MalformedError.name)
        throw new MalformedError(error.message);
      return unpackChunk(payload); // the worker has failed, not the file
    }
  }

  /** End the worker. Its pending requests are unpacked here. */
  stop(): void {
    this.ready = false;
    this.channel.terminate?.();
    this.far.fail(new Error('the worker has ended'));
  }
}
