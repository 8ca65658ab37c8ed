/** Names for wasm functions of CPU samples, from a build of the same module that has them. */
import type { TraceStore } from './store.ts';
import { MAX_NAME } from './cpu-samples.ts';

/** What V8 calls a function that the module has no name for. */
const UNNAMED = /^wasm-function\[(\d{1,9})\]$/;

/** Functions by index: those that are imported come first. */
export interface FunctionNames {
  names: ReadonlyMap<number, string>;
  /** How many there are. */
  functions: number;
  /** By index: the byte of the module where its body begins. */
  starts: ReadonlyMap<number, number>;
}

/**
 * Name the functions of the module that most samples are in. A module is another one where it has functions that the given one lacks, or
 * where they don't begin at the same bytes; sections in front of the code may differ, and shift all alike.
 * @returns functions that got a name; 0 where no module fits
 */
export function nameFunctions(
  { threads }: TraceStore,
  { names, functions, starts }: FunctionNames,
): number {
  /** Samples by module, and those that can't be it. */
  const samplesOf = new Map<string, number>();
  const others = new Set<string>();
  const shifts = new Map<string, number>();
  for (const { cpu, environment } of threads) {
    if (!cpu) continue;
    const isMetered = environment?.capture.instructions === true; // its bodies have grown
    for (const { name, url, column } of cpu.functions) {
      const found = UNNAMED.exec(name)?.[1];
      if (found === undefined) continue;
      const index = Number(found);
      if (index >= functions) others.add(url);
      if (column === 0 || isMetered) continue;
      const shift = column - 1 - (starts.get(index) ?? NaN);
      if ((shifts.get(url) ?? shift) !== shift) others.add(url);
      shifts.set(url, shift);
    }
    for (const frame of cpu.frames) {
      const { name, url } = cpu.functions[cpu.called[frame]!]!;
      if (UNNAMED.test(name)) samplesOf.set(url, (samplesOf.get(url) ?? 0) + 1);
    }
  }
  const [module] = [...samplesOf].filter(([url]) => !others.has(url)).sort((a, b) => b[1] - a[1]);
  if (!module) return 0;
  let named = 0;
  for (const { cpu } of threads)
    for (const one of cpu?.functions ?? []) {
      const index = one.url === module[0] ? UNNAMED.exec(one.name)?.[1] : undefined;
      const name = index === undefined ? undefined : names.get(Number(index));
      if (name === undefined) continue;
      one.name = name.slice(0, MAX_NAME);
      named++;
    }
  return named;
}
