// Every analysis that takes a store or a thread and nothing else, found by its first parameter's name: a new file is covered by itself.
import type { TraceStore } from '../../src/trace/store.ts';

export interface Analysis {
  name: string;
  run(store: TraceStore): void;
}

/** @param modules the modules of src/analysis by name */
export function analysesOf(
  modules: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
): Analysis[] {
  const found: Analysis[] = [];
  for (const [module, exported] of Object.entries(modules))
    for (const [name, value] of Object.entries(exported)) {
      if (typeof value !== 'function' || value.length !== 1 || /^class\b/.test(String(value)))
        continue;
      const parameter =
        /^(?:async\s+)?(?:function\s*\w*)?\s*\(?\s*(\w+)/.exec(String(value))?.[1] ?? '';
      const call = value as (argument: unknown) => unknown;
      if (/^store\d*$/.test(parameter))
        found.push({ name: `${module}.${name}`, run: (store) => void call(store) });
      else if (/^thread\d*$/.test(parameter))
        found.push({
          name: `${module}.${name}`,
          run: (store) => store.threads.forEach((thread) => void call(thread)),
        });
    }
  return found;
}

/** @throws Error that names the analysis and the seed, with what it threw as its cause */
export function runAll(analyses: readonly Analysis[], store: TraceStore, seed: number): void {
  for (const { name, run } of analyses) {
    try {
      run(store);
    } catch (e) {
      throw new Error(
        `${name} on the store of seed ${seed}: ${e instanceof Error ? e.message : String(e)}`,
        { cause: e },
      );
    }
  }
}
