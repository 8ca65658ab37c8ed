/**
 * For each rule, a recording that triggers it, and a twin: the same work with the advice followed.
 * Real engines make both in a real browser (tests/apps). tests/long/twins.test.ts records them and
 * compares the rule's prediction with the difference.
 */
import {
  again,
  apart,
  APART,
  attach,
  attached,
  BLOCKS,
  BODY_INDEX,
  byBody,
  byKey,
  endedWhileSaving,
  fill,
  first,
  goesOn,
  handedOn,
  handlesAtOnce,
  inPage,
  insert,
  insertPart,
  insertWithQuota,
  inTab,
  joined,
  journey,
  LARGE,
  loadedAgain,
  lockFor,
  lockInFrozenTab,
  LONG,
  manyHandles,
  MEMORY_REWRITES,
  newest,
  OPENED,
  other,
  PARTS,
  PARTS_INDEX,
  rewriteAll,
  REWRITTEN,
  saved,
  scattered,
  SKEWED,
  step,
  STORED_BY_SQL_JS,
  tables,
  TEMPORARY,
  together,
  transactionAfterFreeze,
  twin,
  twoWriters,
  update,
  upgradeAgainst,
  WAL,
  WARM,
  type Twin,
} from './deeds.ts';

export interface Pair {
  rule: string;
  /** What is done, and what the twin does instead: two phrases for docs/rules-tested.md. */
  shows: string;
  instead: string;
  wrong: Twin;
  right: Twin;
  /**
   * 'least': the finding itself says "at least" about its calls, so the twin may avoid more.
   * 'exact' by default.
   */
  calls?: 'least';
  /**
   * 'wall': all steps as the page's caller sees them, including opening and closing. By default,
   * the app's own measurement of its SQL.
   */
  clock?: 'wall';
  /** How the fault was injected, if no real work causes it. */
  injected?: string;
}

export const PAIRS: readonly Pair[] = [
  {
    rule: 'F01',
    shows: '300 inserts on OPFSCoopSync, a transaction each',
    instead: 'all in one',
    wrong: twin(journey('OPFSCoopSync'), [[fill(400)], [[300, insert]]]),
    right: twin(journey('OPFSCoopSync'), [[fill(400)], together([300, insert])]),
  },
  {
    rule: 'F02',
    shows: '1,000 reads by key on IDBBatchAtomic, each a transaction of its own',
    instead: 'all in one',
    wrong: twin(journey('IDBBatchAtomic'), [[fill(400)], [WARM, APART, [1000, byKey]]]),
    right: twin(journey('IDBBatchAtomic'), [
      [fill(400)],
      [WARM, APART, ...together([1000, byKey])],
    ]),
  },
  {
    rule: 'F07',
    shows: '300 updates on AccessHandlePool by rollback journal',
    instead: 'by an exclusive WAL',
    wrong: twin(journey('AccessHandlePool'), [[fill(400)], [[300, update]]]),
    right: twin(journey('AccessHandlePool'), [[fill(400)], [[300, update]]], WAL),
  },
  {
    rule: 'F09',
    shows:
      '10 updates of every page of a table on BlockIDB, with pages of 4 KiB in blocks of 16 KiB and a cache of 4 blocks',
    instead: 'with pages of 16 KiB',
    wrong: twin(BLOCKS, [[fill(1500)], MEMORY_REWRITES], ['page_size=4096']),
    right: twin(BLOCKS, [[fill(1500)], MEMORY_REWRITES], ['page_size=16384']),
  },
  {
    rule: 'F11',
    shows: '1,800 reads in one transaction on IDBBatchAtomic with cache_size=-200',
    instead: 'with cache_size=-1200',
    wrong: twin(
      journey('IDBBatchAtomic'),
      [[fill(6000)], together(...SKEWED)],
      ['cache_size=-200'],
    ),
    right: twin(
      journey('IDBBatchAtomic'),
      [[fill(6000)], together(...SKEWED)],
      ['cache_size=-1200'],
    ),
    calls: 'least',
  },
  {
    rule: 'F12',
    shows: 'tables rewritten through a page cache of 64 KiB on IDBBatchAtomic',
    instead: 'the default cache',
    wrong: twin(journey('IDBBatchAtomic'), [[fill(1500)], REWRITTEN], ['cache_size=-64']),
    right: twin(journey('IDBBatchAtomic'), [[fill(1500)], REWRITTEN]),
  },
  {
    rule: 'F13',
    shows: 'a query that is stepped once and never reset, while the table is rewritten',
    instead: 'no query left open',
    wrong: twin(
      journey('AccessHandlePool'),
      [[fill(1500)], [{ hold: 'SELECT id FROM t' }, rewriteAll]],
      WAL,
      { leaveOpen: true },
    ),
    right: twin(journey('AccessHandlePool'), [[fill(1500)], [rewriteAll]], WAL, {
      leaveOpen: true,
    }),
  },
  {
    rule: 'F14',
    shows: '300 updates on AccessHandlePool by rollback journal',
    instead: 'by an exclusive WAL',
    wrong: twin(journey('AccessHandlePool'), [[fill(400)], [[300, update]]]),
    right: twin(
      journey('AccessHandlePool'),
      [[fill(400)], [[300, update]]],
      [...WAL, 'synchronous=full'],
    ),
  },
  {
    rule: 'F15',
    shows: '100 updates on IDBBatchAtomic with synchronous=full, 100 more with synchronous=normal',
    instead: 'all with synchronous=normal',
    wrong: twin(journey('IDBBatchAtomic'), [
      [fill(400)],
      [[100, update], 'PRAGMA synchronous=normal', [100, other]],
    ]),
    right: twin(journey('IDBBatchAtomic'), [
      [fill(400)],
      ['PRAGMA synchronous=normal', [100, update], [100, other]],
    ]),
  },
  {
    rule: 'F19',
    shows: '300 updates on IDBBatchAtomic, whose pages are stored by version',
    instead: 'on OPFSCoopSync, which overwrites its pages',
    wrong: twin(journey('IDBBatchAtomic'), [[fill(400)], [[300, update]]]),
    right: twin(journey('OPFSCoopSync'), [[fill(400)], [[300, update]]]),
  },
  {
    rule: 'F20',
    shows:
      '10 updates of every page of a table on BlockIDB, with pages of 4 KiB in blocks of 16 KiB and a cache of 4 blocks',
    instead: 'with pages of 16 KiB',
    wrong: twin(BLOCKS, [[fill(1500)], MEMORY_REWRITES], ['page_size=4096']),
    right: twin(BLOCKS, [[fill(1500)], MEMORY_REWRITES], ['page_size=16384']),
  },
  {
    rule: 'F21',
    shows: 'a scan of 20,000 rows in pages of 1,024 bytes on IDBBatchAtomic',
    instead: 'in pages of 32 KiB',
    wrong: twin(journey('IDBBatchAtomic'), [[fill(20000)], [WARM]], ['page_size=1024']),
    right: twin(journey('IDBBatchAtomic'), [[fill(20000)], [WARM]], ['page_size=32768']),
  },
  {
    rule: 'F22',
    shows: 'a database of 400 tables on IDBBatchAtomic, opened again',
    instead: 'a database of 1 table',
    wrong: twin(journey('IDBBatchAtomic'), [together(...tables(400)), first]),
    right: twin(journey('IDBBatchAtomic'), [tables(1), first]),
  },
  {
    rule: 'F23',
    shows: 'a database of sql.js put into IndexedDB after each of 7 changes',
    instead: 'after the last',
    wrong: {
      path: '/sql-js/',
      steps: [
        saved([fill(20000)]),
        ...[1, 2, 3, 4, 5, 6].map((n) => saved([`UPDATE t SET body = 'new' WHERE id = ${n}`])),
      ],
    },
    right: {
      path: '/sql-js/',
      steps: [saved([fill(20000), [6, "UPDATE t SET body = 'new' WHERE id = $i + 1"]])],
    },
    clock: 'wall',
  },
  {
    rule: 'F36',
    shows: '3 sorts of 20,000 rows on AccessHandlePool with temp_store=file and a cache of 64 KiB',
    instead: 'with temp_store=memory',
    wrong: twin(
      journey('AccessHandlePool'),
      [[fill(20000)], TEMPORARY],
      ['temp_store=file', 'cache_size=-64'],
    ),
    right: twin(
      journey('AccessHandlePool'),
      [[fill(20000)], TEMPORARY],
      ['temp_store=memory', 'cache_size=-64'],
    ),
  },
  {
    rule: 'F38',
    shows: '100 updates on OPFSAdaptive, which opens its handles for each transaction',
    instead: 'OPFSCoopSync, which keeps them, in the same build',
    wrong: twin(journey('OPFSAdaptive'), [[fill(400)], [[100, update]]]),
    right: twin(`${journey('OPFSCoopSync')}&build=asyncify`, [[fill(400)], [[100, update]]]),
  },
  {
    rule: 'F39',
    shows: '300 updates on the opfs VFS, whose worker is asked for each call',
    instead: 'on opfs-sahpool',
    wrong: twin('/coi/sqlite-org/?vfs=opfs', [[fill(400)], [[300, update]]]),
    right: twin('/coi/sqlite-org/?vfs=opfs-sahpool', [[fill(400)], [[300, update]]]),
  },
  {
    rule: 'F40',
    shows: 'VACUUM on OPFSCoopSync after half the rows were deleted',
    instead: 'PRAGMA incremental_vacuum',
    wrong: twin(
      journey('OPFSCoopSync'),
      [[fill(3000), 'DELETE FROM t WHERE id > 1500'], ['VACUUM']],
      ['auto_vacuum=incremental'],
    ),
    right: twin(
      journey('OPFSCoopSync'),
      [[fill(3000), 'DELETE FROM t WHERE id > 1500'], ['PRAGMA incremental_vacuum']],
      ['auto_vacuum=incremental'],
    ),
  },
  {
    rule: 'F41',
    shows: '300 updates in WAL on AccessHandlePool with wal_autocheckpoint=4',
    instead: 'with the default',
    wrong: twin(
      journey('AccessHandlePool'),
      [[fill(400)], [[300, update]]],
      [...WAL, 'wal_autocheckpoint=4'],
    ),
    right: twin(journey('AccessHandlePool'), [[fill(400)], [[300, update]]], WAL),
  },
  {
    rule: 'F43',
    shows: '100 updates on OPFSAnyContext, which writes by createWritable',
    instead: 'on OPFSAdaptive, which writes by sync access handles',
    wrong: twin(journey('OPFSAnyContext'), [[fill(3000)], [[100, update]]]),
    right: twin(journey('OPFSAdaptive'), [[fill(3000)], [[100, update]]]),
  },
  {
    rule: 'F44',
    shows: '300 updates on AccessHandlePool by rollback journal',
    instead: 'with journal_mode=memory, which writes whole pages only',
    wrong: twin(journey('AccessHandlePool'), [[fill(400)], [[300, update]]]),
    right: twin(
      journey('AccessHandlePool'),
      [[fill(400)], [[300, update]]],
      ['journal_mode=memory'],
    ),
  },
  {
    rule: 'F45',
    shows: '500 reads by key on IDBBatchAtomic, each a transaction of its own',
    instead: 'all in one',
    wrong: twin(journey('IDBBatchAtomic'), [[fill(400)], [WARM, APART, [500, byKey]]]),
    right: twin(journey('IDBBatchAtomic'), [[fill(400)], [WARM, APART, ...together([500, byKey])]]),
  },
  {
    rule: 'F10',
    shows:
      '600 updates in one transaction on IDBBatchAtomic with a page cache of 64 KiB, whose reads and writes take turns',
    instead: 'on IDBMirror, which stores a commit in one IndexedDB transaction',
    wrong: twin(
      journey('IDBBatchAtomic'),
      [[fill(3000)], ['PRAGMA journal_mode=memory', APART, ...together([600, scattered])]],
      ['cache_size=-64'],
    ),
    right: twin(
      journey('IDBMirror'),
      [[fill(3000)], ['PRAGMA journal_mode=memory', APART, ...together([600, scattered])]],
      ['cache_size=-64'],
    ),
  },
  {
    rule: 'F18',
    shows: '3 scans of 20,000 rows on IDBBatchAtomic',
    instead: 'on IDBMirror, which reads the whole file when it opens it',
    wrong: twin(
      journey('IDBBatchAtomic'),
      [[fill(20000)], [[3, 'SELECT sum(length(body)) FROM t']]],
      ['cache_size=-64'],
    ),
    right: twin(
      journey('IDBMirror'),
      [[fill(20000)], [[3, 'SELECT sum(length(body)) FROM t']]],
      ['cache_size=-64'],
    ),
  },
  {
    rule: 'F24',
    shows: 'a database of sql.js whose worker is ended while IndexedDB still has the file to store',
    instead: 'once it is stored',
    wrong: { path: '/sql-js/', steps: [STORED_BY_SQL_JS], more: endedWhileSaving(true) },
    right: { path: '/sql-js/', steps: [STORED_BY_SQL_JS], more: endedWhileSaving(false) },
    injected: 'a transaction of the page that reads the store for 2 s',
  },
  {
    rule: 'F03',
    shows: 'a database that two tabs open on AccessHandlePool',
    instead: 'on OPFSCoopSync, whose tabs share it',
    wrong: { path: journey('AccessHandlePool'), tabs: 2, steps: [OPENED], more: inTab(1, [byKey]) },
    right: { path: journey('OPFSCoopSync'), tabs: 2, steps: [OPENED], more: inTab(1, [byKey]) },
  },
  {
    rule: 'F05',
    shows: 'a tab that asks for a Web Lock, which another one holds for 3 s without a call',
    instead: 'for 50 ms',
    wrong: { path: journey('Memory'), tabs: 2, steps: [], more: lockFor(3000) },
    right: { path: journey('Memory'), tabs: 2, steps: [], more: lockFor(50) },
    clock: 'wall',
    injected: 'a page that holds the lock',
  },
  {
    rule: 'F08',
    shows: 'journal_mode=wal on OPFSCoopSync, which has no shared memory, then 20 updates',
    instead: 'locking_mode=exclusive first',
    wrong: twin(journey('OPFSCoopSync'), [[fill(400)], ['PRAGMA journal_mode=wal', [20, update]]]),
    right: twin(journey('OPFSCoopSync'), [
      [fill(400)],
      ['PRAGMA locking_mode=exclusive', 'PRAGMA journal_mode=wal', [20, update]],
    ]),
  },
  {
    rule: 'F16',
    shows: 'a page whose storage is refused by a SecurityError',
    instead: 'no such error',
    wrong: {
      path: journey('Memory'),
      steps: [OPENED],
      more: inPage(
        "void Promise.reject(new DOMException('getDirectory: no access to storage', 'SecurityError')); new Promise((r) => addEventListener('unhandledrejection', r, { once: true }))",
      ),
    },
    right: { path: journey('Memory'), steps: [OPENED] },
    injected: 'an error as private windows throw it',
  },
  {
    rule: 'F25',
    shows: '20 updates on IDBBatchAtomic with synchronous=off',
    instead: 'with synchronous=normal',
    wrong: twin(journey('IDBBatchAtomic'), [[fill(400)], ['PRAGMA synchronous=off', [20, update]]]),
    right: twin(journey('IDBBatchAtomic'), [
      [fill(400)],
      ['PRAGMA synchronous=normal', [20, update]],
    ]),
  },
  {
    rule: 'F26',
    shows: 'a transaction on OPFSCoopSync that stays open for 1.5 s, in which nothing is called',
    instead: 'begun behind the pause',
    wrong: twin(journey('OPFSCoopSync'), [
      [fill(400)],
      ['BEGIN IMMEDIATE', insert, LONG, 'COMMIT'],
    ]),
    right: twin(journey('OPFSCoopSync'), [
      [fill(400)],
      [LONG, 'BEGIN IMMEDIATE', insert, 'COMMIT'],
    ]),
  },
  {
    rule: 'F29',
    shows: 'an IndexedDB database that one tab keeps open for 1 s while another upgrades it',
    instead: 'closed in the versionchange event',
    wrong: { path: journey('Memory'), tabs: 2, steps: [], more: upgradeAgainst(1000) },
    right: { path: journey('Memory'), tabs: 2, steps: [], more: upgradeAgainst(0) },
    clock: 'wall',
    injected: 'a page that keeps its connection',
  },
  {
    rule: 'F30',
    shows: 'a page that calls itself without end',
    instead: 'no such call',
    wrong: {
      path: journey('Memory'),
      steps: [OPENED],
      more: inPage(
        "setTimeout(function deep() { deep(); }); new Promise((r) => addEventListener('error', r, { once: true }))",
      ),
    },
    right: { path: journey('Memory'), steps: [OPENED] },
    injected: 'endless recursion',
  },
  {
    rule: 'F31',
    shows: 'a scan on IDBBatchAtomic, during which the app takes 40 MB of the memory of SQLite',
    instead: 'takes them before',
    wrong: twin(journey('IDBBatchAtomic'), [[fill(20_000)], [{ allocate: 40, during: WARM }]]),
    right: twin(journey('IDBBatchAtomic'), [[fill(20_000)], [{ allocate: 40 }, WARM]]),
  },
  {
    rule: 'F32',
    shows: 'a read of a table whose root page lies behind the end of the file',
    instead: 'of a table that is whole',
    wrong: {
      ...twin(journey('OPFSCoopSync'), [
        [
          fill(400),
          'PRAGMA writable_schema=1',
          "UPDATE sqlite_schema SET rootpage=9999 WHERE name='t'",
        ],
        [],
      ]),
      more: inTab(0, [byKey]),
    },
    right: { ...twin(journey('OPFSCoopSync'), [[fill(400)], []]), more: inTab(0, [byKey]) },
    injected: 'the schema was overwritten',
  },
  {
    rule: 'F34',
    shows: 'absurd-sql on a page that is not cross-origin isolated',
    instead: 'on one that is',
    wrong: { path: '/absurd-sql/', steps: [step('own-sql', { n: 50 })] },
    right: { path: '/coi/absurd-sql/', steps: [step('own-sql', { n: 50 })] },
  },
  {
    rule: 'F33',
    shows: '20 inserts into a database on opfs-sahpool that is attached with nolock=1',
    instead: 'attached without',
    wrong: twin('/sqlite-org/?vfs=opfs-sahpool', [[fill(1)], attached('?nolock=1')]),
    right: twin('/sqlite-org/?vfs=opfs-sahpool', [[fill(1)], attached('')]),
  },
  {
    rule: 'F35',
    shows: '8 databases attached on opfs-sahpool, whose pool has 6 files',
    instead: '2 databases',
    wrong: { path: '/sqlite-org/?vfs=opfs-sahpool', steps: [], more: inTab(0, attach(8)) },
    right: { path: '/sqlite-org/?vfs=opfs-sahpool', steps: [], more: inTab(0, attach(2)) },
  },
  {
    rule: 'F42',
    shows: 'a row of 40 MB on OPFSCoopSync where the origin may store 20 MB',
    instead: 'a row of 400 bytes',
    wrong: { path: journey('OPFSCoopSync'), steps: [OPENED], more: insertWithQuota(40_000_000) },
    right: { path: journey('OPFSCoopSync'), steps: [OPENED], more: insertWithQuota(400) },
    injected: 'a quota that DevTools sets',
  },
  {
    rule: 'F06',
    shows:
      'a tab that asks for the lock every 5 ms while another one writes, on IDBBatchAtomic with lockPolicy "shared"',
    instead: 'lockPolicy "shared+hint" and PRAGMA write_hint',
    wrong: twoWriters('shared', []),
    right: twoWriters('shared%2Bhint', ['PRAGMA write_hint']),
    clock: 'wall',
  },
  {
    rule: 'F17',
    shows: '200 reads on IDBBatchAtomic, each in a readwrite transaction of IndexedDB',
    instead: 'all under one lock',
    wrong: twin(journey('IDBBatchAtomic'), [[fill(400)], [WARM, APART, [200, byKey]]]),
    right: twin(journey('IDBBatchAtomic'), [[fill(400)], [WARM, APART, ...together([200, byKey])]]),
  },
  {
    rule: 'F27',
    shows: 'a tab that waits 1 s for the Web Lock of a frozen tab',
    instead: 'the lock released first',
    wrong: { path: journey('Memory'), tabs: 2, steps: [], more: lockInFrozenTab(true) },
    right: { path: journey('Memory'), tabs: 2, steps: [], more: lockInFrozenTab(false) },
    clock: 'wall',
    injected: 'DevTools freezes the tab',
  },
  {
    rule: 'F28',
    shows:
      'a transaction on a connection of IndexedDB that was closed, in a tab that had been frozen',
    instead: 'on one that is open',
    wrong: { path: journey('Memory'), steps: [OPENED], more: transactionAfterFreeze(true) },
    right: { path: journey('Memory'), steps: [OPENED], more: transactionAfterFreeze(false) },
    injected: 'DevTools freezes the tab, and the page closes its connection itself',
  },
  {
    rule: 'F46',
    shows: 'a put into IndexedDB that fails for lack of space, and 5 commits after it',
    instead: 'a put that fits',
    wrong: { path: journey('Memory'), steps: [OPENED], more: goesOn(40_000_000) },
    right: { path: journey('Memory'), steps: [OPENED], more: goesOn(4_000) },
    injected: 'a quota that DevTools sets',
  },
  {
    rule: 'F49',
    shows: 'three handles that a worker requests by Promise.all, while another worker holds one',
    instead: 'by Promise.allSettled, and those that were opened are closed',
    wrong: {
      path: journey('Memory'),
      steps: [OPENED],
      more: handlesAtOnce('await Promise.all(asked).catch(() => {});'),
    },
    right: {
      path: journey('Memory'),
      steps: [OPENED],
      more: handlesAtOnce(
        'for (const { value } of await Promise.allSettled(asked)) value?.close();',
      ),
    },
    injected: 'another worker that has the file',
  },
  {
    rule: 'F04',
    shows: 'a file that a worker opens after another one was terminated while it wrote there',
    instead: 'after that one closed it',
    wrong: { path: journey('Memory'), steps: [OPENED], more: handedOn(false) },
    right: { path: journey('Memory'), steps: [OPENED], more: handedOn(true) },
  },
  {
    rule: 'F37',
    shows: 'a worker that opens 300 files where the browser opens 252',
    instead: 'that opens 40',
    wrong: {
      path: journey('Memory'),
      fault: 'few-handles',
      steps: [OPENED],
      more: manyHandles(300),
    },
    right: {
      path: journey('Memory'),
      fault: 'few-handles',
      steps: [OPENED],
      more: manyHandles(40),
    },
    injected: 'a browser that opens no more',
  },
  {
    rule: 'F47',
    shows: 'a row of 2 MB on OPFSCoopSync where the disk has 1 MiB left',
    instead: 'a row of 400 bytes',
    wrong: {
      path: journey('OPFSCoopSync'),
      fault: 'full-disk',
      steps: [OPENED],
      more: inTab(0, ['INSERT INTO t VALUES(NULL, zeroblob(2000000))']),
    },
    right: {
      path: journey('OPFSCoopSync'),
      fault: 'full-disk',
      steps: [OPENED],
      more: inTab(0, ['INSERT INTO t VALUES(NULL, zeroblob(400))']),
    },
    injected: 'a browser that says nothing of a full disk',
  },
  {
    rule: 'F50',
    shows: '20 looks for a row by a column without an index, in a table of 3,000 rows',
    instead: 'with an index on it',
    wrong: twin(journey('OPFSCoopSync'), [[fill(3000)], byBody]),
    right: twin(journey('OPFSCoopSync'), [[fill(3000), BODY_INDEX], byBody]),
  },
  {
    rule: 'F51',
    shows: '10 joins of two tables of 1,500 rows by a column without an index',
    instead: 'with an index on it',
    wrong: twin(journey('OPFSCoopSync'), [[fill(1500), PARTS], joined]),
    right: twin(journey('OPFSCoopSync'), [[fill(1500), PARTS, PARTS_INDEX], joined]),
  },
  {
    rule: 'F52',
    shows: 'the last rows of 3,000 by a column without an index, 20 times',
    instead: 'with an index on it',
    wrong: twin(journey('OPFSCoopSync'), [[fill(3000)], newest]),
    right: twin(journey('OPFSCoopSync'), [[fill(3000), BODY_INDEX], newest]),
  },
  {
    rule: 'F53',
    shows: '1,000 reads by key in one transaction, each prepared again',
    instead: 'prepared once, with the key bound',
    wrong: twin(journey('OPFSCoopSync'), [
      [fill(1000)],
      together([1000, 'SELECT body FROM t WHERE id = $i + 1']),
    ]),
    right: twin(journey('OPFSCoopSync'), [
      [fill(1000)],
      together({ bound: [1000, 'SELECT body FROM t WHERE id = ? + 1'] }),
    ]),
  },
  {
    rule: 'F54',
    shows: 'a list of 30 rows, and a query for each in the same transaction',
    instead: 'a join',
    wrong: twin(journey('OPFSCoopSync'), [
      [fill(400)],
      together('SELECT id FROM t WHERE id <= 30', [30, 'SELECT body FROM t WHERE id = $i + 1']),
    ]),
    right: twin(journey('OPFSCoopSync'), [
      [fill(400)],
      together('SELECT a.id, b.body FROM t a JOIN t b ON b.id = a.id WHERE a.id <= 30'),
    ]),
  },
  {
    rule: 'F55',
    shows:
      'one query 30 times in one transaction, with the same values, and rows put into another table between',
    instead: 'once, and the same rows put in',
    wrong: twin(journey('OPFSCoopSync'), [
      [fill(20_000), PARTS],
      together(...Array.from({ length: 30 }, () => [again, insertPart]).flat()),
    ]),
    right: twin(journey('OPFSCoopSync'), [
      [fill(20_000), PARTS],
      together(again, ...Array.from({ length: 30 }, () => insertPart)),
    ]),
  },
  {
    rule: 'F56',
    shows: '20 statements of one text that are prepared, stepped, and forgotten',
    instead: 'each finalized',
    wrong: twin(
      journey('OPFSCoopSync'),
      [[fill(400)], Array.from({ length: 20 }, () => ({ hold: 'SELECT id FROM t' }))],
      [],
      { leaveOpen: true },
    ),
    right: twin(journey('OPFSCoopSync'), [[fill(400)], [[20, 'SELECT id FROM t']]], [], {
      leaveOpen: true,
    }),
  },
  {
    rule: 'F57',
    shows: '60 queries that hold 1 MB each, stepped and forgotten, with a read by key between',
    instead: 'each run to its end',
    wrong: twin(journey('OPFSCoopSync'), [[fill(400)], apart(60, { hold: LARGE })], [], {
      leaveOpen: true,
    }),
    right: twin(
      journey('OPFSCoopSync'),
      [[fill(400)], apart(60, LARGE.replace(/randomblob.*/, 'length($&)'))],
      [],
      {
        leaveOpen: true,
      },
    ),
  },
  {
    rule: 'F58',
    shows: 'a page that reads 40 MB through a page cache as large, and is loaded again',
    instead: 'through the default cache',
    wrong: {
      ...twin(journey('OPFSCoopSync'), [[fill(300_000)], [WARM]], ['cache_size=-100000'], {
        leaveOpen: true,
      }),
      more: loadedAgain,
    },
    right: {
      ...twin(journey('OPFSCoopSync'), [[fill(300_000)], [WARM]], [], { leaveOpen: true }),
      more: loadedAgain,
    },
    injected: 'a reload in place of a browser that kills the page',
  },
];
