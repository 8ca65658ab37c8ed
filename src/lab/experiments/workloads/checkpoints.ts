/**
 * The write-ahead log: what a checkpoint reads, writes, and syncs, by mode, and the effect of many
 * of them on a write-heavy load.
 */
import { expectAll } from '../model/assertions.ts';
import type { Step, Workload } from '../model/types.ts';
import { defaultsTo, lines, parameter, sql, workload } from './define.ts';

const FILL = `CREATE TABLE t(id INTEGER PRIMARY KEY,a INT,b TEXT);
WITH RECURSIVE c(x) AS(VALUES(1) UNION ALL SELECT x+1 FROM c WHERE x<20000) INSERT INTO t SELECT x,x,printf('%0100d',x) FROM c;
`;
/**
 * 21 pages at once, then 40 transactions of one row. SET b=b||'' would write nothing, because
 * SQLite compares the bytes.
 */
const UPDATES = `UPDATE t SET a=a+1 WHERE id%997=0;\n${lines(40, (i) => `UPDATE t SET a=a+1 WHERE id=${((i * 7919) % 20_000) + 1};`)}`;
const MODES = ['PASSIVE', 'FULL', 'RESTART', 'TRUNCATE'] as const;

function* anatomy(): Generator<Step> {
  yield sql('fill', '20,000 rows', FILL);
  for (const mode of MODES) {
    yield sql(`updates-${mode.toLowerCase()}`, '41 transactions', UPDATES);
    yield sql(mode.toLowerCase(), `wal_checkpoint(${mode})`, `PRAGMA wal_checkpoint(${mode});`);
  }
}

const WAL = { lockingMode: 'exclusive', journalMode: 'wal', pageSize: 4096 } as const;
const WATCH = [
  'ms',
  'instructions',
  'checkpoint.count',
  'checkpoint.walReads',
  'checkpoint.dbWrites',
  'checkpoint.runs',
  'vfs.wal.xWrite',
  'vfs.main-db.xWrite',
  'vfs.xSync',
];

export const CHECKPOINT_ANATOMY: Workload = workload({
  id: 'checkpoint-anatomy',
  title: 'Anatomy of a checkpoint, by mode',
  question: 'How many reads, writes, runs, and syncs does a checkpoint cost a page?',
  config: { ...WAL, walAutocheckpoint: 0, cacheSize: 50 },
  steps: anatomy,
  watch: WATCH,
  claims: ['S5.2', 'S5.3', 'S5.5', 'S5.8', 'S5.9', 'S5.10', 'S5.12', 'S5.14', 'S5.19', 'S5.21'],
  assertions: MODES.flatMap((mode) => {
    const step = mode.toLowerCase();
    return expectAll({
      [`${mode}: every page is read from the log and written once: 2 calls a page`]: `${step} checkpoint.walReads = ${step} checkpoint.dbWrites`,
    });
  }),
});

export const CHECKPOINT_STORM: Workload = workload({
  id: 'checkpoint-storm',
  title: 'Write-heavy load with checkpoints',
  question:
    'What does the distance between checkpoints do to writes, syncs, and the size of the log?',
  parameters: {
    transactions: defaultsTo(2000, [100, 100_000], 'transactions of one updated row'),
    hot: defaultsTo(
      20_000,
      [1, 20_000],
      'rows that are updated in turn: with few of them the pages are hot',
    ),
    mode: defaultsTo(
      0,
      [0, 4],
      '0 = checkpoints as they come, or by PRAGMA: 1 PASSIVE, 2 FULL, 3 RESTART, 4 TRUNCATE',
    ),
    every: defaultsTo(500, [1, 100_000], 'transactions from one PRAGMA to the next'),
  },
  config: WAL,
  setup: () => [
    sql('fill', '20,000 rows', FILL),
    sql('empty', 'empty the log', 'PRAGMA wal_checkpoint(TRUNCATE);'),
  ],
  steps: (p) => {
    const n = parameter(p, 'transactions');
    const [hot, mode, every] = [
      parameter(p, 'hot'),
      MODES[parameter(p, 'mode') - 1],
      parameter(p, 'every'),
    ];
    const quarter = Math.ceil(n / 4);
    const line = (i: number): string => {
      const update = `UPDATE t SET a=a+1 WHERE id=${((i * 7919) % hot) + 1};`;
      return mode && (i + 1) % every === 0 ? `${update}PRAGMA wal_checkpoint(${mode});` : update;
    };
    return [0, 1, 2, 3].map((q) => {
      const count = Math.min(quarter, n - q * quarter);
      return sql(
        `quarter-${q + 1}`,
        `transactions ${q * quarter + 1} to ${q * quarter + count}`,
        lines(Math.max(0, count), (i) => line(q * quarter + i)),
      );
    });
  },
  watch: WATCH,
  claims: ['S5.1', 'S5.4', 'S5.11', 'S5.13', 'S5.20'],
});
