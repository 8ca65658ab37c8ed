// The workloads that every engine app runs, as plain SQL over a connection, so that their results compare between engines.
// connection: { exec(sql) -> rows (arrays of values), possibly by promise; close() }

/**
 * @typedef {object} Connection
 * @property {(sql: string) => unknown[][] | Promise<unknown[][]>} exec
 * @property {() => void | Promise<void>} close
 * @property {(sql: string) => Promise<void>} [hold] steps a query once and never resets it: its read transaction stays open
 * @property {(megabytes: number, sql?: string) => Promise<unknown[][]>} [allocate] allocates the
 * engine's memory while a statement runs
 * @property {(sql: string, times: number) => Promise<unknown[][]>} [bound] runs a statement that is
 * prepared once, each time with the run's number bound
 * @property {boolean} [notSQLite] has no PRAGMA, so its integrity isn't checked
 */

const AUTOCOMMITS = 20;

/**
 * `n` inserts in one transaction, 20 autocommitted inserts, three aggregates, an update of every 10th row.
 * @param {Connection} db
 * @param {{ n?: number, pragmas?: string[] }} options
 * @returns {Promise<unknown[][]>} one row per aggregate, then `['checksum', ...]` over every row of the table
 */
async function standard(db, { n = 1000 }) {
  await db.exec('CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT, v BLOB)');
  await db.exec('CREATE INDEX t_k ON t(k)');
  await db.exec('BEGIN');
  for (let i = 0; i < n; i++)
    await db.exec(`INSERT INTO t VALUES(${i}, '${(i * 7919) % n}', zeroblob(${50 + (i % 100)}))`);
  await db.exec('COMMIT');
  for (let i = n; i < n + AUTOCOMMITS; i++)
    await db.exec(`INSERT INTO t VALUES(${i}, '${(i * 7919) % n}', zeroblob(${50 + (i % 100)}))`);
  const rows = [
    ...(await db.exec('SELECT count(*), sum(id) FROM t')),
    ...(await db.exec("SELECT count(*), min(k), max(k) FROM t WHERE k BETWEEN '1' AND '5'")),
    ...(await db.exec('SELECT sum(length(v)) FROM t')),
  ];
  await db.exec('UPDATE t SET v = zeroblob(80) WHERE id % 10 = 0');
  rows.push(['checksum', checksum(await db.exec('SELECT id, k, hex(v) FROM t ORDER BY id'))]);
  return rows;
}

/**
 * The smallest table with the most expensive habit: a thousand inserts, each in its own transaction
 * (or all in one).
 * @param {Connection} db
 * @param {{ n?: number, oneTransaction?: boolean }} options
 */
async function ownSql(db, { n = 1000, oneTransaction = false }) {
  await db.exec('CREATE TABLE t(a INTEGER PRIMARY KEY,b INT,c TEXT);');
  if (oneTransaction) await db.exec('BEGIN');
  for (let i = 0; i < n; i++)
    await db.exec(`INSERT INTO t VALUES(${i},${i * 7},'text number ${i}');`);
  if (oneTransaction) await db.exec('COMMIT');
  return [
    ...(await db.exec('SELECT count(*), sum(a), sum(b) FROM t')),
    ['checksum', checksum(await db.exec('SELECT a, b, c FROM t ORDER BY a'))],
  ];
}

/**
 * The standard workload in the SQL that SQLite, Postgres, and DuckDB share: texts of the same
 * lengths instead of blobs.
 * @param {Connection} db
 * @param {{ n?: number, autocommits?: number }} options
 */
async function portable(db, { n = 1000, autocommits = AUTOCOMMITS }) {
  const insert = (i) =>
    `INSERT INTO t VALUES(${i}, '${(i * 7919) % n}', '${'x'.repeat(50 + (i % 100))}')`;
  await db.exec('CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT, v TEXT)');
  await db.exec('CREATE INDEX t_k ON t(k)');
  await db.exec('BEGIN');
  for (let i = 0; i < n; i++) await db.exec(insert(i));
  await db.exec('COMMIT');
  for (let i = n; i < n + autocommits; i++) await db.exec(insert(i));
  const rows = [
    ...(await db.exec('SELECT count(*), sum(id) FROM t')),
    ...(await db.exec("SELECT count(*), min(k), max(k) FROM t WHERE k BETWEEN '1' AND '5'")),
    ...(await db.exec('SELECT sum(length(v)) FROM t')),
  ];
  await db.exec(`UPDATE t SET v = '${'y'.repeat(80)}' WHERE id % 10 = 0`);
  rows.push(['checksum', checksum(await db.exec('SELECT id, k, v FROM t ORDER BY id'))]);
  return rows;
}

/**
 * `n` transactions that write two databases at once: each needs a super-journal that names both
 * journals.
 * @param {Connection} db
 * @param {{ n?: number }} options
 */
async function attached(db, { n = 100 }) {
  await db.exec("ATTACH '/attached.db' AS other");
  await db.exec('CREATE TABLE main.t(id INTEGER PRIMARY KEY, k TEXT)');
  await db.exec('CREATE TABLE other.u(id INTEGER PRIMARY KEY, v TEXT)');
  for (let i = 0; i < n; i++) {
    await db.exec('BEGIN');
    await db.exec(`INSERT INTO t VALUES(${i}, 'key ${i % 7}')`);
    await db.exec(`INSERT INTO u VALUES(${i}, 'value ${i * 3}')`);
    await db.exec('COMMIT');
  }
  return [
    ...(await db.exec('SELECT count(*), sum(t.id) FROM t JOIN u USING(id)')),
    ['checksum', checksum(await db.exec('SELECT id, k, v FROM t JOIN u USING(id) ORDER BY id'))],
  ];
}

/** @param {Connection} db whose transaction may already have ended */
async function rollBack(db) {
  try {
    await db.exec('ROLLBACK');
  } catch (error) {
    if (!/no transaction/i.test(String(error?.message ?? error))) throw error;
  }
}

/**
 * Runs the given statements: a text, or `[times, text]` with the run's number for each `$i`. With
 * `retry`, a statement that finds the database locked is rolled back and retried. `{ hold: text }`
 * is a query that is started and never reset, `{ pause: ms }` waits without calls, `{ bound:
 * [times, text] }` is prepared once and has the run's number as its parameter, `{ allocate:
 * megabytes, during: text }` allocates the engine's memory while a statement runs, or immediately
 * without `during`.
 * @param {Connection} db
 * @param {{ sql?: (string | [number, string] | { hold: string } | { pause: number } | { bound: [number, string] } | { allocate: number, during?: string })[], retry?: boolean }} options
 */
async function sql(db, { sql: list = [], retry = false }) {
  const rows = [];
  for (const item of list) {
    if (item.pause) {
      await new Promise((resolve) => setTimeout(resolve, item.pause));
      continue;
    }
    if (item.hold) {
      if (!db.hold) throw new Error('this app cannot hold a query open');
      await db.hold(item.hold);
      continue;
    }
    if (item.allocate) {
      if (!db.allocate) throw new Error('this app cannot allocate memory');
      rows.push(...(await db.allocate(item.allocate, item.during)));
      continue;
    }
    if (item.bound) {
      if (!db.bound) throw new Error('this app cannot bind values');
      const [times, text] = item.bound;
      rows.push(...(await db.bound(text, times)));
      continue;
    }
    const [times, text] = typeof item === 'string' ? [1, item] : item;
    for (let i = 0; i < times; i++) {
      const statement = text.replaceAll('$i', String(i));
      for (;;) {
        try {
          rows.push(...((await db.exec(statement)) ?? []));
          break;
        } catch (error) {
          if (!retry || !/locked|busy/i.test(String(error?.message ?? error))) throw error;
          await rollBack(db);
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
      }
    }
  }
  return rows;
}

const WORKLOADS = { standard, 'own-sql': ownSql, portable, attached, sql };

/**
 * Runs a workload on an open connection and leaves it open.
 * @param {Connection} db a new, empty database
 * @param {string} workload `standard`, `own-sql`, `portable`, `attached` or `sql`
 * @param {{ n?: number, pragmas?: string[], oneTransaction?: boolean, autocommits?: number, sql?: (string | [number, string])[], retry?: boolean, unchecked?: boolean }} options `pragmas`
 *   run first, in order, as `PRAGMA <text>`; with `unchecked` there is no integrity check
 * @returns {Promise<{ rows: unknown[][], integrity: string | null, ms: number }>} `integrity` is
 * null if the engine has no such check; `ms` covers everything from the first PRAGMA to the
 * integrity check
 */
export async function runWorkload(db, workload, options = {}) {
  const work = WORKLOADS[workload];
  if (!work)
    throw new Error(`no workload "${workload}"; there are ${Object.keys(WORKLOADS).join(', ')}`);
  const start = performance.now();
  for (const pragma of options.pragmas ?? []) await db.exec(`PRAGMA ${pragma}`);
  const rows = (await work(db, options)).map((row) => row.map(plain));
  const integrity =
    db.notSQLite || options.unchecked
      ? null
      : (await db.exec('PRAGMA integrity_check')).flat().join('; ');
  return { rows, integrity, ms: performance.now() - start };
}

/** Engines disagree on the JavaScript type of an integer; all values here are below 2^53. */
function plain(value) {
  return typeof value === 'bigint' ? Number(value) : value;
}

/**
 * FNV-1a, 32 bit, over the values' text: the same rows in the same order have the same checksum in
 * every engine.
 */
function checksum(rows) {
  let hash = 0x811c9dc5;
  for (const row of rows) {
    const text = row.join('|') + '\n';
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, '0');
}
