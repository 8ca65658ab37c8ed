/**
 * Chunks of a large file are unpacked in a worker of their own, beside the one that takes their events in: two threads share what opening
 * a file costs. Started with the file and ended with it. As long as it is not there, or where it fails, chunks are unpacked here.
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
  /** Of the current chunk: room for each of them would be megabytes, given back when the collector comes. */
  private readonly rows = new EventColumns(CHUNK_EVENTS);

  /** @param payload of a chunk @returns its events in narrow columns, with no more room than they need */
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

  /** Start a worker. @param worthIt on a machine of so many processors @returns null where it is not, or there can be none */
  static start(worthIt: (processors: number) => boolean): Unpacker | null {
    if (!inWorker || navigator.hardwareConcurrency < 2 || !worthIt(navigator.hardwareConcurrency))
      return null;
    const worker = startHelper(UNPACKER);
    const unpacker = new Unpacker(worker);
    worker.onFailed = () => unpacker.stop(); // its script could not be loaded, or it ran out of memory
    return unpacker;
  }

  readonly unpack: UnpackElsewhere = (payload) => (this.ready ? this.ask(payload) : null);

  /** @throws MalformedError as `unpackChunk` does */
  private async ask(payload: Uint8Array): Promise<EventColumns> {
    try {
      return Object.assign(
        new EventColumns(0, 'narrow'),
        await this.far.api.unpack(payload.slice()),
      ); // a part of a window would take all of it along
    } catch (error) {
      if (error instanceof RemoteError && error.name === MalformedError.name)
        throw new MalformedError(error.message);
      return unpackChunk(payload); // the worker is gone: the file is not at fault
    }
  }

  /** End the worker; what it was asked for is unpacked here. */
  stop(): void {
    this.ready = false;
    this.channel.terminate?.();
    this.far.fail(new Error('the worker has ended'));
  }
}
