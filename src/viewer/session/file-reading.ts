/**
 * Reads one file at a time: first its summaries, if it has any. Reports progress and can be
 * canceled.
 */
import { readOverview, type TraceOverview } from '../../trace/file/overview.ts';
import { readTrace, type ReadResult } from '../../trace/file/read.ts';
import type { TraceStore } from '../../trace/store.ts';
import type { LoadProgress, LoadResult } from '../../protocol/session.ts';
import { yieldToMessages } from '../yield.ts';
import { Unpacker } from './unpacker.ts';

/** Smaller files are read faster than a summary is found. */
const OVERVIEW_FROM_EVENTS = 100_000;

/**
 * Files with fewer events are unpacked in the store's worker. Starting another worker costs more
 * than it saves, mostly for compiling its code. On two processors, both are busy with this worker's
 * compilation and the picture.
 */
const unpackBesideFrom = (processors: number): number => (processors > 2 ? 500_000 : 2_000_000);
/**
 * Smaller files (up to about ten million events) are read at once: reading a summary's hundred
 * parts one by one takes longer.
 */
const WHOLE_BELOW_BYTES = 32 << 20;

/**
 * Interval of progress reports. Each makes the drawing side draw, on a processor that reading could
 * use.
 */
const TELL_EVERY_MS = 100;

interface Reading {
  /** For a large file, before its events are read. Canceling after this keeps what was read. */
  onOverview?(overview: TraceOverview): Promise<void>;
  onStore?(store: TraceStore): void;
  /** Something was read into the store. */
  onSection?(store: TraceStore): void;
  /** What was read, unless it was canceled. */
  take(result: ReadResult): Promise<void> | void;
}

export class FileReading {
  private running: AbortController | null = null;
  /** Settles when nothing is being read. */
  done: Promise<unknown> = Promise.resolve();

  constructor(private readonly onProgress: (progress: LoadProgress) => void) {}

  /**
   * @param name for error messages
   * @throws AbortError if another file was requested meanwhile, or it was canceled before there was
   * an overview; else an error that names the file
   */
  read(file: Blob, name: string, reading: Reading): Promise<LoadResult> {
    this.running?.abort();
    const abort = new AbortController();
    this.running = abort;
    const before = this.done;
    const result = before.then(() => this.readNow(file, name, reading, abort));
    this.done = result.catch(() => undefined); // reported to the caller
    return result;
  }

  private async readNow(
    file: Blob,
    name: string,
    reading: Reading,
    abort: AbortController,
  ): Promise<LoadResult> {
    const { signal } = abort;
    let store: TraceStore | null = null;
    let unpacker: Unpacker | null = null;
    let toldAt = -Infinity;
    try {
      const source =
        file.size < WHOLE_BELOW_BYTES ? new Uint8Array(await file.arrayBuffer()) : file;
      signal.throwIfAborted();
      const overview = reading.onOverview ? await readOverview(source) : null;
      const events = overview ? [...overview.events.values()].reduce((sum, n) => sum + n, 0) : 0;
      const keepPart = overview !== null && events >= OVERVIEW_FROM_EVENTS;
      signal.throwIfAborted();
      if (keepPart) await reading.onOverview!(overview);
      unpacker = Unpacker.start((processors) => events >= unpackBesideFrom(processors));
      const result = await readTrace(source, {
        signal,
        keepPart,
        rest: yieldToMessages,
        ...(unpacker ? { unpack: unpacker.unpack } : {}),
        ...(overview ? { expected: overview.events } : {}),
        onStore: (made) => reading.onStore?.((store = made)),
        onProgress: (bytes, totalBytes) => {
          reading.onSection?.(store!);
          const now = performance.now();
          if (now - toldAt < TELL_EVERY_MS) return;
          toldAt = now;
          this.onProgress({ bytes, totalBytes });
        },
      });
      if (!keepPart || this.running !== abort) signal.throwIfAborted();
      await reading.take(result);
      const { warnings, partial = false } = result;
      return {
        events: result.store.eventCount,
        threads: result.store.threads.length,
        warnings,
        partial,
      };
    } catch (error) {
      signal.throwIfAborted(); // as an AbortError, whatever the reader threw
      throw error instanceof Error
        ? new Error(`${name}: ${error.message}`, { cause: error })
        : error;
    } finally {
      unpacker?.stop();
      if (this.running === abort) this.running = null;
    }
  }

  cancel(): void {
    this.running?.abort();
  }
}
