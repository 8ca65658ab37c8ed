/**
 * Sends this worker's records as a hook does: in batches every 50 ms, or during a long synchronous
 * task when the ring is half full, over a port with the recording protocol. So the viewer handles a
 * run of the Lab like a page.
 */
import { isThreadCommand, PROTOCOL_VERSION, type ThreadMessage } from '../../protocol/messages.ts';
import { counters, drainRecords } from '../../record/drain.ts';
import { measureClockStepUs } from '../../event/clock.ts';
import { CAPTURE_DEFAULTS, DRAIN_EVERY_MS } from '../../event/capture.ts';
import { Op } from '../../event/event.ts';
import { Recorder } from '../../record/recorder.ts';
import { Header } from '../../record/ring-layout.ts';

export class TraceSender {
  readonly recorder = new Recorder({ capacity: 16384 });
  private readonly id = crypto.randomUUID();
  private readonly timer: ReturnType<typeof setInterval>;

  constructor(private readonly port: MessagePort) {
    const { recorder } = this;
    const identity = {
      id: this.id,
      kind: 'worker' as const,
      url: location.href,
      name: 'lab run',
      parent: null,
    };
    this.post({
      k: 'hello',
      protocol: PROTOCOL_VERSION,
      thread: identity,
      timeOrigin: performance.timeOrigin,
    });
    recorder.emit({
      kind: 'environment',
      id: 0,
      url: location.href,
      threadKind: 'worker',
      crossOriginIsolated: globalThis.crossOriginIsolated,
      clockStepUs: measureClockStepUs(),
      userAgent: navigator.userAgent,
      hidden: null,
      capture: CAPTURE_DEFAULTS,
    });
    recorder.instant(Op.threadStart, 0, NaN, 0);
    recorder.onPressure = () => this.drain();
    port.onmessage = ({ data }: MessageEvent<unknown>) => {
      if (isThreadCommand(data) && data.k === 'stop') this.finish();
    };
    this.timer = setInterval(() => this.drain(), DRAIN_EVERY_MS);
  }

  /** Send the rest and say goodbye. */
  finish(): void {
    clearInterval(this.timer);
    this.recorder.instant(Op.threadEnd, 0, NaN, 0);
    this.recorder.enabled = false;
    this.drain();
    this.post({ k: 'bye', thread: this.id, reason: 'stopped' });
  }

  private drain(): void {
    const { recorder } = this;
    const { buffer } = recorder.memory;
    const taken = drainRecords(buffer);
    const definitions = recorder.takeDefinitions();
    if (!taken && definitions.length === 0) return;
    const records = taken?.records ?? new ArrayBuffer(0);
    const first = taken?.first ?? new Uint32Array(buffer)[Header.claimed >>> 2]!;
    const batch = {
      thread: this.id,
      first,
      count: taken?.count ?? 0,
      timeOrigin: performance.timeOrigin,
      ...counters(buffer),
      definitions,
      records,
    };
    this.post({ k: 'batch', batch }, [records]);
  }

  private post(message: ThreadMessage, transfer: Transferable[] = []): void {
    this.port.postMessage(message, transfer);
  }
}
