/**
 * Limits of a recording: its events, memory, definitions, and the disk under its copy. Warns when
 * one is nearly reached. At a limit of the first three, the recording keeps its newest half and
 * continues (recording.ts), so that what is saved can be opened again.
 */
import { MAX_RECORDED_EVENTS, MAX_RECORDED_WORDS } from '../../trace/file/budget.ts';
import type { RecordingLimits, Room, RoomKind } from '../../protocol/session.ts';
import type { LoadedTrace } from './loaded-trace.ts';

const GiB = 2 ** 30;
/** Where the browser doesn't report the machine's memory (Firefox, Safari). */
const USUAL_MEMORY_GIB = 6;
/** Share of the machine's memory: the page, the browser, and the views need the rest. */
const SHARE_OF_MEMORY = 1 / 4;

/**
 * @param memoryGiB of the machine, from `navigator.deviceMemory`: at most 8, or 32 in newer
 * browsers
 */
export function limitsOf(
  memoryGiB = (globalThis.navigator as { deviceMemory?: number } | undefined)?.deviceMemory,
): RecordingLimits {
  const bytes = Math.min(2, Math.max(0.5, (memoryGiB ?? USUAL_MEMORY_GIB) * SHARE_OF_MEMORY)) * GiB;
  return { events: MAX_RECORDED_EVENTS, bytes, words: MAX_RECORDED_WORDS, disk: 256 << 20 };
}

/** Warn from here on. */
const NEAR = 0.8;
const LOOK_EVERY_MS = 200;
const LOOK_AT_DISK_EVERY_MS = 5000;
/** The rate is measured over this time. */
const RATE_OVER_MS = 20_000;

/** Bytes of the trace's columns, lanes, and definitions. */
function bytesOf({ store, lanes }: LoadedTrace): number {
  let bytes = lanes.bytes + store.words.used;
  for (const { events } of store.threads)
    bytes += (events.byteLength / Math.max(1, events.capacity)) * events.count;
  return bytes;
}

export class RecordingRoom {
  /** The current warning; null = there is enough room. */
  room: Omit<Room, 'forgotten'> | null = null;
  private looked = -Infinity;
  /** Number of events at that time. */
  private seen = 0;
  private lookedAtDisk = -Infinity;
  private diskLeft = Infinity;
  private history: { at: number; share: number }[] = [];

  constructor(
    private readonly limits: RecordingLimits,
    private readonly estimate:
      (() => Promise<StorageEstimate>) | undefined = globalThis.navigator?.storage?.estimate?.bind(
      navigator.storage,
    ),
  ) {}

  /** @param now ms, any steady clock @returns the limit that is reached; null = none */
  look(trace: LoadedTrace, now: number): RoomKind | null {
    const { limits } = this;
    const { eventCount } = trace.store;
    if (now - this.looked < LOOK_EVERY_MS && eventCount - this.seen < limits.events / 100)
      return null;
    this.looked = now;
    this.seen = eventCount;
    const used: [RoomKind, number, number][] = [
      ['events', eventCount, limits.events],
      ['memory', bytesOf(trace), limits.bytes],
      ['words', trace.store.words.used, limits.words],
    ];
    const [kind, amount, limit] = used.reduce((a, b) => (a[1] / a[2] >= b[1] / b[2] ? a : b));
    const share = amount / limit;
    const rate = this.rate(share, now);
    if (this.room?.reached) return share >= 1 ? kind : null;
    if (share >= NEAR)
      this.room = {
        kind,
        share,
        limit,
        secondsLeft: rate > 0 ? (1 - share) / rate : null,
        reached: false,
      };
    else this.lookAtDisk(now);
    return share >= 1 ? kind : null;
  }

  /** A limit is reached: from here on, the oldest events are dropped. */
  reach(kind: RoomKind, limit: number | null): void {
    if (!this.room?.reached)
      this.room = { kind, share: 1, limit, secondsLeft: null, reached: true };
  }

  /** Share of the limit, per second. */
  private rate(share: number, now: number): number {
    const { history } = this;
    history.push({ at: now, share });
    while (history.length > 2 && history[1]!.at <= now - RATE_OVER_MS) history.shift();
    const { at, share: before } = history[0]!;
    return now - at < 1000 ? 0 : ((share - before) * 1000) / (now - at);
  }

  private lookAtDisk(now: number): void {
    this.room =
      this.diskLeft < this.limits.disk
        ? { kind: 'disk', share: 1, limit: this.diskLeft, secondsLeft: null, reached: false }
        : null;
    if (!this.estimate || now - this.lookedAtDisk < LOOK_AT_DISK_EVERY_MS) return;
    this.lookedAtDisk = now;
    void this.estimate().then(
      ({ quota, usage }) => (this.diskLeft = quota === undefined ? Infinity : quota - (usage ?? 0)),
      () => (this.diskLeft = Infinity), // unknown: the copy itself reports when it can't grow
    );
  }
}
