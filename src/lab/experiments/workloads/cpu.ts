/**
 * Small workloads for the engine only, on SQLite's in-memory database: the cost of a change of the
 * SQL in instructions.
 */
import type { Workload } from '../model/types.ts';
import { lines, sql, workload } from './define.ts';

const ROWS = 20_000;
const table = (n: number): string => `CREATE TABLE t(id INTEGER PRIMARY KEY,a INT,b TEXT);
BEGIN;
WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x<${n}) INSERT INTO t SELECT x,(x*7919)%${n},printf('row-%08d',x) FROM c;
COMMIT;
`;
const lookups = lines(60, (i) => `SELECT count(*),sum(id) FROM t WHERE a=${(i * 37) % ROWS};`);
const inserts = (n: number): string => lines(n, (i) => `INSERT INTO k VALUES(${i},'v${i}');`);
const keyed = lines(3000, (i) => `INSERT INTO k VALUES('key${(i * 7919) % 3000}','v${i}');`);
const micro = (where: string): string => `${table(ROWS)}SELECT count(*) FROM t WHERE ${where};\n`;

const TEXTS: Readonly<Record<string, readonly [title: string, text: string]>> = {
  noindex: ['60 full scans of 20,000 rows', table(ROWS) + lookups],
  index: ['the same 60 lookups by an index', `${table(ROWS)}CREATE INDEX ta ON t(a);\n${lookups}`],
  like: [
    '20 scans with LIKE',
    table(ROWS) + lines(20, (i) => `SELECT sum(id) FROM t WHERE b LIKE '%${i}7%';`),
  ],
  instr: [
    '20 scans with instr()',
    table(ROWS) + lines(20, (i) => `SELECT sum(id) FROM t WHERE instr(b,'${i}7');`),
  ],
  autocommit: ['1,500 INSERTs, each a transaction', `CREATE TABLE k(a,b);\n${inserts(1500)}`],
  onetx: [
    '1,500 INSERTs in one transaction',
    `CREATE TABLE k(a,b);\nBEGIN;\n${inserts(1500)}COMMIT;\n`,
  ],
  multirow: [
    'one INSERT of 1,500 rows',
    `CREATE TABLE k(a,b);\nINSERT INTO k VALUES${Array.from({ length: 1500 }, (_, i) => `(${i},'v${i}')`).join(',')};\n`,
  ],
  rowid: [
    '3,000 text keys in a rowid table',
    `CREATE TABLE k(a TEXT PRIMARY KEY,b);\nBEGIN;\n${keyed}COMMIT;\n`,
  ],
  'without-rowid': [
    '3,000 text keys WITHOUT ROWID',
    `CREATE TABLE k(a TEXT PRIMARY KEY,b) WITHOUT ROWID;\nBEGIN;\n${keyed}COMMIT;\n`,
  ],
  'micro-1': ['one scan, a<5000', micro('a<5000')],
  'micro-2': ['one scan, a<5001', micro('a<5001')],
  'micro-3': ['one scan, a<=5000', micro('a<=5000')],
  ac60: [
    '60 INSERTs, each a transaction, and a sum',
    `CREATE TABLE k(a,b);\n${inserts(60)}SELECT sum(a) FROM k;`,
  ],
  mix: [
    'fill, index, update, delete, sums',
    `${table(5000).slice(0, -1)}CREATE INDEX ta ON t(a); UPDATE t SET b=b||'x' WHERE a%7=0; SELECT sum(a) FROM t; ` +
      'DELETE FROM t WHERE a%3=0; SELECT count(*) FROM t;',
  ],
};

/**
 * Each is one text and one step, so that any other tool's count of the same text can be compared.
 */
export const CPU_WORKLOADS: readonly Workload[] = Object.entries(TEXTS).map(([id, [title, text]]) =>
  workload({
    id,
    title,
    question: 'How many instructions does the engine execute for exactly this text?',
    config: { vfs: 'memory' },
    steps: () => [sql(id, title, text)],
    watch: ['instructions', 'ms'],
    claims: ['S4.6', 'S4.7'],
  }),
);
