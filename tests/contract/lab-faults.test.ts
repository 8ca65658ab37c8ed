/** Fault profiles under published VFSs, on emulated OPFS: the browser's errors reach the VFS, SQLite answers, and the database is checked. */
import { describe, expect, it } from 'vitest';
import { nodeSurroundings } from '../../src/lab/command/node.ts';
import { LiveStorage } from '../../src/lab/crash/storage/live-storage.ts';
import { emulate } from '../../src/lab/crash/storage/realm.ts';
import { readWords, runOf } from '../../src/lab/experiments/plan.ts';
import { resultOfPasses } from '../../src/lab/experiments/passes.ts';
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
      tally: faulty.tally,
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
const last = (result: RunResult): string => verdictSentence(result.verdicts.at(-1)!);

describe('a fault profile', () => {
  for (const w of [
    'vfs=OPFSCoopSync quota=40000',
    'vfs=AccessHandlePool quota=40000',
    'vfs=OPFSWriteAhead quota=40000',
    'vfs=OPFSCoopSync refusedHandle=1',
    'vfs=OPFSCoopSync refusedHandle=2',
    'vfs=OPFSCoopSync refusedHandle=4',
    'vfs=AccessHandlePool refusedHandle=2',
    'vfs=AccessHandlePool refusedHandle=9',
    'vfs=OPFSCoopSync slowFlush=5',
    'vfs=AccessHandlePool quota=100000000',
    'vfs=OPFSWriteAhead refusedHandle=2',
  ])
    it(w, async () => {
      const r = await run(w + ' transactions=20 items=10');
      console.log(
        w,
        JSON.stringify(r.fault),
        '\n',
        r.verdicts.map(verdictSentence).join('\n'),
        r.notes,
        r.steps.map((s) => s.skipped),
      );
    });
});
void hindrance;
void expect;
void last;
