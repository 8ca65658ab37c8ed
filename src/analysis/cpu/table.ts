/** The table of CPU samples. */
import { isOnCpu, type CpuFunction } from '../../trace/cpu-samples.ts';
import { fingerprintsOf } from '../core/fingerprints.ts';
import { fact } from '../core/graph.ts';
import { col, inParts, table, type Columns, type Rows } from '../core/table.ts';
import { THREAD } from '../events/table.ts';
import { anatomies } from '../transactions/transaction-anatomy.ts';
import { functionTitles } from './hot-functions.ts';
import { sampleStatements } from './sample-statements.ts';
import { sampleTransactions } from './sample-transactions.ts';

interface Sample {
  thread: number;
  us: number;
  /** null = no SQL ran, or SQL with an unknown text. */
  text: string | null;
  inSql: boolean;
  /** Its first event. */
  transaction: number | null;
  leaf: CpuFunction;
  title: string;
}

const sampleRows = fact(
  'sampleRows',
  'CPU samples',
  { sampleStatements, sampleTransactions, anatomies, functionTitles },
  ({ threads }, known): Rows<Sample> => {
    const parts = threads.flatMap((thread) => {
      const found = known.sampleStatements.of(thread);
      if (!found) return [];
      const { samples, texts } = found;
      const { functions, called, frames, us } = samples;
      const places = known.sampleTransactions.get(thread)!;
      const textOf = fingerprintsOf(thread);
      const { beginRow } = known.anatomies.transactions;
      const titles = functions.map(known.functionTitles);
      const at = (i: number): Sample => ({
        thread: thread.index,
        us: us[i]!,
        text: texts[i]! < 0 ? null : textOf(texts[i]!),
        inSql: texts[i]! >= 0,
        transaction: places[i]! < 0 ? null : thread.events.seq[beginRow[places[i]!]!]!,
        leaf: functions[called[frames[i]!]!]!,
        title: titles[called[frames[i]!]!]!,
      });
      return [{ count: us.length, at }];
    });
    return inParts(
      parts.map(({ count }) => count),
      (part, i) => parts[part]!.at(i),
    );
  },
);

const sampleColumns = {
  thread: col('int', 'Thread', THREAD, (s) => s.thread),
  ts: col('moment', 'Taken', 'When the browser took it', (s) => s.us),
  in_sql: col('int', 'In SQL', '1: SQL ran on the thread; 0: none did', (s) => Number(s.inSql)),
  fingerprint: col(
    'code',
    'Statement',
    'That the thread worked for; null: none, or its text was not seen',
    (s) => s.text,
  ),
  transaction_seq: col(
    'id',
    'Transaction',
    'First event of the transaction that was open on the thread, as in transactions',
    (s) => s.transaction,
  ),
  function: col('code', 'Function', 'The innermost', (s) => s.title),
  url: col('code', 'Script', 'Its script or wasm module', (s) => s.leaf.url || null),
  kind: col(
    'text',
    'Kind',
    'js, wasm, native (a function of the browser), gc, program (other native code), idle, or vfscope (a storage call, or our own code)',
    (s) => s.leaf.kind,
  ),
  on_cpu: col('int', 'On CPU', '1: it computed; 0: it waited', (s) => Number(isOnCpu(s.leaf))),
} satisfies Columns<Sample>;

export const cpuTables = [
  table('cpu_samples', 'What threads executed, sampled', sampleRows, sampleColumns),
];
