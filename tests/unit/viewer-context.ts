// Traces with known numbers and the context of the viewer's queries, for tests without a browser.
import { Flag } from '../../src/event/event.ts';
import { Facts } from '../../src/analysis/core/graph.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import type { QueryContext } from '../../src/viewer/session/queries/context.ts';
import { TimelineLanes } from '../../src/timeline/timeline-lanes.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';

/**
 * `n` commits in journal mode delete, each writes one page of 4096 bytes in autocommit. PRAGMAs run
 * first.
 */
export function autocommits(n: number, pragmas: string[] = []): TraceStore {
  const store = newStore();
  const t = new ThreadBuilder(store, { name: 'db' });
  const db = t.file('/app.db');
  const journal = t.file('/app.db-journal', 'journal');
  for (const text of pragmas)
    t.call('sqlStep', { object: t.define({ kind: 'sql', text }), context: 1, aux: 900 });
  const awaited = { flags: Flag.async }; // so the VFS uses storage that isn't recorded
  const insert = t.define({ kind: 'sql', text: 'INSERT INTO t VALUES (?)' });
  for (let i = 0; i < n; i++) {
    t.call('sqlStep', { object: insert, context: 1, aux: i + 1, result: 101, dur: 10 }, () => {
      t.call('xLock', { ...awaited, object: db, context: 1, aux: 1, dur: 5 });
      t.call('xRead', { ...awaited, object: db, context: 1, offset: 4096, length: 4096, dur: 50 });
      t.call('xLock', { ...awaited, object: db, context: 1, aux: 2, dur: 5 });
      t.call('xWrite', {
        ...awaited,
        object: journal,
        context: 1,
        offset: 0,
        length: 512,
        dur: 10,
      });
      t.call('xWrite', { ...awaited, object: db, context: 1, offset: 4096, length: 4096, dur: 10 });
      t.call('xSync', { ...awaited, object: db, context: 1, dur: 400 });
      t.call('xDelete', { ...awaited, object: journal, context: 1, dur: 10 });
      t.call('xFileControl', { ...awaited, object: db, context: 1, aux: 22 });
      t.call('xUnlock', { ...awaited, object: db, context: 1, aux: 0, dur: 5 });
    });
    t.idle(20);
  }
  t.send();
  return store;
}

/** The context of queries on a trace. */
export function contextOf(
  store: TraceStore,
  compared: QueryContext['compared'] = { other: null, previous: null },
): QueryContext {
  const lanes = new TimelineLanes(store);
  const rest = (): Promise<void> => Promise.resolve();
  return {
    store,
    facts: new Facts(store),
    compared,
    callLanes: () => lanes.callLanes,
    timeline: () => lanes,
    memo: (_, make) => make(),
    rest,
  };
}
