/**
 * SQLite's speed comparison of 2001, which wa-sqlite's benchmark page still runs: 16 scripts on one
 * database, each on the previous one's result. The literals come from our own generator, so the
 * counts differ from the original's.
 */
import { expectAll } from '../model/assertions.ts';
import type { SqlStep, Workload } from '../model/types.ts';
import { defaultsTo, lines, parameter, sql, workload } from './define.ts';
import { numberWords, seeded } from './random.ts';

const TABLE = '(a INTEGER, b INTEGER, c VARCHAR(100))';
const inTransaction = (text: string): string => `BEGIN;\n${text}COMMIT;\n`;

function* steps(rows: number, commits: number): Generator<SqlStep> {
  const draw = seeded(2001);
  const insert =
    (into: string) =>
    (i: number): string => {
      const b = draw(100_000);
      return `INSERT INTO ${into} VALUES(${i + 1},${b},'${numberWords(b)}');`;
    };
  // the originals' numbers of repeats are kept in proportion to the rows
  const part = (of25000: number): number => Math.max(1, Math.round((of25000 * rows) / 25_000));
  const range = (i: number, width: number): string =>
    `SELECT count(*), avg(b) FROM t2 WHERE b>=${i * 100} AND b<${i * 100 + width};`;

  yield sql(
    'T1',
    `${commits} INSERTs, each a transaction`,
    `CREATE TABLE t1${TABLE};\n${lines(commits, insert('t1'))}`,
  );
  yield sql(
    'T2',
    `${rows} INSERTs in one transaction`,
    `BEGIN;\nCREATE TABLE t2${TABLE};\n${lines(rows, insert('t2'))}COMMIT;\n`,
  );
  yield sql(
    'T3',
    `${rows} INSERTs into an indexed table`,
    `BEGIN;\nCREATE TABLE t3${TABLE};\nCREATE INDEX i3 ON t3(c);\n${lines(rows, insert('t3'))}COMMIT;\n`,
  );
  yield sql(
    'T4',
    `${part(100)} SELECTs without an index`,
    inTransaction(lines(part(100), (i) => range(i, 1000))),
  );
  yield sql(
    'T5',
    `${part(100)} SELECTs on a string comparison`,
    inTransaction(
      lines(
        part(100),
        (i) => `SELECT count(*), avg(b) FROM t2 WHERE c LIKE '%${numberWords(i + 1)}%';`,
      ),
    ),
  );
  yield sql(
    'T6',
    'creating two indexes',
    'CREATE INDEX i2a ON t2(a);\nCREATE INDEX i2b ON t2(b);\n',
  );
  yield sql(
    'T7',
    `${part(5000)} SELECTs with an index`,
    inTransaction(lines(part(5000), (i) => range(i, 100))),
  );
  yield sql(
    'T8',
    `${commits} UPDATEs without an index`,
    inTransaction(
      lines(commits, (i) => `UPDATE t1 SET b=b*2 WHERE a>=${i * 10} AND a<${i * 10 + 10};`),
    ),
  );
  yield sql(
    'T9',
    `${rows} UPDATEs of a number, with an index`,
    inTransaction(lines(rows, (i) => `UPDATE t2 SET b=${draw(100_000)} WHERE a=${i + 1};`)),
  );
  yield sql(
    'T10',
    `${rows} UPDATEs of a text, with an index`,
    inTransaction(
      lines(rows, (i) => `UPDATE t2 SET c='${numberWords(draw(100_000))}' WHERE a=${i + 1};`),
    ),
  );
  yield sql(
    'T11',
    'INSERTs from a SELECT',
    inTransaction('INSERT INTO t1 SELECT b,a,c FROM t2;\nINSERT INTO t2 SELECT b,a,c FROM t1;\n'),
  );
  yield sql('T12', 'DELETE without an index', "DELETE FROM t2 WHERE c LIKE '%fifty%';\n");
  yield sql('T13', 'DELETE with an index', `DELETE FROM t2 WHERE a>10 AND a<${part(20_000)};\n`);
  yield sql('T14', 'a big INSERT after a big DELETE', 'INSERT INTO t2 SELECT * FROM t1;\n');
  yield sql(
    'T15',
    'a big DELETE and many small INSERTs',
    inTransaction(`DELETE FROM t1;\n${lines(part(12_000), insert('t1'))}`),
  );
  yield sql('T16', 'DROP TABLE', 'DROP TABLE t1;\nDROP TABLE t2;\nDROP TABLE t3;\n');
}

export const SQL_SPEED: Workload = workload({
  id: 'sql-speed',
  title: 'SQLite speed comparison, tests 1 to 16',
  question:
    'Which of these settings makes single commits, bulk writes, scans, updates, deletes cheap?',
  parameters: {
    rows: defaultsTo(25_000, [100, 250_000], 'rows of T2 and T3, on which the others depend'),
    commits: defaultsTo(1000, [1, 10_000], 'transactions of T1'),
  },
  steps: (p) => steps(parameter(p, 'rows'), parameter(p, 'commits')),
  watch: [
    'instructions',
    'ms',
    'vfs.xRead',
    'vfs.xReadBytes',
    'vfs.xWrite',
    'vfs.xWriteBytes',
    'vfs.xSync',
    'vfs.xLock',
    'vfs.calls',
  ],
  claims: ['S3.34', 'S3.35', 'S4.4'],
  assertions: expectAll({
    'One transaction for all rows costs fewer syncs than one for each':
      'T2 vfs.xSync <= T1 vfs.xSync',
    'Ranges found by an index read no more pages than scans do': 'T7 vfs.xRead <= T4 vfs.xRead',
  }),
});
