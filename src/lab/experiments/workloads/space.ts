/**
 * What SQLite writes in addition to the user's rows: temporary files of a sort, and the whole
 * database for VACUUM.
 */
import { expectAll } from '../model/assertions.ts';
import type { Step, Workload } from '../model/types.ts';
import { defaultsTo, parameter, sql, workload } from './define.ts';

const rows = (n: number): string =>
  `WITH RECURSIVE c(x) AS (VALUES(0) UNION ALL SELECT x+1 FROM c WHERE x<${n - 1})`;

export const BIG_SORT: Workload = workload({
  id: 'big-sort',
  title: 'A sort that no index serves',
  question: 'How much of a sort goes through temporary files, and what keeps it in memory?',
  parameters: {
    rows: defaultsTo(20_000, [100, 1_000_000], 'rows to sort'),
    tempStore: defaultsTo(1, [0, 2], "PRAGMA temp_store: 1 files, 2 memory, 0 the build's default"),
  },
  config: { cacheSize: -200 },
  setup: (p) => [
    sql(
      'fill',
      'rows in random order',
      `CREATE TABLE big(id INTEGER PRIMARY KEY, name TEXT, body TEXT);
${rows(parameter(p, 'rows'))} INSERT INTO big SELECT x, printf('%08d',(x*7919)%1000003), printf('%0100d',x) FROM c;
PRAGMA temp_store=${parameter(p, 'tempStore')};`,
    ),
  ],
  steps: () => [
    sql(
      'sort',
      'sort them all',
      'SELECT sum(length(body)) FROM (SELECT body FROM big ORDER BY name LIMIT -1 OFFSET 1);',
    ),
  ],
  watch: [
    'ms',
    'instructions',
    'vfs.temp.xWrite',
    'vfs.temp.xWriteBytes',
    'vfs.temp.xRead',
    'vfs.xOpen',
  ],
});

function* giveBack(incremental: boolean): Generator<Step> {
  yield sql('delete', 'delete nine rows of ten', 'DELETE FROM log WHERE id%10<>0;');
  yield sql(
    'give-back',
    'give the space back',
    incremental ? 'PRAGMA incremental_vacuum(50);' : 'VACUUM;',
  );
  yield sql('count', 'what is left', 'SELECT count(*), sum(length(body)) FROM log;');
}
export const GIVE_BACK: Workload = workload({
  id: 'give-back-space',
  title: 'Deleted rows give their space back',
  question: 'What does VACUUM write, and what does it cost to give back a few pages at a time?',
  parameters: {
    rows: defaultsTo(20_000, [100, 1_000_000], 'rows before nine of ten are deleted'),
    incremental: defaultsTo(
      0,
      [0, 1],
      '1: auto_vacuum=incremental and 50 pages given back; 0: VACUUM',
    ),
  },
  setup: (p) => [
    sql(
      'fill',
      'a log',
      `PRAGMA auto_vacuum=${parameter(p, 'incremental') ? 'incremental' : 'none'};
CREATE TABLE log(id INTEGER PRIMARY KEY, body TEXT);
${rows(parameter(p, 'rows'))} INSERT INTO log SELECT x, printf('%0100d',x) FROM c;`,
    ),
  ],
  steps: (p) => giveBack(parameter(p, 'incremental') === 1),
  watch: [
    'ms',
    'instructions',
    'vfs.xWrite',
    'vfs.xWriteBytes',
    'vfs.xRead',
    'vfs.temp.xWrite',
    'vfs.xTruncate',
  ],
  assertions: expectAll({
    'The file is truncated once at most': 'give-back vfs.main-db.xTruncate <= 1',
  }),
});
