// Todos on LiveStore as its guide for Vite tells, without a sync backend: each tab has a database in memory, a SharedWorker of all tabs
// passes on to the worker of the tab that leads, and that one stores in OPFS.
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
