/**
 * The engines of a thread. Nothing here keeps an engine alive: it lives as long as its memory or
 * its table, which belong to the app. So what the app releases can be collected as it would be
 * without a recording.
 */
import type { Recorder } from '../record/recorder.ts';
import type { Engine } from './engine.ts';

export class LivingEngines {
  /** All that were ever added. */
  count = 0;
  private readonly byPart = new WeakMap<WebAssembly.Memory | WebAssembly.Table, Engine>();
  /** With the engine's block of trace memory, which a later engine reuses. */
  private readonly refs = new Map<WeakRef<Engine>, number>();

  constructor(private readonly recorder: Recorder) {}

  add(engine: Engine): void {
    this.count++;
    this.byPart.set(engine.memory, engine);
    if (engine.table) this.byPart.set(engine.table, engine);
    this.refs.set(new WeakRef(engine), engine.vfs?.block ?? 0);
  }
  of(part: WebAssembly.Memory | WebAssembly.Table): Engine | undefined {
    return this.byPart.get(part);
  }

  /**
   * Those that still exist. The trampolines of a collected engine, which refer to it, are gone,
   * too, so its block is free.
   */
  all(): Engine[] {
    const living: Engine[] = [];
    this.refs.forEach((block, ref) => {
      const engine = ref.deref();
      if (engine) living.push(engine);
      else {
        this.refs.delete(ref);
        if (block) this.recorder.engineBlocks.release(block);
      }
    });
    return living;
  }
}
