// Random numbers from a seed, so that a failure can be reproduced.
export interface Random {
  /** Whole, 0 to n - 1. */
  below(n: number): number;
  chance(p: number): boolean;
  of<T>(choices: readonly T[]): T;
}

/** mulberry32 */
export function randomOf(seed: number): Random {
  let a = seed >>> 0;
  const next = (): number => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  return {
    below: (n) => Math.floor(next() * n),
    chance: (p) => next() < p,
    of: (choices) => choices[Math.floor(next() * choices.length)]!,
  };
}
