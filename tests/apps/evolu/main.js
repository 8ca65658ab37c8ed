// Todos on Evolu, without a relay: its own SQLite build with encryption, in a worker that the first tab owns and the others use.
import {
  createEvolu,
  id,
  maxLength,
  NonEmptyString,
  nullOr,
  SimpleName,
  SqliteBoolean,
  sqliteFalse,
  sqliteTrue,
} from '@evolu/common';
import { evoluWebDeps } from '@evolu/web';
import { listPage } from '../common/list-page.js';

const Schema = {
  todo: {
    id: id('Todo'),
    title: maxLength(100)(NonEmptyString),
    isCompleted: nullOr(SqliteBoolean),
  },
};
const evolu = createEvolu(evoluWebDeps)(Schema, {
  name: SimpleName.orThrow('todos'),
  transports: [],
});

const { fail, show } = listPage({
  add: (names) =>
    names.forEach((title) => evolu.insert('todo', { title, isCompleted: sqliteFalse })),
  check: (id, done) => evolu.update('todo', { id, isCompleted: done ? sqliteTrue : sqliteFalse }),
  clear: () =>
    evolu
      .getQueryRows(todos)
      .filter(({ isCompleted }) => isCompleted)
      .forEach(({ id }) => evolu.update('todo', { id, isDeleted: sqliteTrue })),
});

const todos = evolu.createQuery((db) =>
  db
    .selectFrom('todo')
    .select(['id', 'title', 'isCompleted'])
    .where('isDeleted', 'is not', sqliteTrue)
    .orderBy('createdAt'),
);
const draw = () =>
  show(
    evolu
      .getQueryRows(todos)
      .map(({ id, title, isCompleted }) => ({ id, name: title, done: Boolean(isCompleted) })),
  );
evolu.subscribeError(() => fail(JSON.stringify(evolu.getError())));
evolu.subscribeQuery(todos)(draw);
await evolu.loadQuery(todos);
draw();
