// Todos on LiveStore as in its guide for Vite, without a sync backend: each tab has a database in
// memory. A SharedWorker of all tabs forwards to the leading tab's worker, which stores in OPFS.
import { makePersistedAdapter } from '@livestore/adapter-web';
import SharedWorkerOfLiveStore from '@livestore/adapter-web/shared-worker?sharedworker';
import { createStorePromise, queryDb } from '@livestore/livestore';
import { listPage } from '../common/list-page.js';
import { events, schema, tables } from './schema.js';
import LeaderWorker from './worker.js?worker';

const adapter = makePersistedAdapter({
  storage: { type: 'opfs' },
  worker: LeaderWorker,
  sharedWorker: SharedWorkerOfLiveStore,
});
const store = await createStorePromise({ schema, adapter, storeId: 'todos' });

const { show } = listPage({
  add: (names) =>
    store.commit(
      ...names.map((text) =>
        events.todoCreated({ id: crypto.randomUUID(), text, made: performance.now() }),
      ),
    ),
  check: (id) => store.commit(events.todoCompleted({ id })),
  clear: () => store.commit(events.todosCleared({})),
});
store.subscribe(queryDb(tables.todos.orderBy('made', 'asc')), (todos) =>
  show(todos.map(({ id, text, completed }) => ({ id, name: text, done: completed }))),
);
