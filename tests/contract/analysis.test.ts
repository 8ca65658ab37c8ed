// Transactions, commits, and statements of known SQL on a real engine, in every journal mode.
import { afterEach, describe, expect, it } from 'vitest';
import { summaryOf } from '../../src/analysis/report/summary.ts';
import { Op } from '../../src/event/event.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { batchOf, newStore } from '../traces/builder.ts';
import { Traced } from './helpers/traced.ts';
import { CREATE_T, insertT, loadWaSqlite } from './helpers/wa-sqlite.ts';
import { commitsOf, transactionsOf } from '../traces/analyses.ts';

let traced: Traced | undefined;
afterEach(() => traced?.restore());

/** The recording as a store, optionally without the calls of some operations. */
function storeOf(t: Traced, leaveOut: readonly number[] = []): TraceStore {
  const store = newStore();
  const info = {
    id: 't',
    kind: 'worker' as const,
    url: '',
    name: '',
    parent: null,
    timeOrigin: store.originMs,
  };
  const rows = t
    .all()
    .filter((r) => !leaveOut.includes(r.op))
    .map((r) => [
      r.t0 * 1000,
      r.t1 * 1000,
      r.seq,
      r.endSeq,
      r.op | (r.flags << 8),
      r.result,
      r.offset,
      r.length,
      r.object,
      r.parent,
      r.context,
      r.aux,
      r.aux2,
    ]);
  store.thread(info).append(batchOf(info, 0, rows, t.definitions));
  return store;
}

/** CREATE, 20 autocommit inserts, 5 queries, a transaction of 10 inserts, one rolled back, one with a savepoint rolled back. */
async function workload(pragmas: string): Promise<Traced> {
  traced = new Traced();
  const { sqlite3 } = await loadWaSqlite('journey-sync');
  const db = await sqlite3.open_v2('app.db');
  if (pragmas) await sqlite3.exec(db, pragmas);
  await sqlite3.exec(db, CREATE_T);
  for (let i = 0; i < 20; i++) await sqlite3.exec(db, insertT(i));
  for (let i = 0; i < 5; i++) await sqlite3.exec(db, `SELECT b FROM t WHERE a=${i}`);
  const many = Array.from({ length: 10 }, (_, i) => insertT(100 + i)).join('');
  await sqlite3.exec(db, `BEGIN;${many}COMMIT;`);
  await sqlite3.exec(db, `BEGIN;${insertT(200)}ROLLBACK;`);
  await sqlite3.exec(
    db,
    `BEGIN;${insertT(300)}SAVEPOINT s;${insertT(301)}ROLLBACK TO s;RELEASE s;${insertT(302)}COMMIT;`,
  );
  return traced;
}
// reads: the queries, and the schema when the database is first used
const COMMITS = 1 + 20 + 1 + 1;

interface Mode {
  name: string;
  pragmas: string;
  point: string;
  read: number | null;
  rolledBack: number | null;
}
const exclusive = 'PRAGMA locking_mode=exclusive;';
const MODES: Mode[] = [
  { name: 'delete', pragmas: '', point: 'journal deleted', read: 6, rolledBack: 1 },
  {
    name: 'truncate',
    pragmas: 'PRAGMA journal_mode=truncate;',
    point: 'journal truncated',
    read: 6,
    rolledBack: 1,
  },
  {
    name: 'persist',
    pragmas: 'PRAGMA journal_mode=persist;',
    point: 'journal zeroed',
    read: 6,
    rolledBack: 1,
  },
  {
    name: 'memory',
    pragmas: 'PRAGMA journal_mode=memory;',
    point: 'database write',
    read: 6,
    rolledBack: 1,
  },
  { name: 'exclusive', pragmas: exclusive, point: 'journal', read: null, rolledBack: 1 },
  {
    name: 'wal',
    pragmas: `${exclusive}PRAGMA journal_mode=wal;`,
    point: 'wal',
    read: null,
    rolledBack: null,
  },
];

describe.each(MODES)('journal mode $name', ({ pragmas, point, read, rolledBack, name }) => {
  it('commits, rollbacks, and reads match the SQL', async () => {
    const store = storeOf(await workload(pragmas));
    const transactions = transactionsOf(store);
    const commits = commitsOf(store);
    // the change to WAL is a separate commit
    expect(commits.count).toBe(COMMITS + (name === 'wal' ? 1 : 0));
    for (const t of [...transactions.list].filter((t) => t.outcome === 'committed').slice(-COMMITS))
      expect(t.commitPoint).toContain(point);
    expect({ read: transactions.read, rolledBack: transactions.rolledBack }).toEqual({
      read,
      rolledBack,
    });
    if (rolledBack !== null) expect(transactions.write).toBe(COMMITS + 1);
  });

  if (name !== 'exclusive' && name !== 'wal')
    it('a trace without xFileControl calls has the same result', async () => {
      const transactions = transactionsOf(storeOf(await workload(pragmas), [Op.xFileControl]));
      expect(transactions.commits).toBe(COMMITS);
      expect(transactions.read).toBe(read);
      expect(transactions.rolledBack).toBe(rolledBack);
    });
});

it('the summary counts statements, their texts, and syncs per commit', async () => {
  const summary = summaryOf(storeOf(await workload('')));
  // CREATE, 20 INSERT, 5 SELECT, then 12 and 3 and 8 in transactions; nine texts with literals folded
  expect(summary.statements.count).toBe(1 + 20 + 5 + 12 + 3 + 8);
  expect(summary.statements.distinct).toBe(9);
  expect(summary.transactions.rolledBack).toBe(1);
  expect(summary.syncsPerCommit).toBeCloseTo(3, 0);
  const main = summary.files.find((f) => f.kind === 'main-db')!;
  expect(main.path).toContain('app.db');
  expect(main.vfs.xLock).toBeGreaterThan(COMMITS);
});
