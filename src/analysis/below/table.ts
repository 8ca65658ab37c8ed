/** The table of the browser's reports on storage. */
import { opName } from '../../event/operations.ts';
import { BROWSER, BROWSER_WORK } from '../../trace/below-storage.ts';
import { fact } from '../core/graph.ts';
import { col, table, type Columns, type Rows } from '../core/table.ts';
import { THREAD } from '../events/table.ts';

interface Row {
  /** As in BelowStorage. */
  thread: number;
  kind: number;
  us: number;
  durUs: number;
}

const belowRows = fact('belowRows', 'storage events of the browser', {}, ({ below }): Rows<Row> => {
  if (!below) return { count: 0, at: () => ({ thread: 0, kind: 0, us: 0, durUs: 0 }) };
  const { threads, kinds, us, durUs } = below;
  return {
    count: us.length,
    at: (i) => ({ thread: threads[i]!, kind: kinds[i]!, us: us[i]!, durUs: durUs[i]! }),
  };
});

const belowColumns = {
  thread: col('int', 'Thread', `${THREAD}; null: another thread, or another process`, (e) =>
    e.thread < 0 ? null : e.thread,
  ),
  ts: col('moment', 'Begin', 'When it began, by the clock of the browser', (e) => e.us),
  dur: col(
    'us',
    'Duration',
    'How long the call or the work took, of a request of IndexedDB until its answer; null: not known',
    (e) => (e.durUs < 0 ? null : e.durUs),
  ),
  process: col('text', 'Process', 'page, or browser: its own process', (e) =>
    e.thread === BROWSER ? 'browser' : 'page',
  ),
  call: col(
    'code',
    'Call',
    'The call of the page, as in events, or the work of the browser',
    (e) => (e.thread === BROWSER ? BROWSER_WORK[e.kind]! : opName(e.kind)),
  ),
} satisfies Columns<Row>;

export const belowTables = [
  table(
    'below_storage',
    'Storage calls as the browser reports them, and its own work for IndexedDB',
    belowRows,
    belowColumns,
  ),
];
