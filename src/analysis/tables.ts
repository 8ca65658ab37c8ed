/** The catalog of tables. Each one is in the Query view and in exported files, in this order. */
import { belowTables } from './below/table.ts';
import { cacheTables } from './cache/table.ts';
import { contentionTables } from './contention/table.ts';
import type { Table } from './core/table.ts';
import { cpuTables } from './cpu/table.ts';
import { errorTables } from './errors/table.ts';
import { eventTables } from './events/table.ts';
import { findingTables } from './findings/table.ts';
import { fileTables } from './files/table.ts';
import { memoryTables } from './memory/memory.ts';
import { messageTables } from './messages/table.ts';
import { pageTables } from './pages/table.ts';
import { reportTables } from './report/table.ts';
import { statementTables } from './statements/table.ts';
import { transactionTables } from './transactions/table.ts';
import { walTables } from './wal/table.ts';

/** All but `events`, which is read thread by thread (events/table.ts). */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- rows of any kind
export const TABLES: readonly Table<any>[] = [
  ...reportTables,
  ...eventTables,
  ...statementTables,
  ...cacheTables,
  ...transactionTables,
  ...walTables,
  ...fileTables,
  ...pageTables,
  ...memoryTables,
  ...contentionTables,
  ...messageTables,
  ...cpuTables,
  ...belowTables,
  ...errorTables,
  ...findingTables,
];
