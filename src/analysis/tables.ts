/** The catalog of tables: each is in the SQL page and in exported files, in this order. */
import { firstRunTable } from './cache/table.ts';
import { errorTable } from './errors/table.ts';
import { objectTable, threadTable } from './events/table.ts';
import { fileTable } from './files/table.ts';
import { busyTable, deadlockTable, leftTable, waitTable } from './contention/table.ts';
import { accessTable, pageTable, treeTable } from './pages/table.ts';
import { executionTable, statementTable } from './statements/table.ts';
import { traceTable } from './report/table.ts';
import type { Table } from './core/table.ts';
import { transactionTable } from './transactions/table.ts';
import { checkpointTable, walTable } from './wal/table.ts';

/** All but `events`, which is read thread by thread (events/table.ts). */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- rows of any kind
export const TABLES: readonly Table<any>[] = [
  traceTable,
  threadTable,
  objectTable,
  statementTable,
  executionTable,
  firstRunTable,
  transactionTable,
  walTable,
  checkpointTable,
  fileTable,
  pageTable,
  treeTable,
  accessTable,
  waitTable,
  busyTable,
  leftTable,
  deadlockTable,
  errorTable,
];
