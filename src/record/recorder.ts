/**
 * The recorder of a thread: a ring of records with switches and counts in its header
 * (ring-layout.ts), definitions of the ids in records, and faults of the hook itself. begin and end
 * are the hot path in JavaScript: fixed-size records, no object per event. The trampolines of
 * vfs-instrumented/interpose write the same records from wasm.
 *
 * begin, end, instant, emit, define, note, and fault never throw: they run in the app's own calls,
 * some of which have no caller that would catch. Internal errors are counted as faults.
 */
import type { CaptureLevel } from '../event/capture.ts';
import type { Definition } from '../event/definitions.ts';
import { Field, Flag, Op, RECORD_BYTES } from '../event/event.ts';
import { DefinitionQueue } from './definition-queue.ts';
import { EngineBlocks } from './engine-blocks.ts';
import { messageAt, wordsOf } from './error-message.ts';
import { Header, MOST_RECORDS, RING_AT, ringLayout, type RingLayout } from './ring-layout.ts';

/**
 * A started call: sequence number * SLOTS + ring slot. -1 if nothing was recorded (disabled, or no
 * room). Split with `&`, which is exact for integers of any size: `%` of a number beyond 31 bits
 * calls into the C library.
 */
export type Token = number;
export const NOTHING: Token = -1;

type EngineFunction = (...args: number[]) => unknown;

const W = (byte: number): number => byte >>> 2;
const SLOTS = MOST_RECORDS;
const SLOT = SLOTS - 1;

/** Definition without its id, which the recorder assigns. */
type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
export type NewDefinition = DistributiveOmit<Extract<Definition, { id: number }>, 'id'>;

export interface RecorderOptions {
  /** Records in the ring: a power of two up to MOST_RECORDS. */
  capacity?: number;
  /** Back the ring by a SharedArrayBuffer, so that another thread can read it. */
  shared?: boolean;
  maxEngines?: number;
  /** How much of error messages is stored; default 1. */
  level?: CaptureLevel;
  now?: () => number;
}

/** The thread's, from before the app's first line. */
const clock = performance.now.bind(performance);
/** A threshold that no ring reaches. */
const NEVER = 0xffffffff;
/** Maximum number of faults with a description; all are counted. */
const MAX_FAULT_NOTES = 20;

/**
 * A wasm memory reserves about 10 GB of addresses, of which a process has 1 TB. None is allocated
 * if no engine will import it. If the process has no addresses left, everything except the engines
 * is recorded.
 */
function traceMemory(
  pages: number,
  shared: boolean,
  imported: boolean,
): { memory: WebAssembly.Memory; refused?: unknown } {
  const bytes = pages * 65536;
  const plain = (): WebAssembly.Memory =>
    ({ buffer: new (shared ? SharedArrayBuffer : ArrayBuffer)(bytes) }) as WebAssembly.Memory;
  if (!imported) return { memory: plain() };
  try {
    return { memory: new WebAssembly.Memory({ initial: pages, maximum: pages, shared }) };
  } catch (refused) {
    return { memory: plain(), refused };
  }
}

export class Recorder {
  readonly memory: WebAssembly.Memory;
  readonly layout: RingLayout;
  readonly shared: boolean;
  readonly level: CaptureLevel;
  /**
   * Called when the ring holds `Header.pressure` undrained records, and at the first call after
   * `Header.due`, within the app's own call. Must not throw.
   */
  onPressure: () => void = () => {};
  private readonly definitions: DefinitionQueue;
  readonly engineBlocks: EngineBlocks;
  private lastId = 0;
  private faulting = false;
  private readonly u32: Uint32Array;
  private readonly i32: Int32Array;
  private readonly f64: Float64Array;
  private readonly mask: number;
  /**
   * The thread's clock: ms, like performance.now(). The trampolines call it with the seq of the
   * record that they begin or end. The instruction counter replaces it before engines load, to read
   * its counter at these moments.
   */
  now: (seq?: number) => number;
  /** What the tracer may call of an engine, by its name; null = leave it alone. */
  lent = (_name: string, fn: EngineFunction): EngineFunction | null => fn;

  constructor(options: RecorderOptions = {}) {
    const { capacity = 16384, shared = false, maxEngines = 16, level = 1, now } = options;
    this.shared = shared;
    this.level = level;
    this.layout = ringLayout(capacity, shared ? 1 << 20 : 0, maxEngines);
    const pages = Math.ceil(this.layout.totalBytes / 65536);
    const { memory, refused } = traceMemory(pages, shared, maxEngines > 0);
    this.memory = memory;
    const { buffer } = this.memory;
    this.u32 = new Uint32Array(buffer);
    this.i32 = new Int32Array(buffer);
    this.f64 = new Float64Array(buffer);
    this.definitions = new DefinitionQueue(buffer, shared ? this.layout : null);
    this.engineBlocks = new EngineBlocks(buffer, this.layout);
    this.mask = capacity - 1;
    this.now = now ?? clock;
    this.u32[W(Header.capacity)] = capacity;
    this.u32[W(Header.definitionsCapacity)] = this.layout.definitionsCapacity;
    this.askForDrains(shared ? 0 : capacity);
    this.u32[W(Header.enabled)] = 1;
    if (refused !== undefined) this.fault('memory for engines', refused);
  }

  /**
   * Call `onPressure` when that many records wait, or half of what the ring holds (0 = never), and
   * at the first call after `dueMs`.
   */
  askForDrains(records: number, dueMs = Infinity): void {
    this.f64[W(Header.due) >>> 1] = dueMs;
    Atomics.store(
      this.u32,
      W(Header.pressure),
      Math.min(records, this.layout.capacity >>> 1) || NEVER,
    );
  }

  get enabled(): boolean {
    return this.u32[W(Header.enabled)] === 1;
  }
  set enabled(on: boolean) {
    Atomics.store(this.u32, W(Header.enabled), on ? 1 : 0);
  }
  get dropped(): number {
    return this.u32[W(Header.dropped)]!;
  }
  get faults(): number {
    return this.u32[W(Header.faults)]!;
  }
  /** seq of the innermost open vfs or sql call; 0 = none. */
  get current(): number {
    return this.u32[W(Header.current)]!;
  }
  /** Records begun so far, modulo 2^32. */
  get begunRecords(): number {
    return this.u32[W(Header.head)]!;
  }
  /** Undrained records. */
  get backlogRecords(): number {
    return (this.u32[W(Header.head)]! - this.u32[W(Header.claimed)]!) >>> 0;
  }

  /** An exception inside a hook: counted, described once drained, and never passed to the app. */
  fault(where: string, error: unknown): void {
    this.u32[W(Header.faults)]!++;
    if (this.faulting || this.u32[W(Header.faults)]! > MAX_FAULT_NOTES) return;
    this.faulting = true; // a note that can't be stored is a fault, too, and must not recurse
    this.note('tracer-error', `${where}: ${messageAt(this.level, wordsOf(error))}`);
    this.faulting = false;
  }

  nextId(): number {
    return ++this.lastId;
  }

  /**
   * Give an id to a new object and say what it is. Once per object, before the first record that
   * uses it.
   */
  define(definition: NewDefinition): number {
    const id = this.nextId();
    this.emit({ ...definition, id } as Definition);
    return id;
  }

  /** Something the user should know about this thread: shown in the panel. */
  note(topic: Extract<Definition, { kind: 'note' }>['topic'], text: string, url?: string): void {
    this.emit(
      url === undefined
        ? { kind: 'note', id: 0, topic, text }
        : { kind: 'note', id: 0, topic, text, url },
    );
  }

  emit(definition: Definition): void {
    try {
      this.definitions.add(definition);
    } catch (e) {
      this.fault(`a definition (${definition.kind})`, e);
    }
  }

  /** Definitions waiting on a thread that drains itself. Returned once. */
  takeDefinitions(): Definition[] {
    return this.definitions.take();
  }

  /**
   * Begin a call. Writes the record and publishes it. The caller then runs the app's function, then
   * calls `end`.
   * @param offset bytes or a numeric key; NaN = not applicable
   * @param length bytes
   * @param aux, aux2 see `AUX` in event.ts
   */
  begin(
    op: number,
    object: number,
    offset: number,
    length: number,
    aux = 0,
    context = 0,
    aux2 = 0,
  ): Token {
    if (this.u32[W(Header.enabled)] === 0) return NOTHING;
    try {
      return this.write(op, object, offset, length, aux, context, aux2, true);
    } catch (e) {
      this.fault('begin', e);
      return NOTHING;
    }
  }

  /** `begin` and `enter` in one: until `leave`, calls that begin are children of this call. */
  beginInside(
    op: number,
    object: number,
    offset: number,
    length: number,
    aux: number,
    aux2: number,
  ): Token {
    const { u32 } = this;
    if (u32[W(Header.enabled)] === 0) return NOTHING;
    try {
      const token = this.write(op, object, offset, length, aux, 0, aux2, true);
      if (token === NOTHING) return NOTHING;
      u32[W(Header.current)] = u32[W(Header.seq)]!;
      u32[W(Header.context)] = 0;
      return token;
    } catch (e) {
      this.fault('begin', e);
      return NOTHING;
    }
  }

  /** @param timed false: uses the clock's last reading */
  private write(
    op: number,
    object: number,
    offset: number,
    length: number,
    aux: number,
    context: number,
    aux2: number,
    timed: boolean,
  ): Token {
    const { u32, f64, shared } = this;
    if (shared && this.definitions.waiting) this.definitions.push();
    let head = u32[W(Header.head)]!;
    if (
      (head - u32[W(Header.claimed)]!) >>> 0 >= u32[W(Header.pressure)]! ||
      f64[W(Header.lastClock) >>> 1]! >= f64[W(Header.due) >>> 1]!
    ) {
      this.onPressure();
      head = u32[W(Header.head)]!;
    }
    if ((head - u32[W(Header.released)]!) >>> 0 > this.mask) {
      u32[W(Header.dropped)]!++;
      return NOTHING;
    }
    const slot = head & this.mask;
    const at = RING_AT + slot * RECORD_BYTES;
    const w = at >>> 2;
    const seq = ++u32[W(Header.seq)]!;
    const t0 = timed ? this.now() : f64[W(Header.lastClock) >>> 1]!;
    f64[at >>> 3] = t0;
    f64[(at + Field.t1) >>> 3] = t0;
    f64[W(Header.lastClock) >>> 1] = t0;
    u32[w + W(Field.seq)] = seq;
    u32[w + W(Field.endSeq)] = 0;
    u32[w + W(Field.op)] = op;
    u32[w + W(Field.result)] = 0;
    f64[(at + Field.offset) >>> 3] = offset;
    u32[w + W(Field.length)] = length;
    u32[w + W(Field.object)] = object;
    u32[w + W(Field.parent)] = u32[W(Header.current)]!;
    u32[w + W(Field.context)] = context;
    u32[w + W(Field.aux)] = aux;
    u32[w + W(Field.aux2)] = aux2;
    if (shared) Atomics.store(u32, W(Header.head), (head + 1) | 0);
    else u32[W(Header.head)] = head + 1;
    return seq * SLOTS + slot;
  }

  /**
   * End a call begun earlier, possibly in a later task.
   * @param length bytes, if known only now; undefined keeps the value of `begin`
   * @param aux, aux2 details known only now; both 0 keeps the values of `begin`
   */
  end(token: Token, result: number, flags = 0, length?: number, aux = 0, aux2 = 0): void {
    if (token === NOTHING) return;
    try {
      this.finish(token, this.now(), result, flags, length, aux, aux2);
    } catch (e) {
      this.fault('end', e);
    }
  }

  private finish(
    token: Token,
    t1: number,
    result: number,
    flags: number,
    length: number | undefined,
    aux: number,
    aux2: number,
  ): void {
    const { u32, i32, f64, mask, shared } = this;
    const slot = token & SLOT;
    const seq = (token - slot) / SLOTS;
    const at = RING_AT + slot * RECORD_BYTES;
    const w = at >>> 2;
    const endSeq = ++u32[W(Header.seq)]!;
    f64[W(Header.lastClock) >>> 1] = t1;
    if (u32[w + W(Field.seq)] === seq && this.isUnclaimed(slot)) {
      f64[(at + Field.t1) >>> 3] = t1;
      i32[w + W(Field.result)] = result;
      u32[w + W(Field.op)]! |= flags << 8;
      if (length !== undefined) u32[w + W(Field.length)] = length;
      if ((aux | aux2) !== 0) {
        u32[w + W(Field.aux)] = aux;
        u32[w + W(Field.aux2)] = aux2;
      }
      if (!shared) {
        // the reader of this ring runs on this thread, so it isn't reading now
        u32[w + W(Field.endSeq)] = endSeq;
        return;
      }
      Atomics.store(u32, w + W(Field.endSeq), endSeq | 0);
      // otherwise a reader took the record meanwhile, perhaps without its end: write the end again
      if (this.isUnclaimed(slot)) return;
    }
    const head = u32[W(Header.head)]!;
    if ((head - u32[W(Header.released)]!) >>> 0 > mask) {
      u32[W(Header.dropped)]!++;
      return;
    }
    const e = RING_AT + (head & mask) * RECORD_BYTES;
    const ew = e >>> 2;
    f64[e >>> 3] = t1;
    f64[(e + Field.t1) >>> 3] = t1;
    u32[ew + W(Field.seq)] = seq;
    u32[ew + W(Field.endSeq)] = endSeq;
    u32[ew + W(Field.op)] = Op.end | (flags << 8);
    i32[ew + W(Field.result)] = result;
    // an end record contains a late length here
    f64[(e + Field.offset) >>> 3] = length === undefined ? NaN : length;
    u32[ew + W(Field.length)] = length ?? 0;
    u32[ew + W(Field.aux)] = aux; // both 0: keep the values of `begin`
    u32[ew + W(Field.aux2)] = aux2;
    if (shared) Atomics.store(u32, W(Header.head), (head + 1) | 0);
    else u32[W(Header.head)] = head + 1;
  }

  private isUnclaimed(slot: number): boolean {
    const claimed = this.shared
      ? Atomics.load(this.u32, W(Header.claimed))
      : this.u32[W(Header.claimed)]!;
    return ((slot - claimed) & this.mask) < (this.u32[W(Header.head)]! - claimed) >>> 0;
  }

  /**
   * Set a field of a started record that became known during the call, before it ends (aux, aux2,
   * object, context).
   */
  amend(token: Token, field: 'aux' | 'aux2' | 'object' | 'context', value: number): void {
    if (token === NOTHING) return;
    const slot = token & SLOT;
    const w = (RING_AT + slot * RECORD_BYTES) >>> 2;
    if (this.u32[w + W(Field.seq)] === (token - slot) / SLOTS && this.isUnclaimed(slot))
      this.u32[w + W(Field[field])] = value;
  }

  /**
   * An event without duration.
   * @param timed false: uses the last clock reading, which belongs to the call that has just ended
   */
  instant(
    op: number,
    object: number,
    offset: number,
    length: number,
    aux = 0,
    context = 0,
    aux2 = 0,
    timed = true,
  ): void {
    if (this.u32[W(Header.enabled)] === 0) return;
    try {
      const token = this.write(op, object, offset, length, aux, context, aux2, timed);
      if (token === NOTHING) return;
      this.finish(token, this.f64[W(Header.lastClock) >>> 1]!, 0, 0, undefined, 0, 0);
    } catch (e) {
      this.fault('instant', e);
    }
  }

  /** The clock as it was read last, ms. */
  get lastClock(): number {
    return this.f64[W(Header.lastClock) >>> 1]!;
  }

  /**
   * An exception has passed through the VFS calls below this one, whose trampolines then see no
   * end: end them, innermost first. Readers ignore a second end, of a record that had already left
   * the ring.
   */
  endBelow(token: Token): void {
    if (token === NOTHING) return;
    const { u32, mask } = this;
    const head = u32[W(Header.head)]!;
    const seqs = [Recorder.seqOf(token)];
    const tokens: Token[] = [];
    for (let n = mask + 1; n > 0; n--) {
      const slot = (head - n) & mask;
      const w = (RING_AT + slot * RECORD_BYTES) >>> 2;
      const seq = u32[w + W(Field.seq)]!;
      if (
        seq <= seqs[0]! ||
        // not a VFS call (isVfsOp); written compactly because every page parses the hook
        (u32[w + W(Field.op)]! & 255) >= Op.idbOpen ||
        u32[w + W(Field.endSeq)]
      )
        continue;
      if (seqs.includes(u32[w + W(Field.parent)]!))
        tokens.push(seqs[seqs.push(seq) - 1]! * SLOTS + slot);
    }
    while (tokens.length) this.end(tokens.pop()!, -1, Flag.threw);
  }

  /**
   * Make `token` the parent of calls that begin until `leave`. @returns the argument for `leave`
   */
  enter(token: Token, context: number): number {
    const { u32 } = this;
    const before = u32[W(Header.current)]!;
    if (token !== NOTHING) {
      u32[W(Header.current)] = (token - (token & SLOT)) / SLOTS;
      u32[W(Header.context)] = context;
    }
    return before;
  }

  /** Set the innermost open call again (0 = none). */
  leave(seq: number, context: number): void {
    this.u32[W(Header.current)] = seq;
    this.u32[W(Header.context)] = context;
  }

  static seqOf(token: Token): number {
    return token === NOTHING ? 0 : (token - (token & SLOT)) / SLOTS;
  }
}
