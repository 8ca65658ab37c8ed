/**
 * Fault profiles under published VFSs, on emulated OPFS: the browser's errors reach the VFS, SQLite
 * reports them, and the database is checked.
 */
import { describe, expect, it } from 'vitest';
import { nodeSurroundings } from '../../src/lab/command/node.ts';
import { LiveStorage } from '../../src/lab/crash/storage/live-storage.ts';
import { emulate } from '../../src/lab/crash/storage/realm.ts';
import { readWords, runOf } from '../../src/lab/experiments/plan.ts';
import { resultOfPasses } from '../../src/lab/experiments/passes.ts';
import { environmentFacts } from '../../src/lab/experiments/model/environment.ts';
import { hindrance, sampleOf, type Surroundings } from '../../src/lab/experiments/run.ts';
import { FaultyStorage } from '../../src/lab/experiments/worker/faulty-storage.ts';
import { VfsMakers } from '../../src/lab/experiments/worker/vfs-makers.ts';
import { verdictSentence } from '../../src/lab/results/verdicts.ts';
import type { RunResult } from '../../src/lab/experiments/model/result-types.ts';
import { workloadOf } from '../../src/lab/experiments/workloads/index.ts';

const node = nodeSurroundings();

async function run(words: string, mode: 'time' | 'count' = 'count'): Promise<RunResult> {
  const asked = runOf(workloadOf('sequential-write'), readWords(words.split(' ')), {
    mode,
    repeats: 1,
  });
  const restore = emulate(new LiveStorage());
  const faulty = new FaultyStorage(asked.config);
  const makers = new VfsMakers();
  const around: Surroundings = {
    engines: node.engines,
    environment: node.environment,
    makeVfs: makers.make,
    faults: () => ({
      tally: () => faulty.state.tally(),
      lift: () => faulty.lift(),
      close: () => makers.close().finally(() => faulty.closeHandles()),
      lastError: () => makers.lastError(),
    }),
  };
  try {
    const sample = await sampleOf(asked, around);
    await makers.close();
    return resultOfPasses({ ...asked, mode: 'count' }, [sample], node.environment);
  } finally {
    faulty.restore();
    restore();
  }
}
const first = (result: RunResult): string => verdictSentence(result.verdicts[0]!);

const SMALL = 'vfs=AccessHandlePool transactions=20 items=10';

describe('a fault profile', () => {
  it('full storage: the error that reached SQLite, no verdict from half a run, and an intact database', async () => {
    const result = await run(`${SMALL} quota=40960`);
    expect(result.fault).toMatchObject({ overQuota: 1, whole: true, damage: '' });
    expect(result.steps.map(({ skipped }) => skipped)).toEqual([
      'QuotaExceededError: The storage quota is used up, as the fault profile asks',
    ]);
    expect(result.verdicts.map(({ holds }) => holds)).toEqual([true, null]);
    expect(first(result)).toBe(
      'The database is intact after the fault: 1 write failed beyond 40 KiB. No SQLite code: an exception ended the run in step run ' +
        '(QuotaExceededError: The storage quota is used up, as the fault profile asks). integrity_check found no damage.',
    );
    const facts = environmentFacts([{ name: 'A', result }]);
    const textOf = (label: string) => facts.find((fact) => fact.label === label)?.values[0]?.text;
    expect([textOf('Faults'), textOf('Pragmas')]).toEqual([
      'quota 40 KiB',
      'n/a (the run ended early with an exception)',
    ]);
  });

  it("a refused handle: the storage's own error, and the failed VFS's handles are closed", async () => {
    const { fault } = await run(`${SMALL} refusedHandle=2`);
    expect(fault).toMatchObject({ handles: 2, refused: 1, whole: true });
    expect(fault!.answer).toMatchObject({ step: 'open', code: null });
    expect(fault!.answer!.message).toMatch(/^NoModificationAllowedError: /);
  });

  it('a slow flush takes its time, and changes no count', async () => {
    const slow = await run(`${SMALL} slowFlush=5`);
    const plain = await run(SMALL);
    expect(slow.fault!.flushes).toBeGreaterThanOrEqual(plain.totals['vfs.xSync']!);
    expect(slow.totals).toEqual(plain.totals);
    expect(slow.stored).toEqual(plain.stored);
    expect([plain.fault, slow.fault!.answer]).toEqual([undefined, null]);
  });

  it('a fault that never occurred decides nothing', async () => {
    expect(first(await run(`${SMALL} refusedHandle=9`))).toBe(
      "The fault didn't happen: the run opened 6 access handles, fewer than 9. No statement failed.",
    );
  });

  it('is rejected if nothing is stored, and by name if it is out of range', () => {
    const asked = (words: string): string | null =>
      hindrance(
        runOf(workloadOf('sequential-write'), readWords(words.split(' ')), {
          mode: 'count',
          repeats: 1,
        }),
        node,
      );
    expect(asked('quota=1000')).toBe(
      'a fault profile needs storage: MemoryVFS has no flush, no access handle, and no quota',
    );
    expect(() => readWords(['slowFlush=0'])).toThrow('slowFlush=0: expected 1 or more.');
    expect(() => readWords(['slow_flush=99999'])).toThrow('expected at most 10000 ms');
  });
});
