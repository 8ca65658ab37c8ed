// A coarse limit on what an analysis of a large trace may cost: ten times what it takes on a quiet machine, in CPU time.
import { expect } from 'vitest';
import { part } from '../full.ts';

/** Events of a large trace. */
export const MANY = part(1_000_000);

/**
 * @param seconds limit on CPU time since `from`, including garbage collection; by default 4 s per
 * million events, scaled to `MANY`, plus 1 s because the code runs for the first time
 */
export function expectCheap(from: NodeJS.CpuUsage, seconds = 1 + (4 * MANY) / 1e6): void {
  const { user, system } = process.cpuUsage(from);
  expect((user + system) / 1e6).toBeLessThan(seconds);
}
