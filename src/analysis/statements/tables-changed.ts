/**
 * Which tables changed between two moments, as far as the recording shows:
 *
 *   UPDATE notes   BEGIN  INSERT tags  INSERT tags  COMMIT     DROP TABLE old      runs that may change rows
 *   [p 4]          [          p 1, p 9              ]          ?                   pages that their transactions wrote
 *   notes                 tags         tags         tags       any                 tables, from `pages.b_tree`
 *
 * SQLite writes each page that a transaction changed by its commit at the latest. So the pages of a
 * committed transaction show all tables that it changed, including triggers and foreign keys, and
 * changes that no statement shows (sqlite3_blob_write, a backup, a function that runs SQL). If the
 * trace doesn't show them, any table may have changed: after a schema change, a rollback, in a
 * database in memory, or with a page whose table isn't known or was another one.
 */
import { databaseName } from '../../event/file-names.ts';
import { isBTreeKind, type BTreeDefinition } from '../../event/b-tree-definitions.ts';
import { columns, firstPlace, lowerBound } from '../../trace/number-columns.ts';
import type { ThreadStore, TraceStore } from '../../trace/store.ts';
import { PageType } from '../../sqlite/page.ts';
import { databaseFiles, type DatabaseFiles } from '../core/database-files.ts';
import { executions } from '../core/executions.ts';
import { fingerprintsOf } from '../core/fingerprints.ts';
import { fact, type Known } from '../core/graph.ts';
import { getOrMake } from '../core/maps.ts';
import { Access, type Accesses } from '../pages/accesses.ts';
import { bTrees, type BTrees } from '../pages/b-trees.ts';
import { accesses } from '../pages/page-accesses.ts';
import { explicitTransactions, type ExplicitSpan } from '../transactions/explicit-transactions.ts';
import { transactions } from '../transactions/transactions.ts';
import type { TransactionTable } from '../transactions/transaction-table.ts';
import { CHANGES_ROWS } from './rewrites.ts';
import { tableKey } from './tables-read-by.ts';

/** Statements that don't change the results of queries. */
const CHANGES_NOTHING =
  /^(?:select|pragma(?!.*\b(?:case_sensitive_like|reverse_unordered_selects)\b)|explain|analyze|begin|commit|end|savepoint|release)\b/;
const mayChange = (sql: string): boolean =>
  sql.includes(';') || // a script
  (!CHANGES_NOTHING.test(sql) && !(sql.startsWith('with') && !CHANGES_ROWS.test(sql)));

/** Runs that may have changed rows, by thread. */
class RowChanges extends columns({
  /** Index in TraceStore.threads, and of the run among its executions. */
  thread: Uint16Array,
  run: Uint32Array,
  /** 1 = one INSERT, UPDATE, or DELETE; 0 = anything else. */
  plain: Uint8Array,
}) {}

/** Indices of write transactions that changed something, made by any call. */
const committed = (list: TransactionTable): number[] =>
  Array.from({ length: list.length }, (_, i) => i).filter(
    (i) => list.isWrite(i) && list.outcome(i) === 'committed',
  );

/**
 * Runs that may have changed rows, and moments at which rows changed: the begin of each run, and
 * the end of its transaction.
 */
export const rowChanges = fact(
  'rowChanges',
  'statements that change rows',
  { executions, explicitTransactions, transactions },
  ({ threads }, known) => {
    const runs = new RowChanges();
    const { list } = known.transactions;
    const moments = committed(list).map((i) => list.endUs[i]!);
    for (const thread of threads) {
      const of = known.executions.of(thread);
      const explicit = known.explicitTransactions.of(thread);
      const { context, seq, t0 } = thread.events;
      const print = fingerprintsOf(thread);
      const ended = new Set<ExplicitSpan>();
      for (let run = 0; run < of.count; run++) {
        const sql = print(of.text[run]!) ?? '';
        if (!mayChange(sql)) continue;
        const i = runs.add();
        runs.thread[i] = thread.index;
        runs.run[i] = run;
        runs.plain[i] = CHANGES_ROWS.test(sql) && !sql.includes(';') ? 1 : 0;
        const row = of.firstRow[run]!;
        const span = explicit.at(context[row]!, seq[row]!);
        moments.push(t0[row]!);
        if (!span) moments.push(endOf(thread, of.lastRow[run]!));
        else if (span.endRow >= 0 && !ended.has(span)) {
          ended.add(span);
          moments.push(endOf(thread, span.endRow));
        }
      }
    }
    return { runs, moments: moments.sort((a, b) => a - b) };
  },
);

const endOf = ({ events }: ThreadStore, row: number): number => events.t0[row]! + events.dur[row]!;

/** Whether one of these ascending moments is in a range, including its ends. */
const isWithin = (moments: readonly number[], fromUs: number, toUs: number): boolean => {
  const next = lowerBound(moments, fromUs, moments.length);
  return next < moments.length && moments[next]! <= toUs;
};
/** Whether anything may have changed between two moments. */
export const anyChange = (
  { moments }: { readonly moments: readonly number[] },
  fromUs: number,
  toUs: number,
): boolean => isWithin(moments, fromUs, toUs);

const NEEDS = {
  ...{ rowChanges, executions, explicitTransactions, transactions, accesses, bTrees },
  databaseFiles,
};

/** When tables changed, microseconds, ascending. */
class TablesChanged {
  /** Moments at which any table may have changed. */
  readonly unknown: number[] = [];
  private readonly byTable = new Map<string, number[]>();

  /** @param tables null = any table */
  add(us: number, tables: ReadonlySet<string> | null): void {
    if (tables === null) this.unknown.push(us);
    else for (const key of tables) getOrMake(this.byTable, key, () => [] as number[]).push(us);
  }
  sort(): this {
    for (const moments of [this.unknown, ...this.byTable.values()]) moments.sort((a, b) => a - b);
    return this;
  }

  /**
   * Whether none of these tables changed between two moments.
   * @param tables as in `tablesReadBy`
   */
  unchanged(tables: readonly string[], fromUs: number, toUs: number): boolean {
    return [this.unknown, ...tables.map((key) => this.byTable.get(key) ?? [])].every(
      (moments) => !isWithin(moments, fromUs, toUs),
    );
  }
}

export const tablesChanged = fact('tablesChanged', 'tables that changed', NEEDS, (store, known) => {
  const found = new TablesChanged();
  const pages = new TransactionPages(store, known);
  const { runs } = known.rowChanges;
  const spoiled = new Set<ExplicitSpan>();
  const each = (visit: (thread: ThreadStore, run: number, plain: boolean) => void): void => {
    for (let i = 0; i < runs.count; i++)
      visit(store.threads[runs.thread[i]!]!, runs.run[i]!, runs.plain[i] === 1);
  };
  const spanOf = (thread: ThreadStore, row: number): ExplicitSpan | null => {
    const { context, seq } = thread.events;
    return known.explicitTransactions.of(thread).at(context[row]!, seq[row]!);
  };
  each((thread, run, plain) => {
    const span = plain ? null : spanOf(thread, known.executions.of(thread).firstRow[run]!);
    if (span) spoiled.add(span); // the writes don't show what it reverts
  });
  const bySpan = new Map<ExplicitSpan, ReadonlySet<string> | null>();
  each((thread, run, plain) => {
    const { firstRow } = known.executions.of(thread);
    const { t0 } = thread.events;
    const row = firstRow[run]!;
    const span = spanOf(thread, row);
    if (!span) {
      const last = known.executions.of(thread).lastRow[run]!;
      const tables = plain ? pages.tables(thread, row, last, false) : null;
      found.add(t0[row]!, tables);
      found.add(endOf(thread, last), tables);
      return;
    }
    const ended = span.endRow >= 0;
    let tables = bySpan.get(span);
    if (tables === undefined) {
      tables =
        ended && !spoiled.has(span) ? pages.tables(thread, span.beginRow, span.endRow, true) : null;
      bySpan.set(span, tables);
      if (ended) found.add(endOf(thread, span.endRow), tables); // others see it from here on
    }
    found.add(t0[row]!, tables);
  });
  const { list } = known.transactions;
  for (const i of committed(list)) found.add(list.endUs[i]!, pages.tablesOf(i));
  return found.sort();
});

/** What transactions wrote, by the tables of their pages. */
class TransactionPages {
  /** Indices of write transactions by thread and connection, in the order of their first rows. */
  private readonly transactions = new Map<string, number[]>();
  /** Indices of their writes in `accesses`, in the order of rows. */
  private readonly writes = new Map<string, number[]>();
  private readonly list: TransactionTable;
  private readonly accesses: Accesses;
  private readonly trees: readonly BTrees[];
  /** By database: pages that belonged, or may have belonged, to more than one table or index. */
  private readonly moved: readonly ReadonlySet<number>[];

  constructor(store: TraceStore, known: Known<typeof NEEDS>) {
    const { askers, asker, what, thread, row, count } = (this.accesses = known.accesses);
    this.trees = known.bTrees;
    this.list = known.transactions.list;
    this.moved = movedPages(store, known.databaseFiles, known.bTrees);
    const { list } = this;
    for (let i = 0; i < list.length; i++)
      if (list.isWrite(i))
        getOrMake(
          this.transactions,
          keyOf(list.thread[i]!, list.context[i]!),
          () => [] as number[],
        ).push(i);
    for (const places of this.transactions.values())
      places.sort((a, b) => list.beginRow[a]! - list.beginRow[b]!);
    for (let i = 0; i < count; i++)
      if ((what[i]! & (Access.write | Access.checkpoint)) === Access.write)
        getOrMake(
          this.writes,
          keyOf(thread[i]!, askers[asker[i]!]!.connection),
          () => [] as number[],
        ).push(i);
    for (const places of this.writes.values()) places.sort((a, b) => row[a]! - row[b]!);
  }

  /**
   * Tables that changed in the transactions between two SQL calls of a connection, including the
   * second call.
   * @param explicit BEGIN .. COMMIT: it may have seen what is rolled back
   * @returns null = not known
   */
  tables(
    { events, index }: ThreadStore,
    firstRow: number,
    lastRow: number,
    explicit: boolean,
  ): ReadonlySet<string> | null {
    const connection = events.context[firstRow]!;
    const endSeq = events.endSeq[lastRow]!;
    if (connection === 0 || endSeq === 0) return null;
    const until = lowerBound(events.seq, endSeq, events.count);
    const key = keyOf(index, connection);
    const of = this.transactions.get(key) ?? [];
    const { list } = this;
    const found = new Set<string>();
    let at = firstPlace(0, of.length, (n) => list.endRow[of[n]!]! >= firstRow);
    let some = false;
    for (; at < of.length && list.beginRow[of[at]!]! < until; at++) {
      some = true;
      const outcome = list.outcome(of[at]!);
      if (outcome === 'committed') {
        if (!this.addTables(key, list.beginRow[of[at]!]!, list.endRow[of[at]!]!, found))
          return null;
      } else if (explicit) return null;
    }
    return some ? found : null; // no call shows changes of a database in memory
  }

  /** Tables that a committed transaction changed; null = not known. @param i its index */
  tablesOf(i: number): ReadonlySet<string> | null {
    const found = new Set<string>();
    const { thread, context, beginRow, endRow } = this.list;
    const key = keyOf(thread[i]!, context[i]!);
    return this.addTables(key, beginRow[i]!, endRow[i]!, found) ? found : null;
  }

  /** @returns false = not known */
  private addTables(key: string, fromRow: number, toRow: number, into: Set<string>): boolean {
    const places = this.writes.get(key) ?? [];
    const { row, object, place, span, type, objects } = this.accesses;
    let at = firstPlace(0, places.length, (n) => row[places[n]!]! >= fromRow);
    const first = at;
    for (; at < places.length && row[places[at]!]! <= toRow; at++) {
      const i = places[at]!;
      const database = object[i]!;
      if (objects[database]!.untied > 0) return false;
      if (type[i] === PageType.pointerMap) continue;
      const { list, ownerOf } = this.trees[database]!;
      for (let n = 0; n < span[i]!; n++) {
        const page = place[i]! + n;
        const owner = ownerOf(page);
        if (owner < 0 || this.moved[database]!.has(page)) return false;
        into.add(tableKey(databaseName(objects[database]!.path), list[owner]!.table));
      }
    }
    return at > first;
  }
}

const keyOf = (thread: number, connection: number): string => `${thread} ${connection}`;

/**
 * Pages with a definition that wasn't valid at the end, so that their owner when they were written
 * isn't known.
 */
function movedPages(
  { threads }: TraceStore,
  files: DatabaseFiles,
  trees: readonly BTrees[],
): Set<number>[] {
  const moved = files.list.map(() => new Set<number>());
  for (const thread of threads)
    for (const said of thread.said) {
      if (!isBTreeKind(said.kind)) continue;
      const d = said as BTreeDefinition;
      const part = files.parts[thread.index]!.get(d.file);
      if (!part || d.kind === 'b-tree-end') continue;
      const { list, ownerOf } = trees[part.database]!;
      const pages = moved[part.database]!;
      if (d.kind === 'b-tree-pages') {
        const owner = ownerOf(d.page);
        for (const child of d.children) if (ownerOf(child) !== owner) pages.add(child);
      } else
        d.roots.forEach((root, i) => {
          if (list[ownerOf(root)]?.name !== d.names[i]) pages.add(root);
        });
    }
  return moved;
}
