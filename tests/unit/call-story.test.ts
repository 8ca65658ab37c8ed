// The sentences about a call in an event's details.
import { expect, it } from 'vitest';
import { Flag } from '../../src/event/event.ts';
import type { CallStory } from '../../src/analysis/events/call-story.ts';
import { QUERIES } from '../../src/viewer/session/query-table.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';
import { contextOf } from './viewer-context.ts';

const storyOf = ({ store, thread }: ThreadBuilder, seq: number): CallStory =>
  QUERIES.callStory(contextOf(store), { thread: thread.index, seq })!;

it('describes what a call was, what it did inside, and how it compares with others of its kind', () => {
  const t = new ThreadBuilder(newStore());
  const object = t.file('/a.db');
  for (const dur of [100, 200, 300, 900]) t.call('xLock', { object, aux: 1, dur });
  t.call('xLock', { object, aux: 2, dur: 5000 }); // another level is another kind
  const seq = t.call('xLock', { object, aux: 1, dur: 90 }, () => {
    t.call('atomicsWait', { dur: 400 });
    t.call('atomicsNotify', { dur: 10 }); // makes no call of its own
    t.call('opfsGetSize', { dur: 100 });
  });
  t.send();
  expect(storyOf(t, seq)).toEqual({
    what: 'SQLite asked for a SHARED lock on the database. It took 600 µs.',
    inside:
      'Inside it: 1 atomics.wait (400 µs), 1 opfs.getSize (100 µs). 100 µs passed outside these calls.',
    beside: 'Median of 5 such calls: 300 µs. 1 took longer than this one.',
  });
});

it('counts a moment once if calls inside overlap, and none outside the call', () => {
  const t = new ThreadBuilder(newStore());
  const object = t.file('/a.db', 'wal');
  const sql = t.define({ kind: 'sql', text: 'SELECT 1' });
  const seq = t.call('sqlStep', { object: sql, dur: 0 }, () => {
    t.call('xRead', { object, offset: 4096, length: 4096, dur: 10 });
    t.call('xRead', { object, offset: 8192, length: 4096, dur: 20 });
  });
  t.send();
  expect(storyOf(t, seq)).toEqual({
    what: 'SQLite ran the statement up to its next row or its end. It took 30 µs.',
    inside: 'Inside it: 2 xRead (30 µs). 0 passed outside these calls.',
    beside: '',
  });
  const read = t.thread.events.seq[2]!;
  expect(storyOf(t, read)).toEqual({
    what: 'SQLite read 4 KiB at offset 8,192 of the write-ahead log. It took 20 µs.',
    inside: '',
    beside: 'Median of 2 such calls: 10 µs. None took longer than this one.',
  });
});

it("reports that a call failed or hasn't ended, and nothing about rows that aren't calls", () => {
  const t = new ThreadBuilder(newStore());
  const failed = t.call('idbPut', { length: 4096, flags: Flag.threw, result: 0, dur: 5 });
  const open = t.call('xSync', { object: t.file('/a.db'), open: true });
  const mark = t.call('mark', { dur: 0 });
  t.send();
  expect(storyOf(t, failed).what).toBe('idb.put wrote 4 KiB. It took 5 µs. It failed: threw.');
  expect(storyOf(t, open)).toEqual({
    what: 'SQLite waited until its writes to the database were durable. No end was recorded.',
    inside: '',
    beside: '',
  });
  expect(storyOf(t, mark)).toEqual({ what: '', inside: '', beside: '' });
});
