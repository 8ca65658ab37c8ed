/**
 * The last calls of this thread, as records of the event model (event/event.ts) in a ring that
 * overwrites its oldest. Only a trace of the last seconds reads it, so it doesn't need
 * record/recorder.ts's protection against losses.
 */
import type { Definition } from '../event/definitions.ts';
import { Field, RECORD_BYTES } from '../event/event.ts';

const W = (byte: number): number => byte >>> 2;
/** The thread's clock, looked up once because the global is an accessor and every call is timed. */
export const clock: Pick<Performance, 'now'> = performance;

/** Maximum texts and names. Later ones have no name in a trace. */
const MOST_DEFINITIONS = 2000;

/** The content of a trace. It can be posted to another thread. */
export interface LastSeconds {
  /** Whole records, the oldest first. */
  records: ArrayBuffer;
  definitions: Definition[];
  timeOrigin: number;
  kind: 'page' | 'worker';
  url: string;
  agent: string;
  isolated: boolean;
}

type WithoutId<D> = D extends Definition ? Omit<D, 'id'> : never;

export class Ring {
  private readonly f64: Float64Array;
  private readonly u32: Uint32Array;
  private readonly definitions: Definition[] = [];
  private ids = 0;
  private count = 0;
  /** seq of the last record. */
  seq = 0;
  /** seq of the current SQL call, which other calls serve. */
  current = 0;

  /** @param capacity records, a power of two */
  constructor(private readonly capacity: number) {
    const memory = new ArrayBuffer(capacity * RECORD_BYTES);
    this.f64 = new Float64Array(memory);
    this.u32 = new Uint32Array(memory);
  }

  /** @returns the argument for `end`: how many calls have begun */
  begin(op: number, object: number, at: number, context = 0, aux = 0): number {
    const { f64, u32 } = this;
    const token = ++this.count;
    const byte = this.byteOf(token);
    const w = W(byte);
    const seq = ++this.seq;
    f64[byte >>> 3] = f64[(byte + Field.t1) >>> 3] = at;
    f64[(byte + Field.offset) >>> 3] = NaN;
    u32[w + W(Field.seq)] = seq;
    u32[w + W(Field.op)] = op;
    u32[w + W(Field.object)] = object;
    u32[w + W(Field.parent)] = this.current;
    u32[w + W(Field.context)] = context;
    u32[w + W(Field.aux)] = aux;
    u32[w + W(Field.endSeq)] = 0;
    u32[w + W(Field.result)] = 0;
    u32[w + W(Field.length)] = 0;
    u32[w + W(Field.aux2)] = 0;
    return token;
  }
  private byteOf(token: number): number {
    return ((token - 1) & (this.capacity - 1)) * RECORD_BYTES;
  }

  /** How many calls have begun. */
  get calls(): number {
    return this.count;
  }

  end(token: number, at: number, result: number, flags = 0): void {
    const { f64, u32 } = this;
    const byte = this.byteOf(token);
    const w = W(byte);
    const endSeq = ++this.seq;
    if (this.count - token >= this.capacity) return; // overwritten
    f64[(byte + Field.t1) >>> 3] = at;
    u32[w + W(Field.endSeq)] = endSeq;
    u32[w + W(Field.op)]! |= flags << 8;
    u32[w + W(Field.result)] = result;
  }

  /** @returns its id; 0 where there are too many */
  define(definition: WithoutId<Definition>): number {
    if (this.definitions.length >= MOST_DEFINITIONS) return 0;
    const id = ++this.ids;
    this.definitions.push({ ...definition, id } as Definition);
    return id;
  }
  /** An id without a definition, such as a connection's. */
  nextId(): number {
    return ++this.ids;
  }

  /** Operations that began in [`from`, `to`) and haven't ended, ms. */
  pending(from: number, to: number): number[] {
    const found: number[] = [];
    const { f64, u32, capacity, count } = this;
    for (let slot = Math.min(count, capacity) - 1; slot >= 0; slot--) {
      const byte = slot * RECORD_BYTES;
      const w = W(byte);
      const at = f64[byte >>> 3]!;
      if (u32[w + W(Field.endSeq)] === 0 && at >= from && at < to)
        found.push(u32[w + W(Field.op)]! & 255);
    }
    return found;
  }

  /** The ring's content. @param ms how far back */
  last(ms: number): LastSeconds {
    const { capacity, count, f64 } = this;
    const since = clock.now() - ms;
    const kept: Uint8Array[] = [];
    for (let i = Math.max(0, count - capacity); i < count; i++) {
      const byte = (i % capacity) * RECORD_BYTES;
      const running = this.u32[W(byte + Field.endSeq)] === 0;
      if (running || f64[(byte + Field.t1) >>> 3]! >= since)
        kept.push(new Uint8Array(f64.buffer, byte, RECORD_BYTES));
    }
    const records = new Uint8Array(kept.length * RECORD_BYTES);
    kept.forEach((record, i) => records.set(record, i * RECORD_BYTES));
    return {
      records: records.buffer,
      definitions: [...this.definitions],
      timeOrigin: performance.timeOrigin,
      kind: typeof document === 'undefined' ? 'worker' : 'page',
      url: location.href.replace(/[?#].*$/s, ''), // those may contain users' data
      agent: navigator.userAgent,
      isolated: globalThis.crossOriginIsolated === true,
    };
  }
}
