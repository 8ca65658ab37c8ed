// SQLite's counters of statement runs, and queries sent one by one. Each story comes with the same
// work done right.
import { Flag } from '../../../src/event/event.ts';
import { Fcntl, Rc, StatementStatus, VALUES_HASH } from '../../../src/sqlite/constants.ts';
import type { ThreadBuilder } from '../builder.ts';
import { locked, PAGE, S, times, type Case } from './stage.ts';

interface Counted {
  rows?: number;
  scanned?: number;
  steps?: number;
  sorts?: number;
  autoIndex?: number;
  /** Hash of the bound values. */
  values?: number;
  /** Memory of the statement, prepared, in bytes. */
  memory?: number;
  /** Calls while each of its rows is current. */
  inside?: (i: number) => void;
}

let instance = 0;
/** A run of a prepared statement, with SQLite's counters for it. */
function run(b: ThreadBuilder, text: string, of: Counted = {}, aux = ++instance, context = 4): void {
  const object = b.define({ kind: 'sql', text });
  const { rows = 0, scanned = 0, steps = 10, sorts = 0, autoIndex = 0, values = 0, memory = 0, inside } = of;
  const call = { object, aux, context };
  times(rows, (i) => {
    b.call('sqlStep', { ...call, result: Rc.row, dur: 50 });
    inside?.(i);
  });
  b.call('sqlStep', { ...call, result: Rc.done, dur: 50 });
  b.call('sqlStmtStatus', { ...call, offset: scanned, length: steps, aux2: sorts, dur: 0 });
  if (autoIndex) b.call('sqlStmtStatusMore', { ...call, length: autoIndex, aux2: StatementStatus.autoIndex, dur: 0 });
  if (values) b.call('sqlStmtStatusMore', { ...call, length: values, aux2: VALUES_HASH, dur: 0 });
  if (memory) b.call('sqlStmtStatusMore', { ...call, length: memory, aux2: StatementStatus.memoryUsed, dur: 0 });
  b.call('sqlReset', { ...call, dur: 1 });
}
const prepare = (b: ThreadBuilder, text: string, aux: number, context = 4): void =>
  void b.call('sqlPrepare', { object: b.define({ kind: 'sql', text }), aux, context, dur: 80 });

const BY_NAME = 'SELECT * FROM notes WHERE name = ?';
const REMOVED = 'DELETE FROM notes WHERE name = ?';
const RENAMED = 'UPDATE notes SET name = ? WHERE name = ?';
const JOINED = 'SELECT * FROM a JOIN b ON a.x = b.y';
const SORTED = 'SELECT * FROM notes ORDER BY name LIMIT 20';
const PARENTS = 'SELECT id FROM notes';
const CHILDREN = 'SELECT * FROM tags WHERE note = ?';

/** One text, run 30 times. */
function prepared(b: ThreadBuilder, often: boolean): void {
  times(30, (i) => {
    if (often || i === 0) prepare(b, BY_NAME, 1000 + i);
    run(b, BY_NAME, { rows: 1 }, often ? 1000 + i : 1000);
    if (often) b.call('sqlFinalize', { aux: 1000 + i, context: 4, dur: 2 });
  });
}
/** A list, and a query for each of its 12 rows. */
function oneByOne(b: ThreadBuilder, queries: number, inTransaction: boolean, nested = false, values = (_i: number) => 0): void {
  const child = (i: number): void => run(b, CHILDREN, { rows: 2, values: values(i) });
  if (inTransaction) run(b, 'BEGIN');
  run(b, PARENTS, { rows: 12, ...(nested && { inside: child }) });
  if (!nested) times(queries, child);
  if (inTransaction) run(b, 'COMMIT');
}
/** A list that is left open at its first row, while other queries run. */
const leftOpen = (b: ThreadBuilder): void =>
  run(b, PARENTS, { rows: 12, inside: (i) => times(i === 0 ? 12 : 0, () => run(b, CHILDREN, { rows: 2 })) });
/** A list and a query for each of its rows, twice in one transaction. @param more queries than rows */
function twiceOneByOne(b: ThreadBuilder, more: number): void {
  run(b, 'BEGIN');
  times(2, () => {
    run(b, PARENTS, { rows: 12 });
    times(12 + more, () => run(b, CHILDREN, { rows: 2 }));
  });
  run(b, 'COMMIT');
}

/** The same query twelve times on one thread, and a statement on another one after each. */
function asksAgain(b: ThreadBuilder, other: ThreadBuilder, text: string): void {
  times(12, () => {
    run(b, CHILDREN, { rows: 2, values: 7 });
    other.now = b.now;
    run(other, text);
    b.now = other.now;
  });
}

/**
 * The same query of `tags` (page 2) twelve times, and an UPDATE after each that writes one page.
 * @param was a page that first was a child of `tags`
 * @param statement whether the trace has the UPDATE, or only its VFS calls
 */
function asksAndWrites(b: ThreadBuilder, page: number, was = 0, statement = true): void {
  const db = b.file('/app.db');
  const read = (place: number): number =>
    b.call('xRead', { object: db, context: 4, offset: (place - 1) * PAGE, length: PAGE, aux2: 13 });
  const schema = { id: 1000, file: db, page: 1, roots: [2, 3], names: ['tags', 'notes'], tables: ['', ''] };
  const at = read(1);
  b.say({ kind: 'b-tree-names', at, ...schema });
  if (was) b.say({ kind: 'b-tree-pages', id: 1001, file: db, at, page: 2, children: [was] });
  times(12, () => {
    run(b, CHILDREN, { rows: 2, values: 7 });
    const write = (): void =>
      locked(b, db, 2, () => {
        b.call('xWrite', { object: db, context: 4, offset: (page - 1) * PAGE, length: PAGE, aux2: 13 });
        b.call('xFileControl', { object: db, context: 4, aux: Fcntl.commitPhaseTwo });
      }, 4);
    if (!statement) return write();
    const object = b.define({ kind: 'sql', text: 'UPDATE notes SET name = ?' });
    b.call('sqlStep', { object, aux: ++instance, context: 4, result: Rc.done, dur: 50 }, write);
  });
}

/**
 * The same query twice in each of twelve transactions, and after it.
 * @param writes another connection writes between the two
 */
function asksInTransactions(b: ThreadBuilder, other: ThreadBuilder, writes: boolean): void {
  times(12, (i) => {
    const ask = (): void => run(b, CHILDREN, { rows: 2, values: 7 + i });
    run(b, 'BEGIN');
    ask();
    other.now = b.now;
    if (writes) run(other, 'INSERT INTO tags VALUES(?)');
    b.now = other.now;
    ask();
    run(b, 'COMMIT');
    ask();
  });
}

/** A separate engine, and a file that a connection has opened. */
function engineOf(b: ThreadBuilder, context: number): void {
  const engine = b.define({
    ...{ kind: 'engine', name: 'wa-sqlite', sqliteVersion: null, sourceId: null, suspension: 'none', note: null },
    layers: { vfs: true, sql: true, counters: true },
  });
  const object = b.define({ kind: 'file', path: `/${context}.db`, fileKind: 'main-db', vfs: 'test', engine, flags: 0 });
  b.call('xRead', { object, context, offset: 0, length: PAGE });
}
/**
 * Two engines of a thread. The memory of one stays the same, and the other's grows.
 * @param mib growth of the latter at each reading
 */
function twoEngines(b: ThreadBuilder, mib: number): void {
  for (const context of [4, 5]) engineOf(b, context);
  times(20, (i) => {
    b.call('sqlMemory', { offset: 16 * 2 ** 20, length: 4096 + i, context: 4, dur: 0 });
    b.call('sqlMemory', { offset: (64 + mib * i) * 2 ** 20, length: 4096, context: 5, dur: 0 });
    b.idle(S);
  });
}

/** A query twelve times on each of two engines. @param second connection of the other half */
function asksTwoEngines(b: ThreadBuilder, second: number): void {
  for (const context of [4, 5]) engineOf(b, context);
  times(12, (i) => run(b, CHILDREN, { rows: 2, values: 7 }, ++instance, i % 2 ? 4 : second));
}
/** Statements left open on one engine, while one of the same text takes more memory on another. */
function opensTwoEngines(b: ThreadBuilder, open: number): void {
  for (const context of [4, 5]) engineOf(b, context);
  run(b, BY_NAME, { memory: 65_536 }, 1, 5);
  times(open, (i) => {
    prepare(b, BY_NAME, 100 + i);
    run(b, BY_NAME, { memory: 4096 }, 100 + i);
  });
}

/** Thirty open statements of one text. @param again number of those that run a second time */
function cached(b: ThreadBuilder, again: number): void {
  times(30, (i) => {
    prepare(b, BY_NAME, 100 + i);
    run(b, BY_NAME, {}, 100 + i);
  });
  times(again, (i) => run(b, BY_NAME, {}, 100 + i));
}

/**
 * Memory grows in a worker, and its page is reloaded.
 * @param mib growth
 * @param second connection of the second reading
 * @param end how the page ends
 */
export function endsAtMost(thread: Parameters<Case['wrong']>[0]['thread'], mib: number, second = 4, end: 'unloads' | 'is killed' | 'lives' = 'unloads'): void {
  const url = 'https://app.example/';
  const page = thread({ kind: 'page', url });
  const b = thread({ parent: page.thread.info.id });
  for (const context of [4, 5]) engineOf(b, context);
  times(2, (i) => {
    b.call('sqlMemory', { offset: (16 + mib * i) * 2 ** 20, length: 4096, context: i ? second : 4, dur: 0 });
    b.idle(S);
  });
  page.now = b.now;
  page.call('visibility');
  if (end === 'unloads') page.thread.ended = 'pagehide';
  // it doesn't answer when the recording stops
  if (end === 'is killed') page.thread.unknownUntilUs = page.now + 10 * S;
  const next = thread({ kind: 'page', url });
  next.now = b.now + S;
  next.call('visibility');
}

/** Three calls, of which two continue with more memory. */
function growsInCall(b: ThreadBuilder, inside: boolean): void {
  const object = b.file('/app.db');
  (['xRead', 'xWrite', 'xSync'] as const).forEach((op, i) =>
    b.call(op, { object, length: PAGE, offset: 0, flags: Flag.async, dur: 100 }, () => {
      const [length, offset] = [(16 + 2 * i) * 2 ** 20, (18 + 2 * i) * 2 ** 20];
      b.call('sqlMemoryGrew', { length, offset, aux: inside ? b.innermost : 0, dur: 0 });
    }),
  );
}

/** Twenty readings of memory, a second apart. @param mib memory at each */
function grows(b: ThreadBuilder, mib: (i: number) => number): void {
  times(20, (i) => {
    b.call('sqlMemory', { offset: mib(i) * 2 ** 20, length: 4096, context: 4, dur: 0 });
    b.idle(S);
  });
}

export const QUERIES: Case[] = [
  {
    rule: 'F50',
    name: 'a column without an index is looked up',
    wrong: ({ thread }) => {
      const b = thread();
      times(4, () => run(b, BY_NAME, { rows: 2, scanned: 19_999 }));
    },
    right: ({ thread }) => {
      const b = thread();
      times(4, () => run(b, BY_NAME, { rows: 2 }));
    },
    says: /^4 runs of "SELECT \* FROM notes WHERE name = \?" scanned 79,996 rows for 8 result rows$/,
  },
  {
    rule: 'F50',
    name: 'a table is asked for some of its rows, not for all',
    wrong: ({ thread }) => run(thread(), BY_NAME, { rows: 50, scanned: 1000 }),
    right: ({ thread }) => run(thread(), PARENTS, { rows: 50, scanned: 1000 }),
    says: /^1 run of .* scanned 1,000 rows for 50 result rows$/,
  },
  {
    rule: 'F50',
    name: 'rows that a DELETE changed are known if it brings them, or took few steps',
    wrong: ({ thread }) => run(thread(), `${REMOVED} RETURNING id`, { rows: 2, scanned: 1000 }),
    right: ({ thread }) => run(thread(), REMOVED, { scanned: 1000, steps: 5000 }),
    says: /^1 run of "DELETE .* RETURNING id" scanned 1,000 rows for 2 result rows$/,
  },
  {
    rule: 'F50',
    name: 'an UPDATE that takes few steps changes few rows',
    wrong: ({ thread }) => run(thread(), RENAMED, { scanned: 1000, steps: 3020 }),
    right: ({ thread }) => run(thread(), RENAMED, { scanned: 1000, steps: 9000 }),
    says: /^1 run of "UPDATE .*" scanned 1,000 rows and changed at most 10$/,
  },
  {
    rule: 'F51',
    name: 'a join without an index',
    wrong: ({ thread }) => {
      const b = thread();
      times(2, () => run(b, JOINED, { rows: 5, autoIndex: 300 }));
    },
    right: ({ thread }) => run(thread(), JOINED, { rows: 5, autoIndex: 300 }),
    says: /^SQLite built an automatic index in 2 runs of ".*": 600 rows$/,
  },
  {
    rule: 'F52',
    name: 'the newest 20 are sorted each time',
    wrong: ({ thread }) => {
      const b = thread();
      times(10, () => run(b, SORTED, { rows: 20, steps: 5000, sorts: 1 }));
    },
    right: ({ thread }) => {
      const b = thread();
      times(10, () => run(b, SORTED, { rows: 20, steps: 90, sorts: 1 }));
    },
    says: /^10 runs of ".*" sorted rows in a temporary b-tree$/,
  },
  {
    rule: 'F53',
    name: 'prepared for each run',
    wrong: ({ thread }) => prepared(thread(), true),
    right: ({ thread }) => prepared(thread(), false),
    says: /^"SELECT \* FROM notes WHERE name = \?" was prepared again 29 times$/,
  },
  {
    rule: 'F54',
    name: 'a query for each row that another one brought before',
    wrong: ({ thread }) => oneByOne(thread(), 12, true),
    right: ({ thread }) => oneByOne(thread(), 11, true),
    says: /^"SELECT \* FROM tags WHERE note = \?" ran 12 times, once for each row of "SELECT id FROM notes"$/,
  },
  {
    rule: 'F54',
    name: 'a query for each row while the list is read',
    wrong: ({ thread }) => oneByOne(thread(), 12, false, true),
    right: ({ thread }) => oneByOne(thread(), 12, false),
    says: /ran 12 times, once for each row/,
  },
  {
    rule: 'F54',
    name: 'two lists with a query for each row, not one that is left open',
    wrong: ({ thread }) => {
      const b = thread();
      times(2, () => oneByOne(b, 12, false, true));
    },
    right: ({ thread }) => leftOpen(thread()),
    says: /ran 24 times, once for each row/,
  },
  {
    rule: 'F54',
    name: 'two lists in one transaction',
    wrong: ({ thread }) => twiceOneByOne(thread(), 0),
    right: ({ thread }) => twiceOneByOne(thread(), 1),
    says: /ran 24 times, once for each row/,
  },
  {
    rule: 'F54',
    name: 'children that are different ones',
    wrong: ({ thread }) => oneByOne(thread(), 12, true, false, (i) => 70 + i),
    right: ({ thread }) => oneByOne(thread(), 12, true, false, () => 70),
    says: /ran 12 times, once for each row/,
  },
  {
    rule: 'F55',
    name: 'a query with the same values',
    wrong: ({ thread }) => {
      const b = thread();
      times(11, () => run(b, CHILDREN, { rows: 2, values: 7 }));
    },
    right: ({ thread }) => {
      const b = thread();
      times(11, (i) => run(b, CHILDREN, { rows: 2, values: 7 + i }));
    },
    says: /^"SELECT \* FROM tags WHERE note = \?" ran 10 times with values that it had before/,
  },
  {
    rule: 'F55',
    name: 'another connection writes between, or nobody',
    wrong: ({ thread }) => asksAgain(thread(), thread(), 'SELECT count(*) FROM notes'),
    right: ({ thread }) => asksAgain(thread(), thread(), "INSERT INTO tags VALUES(?)"),
    says: /ran 11 times with values that it had before/,
  },
  {
    rule: 'F55',
    name: 'another table is written, or its own',
    wrong: ({ thread }) => asksAndWrites(thread(), 3),
    right: ({ thread }) => asksAndWrites(thread(), 2),
    says: /ran 11 times with values that it had before, and nothing that it reads was written between$/,
  },
  {
    rule: 'F55',
    name: 'a write that no statement shows is of another table, or of its own',
    wrong: ({ thread }) => asksAndWrites(thread(), 3, 0, false),
    right: ({ thread }) => asksAndWrites(thread(), 2, 0, false),
    says: /ran 11 times/,
  },
  {
    rule: 'F55',
    name: 'a transaction does not see what another connection wrote meanwhile, or nobody wrote',
    wrong: ({ thread }) => asksInTransactions(thread(), thread(), false),
    right: ({ thread }) => asksInTransactions(thread(), thread(), true),
    says: /ran 24 times/,
  },
  {
    rule: 'F55',
    name: 'a page that was written is known to be of another table, or is not',
    wrong: ({ thread }) => asksAndWrites(thread(), 3),
    right: ({ thread }) => asksAndWrites(thread(), 99),
    says: /ran 11 times/,
  },
  {
    rule: 'F55',
    name: 'a page that was of its table earlier',
    wrong: ({ thread }) => asksAndWrites(thread(), 3),
    right: ({ thread }) => asksAndWrites(thread(), 3, 3),
    says: /ran 11 times/,
  },
  {
    rule: 'F55',
    name: 'a query of the time returns another value',
    wrong: ({ thread }) => {
      const b = thread();
      times(11, () => run(b, PARENTS, { values: 7 }));
    },
    right: ({ thread }) => {
      const b = thread();
      times(11, () => run(b, "SELECT id FROM notes WHERE due < datetime('now')", { values: 7 }));
    },
    says: /ran 10 times/,
  },
  {
    rule: 'F56',
    name: 'prepared and forgotten',
    wrong: ({ thread }) => {
      const b = thread();
      times(20, (i) => {
        prepare(b, BY_NAME, 100 + i);
        run(b, BY_NAME, { memory: 4096 }, 100 + i);
      });
    },
    right: ({ thread }) => {
      const b = thread();
      times(20, (i) => {
        prepare(b, BY_NAME, 100 + i);
        run(b, BY_NAME, { memory: 4096 }, 100 + i);
        if (i % 4 === 0) b.call('sqlFinalize', { aux: 100 + i, context: 4 });
      });
    },
    says: /^20 prepared statements of "SELECT \* FROM notes WHERE name = \?" are still open, 80 KiB together$/,
  },
  {
    rule: 'F56',
    name: 'the connection is closed',
    wrong: ({ thread }) => {
      const b = thread();
      times(20, (i) => prepare(b, BY_NAME, 100 + i));
      b.call('sqlClose', { context: 4, result: 5 });
    },
    right: ({ thread }) => {
      const b = thread();
      times(20, (i) => prepare(b, BY_NAME, 100 + i));
      b.call('sqlClose', { context: 4, result: 0 });
    },
    says: /are still open$/,
  },
  {
    rule: 'F55',
    name: 'the runs of two engines are not one',
    wrong: ({ thread }) => asksTwoEngines(thread(), 4),
    right: ({ thread }) => asksTwoEngines(thread(), 5),
    says: /ran 11 times/,
  },
  {
    rule: 'F56',
    name: 'a statement of another engine takes other memory',
    wrong: ({ thread }) => opensTwoEngines(thread(), 20),
    right: ({ thread }) => opensTwoEngines(thread(), 19),
    says: /are still open, 80 KiB together$/,
  },
  {
    rule: 'F56',
    name: 'statements that run again are in a cache',
    wrong: ({ thread }) => cached(thread(), 5),
    right: ({ thread }) => cached(thread(), 20),
    says: /^25 prepared statements of .* are still open$/,
  },
  {
    rule: 'F57',
    name: 'it grows to the end, not at the beginning only',
    wrong: ({ thread }) => grows(thread(), (i) => 16 + 2 * i),
    right: ({ thread }) => grows(thread(), (i) => 16 + 2 * Math.min(i, 9)),
    says: /^WebAssembly memory of .* grew from 16 MiB to 54 MiB in 19 s$/,
  },
  {
    rule: 'F57',
    name: 'one of two engines grows, or their connections take turns',
    wrong: ({ thread }) => twoEngines(thread(), 2),
    right: ({ thread }) => twoEngines(thread(), 0),
    says: /^WebAssembly memory of wa-sqlite 2 in .* grew from 64 MiB to 102 MiB in 19 s$/,
  },
  {
    rule: 'F31',
    name: 'it grows while an xRead is suspended, not between two',
    wrong: ({ thread }) => growsInCall(thread(), true),
    right: ({ thread }) => growsInCall(thread(), false),
    says: /^WebAssembly memory grew inside 2 asynchronous xRead and xWrite calls, from 16 MiB to 20 MiB$/,
  },
  {
    rule: 'F58',
    name: 'its page is loaded again soon after it grew much',
    wrong: ({ thread }) => endsAtMost(thread, 40),
    right: ({ thread }) => endsAtMost(thread, 8),
    says: /^The page ended 1 s after the WebAssembly memory of wa-sqlite had grown from 16 MiB to 56 MiB, and began again 1 s later$/,
  },
  {
    rule: 'F58',
    name: 'its page is killed, or lives on beside another one',
    wrong: ({ thread }) => endsAtMost(thread, 40, 4, 'is killed'),
    right: ({ thread }) => endsAtMost(thread, 40, 4, 'lives'),
    says: /^The page ended 1 s after the WebAssembly memory of wa-sqlite had grown from 16 MiB to 56 MiB/,
  },
  {
    rule: 'F58',
    name: 'its memory grew, not that another engine has more',
    wrong: ({ thread }) => endsAtMost(thread, 40),
    right: ({ thread }) => endsAtMost(thread, 40, 5),
    says: /after the WebAssembly memory of wa-sqlite had grown from 16 MiB to 56 MiB/,
  },
];
