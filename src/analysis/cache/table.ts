/** The table of first executions against later ones. */
import { col, rowsIn, table, type Columns } from '../core/table.ts';
import { coldWarm, type FirstExecution } from './cold-warm.ts';

export const firstRunColumns = {
  fingerprint: col('code', 'Statement', 'Its text, literals folded', (r) => r.text),
  executions: col('count', 'Runs', 'How often it ran', (r) => r.executions),
  first: col('us', 'First', 'Its first run', (r) => r.firstUs),
  later: col('us', 'Later', 'Mean of the others', (r) => r.laterUs),
  ratio: col('number', 'First / later', 'How much longer the first run took', (r) =>
    r.laterUs > 0 ? r.firstUs / r.laterUs : null,
  ),
  first_pages: col(
    'count',
    'Pages first',
    'Pages read under the first run. n/a: no VFS call is recorded',
    (r) => r.firstPages,
  ),
  later_pages: col('number', 'Pages later', 'Mean of the others', (r) => r.laterPages),
} satisfies Columns<FirstExecution>;

const firstRunRows = rowsIn('firstRunRows', coldWarm, (runs) => runs.firstExecutions);
export const cacheTables = [
  table(
    'first_runs',
    'Statements that ran at least twice: the first run against the later ones',
    firstRunRows,
    firstRunColumns,
  ),
];
