// SQLite's in-memory journal isn't storage. A call's flag decides this wherever calls are counted,
// even if a damaged trace defines the file differently.
import { expect, test } from 'vitest';
import { vfsTotal } from '../../src/analysis/files/file-counts.ts';
import { filesOf } from '../../src/analysis/files/files.ts';
import { Flag } from '../../src/event/event.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';
import { callCountsOf, fileCountsOf, runsOf } from '../traces/analyses.ts';
import { csvCalls } from './doors/calls.ts';

test.each([
  ['a database, though flagged', 'main-db', Flag.memoryJournal, 'memory-journal', 0],
  ['the journal, though not flagged', 'memory-journal', 0, 'other', 1],
] as const)('a file that is defined as %s', async (_, kind, flags, counts, writes) => {
  const store = newStore();
  const b = new ThreadBuilder(store);
  const object = b.file('/app.db', kind);
  b.call('xWrite', { object, offset: 0, length: 4096, flags });
  b.send();
  const bytes = writes * 4096;
  expect(callCountsOf(store).of('write')).toBe(writes);
  expect(fileCountsOf(store)).toMatchObject([{ kind: counts, vfs: { xWrite: 1 } }]);
  expect(vfsTotal(fileCountsOf(store), 'xWriteBytes') ?? 0).toBe(bytes);
  expect(filesOf(store)).toMatchObject([{ kind: counts, writes: 1 }]);
  expect(runsOf(store).map((run) => run.writes.all)).toEqual(writes ? [1] : []);
  expect(await csvCalls(store)).toMatchObject([{ kind: counts }]);
});
