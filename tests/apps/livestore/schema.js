// Events, the tables that they become, and how.
import { Events, makeSchema, Schema, State } from '@livestore/livestore';

const { SQLite } = State;
export const tables = {
  todos: SQLite.table({
    name: 'todos',
    columns: {
      id: SQLite.text({ primaryKey: true }),
      text: SQLite.text({ default: '' }),
      made: SQLite.real({ default: 0 }),
      completed: SQLite.boolean({ default: false }),
    },
  }),
};

const { Number, String, Struct } = Schema;
export const events = {
  todoCreated: Events.synced({
    name: 'v1.TodoCreated',
    schema: Struct({ id: String, text: String, made: Number }),
  }),
  todoCompleted: Events.synced({ name: 'v1.TodoCompleted', schema: Struct({ id: String }) }),
  todosCleared: Events.synced({ name: 'v1.TodosCleared', schema: Struct({}) }),
};

const materializers = SQLite.materializers(events, {
  'v1.TodoCreated': (todo) => tables.todos.insert({ ...todo, completed: false }),
  'v1.TodoCompleted': ({ id }) => tables.todos.update({ completed: true }).where({ id }),
  'v1.TodosCleared': () => tables.todos.delete().where({ completed: true }),
});
export const schema = makeSchema({ events, state: SQLite.makeState({ tables, materializers }) });
