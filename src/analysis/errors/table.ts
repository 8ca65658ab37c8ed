/** The table of failures. */
import { col, rowsIn, table, type Columns } from '../core/table.ts';
import { failedCalls, type ErrorGroup } from './failed-calls.ts';

const errorRows = rowsIn('errorRows', failedCalls, ({ groups }) => groups);

export const errorColumns = {
  error: col(
    'text',
    'Error',
    'Result code, name of the exception (threw: it has none that is known), or uncaught error',
    (g) => g.what,
  ),
  count: col('count', 'Count', 'Events that failed so', (g) => g.count),
  layer: col('text', 'Layer', 'sql, vfs, web (Storage in the panel), or host', (g) => g.layer),
  call: col('code', 'Call', 'Name of the call', (g) => g.call),
  object: col('code', 'On', 'File, store, statement, or message', (g) => g.object || null),
  first_ts: col('moment', 'First', 'Begin of the first of them', (g) => g.firstUs),
  last_ts: col('moment', 'Last', 'Begin of the last of them', (g) => g.lastUs),
  meaning: col(
    'text',
    'Meaning',
    'What the error means, where it is known',
    (g) => g.meaning || null,
  ),
  handled: col(
    'int',
    'Handled',
    '1: the app did not see it, because SQLite or its VFS handled it or made the call again',
    (g) => Number(g.handled),
  ),
} satisfies Columns<ErrorGroup>;

export const errorTables = [
  table(
    'errors',
    'Failed calls and uncaught errors, one row for each kind. Those that the app did not see are separate rows',
    errorRows,
    errorColumns,
  ),
];
