// Details of transactions: built by hand, for random calls, and compared with a real engine.
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import {
  effectsOf,
  explicitTransactions,
} from '../../src/analysis/transactions/explicit-transactions.ts';
import {
  anatomies,
  type TransactionAnatomy,
} from '../../src/analysis/transactions/transaction-anatomy.ts';
import { Facts } from '../../src/analysis/core/graph.ts';
import { numbersFrom } from '../../src/analysis/numbers/headline-numbers.ts';
import { longestReserved } from '../../src/analysis/transactions/longest-reserved.ts';
import {
  TRANSACTION_PARTS,
  type TransactionTimes,
} from '../../src/analysis/transactions/transaction-time.ts';
import { AUX_WAL_HEADER, Flag, Op, type OpName } from '../../src/event/event.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { storeOf } from '../contract/helpers/store.ts';
import { Traced } from '../contract/helpers/traced.ts';
import { CREATE_T, insertT, loadWaSqlite } from '../contract/helpers/wa-sqlite.ts';
import { newStore, ThreadBuilder, type CallFields } from '../traces/builder.ts';
import { expectCheap, MANY } from './cpu-limit.ts';
import { syntheticStore } from '../traces/synthetic.ts';
import { partitionThread, transactionAnatomies, transactionsOf } from '../traces/analyses.ts';

let traced: Traced | null = null;
afterEach(() => {
  traced?.restore();
  traced = null;
});

const ns = (us: number): number => Math.round(us * 1000);
const sum = (t: TransactionTimes): number =>
  TRANSACTION_PARTS.reduce((all, part) => all + ns(t[`${part}Us`]), 0);
const said = (t: TransactionTimes): Record<string, number> =>
  Object.fromEntries(TRANSACTION_PARTS.flatMap((p) => (t[`${p}Us`] ? [[p, t[`${p}Us`]]] : [])));
/** Invariants of every anatomy. */
function check(a: TransactionAnatomy): void {
  expect(sum(a.time)).toBe(ns(a.toUs) - ns(a.fromUs));
  for (const part of TRANSACTION_PARTS) expect(a.time[`${part}Us`]).toBeGreaterThanOrEqual(0);
  if (a.commit) {
    expect(sum(a.commit.time)).toBe(ns(a.commit.toUs) - ns(a.commit.fromUs));
    for (const part of TRANSACTION_PARTS)
      expect(ns(a.commit.time[`${part}Us`])).toBeLessThanOrEqual(ns(a.time[`${part}Us`]));
  }
}

/** BEGIN; SELECT; INSERT; idle time; COMMIT on one connection, in journal mode delete. */
function explicitInsert(): TraceStore {
  const store = newStore();
  const t = new ThreadBuilder(store);
  const main = t.file('/app.db');
  const journal = t.file('/app.db-journal', 'journal');
  const idb = t.define({ kind: 'idb-database', db: 'app' });
  const texts = ['BEGIN', 'SELECT ? FROM t', 'INSERT INTO t VALUES(?)', 'COMMIT'].map((text) =>
    t.define({ kind: 'sql', text }),
  );
  const context = 7;
  const awaited = { flags: Flag.async }; // all but the file control, which only computes
  const step = (i: number, inside?: () => void): void =>
    void t.call('sqlStep', { object: texts[i]!, aux: i + 1, context, result: 101, dur: 2 }, inside);
  step(0);
  step(1, () => {
    t.call('xLock', { ...awaited, object: main, aux: 1, context, dur: 3 });
    t.call('xRead', { ...awaited, object: main, offset: 4096, length: 4096, context, dur: 5 });
  });
  t.idle(10);
  step(2, () => {
    t.call('xLock', { ...awaited, object: main, aux: 2, context, result: 5, dur: 4 });
    t.call('xLock', { ...awaited, object: main, aux: 2, context, dur: 3 });
    t.call('xWrite', { ...awaited, object: journal, offset: 0, length: 512, context, dur: 6 });
  });
  t.idle(1000);
  step(3, () => {
    t.call('xLock', { ...awaited, object: main, aux: 4, context, dur: 7 });
    t.call('xSync', { ...awaited, object: journal, context, dur: 20 });
    t.call('xWrite', { ...awaited, object: main, offset: 4096, length: 4096, context, dur: 8 });
    t.call('xSync', { ...awaited, object: main, context, dur: 5 }, () => {
      // it completes 25 us after the put's answer
      t.call(
        'idbTransaction',
        { object: idb, context: 1, aux: 1, flags: Flag.async, dur: 25 },
        () => t.call('idbPut', { object: idb, context: 1, flags: Flag.async, dur: 30 }),
      );
    });
    t.call('xDelete', { ...awaited, object: journal, context, dur: 9 });
    t.call('xFileControl', { object: main, aux: 22, result: 12, context, dur: 1 });
    t.call('xUnlock', { ...awaited, object: main, aux: 1, context, dur: 2 });
    t.call('xUnlock', { ...awaited, object: main, aux: 0, context, dur: 2 });
  });
  t.send();
  return store;
}

test("two commits in one sqlite3_exec: the checkpoint of the first isn't part of the second", () => {
  const store = newStore();
  const t = new ThreadBuilder(store);
  const main = t.file('/app.db');
  const wal = t.file('/app.db-wal', 'wal');
  const context = 3;
  const frame = (offset: number): void =>
    void t.call('xWrite', { object: wal, offset, length: 4120, aux: 2, aux2: 2, context, dur: 4 });
  const control = (aux: number): void =>
    void t.call('xFileControl', { object: main, aux, result: 12, context, dur: 1 });
  const object = t.define({
    kind: 'sql',
    text: 'INSERT INTO t VALUES(?); INSERT INTO t VALUES(?)',
  });
  t.call('xLock', { object: main, aux: 1, context });
  t.call('sqlExec', { object, aux: 1, aux2: 2, context, dur: 1 }, () => {
    frame(32);
    control(22);
    control(39);
    t.call('xRead', { object: wal, offset: 56, length: 4096, context, dur: 5 });
    t.call('xWrite', { object: main, offset: 4096, length: 4096, context, dur: 6 });
    control(37);
    t.call('xSync', { object: main, context, dur: 7 });
    frame(4152);
    control(22);
  });
  t.send();
  const all = transactionAnatomies(store);
  all.forEach(check);
  expect(all.map(({ walBytes, dbBytes, syncs }) => [walBytes, dbBytes, syncs])).toEqual([
    [4120, 0, 0],
    [4120, 0, 0],
  ]);
  expect(said(all[1]!.time)).toEqual({ cpu: 5 }); // they have no storage calls
});

test('a call without storage calls is CPU time, as in the time while SQL runs', () => {
  const t = new ThreadBuilder(newStore());
  const main = t.file('/app.db');
  const object = t.define({ kind: 'sql', text: 'UPDATE t SET a = ?' });
  const call = (op: OpName, fields: CallFields, inside?: () => void): void =>
    void t.call(op, { object: main, context: 3, length: 4096, offset: 4096, ...fields }, inside);
  t.call('sqlStep', { object, aux: 1, context: 3, result: 101, dur: 0 }, () => {
    call('xLock', { aux: 1, dur: 1 });
    call('xLock', { aux: 2, dur: 1 });
    call('xRead', { dur: 20 }); // from the VFS's own cache
    call('xRead', { dur: 1 }, () => t.call('opfsRead', { length: 4096, dur: 30 }));
    call('xWrite', { dur: 2 }, () => t.call('opfsWrite', { length: 4096, dur: 40 }));
    call('xFileControl', { aux: 22, result: 12, dur: 3 });
    call('xUnlock', { aux: 0, dur: 4 });
  });
  t.send();
  const [a] = transactionAnatomies(t.store);
  check(a!);
  expect(said(a!.time)).toEqual({ dbRead: 31, dbWrite: 42, cpu: 29 });
  // the calls' own time outside their storage calls belongs to their phase here, and is CPU there
  const { readUs, writeUs, cpuUs } = partitionThread(t.thread);
  expect([readUs, writeUs, cpuUs]).toEqual([30, 40, 32]);
});

test('the header of a log that starts over belongs to the first transaction in it', () => {
  const t = new ThreadBuilder(newStore());
  const [main, wal] = [t.file('/app.db'), t.file('/app.db-wal', 'wal')];
  const commit = (offset: number): void => {
    t.call('xWrite', { object: wal, offset, length: 24, aux: 2, aux2: 2, dur: 4 });
    t.call('xWrite', { object: wal, offset: offset + 24, length: 4096, dur: 4 });
    t.call('xFileControl', { object: main, aux: 22, dur: 1 });
  };
  t.call('xLock', { object: main, aux: 1 });
  for (let log = 0; log < 2; log++) {
    t.call('xWrite', { object: wal, offset: 0, length: 32, aux: AUX_WAL_HEADER, dur: 3 });
    commit(32);
    commit(4152);
  }
  t.send();
  const all = transactionAnatomies(t.store);
  all.forEach(check);
  expect(all.map((a) => [a.transaction.beginRow, a.walBytes])).toEqual([
    [1, 32 + 4120],
    [5, 4120],
    [8, 32 + 4120],
    [12, 4120],
  ]);
});

test("the checkpoint that closes a log under a held lock isn't a transaction, and rollbacks in a log are unknown", () => {
  const store = newStore();
  const t = new ThreadBuilder(store);
  const main = t.file('/app.db');
  const wal = t.file('/app.db-wal', 'wal');
  const control = (aux: number): void =>
    void t.call('xFileControl', { object: main, aux, result: 12 });
  for (const aux of [1, 2, 4]) t.call('xLock', { object: main, aux });
  t.call('xWrite', { object: wal, offset: 32, length: 24, aux: 2, aux2: 2 });
  t.call('xWrite', { object: wal, offset: 56, length: 4096 });
  control(22);
  t.call('xLock', { object: main, aux: 4 });
  control(39);
  t.call('xRead', { object: wal, offset: 56, length: 4096 });
  t.call('xWrite', { object: main, offset: 4096, length: 4096 });
  control(37);
  t.call('xClose', { object: wal });
  t.call('xDelete', { object: wal });
  t.call('xUnlock', { object: main, aux: 0 });
  t.call('xClose', { object: main });
  t.send();
  const { list, write, commits, rolledBack } = transactionsOf(store);
  expect([list.length, write, commits, rolledBack]).toEqual([1, 1, 1, null]);
  expect(numbersFrom(new Facts(store)).get('rolledBack').value).toBeNull();
});

test('an explicit transaction by hand: lock levels with times, statements, bytes, and both splits', () => {
  const [a, ...others] = transactionAnatomies(explicitInsert());
  expect(others).toEqual([]);
  check(a!);
  // BEGIN 0-2, SHARED requested at 2 ... INSERT's RESERVED requested at 22
  expect(a).toMatchObject({
    mode: 'explicit',
    statements: 4,
    busyRetries: 1,
    syncs: 2,
    pagesRead: 1,
    pagesWritten: 1,
  });
  expect(a).toMatchObject({ fromUs: 2, dbBytes: 4096, journalBytes: 512, walBytes: 0 });
  expect(a!.ladder[1]).toEqual({ askedUs: 2, grantedUs: 5, leftUs: a!.toUs, busy: 0 });
  expect(a!.ladder[2]).toEqual({ askedUs: 22, grantedUs: 29, leftUs: a!.toUs - 2, busy: 1 });
  expect(a!.ladder[3]).toBeNull();
  expect(a!.ladder[4]!.grantedUs! - a!.ladder[4]!.askedUs).toBe(7);
  expect(said(a!.time)).toEqual({
    ...{
      lock: 17,
      dbRead: 5,
      journalWrite: 15,
      dbWrite: 8,
      sync: 55,
      idbComplete: 25,
      unlock: 4,
      cpu: 5,
      idle: 1010,
    },
  });
  expect(said(a!.commit!.time)).toEqual({
    lock: 7,
    journalWrite: 9,
    dbWrite: 8,
    sync: 55,
    idbComplete: 25,
    unlock: 4,
    cpu: 1,
  });
  const events = a!.transaction;
  expect(a!.beginStatementRow).toBe(0);
  expect(a!.endStatementRow).toBeGreaterThan(events.beginRow);
});

test("unlocks belong to the transaction, whatever is recorded between them, until the connection's next call", () => {
  const t = new ThreadBuilder(newStore());
  const [main, other] = [t.file('/app.db'), t.file('/other.db')];
  const unlock = (aux: number): void =>
    void t.call('xUnlock', { object: main, aux, context: 3, dur: 2 });
  for (const aux of [1, 2, 4]) t.call('xLock', { object: main, aux, context: 3 });
  t.call('xWrite', { object: main, offset: 0, length: 4096, context: 3 });
  t.call('xFileControl', { object: main, aux: 22, result: 12, context: 3 });
  t.call('tracer', { length: 40, dur: 1 });
  unlock(1);
  t.call('sqlMemory', { offset: 1, context: 3 });
  t.call('xRead', { object: other, length: 16, context: 4 });
  unlock(0);
  t.call('xLock', { object: main, aux: 1, context: 3 });
  unlock(0);
  t.send();
  const { unlocks, dbReads } = new Facts(t.store).get(anatomies);
  expect([unlocks[0], dbReads[0]]).toEqual([2, 0]);
  const [a] = transactionAnatomies(t.store);
  expect(a!.ladder[1]!.leftUs).toBe(a!.toUs);
});

test('headline: the longest RESERVED hold and calls per statement', () => {
  const values = (facts: Facts): (number | null)[] =>
    (['commits', 'syncsPerCommit', 'vfsPerStatement'] as const).map(
      (id) => numbersFrom(facts).get(id).value,
    );
  const facts = new Facts(explicitInsert());
  expect(values(facts)).toEqual([1, 2, 13 / 4]);
  expect(facts.get(longestReserved)).toMatchObject({ path: '/app.db', fromUs: 29, open: false });
  const empty = new Facts(newStore());
  expect(values(empty)).toEqual([null, null, null]);
  expect(empty.get(longestReserved)).toBeNull();
});

describe('BEGIN and COMMIT in SQL text', () => {
  test.each([
    ['BEGIN IMMEDIATE', false, ['begin']],
    ['/* x */ end transaction;', false, ['end']],
    ['ROLLBACK TO s', false, []],
    ['rollback', false, ['end']],
    ['SELECT begin FROM t', false, []],
    ['BEGIN; INSERT INTO t VALUES(?); COMMIT', true, ['begin', 'end']],
    [
      'CREATE TRIGGER x AFTER INSERT ON t BEGIN SELECT CASE WHEN ? THEN ? END; DELETE FROM u; END; BEGIN',
      true,
      ['begin'],
    ],
    ['SAVEPOINT a; RELEASE a', true, ['savepoint', 'release']],
  ] as const)('%s', (text, script, effects) => expect(effectsOf(text, script)).toEqual(effects));

  test("a savepoint alone is a transaction until its own release; inside BEGIN it isn't one", () => {
    const t = new ThreadBuilder(newStore());
    const run = (text: string, result = 101): number =>
      t.call('sqlStep', { object: t.define({ kind: 'sql', text }), context: 1, result });
    const seqs = [
      'SAVEPOINT a',
      'SAVEPOINT b',
      'RELEASE b',
      'SELECT ?',
      'RELEASE a',
      'SELECT ?',
      'BEGIN',
      'SAVEPOINT c',
      'RELEASE c',
      'SELECT ?',
      'COMMIT',
    ].map((s) => run(s));
    const failed = run('BEGIN', 5);
    t.send();
    const explicit = new Facts(t.store).get(explicitTransactions).of(t.thread);
    const at = (i: number): number | undefined => explicit.at(1, seqs[i]!)?.beginRow;
    expect([3, 5, 9].map(at)).toEqual([0, undefined, 6]);
    expect(explicit.at(1, failed)).toBeNull();
    expect(explicit.at(2, seqs[3]!)).toBeNull();
    expect(explicit.known).toBe(true);
  });
});

test('for random calls, the parts sum to the whole, and the commit is within it', () => {
  const op = fc.constantFrom(
    'xLock',
    'xUnlock',
    'xRead',
    'xWrite',
    'xSync',
    'xDelete',
    'xTruncate',
    'xFileControl',
    'xClose',
    'sqlStep',
    'idbTransaction',
    'idbPut',
  );
  const call = fc.record({
    op,
    file: fc.nat(3),
    aux: fc.constantFrom(0, 1, 2, 3, 4, 22, 31, 32),
    aux2: fc.nat(2),
    result: fc.constantFrom(0, 0, 0, 5, 10, 101),
    context: fc.nat(1),
    offset: fc.constantFrom(0, 24, 4096, 8192),
    length: fc.constantFrom(12, 24, 28, 512, 4096),
    dur: fc.nat(30),
    idle: fc.nat(20),
    open: fc.nat(30),
    inside: fc.nat(3),
  });
  fc.assert(
    fc.property(fc.array(call, { maxLength: 80 }), (calls) => {
      const store = newStore();
      const t = new ThreadBuilder(store);
      const files = [
        t.file('/a.db'),
        t.file('/a.db-journal', 'journal'),
        t.file('/a.db-wal', 'wal'),
        t.file('', 'temp'),
      ];
      const begin = t.define({ kind: 'sql', text: 'BEGIN' });
      const queue = [...calls];
      const next = (): void => {
        const c = queue.shift();
        if (!c) return;
        t.idle(c.idle / 8);
        t.call(
          c.op,
          {
            ...c,
            object: c.op === 'sqlStep' ? begin : files[c.file]!,
            open: c.open === 0,
            dur: c.dur / 8,
          },
          () => {
            for (let i = 0; i < c.inside; i++) next();
          },
        );
      };
      while (queue.length) next();
      t.send();
      const list = transactionsOf(store).list;
      const anatomies = transactionAnatomies(store);
      expect(anatomies.length).toBe(list.length);
      for (const a of anatomies) check(a);
    }),
    { numRuns: 300 },
  );
});

async function run(
  statements: readonly string[],
  pragmas = '',
  build: 'journey-sync' | 'journey-async' = 'journey-sync',
): Promise<TraceStore> {
  traced = new Traced();
  const { sqlite3 } = await loadWaSqlite(build);
  const db = await sqlite3.open_v2('app.db');
  if (pragmas) await sqlite3.exec(db, pragmas);
  await sqlite3.exec(db, CREATE_T);
  const mark = traced.mark();
  for (const sql of statements) await sqlite3.exec(db, sql);
  return storeOf(traced, traced.since(mark));
}

describe('golden: what a real engine does', () => {
  test.each(['journey-sync', 'journey-async'] as const)(
    'delete mode: an autocommit insert and an explicit transaction, %s',
    async (build) => {
      const [auto, explicit, undone, ...reads] = transactionAnatomies(
        await run(
          [
            insertT(1),
            'BEGIN',
            insertT(2),
            insertT(3),
            'COMMIT',
            'BEGIN',
            insertT(4),
            'ROLLBACK',
            'SELECT * FROM t',
          ],
          '',
          build,
        ),
      );
      for (const a of [auto!, explicit!, undone!, ...reads]) check(a);
      expect(auto).toMatchObject({
        mode: 'autocommit',
        statements: 1,
        syncs: 3,
        journalBytes: 512 + 2 * 4104 + 12,
        dbBytes: 8192,
        pagesWritten: 2,
      });
      expect(explicit).toMatchObject({
        mode: 'explicit',
        statements: 4,
        syncs: 3,
        journalBytes: 512 + 2 * 4104 + 12,
        dbBytes: 8192,
      });
      expect(undone).toMatchObject({
        mode: 'explicit',
        statements: 3,
        syncs: 0,
        dbBytes: 0,
        commit: null,
      });
      expect(undone!.transaction.outcome).toBe('rolled back');
      expect(reads.map((r) => [r.transaction.kind, r.statements, r.commit])).toEqual([
        ['read', 1, null],
      ]);
      for (const a of [auto!, explicit!]) {
        expect(a.ladder.map((s) => s !== null)).toEqual([false, true, true, false, true]);
        for (const level of [1, 2, 4]) {
          const { askedUs, grantedUs, leftUs } = a.ladder[level]!;
          expect(askedUs).toBeLessThanOrEqual(grantedUs!);
          expect(grantedUs!).toBeLessThanOrEqual(leftUs!);
        }
        expect(a.commit!.time.dbReadUs).toBe(0);
        expect(a.commit!.time.syncUs).toBe(a.time.syncUs);
      }
    },
  );

  test("wal, exclusive: no lock levels, one frame each; the spans don't overlap", async () => {
    const store = await run(
      [insertT(1), insertT(2), 'BEGIN', insertT(3), insertT(4), 'COMMIT'],
      'PRAGMA locking_mode=exclusive;PRAGMA journal_mode=wal;',
    );
    const all = transactionAnatomies(store);
    expect(all.map((a) => [a.mode, a.statements, a.pagesWritten, a.walBytes, a.syncs])).toEqual([
      ['autocommit', 1, 1, 4120, 0],
      ['autocommit', 1, 1, 4120, 0],
      ['explicit', 4, 1, 4120, 0],
    ]);
    all.forEach(check);
    for (let i = 1; i < all.length; i++)
      expect(all[i]!.fromUs).toBeGreaterThanOrEqual(all[i - 1]!.toUs);
  });

  test('two connections of one thread are two transactions, even when they interleave', async () => {
    traced = new Traced();
    const { sqlite3 } = await loadWaSqlite('journey-sync');
    const [a, b] = [await sqlite3.open_v2('app.db'), await sqlite3.open_v2('app.db')];
    await sqlite3.exec(a, CREATE_T);
    await sqlite3.exec(b, 'SELECT * FROM t');
    const mark = traced.mark();
    await sqlite3.exec(a, 'BEGIN');
    await sqlite3.exec(a, 'SELECT * FROM t');
    await sqlite3.exec(b, 'SELECT count(*) FROM t'); // its unlock isn't the other connection's
    await sqlite3.exec(a, insertT(1));
    await sqlite3.exec(a, 'COMMIT');
    const store = storeOf(traced, traced.since(mark));
    const found = transactionAnatomies(store);
    found.forEach(check);
    expect(found.map((x) => [x.transaction.kind, x.mode, x.statements])).toEqual([
      ['read', 'autocommit', 1],
      ['write', 'explicit', 4],
    ]);
    expect(found[1]!.fromUs).toBeLessThan(found[0]!.fromUs);
  });
});

test('without SQL calls the mode is unknown', async () => {
  const store = await run([insertT(1)]);
  const [, rows] = [store, traced!.all().filter((r) => r.op < Op.sqlOpen)];
  const [last] = transactionAnatomies(storeOf(traced!, rows)).slice(-1);
  expect(last).toMatchObject({ mode: null, statements: null, syncs: 3 });
});

test('many events', { timeout: 60_000 }, () => {
  const store = syntheticStore({ events: MANY });
  const from = process.cpuUsage();
  const found = transactionAnatomies(store);
  expect(found.length).toBeGreaterThan(MANY / 100);
  expectCheap(from);
});
