/** Names for wasm functions in CPU samples, from a build of the same module that has names. */
import type { TraceStore } from './store.ts';
import { MAX_NAME } from './cpu-samples.ts';

/** V8's name for a function without a name in the module. */
const UNNAMED = /^wasm-function\[(\d{1,9})\]$/;

/** Functions by index, imported ones first. */
export interface FunctionNames {
  names: ReadonlyMap<number, string>;
  /** How many there are. */
  functions: number;
  /** By index: the byte in the module at which its body begins. */
  starts: ReadonlyMap<number, number>;
}

/**
 * Name the functions of the module that most samples are in. A module doesn't match if it has
 * functions that the given one lacks, or if they don't begin at the same bytes. Sections before the
 * code may differ, which shifts all functions equally.
 * @returns functions that got a name; 0 if no module matches
 */
export function nameFunctions(
  { threads }: TraceStore,
  { names, functions, starts }: FunctionNames,
): number {
  /** Samples by module, and the modules that don't match. */
  const samplesOf = new Map<string, number>();
  const others = new Set<string>();
  const shifts = new Map<string, number>();
  for (const { cpu, environment } of threads) {
    if (!cpu) continue;
    // metering has made its functions longer
    const isMetered = environment?.capture.instructions === true;
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
