// A coarse limit on what an analysis of a large trace may cost: ten times what it takes on a quiet machine, in CPU time.
import { expect } from 'vitest';

/** @param seconds of CPU since `from`, garbage collection included */
export function expectCheap(from: NodeJS.CpuUsage, seconds = 4): void {
  const { user, system } = process.cpuUsage(from);
  expect((user + system) / 1e6).toBeLessThan(seconds);
}
