// What vfscope adds to Chrome's Performance panel, from a trace as it grows.
import { expect, test } from 'vitest';
import type { PerformanceMarks } from '../../src/protocol/answers/performance-tracks.ts';
import { performanceTrackQueries } from '../../src/viewer/session/queries/performance-tracks.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';
import { contextOf } from './viewer-context.ts';

function asked(store: TraceStore, after: PerformanceMarks['after'] = {}): PerformanceMarks {
  const context = contextOf(store);
  context.callLanes().update(store.extent()[1]);
  return performanceTrackQueries.performanceTracks(context, { fromMs: store.originMs, after });
}
const shown = (marks: PerformanceMarks, track: string): string[] =>
  marks.marks
    .filter((mark) => mark.track === track)
    .map(({ label, fromMs, toMs }) => `${label} ${Math.round((toMs - fromMs) * 1000)}`);

test('transactions that follow each other within one clock tick are separate', () => {
  const store = newStore();
  const t = new ThreadBuilder(store);
  const db = t.file('/app.db');
  const lock = (op: 'xLock' | 'xUnlock', aux: number, dur: number): void =>
    void t.call(op, { object: db, context: 1, aux, dur });
  for (let i = 0; i < 2; i++) {
    lock('xLock', 1, 0);
    lock('xLock', 2, 100);
    lock('xLock', 4, 50);
    lock('xUnlock', 0, 200);
  }
  for (let i = 0; i < 2; i++) {
    lock('xLock', 1, 0);
    lock('xUnlock', 0, 30);
  }
  t.idle(10);
  t.send();
  expect(shown(asked(store), 'Transactions')).toEqual([
    'write 350',
    'write 350',
    'read 30',
    'read 30',
  ]);
});

test('each interval is shown once, even if syncs come from another layer than before', () => {
  const store = newStore();
  const t = new ThreadBuilder(store);
  const db = t.file('/app.db');
  t.call('opfsFlush', { dur: 100 });
  t.send();
  const first = asked(store);
  expect(shown(first, 'Syncs')).toEqual([expect.stringMatching(/ 100$/)]);
  t.call('xSync', { object: db, context: 1, dur: 300 }, () => t.call('opfsFlush', { dur: 200 }));
  t.send();
  const second = asked(store, first.after);
  expect(shown(second, 'Syncs')).toEqual(['xSync 500']);
  expect(asked(store, second.after).marks).toEqual([]);
});
