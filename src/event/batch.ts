/**
 * Records on their way from a thread's ring to the store: raw 64-byte records plus the definitions
 * they use.
 */
import { Field, RECORD_BYTES } from './event.ts';
import type { Definition } from './definitions.ts';

/**
 * One thread's next records. With `first` and `count`, the receiver orders batches and detects
 * gaps.
 */
export interface Batch {
  /** Id of the thread, unique in the recording. */
  thread: string;
  /** Number of the first record since the thread began, modulo 2^32. */
  first: number;
  count: number;
  /** performance.timeOrigin of the thread, ms. */
  timeOrigin: number;
  /** Records lost on this thread so far. */
  dropped: number;
  /** Exceptions caught inside hooks on this thread so far. */
  faults: number;
  definitions: Definition[];
  /** count * RECORD_BYTES bytes; see `Field` */
  records: ArrayBuffer;
}

/** Read access to the records of a batch, field by field, without an object per record. */
export class RecordReader {
  readonly count: number;
  private readonly f64: Float64Array;
  private readonly u32: Uint32Array;
  private readonly i32: Int32Array;

  constructor(records: ArrayBuffer) {
    if (records.byteLength % RECORD_BYTES)
      throw new RangeError(
        `a batch holds whole records of ${RECORD_BYTES} bytes, got ${records.byteLength} bytes`,
      );
    this.count = records.byteLength / RECORD_BYTES;
    this.f64 = new Float64Array(records);
    this.u32 = new Uint32Array(records);
    this.i32 = new Int32Array(records);
  }
  private w(i: number, field: number): number {
    return (i * RECORD_BYTES + field) >>> 2;
  }
  t0(i: number): number {
    return this.f64[(i * RECORD_BYTES + Field.t0) >>> 3]!;
  }
  t1(i: number): number {
    return this.f64[(i * RECORD_BYTES + Field.t1) >>> 3]!;
  }
  seq(i: number): number {
    return this.u32[this.w(i, Field.seq)]!;
  }
  endSeq(i: number): number {
    return this.u32[this.w(i, Field.endSeq)]!;
  }
  op(i: number): number {
    return this.u32[this.w(i, Field.op)]! & 255;
  }
  flags(i: number): number {
    return (this.u32[this.w(i, Field.op)]! >>> 8) & 255;
  }
  result(i: number): number {
    return this.i32[this.w(i, Field.result)]!;
  }
  offset(i: number): number {
    return this.f64[(i * RECORD_BYTES + Field.offset) >>> 3]!;
  }
  length(i: number): number {
    return this.u32[this.w(i, Field.length)]!;
  }
  object(i: number): number {
    return this.u32[this.w(i, Field.object)]!;
  }
  parent(i: number): number {
    return this.u32[this.w(i, Field.parent)]!;
  }
  context(i: number): number {
    return this.u32[this.w(i, Field.context)]!;
  }
  aux(i: number): number {
    return this.u32[this.w(i, Field.aux)]!;
  }
  aux2(i: number): number {
    return this.u32[this.w(i, Field.aux2)]!;
  }
}
