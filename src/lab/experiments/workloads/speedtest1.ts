/**
 * SQLite's standard workload for CPU measurements, the main test set of its speedtest1 program,
 * rewritten from its description: the same tables, statements, numbers, and seeds, prepared
 * statements with bound values. `size` is its --size. Counts belong to this generator, not to the C
 * program.
 */
import type { BoundStep, SequenceStep, SqlStep, Value, Workload } from '../model/types.ts';
import { defaultsTo, parameter, times, workload } from './define.ts';
import { numberWords } from './random.ts';

type Part = SqlStep | BoundStep;

/** Its generator: a shift register and a linear one, restarted at every test. */
class Chance {
  private x = 0xad131d0b;
  private y = 0x44f9eac8;
  draw(): number {
    this.x = ((this.x >>> 1) ^ (this.x & 1 ? 0xd0000001 : 0)) >>> 0;
    this.y = (Math.imul(this.y, 1103515245) + 12345) >>> 0;
    return (this.x ^ this.y) >>> 0;
  }
  below(n: number): number {
    return this.draw() % n;
  }
}

/** The smallest 2^k - 1 that is not below n. */
const allOnes = (n: number): number => 2 ** Math.ceil(Math.log2(n + 1)) - 1;
/**
 * The bits of `i` in reverse, within those of `limit`: visits every number up to it once, in mixed
 * order.
 */
function reversed(i: number, limit: number): number {
  let out = 0;
  for (let rest = i, width = limit; width > 0; width >>>= 1, rest >>>= 1)
    out = (out << 1) | (rest & 1);
  return out >>> 0;
}

const text = (sql: string): SqlStep => ({ kind: 'sql', id: '', title: '', sql });
const bound = (sql: string, rows: Iterable<readonly Value[]>): BoundStep => ({
  kind: 'bound',
  id: '',
  title: '',
  sql,
  rows,
  oneTransaction: false,
});
const transaction = (...parts: Part[]): Part[] => [text('BEGIN'), ...parts, text('COMMIT')];
const test = (id: number, title: string, ...steps: Part[]): SequenceStep => ({
  kind: 'sequence',
  id: String(id),
  title,
  steps,
});

const AGGREGATES = 'count(*), avg(b), sum(length(c)), group_concat(c)';

function* steps(size: number): Generator<SequenceStep> {
  const n = size * 500;
  const fifth = Math.floor(n / 5);
  const most = allOnes(n);
  const numbers = function* (first: 'ordered' | 'reversed'): Generator<Value[]> {
    for (let i = 1; i <= n; i++) {
      const x = reversed(i, most);
      yield first === 'ordered' ? [i, x, numberWords(x)] : [x, i, numberWords(x)];
    }
  };
  const chance = function* (count: number, row: (c: Chance) => Value[]): Generator<Value[]> {
    const c = new Chance();
    for (let i = 0; i < count; i++) yield row(c);
  };
  const ranges = (count: number, width: number): Iterable<Value[]> =>
    chance(count, (c) => {
      const from = c.below(most);
      return [from, from + c.below(width) + Math.floor(n / 5000)];
    });
  const likes = (count: number): Iterable<Value[]> =>
    chance(count, (c) => [`%${numberWords(c.below(most))}%`]);

  yield test(
    100,
    `${n} INSERTs into a table without an index`,
    ...transaction(
      text('CREATE TABLE z1(a INTEGER, b INTEGER, c TEXT)'),
      bound('INSERT INTO z1 VALUES(?1,?2,?3)', numbers('reversed')),
    ),
  );
  yield test(
    110,
    `${n} ordered INSERTs with one index`,
    ...transaction(
      text('CREATE TABLE z2(a INTEGER UNIQUE, b INTEGER, c TEXT)'),
      bound('INSERT INTO z2 VALUES(?1,?2,?3)', numbers('ordered')),
    ),
  );
  yield test(
    120,
    `${n} unordered INSERTs with one index`,
    ...transaction(
      text('CREATE TABLE t3(a INTEGER UNIQUE, b INTEGER, c TEXT)'),
      bound('INSERT INTO t3 VALUES(?1,?2,?3)', numbers('reversed')),
    ),
  );
  yield test(
    130,
    '25 SELECTs, numeric BETWEEN, no index',
    ...transaction(bound(`SELECT ${AGGREGATES} FROM z1 WHERE b BETWEEN ?1 AND ?2`, ranges(25, 10))),
  );
  yield test(
    140,
    '10 SELECTs, LIKE, no index',
    ...transaction(bound(`SELECT ${AGGREGATES} FROM z1 WHERE c LIKE ?1`, likes(10))),
  );
  yield test(
    142,
    '10 SELECTs with ORDER BY, no index',
    ...transaction(bound('SELECT a, b, c FROM z1 WHERE c LIKE ?1 ORDER BY a', likes(10))),
  );
  yield test(
    145,
    '10 SELECTs with ORDER BY and LIMIT, no index',
    ...transaction(bound('SELECT a, b, c FROM z1 WHERE c LIKE ?1 ORDER BY a LIMIT 10', likes(10))),
  );
  yield test(
    150,
    'CREATE INDEX five times',
    ...transaction(
      text(
        'CREATE UNIQUE INDEX t1b ON z1(b); CREATE INDEX t1c ON z1(c); CREATE UNIQUE INDEX t2b ON z2(b); CREATE INDEX t2c ON z2(c DESC); CREATE INDEX t3bc ON t3(b,c)',
      ),
    ),
  );
  yield test(
    160,
    `${fifth} SELECTs, numeric BETWEEN, indexed`,
    ...transaction(
      bound(`SELECT ${AGGREGATES} FROM z1 WHERE b BETWEEN ?1 AND ?2`, ranges(fifth, 10)),
    ),
  );
  yield test(
    161,
    `${fifth} SELECTs, numeric BETWEEN, unique key`,
    ...transaction(
      bound(`SELECT ${AGGREGATES} FROM z2 WHERE a BETWEEN ?1 AND ?2`, ranges(fifth, 10)),
    ),
  );
  yield test(
    170,
    `${fifth} SELECTs, text BETWEEN, indexed`,
    ...transaction(
      bound(
        `SELECT ${AGGREGATES} FROM z1 WHERE c BETWEEN ?1 AND (?1||'~')`,
        chance(fifth, (c) => [numberWords(reversed(c.below(n) + 1, most))]),
      ),
    ),
  );
  yield test(
    180,
    `${n} INSERTs with three indexes`,
    ...transaction(
      text(
        'CREATE TABLE t4(a INTEGER UNIQUE, b INTEGER, c TEXT); CREATE INDEX t4b ON t4(b); CREATE INDEX t4c ON t4(c); INSERT INTO t4 SELECT * FROM z1',
      ),
    ),
  );
  yield test(
    190,
    'DELETE and refill one table',
    text('DELETE FROM z2; INSERT INTO z2 SELECT * FROM z1'),
  );
  yield test(200, 'VACUUM', text('VACUUM'));
  yield test(
    210,
    'ALTER TABLE ADD COLUMN, and query',
    text('ALTER TABLE z2 ADD COLUMN d INT DEFAULT 123; SELECT sum(d) FROM z2'),
  );
  yield test(
    230,
    `${fifth} UPDATEs, numeric BETWEEN, indexed`,
    ...transaction(bound('UPDATE z2 SET d=b*2 WHERE b BETWEEN ?1 AND ?2', ranges(fifth, 10))),
  );
  yield test(
    240,
    `${n} UPDATEs of single rows`,
    ...transaction(
      bound(
        'UPDATE z2 SET d=b*3 WHERE a=?1',
        chance(n, (c) => [c.below(n) + 1]),
      ),
    ),
  );
  yield test(250, `one UPDATE of all ${n} rows`, text('UPDATE z2 SET d=b*4'));
  yield test(260, 'query the added column after filling', text('SELECT sum(d) FROM z2'));
  yield test(
    270,
    `${fifth} DELETEs, numeric BETWEEN, indexed`,
    ...transaction(
      bound(
        'DELETE FROM z2 WHERE b BETWEEN ?1 AND ?2',
        chance(fifth, (c) => {
          const from = c.below(most) + 1;
          return [from, from + c.below(10) + Math.floor(n / 5000)];
        }),
      ),
    ),
  );
  yield test(
    280,
    `${n} DELETEs of single rows`,
    ...transaction(
      bound(
        'DELETE FROM t3 WHERE a=?1',
        chance(n, (c) => [c.below(n) + 1]),
      ),
    ),
  );
  yield test(
    290,
    'refill two tables by REPLACE',
    text(
      'REPLACE INTO z2(a,b,c) SELECT a,b,c FROM z1; REPLACE INTO t3(a,b,c) SELECT a,b,c FROM z1',
    ),
  );
  yield test(
    300,
    'refill a table by parity',
    text(
      'DELETE FROM z2; INSERT INTO z2(a,b,c) SELECT a,b,c FROM z1 WHERE (b&1)==(a&1); INSERT INTO z2(a,b,c) SELECT a,b,c FROM z1 WHERE (b&1)<>(a&1)',
    ),
  );
  yield test(
    310,
    `${fifth} four-way joins`,
    ...transaction(
      bound(
        'SELECT z1.c FROM z1, z2, t3, t4 WHERE t4.a BETWEEN ?1 AND ?2 AND t3.a=t4.b AND z2.a=t3.b AND z1.c=z2.c',
        chance(fifth, (c) => {
          const from = c.below(n) + 1;
          return [from, from + c.below(10) + 4];
        }),
      ),
    ),
  );
  yield test(
    320,
    'a subquery in the result',
    bound(
      'SELECT sum(a), max(c), avg((SELECT a FROM z2 WHERE 5+z2.b=z1.b) AND rowid<?1), max(c) FROM z1 WHERE rowid<?1',
      [[Math.floor(Math.sqrt(size)) * 50]],
    ),
  );
  yield* keyed(size * 700);
  yield test(980, 'PRAGMA integrity_check', text('PRAGMA integrity_check'));
  yield test(990, 'ANALYZE', text('ANALYZE'));
}

/** Tests 400 to 520: single rows by key. */
function* keyed(n: number): Generator<SequenceStep> {
  const most = allOnes(Math.floor(n / 3));
  const rows = (key: (i: number, c: Chance) => Value): Iterable<readonly Value[]> => {
    const c = new Chance();
    return times(n, (i) => [key(i, c), numberWords(i + 1)]);
  };
  const keys = (key: (c: Chance) => Value): Iterable<readonly Value[]> => {
    const c = new Chance();
    return times(n, () => [key(c)]);
  };
  yield test(
    400,
    `${n} REPLACEs by INTEGER PRIMARY KEY`,
    ...transaction(
      text('CREATE TABLE t5(a INTEGER PRIMARY KEY, b)'),
      bound(
        'REPLACE INTO t5 VALUES(?1,?2)',
        rows((_, c) => c.below(most)),
      ),
    ),
  );
  yield test(
    410,
    `${n} SELECTs by INTEGER PRIMARY KEY, each a transaction`,
    bound(
      'SELECT b FROM t5 WHERE a=?1',
      keys((c) => c.below(most)),
    ),
  );
  yield test(
    500,
    `${n} REPLACEs by TEXT PRIMARY KEY`,
    ...transaction(
      text('CREATE TABLE t6(a TEXT PRIMARY KEY, b) WITHOUT ROWID'),
      bound(
        'REPLACE INTO t6 VALUES(?1,?2)',
        rows((_, c) => numberWords(c.below(most))),
      ),
    ),
  );
  yield test(
    510,
    `${n} SELECTs by TEXT PRIMARY KEY, each a transaction`,
    bound(
      'SELECT b FROM t6 WHERE a=?1',
      keys((c) => numberWords(c.below(most))),
    ),
  );
  yield test(520, 'SELECT DISTINCT', text('SELECT DISTINCT b FROM t5; SELECT DISTINCT b FROM t6'));
}

export const SPEEDTEST1: Workload = workload({
  id: 'speedtest1',
  title: 'speedtest1, main test set',
  question: 'What does a broad mix of statements cost the engine, and which of them changed?',
  parameters: {
    size: defaultsTo(5, [1, 100], 'as --size of the C program: rows are 500 times this'),
  },
  steps: (p) => steps(parameter(p, 'size')),
  watch: ['instructions', 'ms', 'statements', 'rows', 'vfs.xRead', 'vfs.xWrite'],
  claims: ['S4.1', 'S4.4', 'S4.5', 'S4.6', 'S4.9', 'S4.12'],
});
