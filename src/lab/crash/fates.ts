/**
 * What a power failure can do to the calls since the last flush: lose them, keep them, or tear a
 * write.
 */
import { SECTOR } from './assumptions.ts';
import type { FileCall } from './storage/calls.ts';

/** Bytes of a write that survive, from its start. */
export interface Part {
  readonly from: number;
  readonly to: number;
}
/** `lost`, `kept`, or the parts of a torn write that survive. */
export type Fate = 'lost' | 'kept' | Part;

/** Up to this many calls, every subset is tried. */
export const EVERY_SUBSET = 6;
/** Above that, this many seeded subsets, in addition to the regular ones. */
const SAMPLES = 32;

/**
 * The ways to tear a write: only the first sector survives, half, all but the last sector, only the
 * last sector, or a random one.
 */
function tears({ at, bytes }: Extract<FileCall, { kind: 'write' }>, draw: Draw): Part[] {
  const cuts: number[] = [0];
  for (let cut = SECTOR - (at % SECTOR); cut < bytes.length; cut += SECTOR) cuts.push(cut);
  const n = cuts.length;
  if (n < 2) return [];
  const part = (first: number, end: number): Part => ({
    from: cuts[first]!,
    to: cuts[end] ?? bytes.length,
  });
  const chosen = draw(n);
  const parts = [
    part(0, 1),
    part(0, n >> 1),
    part(0, n - 1),
    part(n - 1, n),
    part(chosen, chosen + 1),
  ];
  return [...new Map(parts.map((p) => [`${p.from}-${p.to}`, p])).values()];
}

type Draw = (n: number) => number;

/**
 * @param calls that no flush has stored, in order
 * @param draw returns a random integer below n
 * @returns the possible outcomes, each combination once; `sampled`: not every subset is among them
 */
export function fatesOf(
  calls: readonly FileCall[],
  truncates: 'ordered' | 'any',
  draw: Draw,
): { readonly all: readonly (readonly Fate[])[]; readonly sampled: boolean } {
  const n = calls.length;
  const sampled = n > EVERY_SUBSET;
  const found = new Map<string, readonly Fate[]>();
  const add = (fates: readonly Fate[]): void => {
    const possible = truncates === 'ordered' ? inOrder(calls, fates) : fates;
    found.set(JSON.stringify(possible), possible);
  };
  const where = (test: (i: number) => boolean): Fate[] =>
    calls.map((_, i) => (test(i) ? 'kept' : 'lost'));
  if (sampled) {
    for (let i = 0; i <= n; i++) {
      add(where((j) => j < i));
      add(where((j) => j === i));
      add(where((j) => j !== i));
    }
    for (let s = 0; s < SAMPLES; s++) add(where(() => draw(2) === 1));
  } else for (let bits = 0; bits < 2 ** n; bits++) add(where((i) => ((bits >> i) & 1) === 1));
  calls.forEach((call, i) => {
    if (call.kind !== 'write') return;
    for (const part of tears(call, draw))
      for (const others of ['lost', 'kept'] as const)
        add(calls.map((_, j) => (j === i ? part : others)));
  });
  return { all: [...found.values()], sampled };
}

/** After a lost truncate, no call on that file survives. */
function inOrder(calls: readonly FileCall[], fates: readonly Fate[]): readonly Fate[] {
  const cut = new Set<string>();
  return fates.map((fate, i) => {
    const { file, kind } = calls[i]!;
    if (cut.has(file)) return 'lost';
    if (kind === 'truncate' && fate === 'lost') cut.add(file);
    return fate;
  });
}
