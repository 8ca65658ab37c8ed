/**
 * What an app does besides bulk work: it starts, it searches as the user types, and it is open in
 * several tabs.
 */
import { expectAll } from '../model/assertions.ts';
import type { Step, Workload } from '../model/types.ts';
import { defaultsTo, host, lines, parameter, sql, times, workload } from './define.ts';
import { numberWords, seeded } from './random.ts';

export const COLD_START: Workload = workload({
  id: 'cold-start',
  title: 'Cold start with many tables',
  question: 'How much is read before the first answer, and how does that grow with the schema?',
  parameters: {
    tables: defaultsTo(200, [1, 5000], 'tables, each with an index'),
  },
  setup: (p) => [
    sql(
      'schema',
      'tables and indexes',
      `BEGIN;\n${lines(parameter(p, 'tables'), (i) => `CREATE TABLE t${i}(id INTEGER PRIMARY KEY, name TEXT, v INT); CREATE INDEX i${i} ON t${i}(name); INSERT INTO t${i} VALUES(1,'first',${i});`)}COMMIT;\n`,
    ),
    host('drop-block-cache'),
  ],
  steps: () => [
    host('reopen'),
    sql('first', 'the first query', "SELECT v FROM t0 WHERE name='first';"),
    sql('second', 'the second query', "SELECT v FROM t0 WHERE name='first';"),
  ],
  watch: ['ms', 'instructions', 'vfs.calls', 'vfs.xRead', 'vfs.xReadBytes', 'cache.miss'],
  claims: ['S3.9'],
  assertions: expectAll({
    'The first query reads more than the second': 'first vfs.xRead > second vfs.xRead',
  }),
});

function* search(documents: number): Generator<Step> {
  const draw = seeded(33);
  const text = (): string =>
    Array.from({ length: 12 }, () => numberWords(draw(1_000_000))).join(' ');
  yield {
    kind: 'bound',
    id: 'load',
    title: `index ${documents} texts`,
    sql: 'INSERT INTO docs(body) VALUES(?)',
    rows: times(documents, () => [text()]),
    oneTransaction: true,
  };
  yield host('drop-block-cache');
  yield host('reopen');
  const word = 'seventeen';
  for (let typed = 1; typed <= word.length; typed++)
    yield sql(
      `key-${typed}`,
      `"${word.slice(0, typed)}"`,
      `SELECT rowid, snippet(docs,0,'[',']','...',8) FROM docs WHERE docs MATCH '${word.slice(0, typed)}*' LIMIT 20;`,
    );
}

export const FULL_TEXT: Workload = workload({
  id: 'full-text',
  title: 'Full-text search as you type',
  question: 'What does each key cost?',
  parameters: {
    documents: defaultsTo(2000, [10, 100_000], 'texts of 12 spelled-out numbers'),
  },
  setup: () => [sql('create', 'create the index', 'CREATE VIRTUAL TABLE docs USING fts5(body);')],
  steps: (p) => search(parameter(p, 'documents')),
  watch: ['ms', 'instructions', 'rows', 'vfs.xRead', 'vfs.xReadBytes', 'cache.hit', 'cache.miss'],
  claims: ['S3.33'],
  needs: ['fts5'],
});

export const CONTENTION: Workload = workload({
  id: 'contention',
  title: 'Writers and readers in separate workers',
  question: 'How many transactions get through, how many are refused, and who waits for whom?',
  parameters: {
    writers: defaultsTo(1, [0, 8], 'workers that write'),
    readers: defaultsTo(3, [0, 8], 'workers that read'),
    iterations: defaultsTo(200, [1, 100_000], 'transactions of each'),
  },
  config: { vfs: 'OPFSCoopSync', synchronous: 'normal' },
  setup: () => [
    sql(
      'create',
      'a counter',
      "BEGIN IMMEDIATE; CREATE TABLE kv(key PRIMARY KEY, value); REPLACE INTO kv VALUES('counter',0); COMMIT;",
    ),
  ],
  steps: () => [
    sql('result', 'what the counter says', "SELECT value FROM kv WHERE key='counter';"),
  ],
  actors: (p) => [
    {
      role: 'writer',
      count: parameter(p, 'writers'),
      sql: "BEGIN IMMEDIATE; UPDATE kv SET value=value+1 WHERE key='counter'; COMMIT;",
      iterations: parameter(p, 'iterations'),
    },
    {
      role: 'reader',
      count: parameter(p, 'readers'),
      sql: 'SELECT max(rowid) FROM kv;',
      iterations: parameter(p, 'iterations'),
    },
  ],
  kept: (p) => ({
    sql: "SELECT value FROM kv WHERE key='counter';",
    value: parameter(p, 'writers') * parameter(p, 'iterations'),
  }),
  watch: [
    'ms',
    'rows.lost',
    'busy.retries',
    'writer.waited',
    'reader.waited',
    'writer.transactions',
    'reader.transactions',
    'vfs.xLock',
    'vfs.xWrite',
    'idb.transactions',
    'locks.requests',
  ],
  claims: ['S2.9', 'S2.14', 'S3.24', 'S3.25', 'S3.30'],
  assertions: expectAll({ 'No increment is lost': 'actors rows.lost = 0' }),
  needs: ['workers'],
});
