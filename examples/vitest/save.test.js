import { recorded } from 'vfscope/vitest';
import { expect, test } from 'vitest';
import { readNotes, saveNote } from '../app/notes.js';

test('saving a note is one commit', async () => {
  await readNotes(); // the database is open
  const trace = await recorded(() => saveNote('Buy milk'));
  await expect(trace).toStayWithin({ commits: 1, syncs: 3 });
  expect(await readNotes()).toEqual(['Buy milk']);
});
