/**
 * A recording without the extension: an app or a test holds its own trace and saves it as a `.vfst`
 * file, which the panel and the command line open. It holds what you instrument with it; nothing is
 * patched.
 */
import { RecordReader } from '../../event/batch.ts';
import type { CapturedLayer } from '../../event/capture.ts';
import { measureClockStepUs } from '../../event/clock.ts';
import { counters, drainRecords } from '../../record/drain.ts';
import { Op, RECORD_BYTES } from '../../event/event.ts';
import { TraceWriter } from '../../trace/file/write.ts';
import { Recorder } from '../../record/recorder.ts';
import { forgetBlock, type Keep } from '../../trace/retention.ts';
import { Header } from '../../record/ring-layout.ts';
import { OWN_RECORDING, TraceStore, type ThreadStore } from '../../trace/store.ts';

export interface RecordingOptions {
  /** The thread's name in the trace. Default: the script's file name, or 'recording'. */
  name?: string;
  /**
   * What to retain while the trace grows: everything, or the last seconds or megabytes (about 62
   * bytes an event, up to twice that until a block is dropped). Default: the last 64 megabytes, a
   * million events.
   */
  keep?: Keep;
  /**
   * The recorded layers, stored in the trace: any other layer wasn't recorded. Default: VFS calls,
   * the only layer that `instrument` records.
   */
  layers?: readonly CapturedLayer[];
}

/** Records in the ring. It drains itself when it is half full. */
const CAPACITY = 16384;
const KEEP: Keep = { kind: 'megabytes', megabytes: 64 };

export class Recording {
  /** The recorder that `instrument` writes to. */
  readonly recorder: Recorder;
  private readonly trace: TraceStore;
  private readonly thread: ThreadStore;
  private readonly keep: Keep;

  constructor(options: RecordingOptions = {}) {
    const place = (globalThis as { location?: { href: string; pathname: string } }).location;
    const inWindow = typeof document !== 'undefined';
    const url = place?.href ?? '';
    this.keep = options.keep ?? KEEP;
    this.recorder = new Recorder({ capacity: CAPACITY });
    this.trace = new TraceStore(performance.timeOrigin + performance.now());
    const name =
      options.name ?? (inWindow ? '' : (place?.pathname.split('/').pop() ?? 'recording'));
    const kind = inWindow ? 'page' : 'worker';
    this.thread = this.trace.thread({
      id: OWN_RECORDING,
      kind,
      url,
      name,
      parent: null,
      timeOrigin: performance.timeOrigin,
    });
    this.recorder.onPressure = () => {
      try {
        this.drain();
      } catch (error) {
        this.recorder.fault('draining', error);
      }
    };
    const { navigator } = globalThis as { navigator?: { userAgent: string } };
    const isolated = (globalThis as { crossOriginIsolated?: boolean }).crossOriginIsolated === true;
    this.recorder.emit({
      kind: 'environment',
      id: 0,
      url,
      threadKind: kind,
      crossOriginIsolated: isolated,
      clockStepUs: measureClockStepUs(),
      userAgent: navigator?.userAgent ?? '',
      hidden: inWindow ? document.hidden : null,
      capture: {
        capture: 0,
        layers: [...(options.layers ?? ['vfs'])],
        buffer: (CAPACITY * RECORD_BYTES) / 1024,
        stacks: false,
        messages: false,
        instructions: false,
      },
    });
    this.recorder.instant(Op.threadStart, 0, NaN, 0);
  }

  /** Events retained so far, and events lost for lack of space. */
  get events(): number {
    this.drain();
    return this.trace.eventCount;
  }
  get dropped(): number {
    this.drain();
    return this.trace.dropped;
  }

  /** The trace so far, for `summaryOf` and the other analyses. It grows with the recording. */
  store(): TraceStore {
    this.drain();
    return this.trace;
  }

  /** Pause recording. Pending calls still get their end. */
  pause(): void {
    this.recorder.enabled = false;
  }
  resume(): void {
    this.recorder.enabled = true;
  }

  /**
   * The trace so far as a `.vfst` file. The recording goes on.
   * @throws where this place has no CompressionStream
   */
  async save(): Promise<Blob> {
    const parts: Uint8Array<ArrayBuffer>[] = [];
    const sink = {
      write: (bytes: Uint8Array<ArrayBuffer>): void => void parts.push(bytes.slice()),
    };
    await new TraceWriter(this.store(), sink, { origin: originOf(this.thread.info.url) }).finish();
    return new Blob(parts, { type: 'application/octet-stream' });
  }

  private drain(): void {
    const { recorder, thread, trace } = this;
    const { buffer } = recorder.memory;
    for (;;) {
      const taken = drainRecords(buffer);
      const definitions = recorder.takeDefinitions();
      if (!taken && definitions.length === 0) break;
      const { dropped, faults } = counters(buffer);
      const batch = taken ?? {
        first: new Uint32Array(buffer)[Header.claimed >>> 2]!,
        count: 0,
        records: new ArrayBuffer(0),
      };
      thread.append({
        ...batch,
        thread: OWN_RECORDING,
        timeOrigin: performance.timeOrigin,
        dropped,
        faults,
        definitions,
      });
      if (!taken) break;
      forgetBlock(trace, this.keep, lastUs(taken.records, trace.originMs));
    }
    thread.dropped = counters(buffer).dropped;
  }
}

/** Trace time of the last record of a batch, microseconds. */
function lastUs(records: ArrayBuffer, originMs: number): number {
  const reader = new RecordReader(records);
  return (performance.timeOrigin - originMs + reader.t1(reader.count - 1)) * 1000;
}

function originOf(url: string): string {
  return /^https?:\/\/[^/]+/.exec(url)?.[0] ?? '';
}

/** Begin a recording on this thread: `instrument(vfs, startRecording())`. */
export function startRecording(options: RecordingOptions = {}): Recording {
  return new Recording(options);
}
