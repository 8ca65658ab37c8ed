/** Which VFS "Try it" runs on, with which settings, and what it reports about both. */
import { expect, it } from 'vitest';
import { experimentFor } from '../../src/lab/experiments/documents/tries.ts';
import { experimentOn, ownOn, settingsFor } from '../../src/lab/experiments/tried-on.ts';

const polling = experimentFor('polling')!;
const coop = { vfs: 'OPFSCoopSync', certain: true, why: 'x' } as const;

it("the recording's VFS if the Lab has it; a guess is marked as one", () => {
  const says = ['This runs on OPFSCoopSync (OPFS), as your app does.'];
  expect(ownOn(coop, true)).toEqual({ vfs: 'OPFSCoopSync', says });
  expect(experimentOn(polling, coop)).toEqual({ vfs: 'OPFSCoopSync', says });
  expect(ownOn({ ...coop, certain: false, why: 'its name is “coop”' }, false).says[0]).toBe(
    "This runs on OPFSCoopSync (OPFS), your app's VFS by a guess: its name is “coop”.",
  );
});
it("the nearest one if the Lab lacks it, or can't copy a database to it", () => {
  const lacks = "The Lab doesn't have your app's VFS: absurd-sql.";
  const other = { vfs: null, certain: true, why: 'absurd-sql' } as const;
  expect(ownOn({ ...other, nearest: 'BlockIDB' }, false)).toEqual({
    vfs: 'BlockIDB',
    says: [lacks, 'This runs on BlockIDB (IndexedDB), the nearest that it has.'],
  });
  expect(ownOn(other, false)).toEqual({ vfs: null, says: [lacks, 'This runs in memory.'] });
  const pool = { vfs: 'opfs-sahpool', certain: true, why: 'x' } as const;
  expect(ownOn(pool, false).vfs).toBe('opfs-sahpool');
  expect(ownOn(pool, true)).toEqual({
    vfs: 'AccessHandlePool',
    says: [
      "The Lab can't copy a database onto opfs-sahpool (OPFS), your app's VFS.",
      'This runs on AccessHandlePool (OPFS), the nearest that it can.',
    ],
  });
});
it("the experiment's own VFS, with the reason, where it can't be the recording's", () => {
  expect(experimentOn(polling, { vfs: null, certain: true, why: 'absurd-sql' })).toEqual({
    vfs: null,
    says: [
      "The Lab doesn't have your app's VFS: absurd-sql.",
      "This runs on the experiment's own VFS.",
    ],
  });
  expect(experimentOn(polling, null).vfs).toBeNull();
  expect(
    experimentOn(experimentFor('write-policy')!, { vfs: 'IDBMirror', certain: true, why: 'x' }),
  ).toEqual({
    vfs: null,
    says: [
      'Your app uses IDBMirror (IndexedDB).',
      'Each variant of this experiment has its own VFS.',
    ],
  });
});
it('the settings that neither a variant nor a workload sets', () => {
  const recorded = { lockingMode: 'exclusive', pageSize: 8192, cacheSize: 50 } as const;
  expect(settingsFor(polling, recorded)).toEqual({ pageSize: 8192, cacheSize: 50 });
});
