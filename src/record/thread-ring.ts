/**
 * A thread's ring of records and what goes with it: switches and counts in its header (ring-layout.ts), definitions of the ids in records, and
 * faults of the hook itself. recorder.ts writes the records.
 */
import { DefinitionQueue } from './definition-queue.ts';
import type { Definition } from '../event/definitions.ts';
import { Header, ringLayout, type RingLayout } from './ring-layout.ts';

/** Definition without its id: the recorder draws that. */
type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
export type NewDefinition = DistributiveOmit<Extract<Definition, { id: number }>, 'id'>;

export interface RecorderOptions {
  /** Records in the ring; a power of two up to 65536. */
  capacity?: number;
  /** Back the ring by a SharedArrayBuffer, to be read from another thread. */
  shared?: boolean;
  maxEngines?: number;
  now?: () => number;
}

const W = (byte: number): number => byte >>> 2;
/** The thread's, from before the app's first line. */
const clock = performance.now.bind(performance);
/** A threshold that no ring reaches. */
const NEVER = 0xffffffff;
/** Faults that are described; all are counted. */
const MAX_FAULT_NOTES = 20;

/** In words, whatever was thrown: an app's value may throw again when it is asked for its text. */
function describe(error: unknown): string {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  } catch {
    return 'a value without a text';
  }
}

export class ThreadRing {
  readonly memory: WebAssembly.Memory;
  readonly layout: RingLayout;
  readonly shared: boolean;
  /** Called when the ring holds `Header.pressure` undrained records, from inside the app's own call: must not throw. */
  onPressure: () => void = () => {};
  protected readonly definitions: DefinitionQueue;
  private lastId = 0;
  private engineBlocks = 0;
  private readonly freeBlocks: number[] = [];
  private faulting = false;
  protected readonly u32: Uint32Array;
  protected readonly i32: Int32Array;
  protected readonly f64: Float64Array;
  protected readonly mask: number;
  /** The thread's clock: ms, as performance.now(). */
  readonly now: () => number;

  constructor(options: RecorderOptions = {}) {
    const { capacity = 16384, shared = false, maxEngines = 16, now } = options;
    this.shared = shared;
    this.layout = ringLayout(capacity, shared ? 1 << 20 : 0, maxEngines);
    const pages = Math.ceil(this.layout.totalBytes / 65536);
    this.memory = new WebAssembly.Memory(
      shared ? { initial: pages, maximum: pages, shared: true } : { initial: pages },
    );
    const { buffer } = this.memory;
    this.u32 = new Uint32Array(buffer);
    this.i32 = new Int32Array(buffer);
    this.f64 = new Float64Array(buffer);
    this.definitions = new DefinitionQueue(buffer, shared ? this.layout : null);
    this.mask = capacity - 1;
    this.now = now ?? clock;
    this.u32[W(Header.capacity)] = capacity;
    this.u32[W(Header.definitionsCapacity)] = this.layout.definitionsCapacity;
    this.askForDrains(!shared);
    this.u32[W(Header.enabled)] = 1;
  }

  /**
   * Whether the ring calls `onPressure` when it is half full of news. Not earlier: a message from inside the app's calls costs 0.3 ms and
   * more beside its bytes, because DevTools keep the stack of every postMessage, with all its wasm frames.
   */
  askForDrains(on: boolean): void {
    Atomics.store(this.u32, W(Header.pressure), on ? this.layout.capacity >>> 1 : NEVER);
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
  /** Undrained records. */
  get backlogRecords(): number {
    return (this.u32[W(Header.head)]! - this.u32[W(Header.claimed)]!) >>> 0;
  }

  /** An exception inside a hook: counted, described once drained, never the app's. */
  fault(where: string, error: unknown): void {
    this.u32[W(Header.faults)]!++;
    if (this.faulting || this.u32[W(Header.faults)]! > MAX_FAULT_NOTES) return;
    this.faulting = true; // a note that cannot be kept is a fault, too, and must not come back here
    this.note('tracer-error', `${where}: ${describe(error)}`);
    this.faulting = false;
  }

  nextId(): number {
    return ++this.lastId;
  }

  /** Give an id to a new object and say what it is. Once per object, before the first record that uses it. */
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

  /** Definitions waiting on a thread that drains itself; they are handed over once. */
  takeDefinitions(): Definition[] {
    return this.definitions.take();
  }

  /** Byte address of a fresh engine block in the trace memory, or 0 when all are taken. */
  allocateEngineBlock(bytes: number): number {
    const free = this.freeBlocks.pop();
    if (free !== undefined) {
      new Uint8Array(this.memory.buffer, free, bytes).fill(0);
      return free;
    }
    if (this.engineBlocks === this.layout.maxEngines) return 0;
    return this.layout.enginesAt + this.engineBlocks++ * bytes;
  }

  /** Nothing writes into this block any more. */
  freeEngineBlock(at: number): void {
    this.freeBlocks.push(at);
  }
}
