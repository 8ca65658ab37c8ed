/**
 * Asyncify's state of one engine, seen by wrapping its four exports in a copy of the exports. The
 * first return of a suspended call is only the unwind; its end is the return of the export that the
 * glue calls for the last rewind.
 */
import type { WasmFunction } from '../vfs-instrumented/interpose/natives.ts';
import { Op } from '../event/event.ts';
import type { Recorder } from '../record/recorder.ts';
import { Block, MAX_SUSPENDED, Suspended } from '../vfs-instrumented/interpose/engine-block.ts';

/** Ends the SQL calls that were suspended. `threw`: with an exception. */
type Settle = (result: number, threw: boolean) => void;

type AnyFunction = (...args: unknown[]) => unknown;

export class Asyncify {
  /** How often a stack began to unwind. */
  unwinds = 0;
  /** 0 normal, 1 unwinding, 2 rewinding. */
  state = 0;
  private readonly u32: Uint32Array | null;
  /** Bytes of `heap` when its stack began to unwind. */
  private bytes: number | undefined;

  /**
   * @param heap the engine's memory, if it is watched: a buffer that a suspended call holds is lost
   * when it grows @param block where trampolines read the state, in the trace memory; 0 if the
   * engine has no VFS layer
   */
  constructor(
    private readonly recorder: Pick<Recorder, 'instant' | 'memory'>,
    private readonly heap: WebAssembly.Memory | null,
    private readonly block: number,
  ) {
    this.u32 = block ? new Uint32Array(recorder.memory.buffer) : null;
  }

  private become(state: number): void {
    this.state = state;
    if (this.u32) this.u32[(this.block + Block.state) >>> 2] = state;
  }

  /** seq of the innermost suspended vfs call, or 0. */
  get innermost(): number {
    const depth = this.u32 ? this.u32[(this.block + Block.depth) >>> 2]! : 0;
    if (!depth || depth > MAX_SUSPENDED) return 0;
    return this.u32![
      (this.block + Block.suspended + (depth - 1) * Suspended.bytes + Suspended.seq) >>> 2
    ]!;
  }

  /**
   * Wrap every function of `copy` in place.
   * @param names of start_unwind, stop_unwind, start_rewind, stop_rewind @param resume called
   * before a suspended stack continues @param settle called when its outermost call has finally
   * returned
   */
  wrapExports(
    copy: Record<string, unknown>,
    names: readonly string[],
    resume: () => void,
    settle: Settle,
  ): void {
    const states = [1, 0, 2, 0];
    for (const [key, value] of Object.entries(copy)) {
      if (typeof value !== 'function') continue;
      const original = value as AnyFunction;
      const which = names.indexOf(key);
      copy[key] = keepShape(
        which < 0
          ? this.wrapCall(original, resume, settle)
          : this.wrapSwitch(original, states[which]!),
        original,
      );
    }
  }

  private wrapSwitch(original: AnyFunction, state: number): AnyFunction {
    return (...args) => {
      const result = original(...args);
      if (state === 1) {
        this.unwinds++;
        this.bytes = this.heap?.buffer.byteLength;
      }
      this.become(state);
      return result;
    };
  }

  /**
   * Every export is called through such a wrapper, mostly for SQL that never suspends. That path
   * only checks the state, and creates no array.
   */
  private wrapCall(original: AnyFunction, resume: () => void, settle: Settle): AnyFunction {
    const rewind = (...args: unknown[]): unknown => this.rewind(original, args, resume, settle);
    switch (original.length) {
      case 0:
        return () => (this.state !== 2 ? original() : rewind());
      case 1:
        return (a) => (this.state !== 2 ? original(a) : rewind(a));
      case 2:
        return (a, b) => (this.state !== 2 ? original(a, b) : rewind(a, b));
      case 3:
        return (a, b, c) => (this.state !== 2 ? original(a, b, c) : rewind(a, b, c));
      case 4:
        return (a, b, c, d) => (this.state !== 2 ? original(a, b, c, d) : rewind(a, b, c, d));
      case 5:
        return (a, b, c, d, e) =>
          this.state !== 2 ? original(a, b, c, d, e) : rewind(a, b, c, d, e);
      case 6:
        return (a, b, c, d, e, f) =>
          this.state !== 2 ? original(a, b, c, d, e, f) : rewind(a, b, c, d, e, f);
      default:
        return (...args) => (this.state !== 2 ? original(...args) : rewind(...args));
    }
  }

  private rewind(
    original: AnyFunction,
    args: unknown[],
    resume: () => void,
    settle: Settle,
  ): unknown {
    const { unwinds } = this;
    const bytes = this.heap?.buffer.byteLength;
    if (bytes !== this.bytes)
      this.recorder.instant(Op.sqlMemoryGrew, 0, bytes!, this.bytes!, this.innermost);
    resume();
    let result: unknown;
    try {
      result = original(...args);
    } catch (error) {
      settle(-1, true);
      throw error;
    }
    if (this.unwinds === unwinds) settle(Number(result ?? 0) | 0, false);
    return result;
  }
}

const originals = new WeakMap<object, WasmFunction>();

/**
 * The function that one of our wrappers stands for; anything else is returned unchanged. A table
 * slot only accepts the engine's own function.
 */
export const unwrapped = (fn: unknown): unknown =>
  typeof fn === 'function' ? (originals.get(fn) ?? fn) : fn;

/** Gives a wrapper the original's arity and name: sqlite.org's glue checks the arity. */
export function keepShape<F extends WasmFunction>(wrapper: F, original: WasmFunction): F {
  Object.defineProperty(wrapper, 'length', { value: original.length, configurable: true });
  Object.defineProperty(wrapper, 'name', { value: original.name, configurable: true });
  originals.set(wrapper, original);
  return wrapper;
}
