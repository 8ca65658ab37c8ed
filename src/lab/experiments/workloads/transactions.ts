/**
 * Many small transactions over sequential or random keys, written or read. Begin, work, and commit
 * are counted separately.
 */
import { expectAll } from '../model/assertions.ts';
import type { Parameters, Step, Value, Workload } from '../model/types.ts';
import { defaultsTo, lines, parameter, sql, times, workload } from './define.ts';
import { seeded } from './random.ts';

const BODY = 'v'.repeat(100);
const CREATE = 'CREATE TABLE items(key INTEGER PRIMARY KEY, value TEXT);';

interface Sort {
  readonly order: 'sequential' | 'random';
  readonly what: 'write' | 'read';
}

function run({ order, what }: Sort, p: Parameters): Step {
  const [transactions, items] = [parameter(p, 'transactions'), parameter(p, 'items')];
  const draw = seeded(1);
  // drawn for each transaction in turn; the step runs them in order. Random writes are spread over
  // four times the rows, and reads find each row
  const keys = transactions * items * (what === 'write' ? 4 : 1);
  const key = (t: number, i: number): number =>
    order === 'sequential' ? t * items + i : draw(keys);
  return {
    kind: 'transactions',
    id: 'run',
    title: `${transactions} transactions of ${items} ${order} ${what}s`,
    begin: what === 'write' ? 'BEGIN IMMEDIATE' : 'BEGIN',
    sql:
      what === 'write'
        ? 'INSERT OR REPLACE INTO items VALUES(?,?)'
        : 'SELECT value FROM items WHERE key=?',
    commit: 'COMMIT',
    transactions,
    rows: (t) =>
      times(items, (i): readonly Value[] => (what === 'write' ? [key(t, i), BODY] : [key(t, i)])),
  };
}
/** The rows to read: as many as will be requested. */
const filled = (p: Parameters): Step[] => {
  const rows = parameter(p, 'transactions') * parameter(p, 'items');
  return [
    sql(
      'fill',
      `${rows} rows`,
      `${CREATE}WITH RECURSIVE c(x) AS(VALUES(0) UNION ALL SELECT x+1 FROM c WHERE x<${rows - 1}) INSERT INTO items SELECT x,'${BODY}' FROM c;`,
    ),
  ];
};

const make = (sort: Sort, claims: string[]): Workload =>
  workload({
    id: `${sort.order}-${sort.what}`,
    title: `Many transactions, ${sort.order} ${sort.what}s`,
    question: 'Which part of a transaction costs most: its begin, its work, or its commit?',
    parameters: {
      transactions: defaultsTo(200, [1, 20_000], 'transactions'),
      items: defaultsTo(100, [1, 10_000], 'rows of each'),
    },
    setup: sort.what === 'read' ? filled : () => [sql('create', 'create the table', CREATE)],
    steps: (p) => [run(sort, p)],
    watch: [
      'ms',
      'instructions',
      'begin.ms',
      'body.ms',
      'commit.ms',
      'begin.instructions',
      'body.instructions',
      'commit.instructions',
      'vfs.xWrite',
      'commit.vfs.xWrite',
      'commit.vfs.xSync',
      'vfs.xSync',
    ],
    claims,
    assertions:
      sort.what === 'write'
        ? expectAll({ 'Every sync belongs to a commit': 'run commit.vfs.xSync = run vfs.xSync' })
        : expectAll({ 'Reading writes nothing': 'run vfs.xWrite = 0' }),
  });

export const TRANSACTIONS: readonly Workload[] = [
  make({ order: 'sequential', what: 'write' }, [
    'S2.2',
    'S2.3',
    'S2.5',
    'S2.10',
    'S2.11',
    'S2.12',
    'S2.13',
    'S2.15',
  ]),
  make({ order: 'random', what: 'write' }, ['S2.2', 'S2.3', 'S2.7', 'S2.10', 'S2.11', 'S2.12']),
  make({ order: 'sequential', what: 'read' }, ['S2.2', 'S2.6', 'S2.9']),
  make({ order: 'random', what: 'read' }, ['S2.2', 'S2.6', 'S2.9']),
];

export const READ_POLL: Workload = workload({
  id: 'read-poll',
  title: 'Polling: 2,000 warm reads, each a transaction',
  question: 'What does a read cost that reads nothing new?',
  parameters: { reads: defaultsTo(2000, [1, 100_000], 'SELECTs') },
  setup: () => [
    sql(
      'fill',
      'a small table',
      `CREATE TABLE s(id INTEGER PRIMARY KEY, v TEXT);\nINSERT INTO s VALUES(1,'one');`,
    ),
  ],
  steps: (p) => [
    sql(
      'poll',
      'each a transaction',
      lines(parameter(p, 'reads'), () => 'SELECT v FROM s WHERE id=1;'),
    ),
    sql(
      'poll-in-one',
      'all in one transaction',
      `BEGIN;\n${lines(parameter(p, 'reads'), () => 'SELECT v FROM s WHERE id=1;')}COMMIT;\n`,
    ),
  ],
  watch: ['ms', 'instructions', 'vfs.calls', 'vfs.xRead', 'vfs.xLock', 'vfs.xAccess'],
  claims: ['S3.16', 'S3.18'],
  assertions: expectAll({
    'One transaction around the reads saves VFS calls': 'poll-in-one vfs.calls <= poll vfs.calls',
  }),
});
