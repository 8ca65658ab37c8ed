/**
 * One bulk insert and two sums, on three starting points: an empty database, one whose table was
 * dropped (its pages are free and get reused), and one whose WAL restarts over old frames. On a
 * block VFS, new space costs nothing, and used space costs one read per block.
 */
import { expectAll } from '../model/assertions.ts';
import type { Parameters, Step, Workload } from '../model/types.ts';
import { defaultsTo, host, parameter, sql, workload } from './define.ts';

const CREATE = 'CREATE TABLE t(a INT,b TEXT,c INT);';
const fill = (rows: number): string =>
  `WITH RECURSIVE c(x) AS(VALUES(1) UNION ALL SELECT x+1 FROM c WHERE x<${rows}) INSERT INTO t SELECT x,'row '||x||' some text',x*2 FROM c;`;

const steps = (p: Parameters): Step[] => [
  sql('create', 'create the table', CREATE),
  sql('insert', `insert ${parameter(p, 'rows')} rows by one statement`, fill(parameter(p, 'rows'))),
  sql('sum-a', 'first sum', 'SELECT sum(a) FROM t;'),
  sql('sum-c', 'second sum', 'SELECT sum(c) FROM t;'),
];
/** The same rows once, dropped. @param checkpoint what happens to the WAL, if any */
const used =
  (checkpoint: 'TRUNCATE' | 'RESTART') =>
  (p: Parameters): Step[] => [
    sql(
      'before',
      'the same rows, dropped',
      `${CREATE}${fill(parameter(p, 'rows'))}DROP TABLE t;PRAGMA wal_checkpoint(${checkpoint});`,
    ),
    host('drop-block-cache'),
  ];

const common: Pick<Workload, 'question' | 'parameters' | 'config' | 'steps' | 'watch'> = {
  question:
    'Does the insert write to new space or into blocks that must be read first, and what does the write policy do about it?',
  parameters: { rows: defaultsTo(50_000, [1000, 1_000_000], 'rows inserted') },
  config: { pageSize: 4096, lockingMode: 'exclusive', synchronous: 'normal' },
  steps,
  watch: [
    'ms',
    'instructions',
    'vfs.xRead',
    'vfs.xWrite',
    'vfs.xWriteBytes',
    'vfs.xSync',
    'block.rmw',
    'block.rmwMiss',
    'block.get',
    'block.put',
    'block.getBytes',
    'block.putBytes',
  ],
};

export const BULK_INSERT: readonly Workload[] = [
  workload({
    ...common,
    id: 'bulk-insert-empty',
    title: 'Bulk insert into an empty database',
    claims: ['S1.1', 'S1.2', 'S1.9', 'S1.13'],
    assertions: expectAll({
      'New space: no block is read to be written': 'total block.rmwMiss = 0',
    }),
  }),
  workload({
    ...common,
    id: 'bulk-insert-dropped',
    title: 'Bulk insert where a table was dropped',
    setup: used('TRUNCATE'),
    claims: ['S1.2', 'S1.9', 'S1.10', 'S1.12', 'S1.14'],
  }),
  workload({
    ...common,
    id: 'bulk-insert-reused-wal',
    title: 'Bulk insert over a WAL that starts again',
    config: { ...common.config, journalMode: 'wal' },
    setup: used('RESTART'),
    claims: ['S1.9', 'S1.10', 'S1.11'],
  }),
];
