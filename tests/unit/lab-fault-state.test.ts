/**
 * State shared by all threads of a run with faults: the bytes that a quota allows, and what has
 * happened.
 */
import { expect, it, vi } from 'vitest';
import { whyNoFaults } from '../../src/lab/experiments/model/faults.ts';
import { DEFAULT_CONFIG, type Config } from '../../src/lab/experiments/model/types.ts';
import { FaultState } from '../../src/lab/experiments/worker/fault-state.ts';

it('storage grows up to the quota, deleted files release their bytes, and every thread counts', () => {
  const state = new FaultState();
  expect(state.store(60, 100)).toBe(true);
  expect(state.store(41, 100)).toBe(false);
  const other = new FaultState(state.buffer); // as another thread sees it
  expect(other.store(40, 100)).toBe(true);
  expect(state.store(0, 100)).toBe(true); // overwriting
  expect(state.store(1, 100)).toBe(false);
  expect(state.store(-50, 100)).toBe(true);
  expect([other.store(51, 100), other.store(50, 100)]).toEqual([false, true]);
  expect([state.add('handles'), other.add('handles')]).toEqual([1, 2]);
  other.add('overQuota', 3);
  expect(state.tally()).toEqual({ flushes: 0, handles: 2, refused: 0, overQuota: 3 });
});

it("connections in several workers need shared memory, and a single one doesn't", () => {
  const config: Config = { ...DEFAULT_CONFIG, vfs: 'OPFSCoopSync', slowFlush: 20 };
  expect(whyNoFaults(config, true)).toBeNull();
  vi.stubGlobal('SharedArrayBuffer', undefined);
  expect(whyNoFaults(config, false)).toBeNull();
  expect(whyNoFaults(config, true)).toBe(
    'a fault profile for several connections needs SharedArrayBuffer, which this browser gives to cross-origin isolated pages alone',
  );
  vi.unstubAllGlobals();
});
