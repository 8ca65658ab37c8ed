/** What "Try it" takes of a recording, and what it says about the rest. */
import { expect, it } from 'vitest';
import { experimentFor } from '../../src/lab/experiments/documents/tries.ts';
import { triedOn } from '../../src/lab/experiments/tried-on.ts';

const own = "Statements and pragmas are the experiment's, not your app's.";
const polling = experimentFor('polling')!;

it('the VFS of the recording where the Lab has it, and a guess is called one', () => {
  const recorded = { vfs: 'OPFSCoopSync', certain: true, why: 'x' } as const;
  expect(triedOn(polling, recorded)).toEqual({
    vfs: ['OPFSCoopSync'],
    says: ['This runs on OPFSCoopSync (OPFS), as your app does.', own],
  });
  expect(triedOn(polling, { ...recorded, certain: false, why: 'its name is “coop”' }).says[0]).toBe(
    "This runs on OPFSCoopSync (OPFS), your app's VFS by a guess: its name is “coop”.",
  );
});
it("the experiment's own VFS, with the reason, where it can't be the recording's", () => {
  expect(triedOn(polling, { vfs: null, certain: true, why: 'absurd-sql' })).toEqual({
    vfs: [],
    says: [
      "The Lab doesn't have your app's VFS: absurd-sql.",
      "This runs on the experiment's own VFS.",
      own,
    ],
  });
  expect(triedOn(polling, null).vfs).toEqual([]);
  const fixed = experimentFor('write-policy')!;
  expect(triedOn(fixed, { vfs: 'IDBMirror', certain: true, why: 'x' })).toEqual({
    vfs: [],
    says: [
      'Your app uses IDBMirror (IndexedDB).',
      'Each variant of this experiment has its own VFS.',
      own,
    ],
  });
});
