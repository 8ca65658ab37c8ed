/** Queries that answer real questions and show how to use the tables. Each runs on any trace. */

interface SqlExample {
  title: string;
  sql: string;
}

export const EXAMPLES: readonly SqlExample[] = [
  {
    title: 'Which operations take the time?',
    sql: `SELECT op, layer, count(*) AS calls, sum(dur) / 1000 AS ms, avg(dur) AS mean_us, max(dur) AS max_us
FROM events GROUP BY op ORDER BY ms DESC`,
  },
  {
    title: 'Which statements cause the most storage time?',
    sql: `SELECT statement, count(*) AS vfs_calls, sum(dur) / 1000 AS ms,
  count(*) FILTER (WHERE counts = 'read') AS reads, count(*) FILTER (WHERE counts = 'write') AS writes,
  count(*) FILTER (WHERE counts = 'sync') AS syncs
FROM events WHERE layer = 'vfs' AND statement IS NOT NULL
GROUP BY statement ORDER BY ms DESC LIMIT 50`,
  },
  {
    title: 'The 100 slowest calls',
    sql: `SELECT thread, seq, ts / 1e6 AS second, op, object, dur / 1000 AS ms, statement
FROM events ORDER BY dur DESC LIMIT 100`,
  },
  {
    title: 'Percentiles of each operation',
    sql: `WITH ranked AS (
  SELECT op, dur, percent_rank() OVER (PARTITION BY op ORDER BY dur) AS rank FROM events WHERE dur IS NOT NULL
)
SELECT op, count(*) AS calls, min(dur) FILTER (WHERE rank >= 0.5) AS p50_us,
  min(dur) FILTER (WHERE rank >= 0.95) AS p95_us, min(dur) FILTER (WHERE rank >= 0.99) AS p99_us, max(dur) AS max_us
FROM ranked GROUP BY op ORDER BY calls DESC`,
  },
  {
    title: 'Reads and writes over time',
    sql: `SELECT CAST(ts / 1e5 AS INTEGER) / 10.0 AS second, count(*) FILTER (WHERE counts = 'read') AS reads,
  count(*) FILTER (WHERE counts = 'write') AS writes, count(*) FILTER (WHERE counts = 'sync') AS syncs, sum(bytes) AS bytes
FROM events WHERE layer = 'vfs' GROUP BY second ORDER BY second`,
  },
  {
    title: 'Pages that a statement reads in one run, on average',
    sql: `SELECT fingerprint AS statement, executions AS runs, rows, pages_read AS reads,
  round(pages_read * 1.0 / executions, 1) AS reads_a_run
FROM statements WHERE executions > 0 ORDER BY pages_read DESC`,
  },
  {
    title: 'The longest write transactions',
    sql: `SELECT thread, seq, ts / 1e6 AS second, dur / 1000 AS ms, path, outcome, commit_point
FROM transactions WHERE kind = 'write' ORDER BY dur DESC LIMIT 100`,
  },
  {
    title: 'What happened inside the longest transaction?',
    sql: `WITH longest AS (SELECT * FROM transactions ORDER BY dur DESC LIMIT 1)
SELECT e.thread, e.seq, e.ts - t.ts AS us_in, e.op, e.object, e.length, e.dur, e.result_name
FROM longest t JOIN events e ON e.thread = t.thread AND e.seq BETWEEN t.seq AND t.last_seq
WHERE e.layer = 'vfs' ORDER BY e.seq`,
  },
  {
    title: 'How many syncs and bytes does a commit cost?',
    sql: `SELECT commits, syncs_per_commit,
  (SELECT sum(bytes) FROM events WHERE op = 'xWrite') / commits AS bytes_a_commit,
  (SELECT avg(dur) / 1000 FROM transactions WHERE outcome = 'committed') AS mean_ms
FROM traces`,
  },
  {
    title: 'Failed calls',
    sql: `SELECT op, result_name, object, count(*) AS calls, min(ts) / 1e6 AS first_second, max(ts) / 1e6 AS last_second
FROM events WHERE failed GROUP BY op, result_name, object ORDER BY calls DESC`,
  },
  {
    title: 'Where did SQLITE_BUSY come from?',
    sql: `SELECT thread, seq, ts / 1e6 AS second, op, object, aux AS lock_level, statement
FROM events WHERE result_name LIKE 'SQLITE_BUSY%' ORDER BY ts`,
  },
  {
    title: 'Waits by thread',
    sql: `SELECT l.thread, l.seq, w.title AS waits, h.title AS holds, l.kind, l.name, l.dur / 1000 AS ms, l.outcome
FROM locks l JOIN threads w ON w.thread = l.thread LEFT JOIN threads h ON h.thread = l.holder
ORDER BY l.dur DESC`,
  },
  {
    title: 'Pages read again and again',
    sql: `SELECT path, page, type, reads + wal_reads AS reads, rereads, writes + wal_writes AS writes
FROM pages WHERE rereads > 0 ORDER BY rereads DESC LIMIT 200`,
  },
  {
    title: 'How often is a page written, on average?',
    sql: `SELECT path, count(*) AS pages_written, sum(writes + wal_writes + checkpoint_writes) AS writes,
  sum(writes + wal_writes + checkpoint_writes) * 1.0 / count(*) AS writes_a_page
FROM pages WHERE writes + wal_writes + checkpoint_writes > 0 GROUP BY path`,
  },
  {
    title: 'Are reads sequential?',
    sql: `WITH reads AS (
  SELECT object, offset, lag(offset + length) OVER (PARTITION BY thread, object ORDER BY seq) AS expected
  FROM events WHERE op = 'xRead' AND kind = 'main-db' AND length >= 512
)
SELECT object, count(*) AS reads, sum(offset = expected) AS sequential, round(100.0 * sum(offset = expected) / count(*), 1) AS percent
FROM reads GROUP BY object`,
  },
  {
    title: 'When does the VFS store its blocks: at a write, or at a sync?',
    sql: `SELECT coalesce(v.op, '(behind, or by the app itself)') AS below, v.kind AS file, w.op AS storage_write,
  count(*) AS calls, sum(w.bytes) AS bytes
FROM events w LEFT JOIN events v ON v.thread = w.thread AND v.seq = w.parent_seq
WHERE w.layer = 'web' AND w.counts = 'write'
GROUP BY below, file, storage_write ORDER BY calls DESC`,
  },
  {
    title: 'Writes past the end of a database, and inside it',
    sql: `WITH calls AS (
  SELECT op, object, offset, bytes, dur,
    max(offset + length) OVER (PARTITION BY object ORDER BY ts, thread, seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reached
  FROM events WHERE op IN ('xRead', 'xWrite') AND kind = 'main-db' AND result = 0
)
SELECT object, CASE WHEN offset >= coalesce(reached, 0) THEN 'past all that was read or written before' ELSE 'inside' END AS place,
  count(*) AS writes, sum(bytes) AS bytes, sum(dur) / 1000 AS ms, avg(dur) AS mean_us
FROM calls WHERE op = 'xWrite' GROUP BY object, place ORDER BY object, place`,
  },
  {
    title: 'How many requests has an IndexedDB transaction?',
    sql: `WITH each AS (
  SELECT max(CASE WHEN op = 'idb.transaction' THEN CASE aux & 3 WHEN 0 THEN 'readonly' WHEN 1 THEN 'readwrite' ELSE 'versionchange' END END) AS mode,
    sum(op <> 'idb.transaction') AS requests
  FROM events WHERE op LIKE 'idb.%' AND connection IS NOT NULL GROUP BY thread, connection
)
SELECT requests, mode, count(*) AS transactions FROM each GROUP BY requests, mode ORDER BY requests, mode`,
  },
  {
    title: 'IndexedDB transactions by mode and durability',
    sql: `SELECT CASE aux & 3 WHEN 0 THEN 'readonly' WHEN 1 THEN 'readwrite' ELSE 'versionchange' END AS mode,
  CASE aux >> 2 WHEN 1 THEN 'strict' WHEN 2 THEN 'relaxed' ELSE 'default' END AS durability,
  count(*) AS transactions, avg(dur) / 1000 AS mean_ms, max(dur) / 1000 AS max_ms
FROM events WHERE op = 'idb.transaction' GROUP BY mode, durability`,
  },
  {
    title: 'Checkpoints by statement',
    sql: `SELECT thread, seq, ts / 1e6 AS second, path, trigger, mode, frames, pages, dur / 1000 AS ms, statement
FROM checkpoints ORDER BY dur DESC`,
  },
];
