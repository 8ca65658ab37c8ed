/**
 * Isolated pages: a worker hands its trace memory up to the page, or to the shared worker that made
 * it. Only that thread reads it. So even a worker that blocks in Atomics.wait and never answers is
 * recorded. This file holds the list of these memories.
 */
import type { ThreadIdentity } from '../protocol/messages.ts';
import type { Recorder } from '../record/recorder.ts';
import type { FromWorker } from './creator-wire.ts';
import { drainSharedDefinitions } from '../record/drain.ts';
import { RECORD_BYTES } from '../event/event.ts';
import { Header, MOST_RECORDS, RING_AT } from '../record/ring-layout.ts';
import { WORKERS_FILTERED } from './source.ts';
import type { Transport } from './transport.ts';

interface SharedRing {
  identity: ThreadIdentity;
  words: Uint32Array;
}

export class SharedRings {
  private readonly rings = new Map<string, SharedRing>();
  constructor(
    private readonly transport: Transport,
    private readonly recorder: Recorder,
  ) {}

  /** A worker's message about its own ring, or about one below it. */
  receive(message: FromWorker): void {
    try {
      if (message.k === 'ring') this.add(message.thread, message.timeOrigin, message.buffer);
      else if (message.k === 'closed') this.finish(message.thread, 'closed');
      else if (WORKERS_FILTERED && message.k === 'said') this.transport.post(message.message);
    } catch (e) {
      this.recorder.fault('a worker of this thread', e);
    }
  }

  /** Read this ring from now on. @throws RangeError when the memory is not a ring */
  private add(identity: ThreadIdentity, timeOrigin: number, buffer: SharedArrayBuffer): void {
    const words = new Uint32Array(buffer);
    const capacity = words[Header.capacity >>> 2]!;
    const definitionsAt = RING_AT + capacity * RECORD_BYTES;
    if (
      capacity > MOST_RECORDS ||
      definitionsAt + words[Header.definitionsCapacity >>> 2]! > buffer.byteLength
    )
      throw new RangeError(`a ring of ${capacity} records is cut`);
    this.rings.set(identity.id, { identity, words });
    this.transport.add({
      identity,
      timeOrigin,
      buffer,
      takeDefinitions: () => drainSharedDefinitions(buffer, definitionsAt),
    });
  }

  /** The app has terminated a worker. */
  terminated(id: string): void {
    if (this.rings.has(id)) this.finish(id, 'terminated');
    else this.transport.bye(id, 'terminated');
  }

  /** A worker has ended: read the rest of its ring, and of the rings of the workers below it. */
  private finish(id: string, reason: 'closed' | 'terminated'): void {
    for (const { identity } of [...this.rings.values()])
      if (identity.parent === id) this.finish(identity.id, reason);
    if (this.rings.delete(id)) this.transport.finish(reason, id);
  }

  /** The page ends, and its workers with it. */
  finishAll(reason: 'closed' | 'terminated'): void {
    for (const id of [...this.rings.keys()]) this.finish(id, reason);
  }

  /** The recording is over. This flag is the only way to reach blocked workers. */
  disable(): void {
    for (const { words } of this.rings.values()) Atomics.store(words, Header.enabled >>> 2, 0);
  }
}
