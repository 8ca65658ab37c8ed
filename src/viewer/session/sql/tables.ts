/**
 * The tables beside `events`: what the analyses know, under the names that the views use. Times are microseconds; (thread, seq) names an
 * event, so that results can be shown on the timeline.
 */
import { Access } from '../../../analysis/pages/accesses.ts';
import { bTrees, type BTree, type BTrees } from '../../../analysis/pages/b-trees.ts';
import { checkpoints } from '../../../analysis/wal/checkpoints.ts';
import { executions, ExecutionState } from '../../../analysis/core/executions.ts';
import { files } from '../../../analysis/files/files.ts';
import { Outcome } from '../../../analysis/locks/lock-columns.ts';
import { locks } from '../../../analysis/locks/locks.ts';
import { pages, type ObjectPages } from '../../../analysis/pages/pages.ts';
import { accesses } from '../../../analysis/pages/page-accesses.ts';
import { transactions } from '../../../analysis/transactions/transactions.ts';
import { objectName } from '../../../trace/describe.ts';
import { fingerprint } from '../../../sqlite/sql-text.ts';
import { threadTitles } from '../queries/thread-titles.ts';
import type { QueryContext } from '../queries/context.ts';
import { ColumnTable, type TableData } from './column-table.ts';
import type { Cell } from './sink.ts';
import type { SqlColumn } from './table.ts';

type Field<Row> = readonly [
  name: string,
  type: SqlColumn['type'],
  help: string,
  value: (row: Row) => Cell,
];
/** Rows where they lie: nothing is copied. `at` may answer the same object each time. */
interface Rows<Row> {
  count: number;
  at: (i: number) => Row;
}
const listed = <Row>(list: readonly Row[]): Rows<Row> => ({
  count: list.length,
  at: (i) => list[i]!,
});
const held = <Row>(list: { length: number; at(i: number): Row }): Rows<Row> => ({
  count: list.length,
  at: (i) => list.at(i),
});
/** Places of parts one after the other: [which part, place in it]. */
function joined(counts: readonly number[]): Rows<{ part: number; i: number }> {
  const found = { part: 0, i: 0 };
  const starts = [0];
  for (const n of counts) starts.push(starts.at(-1)! + n);
  return {
    count: starts.at(-1)!,
    at(i) {
      if (i < starts[found.part]!) found.part = 0;
      while (i >= starts[found.part + 1]!) found.part++;
      found.i = i - starts[found.part]!;
      return found;
    },
  };
}
const THREAD_HELP = 'Number of the thread, from 0';
const PAGE_TYPES: Readonly<Record<number, string>> = {
  2: 'index interior',
  3: 'pointer map',
  5: 'table interior',
  10: 'index leaf',
  13: 'table leaf',
};
const treeOf = ({ o, i, trees }: { o: ObjectPages; i: number; trees: BTrees }): BTree | undefined =>
  trees.list[trees.ownerOf(o.places.place[i]!)];
const STATES = Object.fromEntries(
  Object.entries(ExecutionState).map(([name, code]) => [code, name]),
);
const OUTCOMES = Object.fromEntries(Object.entries(Outcome).map(([name, code]) => [code, name]));

/** @param context of the trace as it is when it is called */
export function tablesOf(context: () => QueryContext): ColumnTable[] {
  function table<Row>(
    name: string,
    help: string,
    rows: (context: QueryContext) => Rows<Row>,
    fields: readonly Field<Row>[],
  ): ColumnTable {
    const columns = fields.map(([field, type, about]): SqlColumn => ({
      name: field,
      type,
      help: about,
    }));
    return new ColumnTable(name, help, columns, () => {
      const now = context();
      return now.memo(`sql ${name}`, (): TableData => {
        const { count, at } = rows(now);
        return {
          count,
          columns: fields.map(
            ([, , , value]) =>
              (i: number) =>
                value(at(i)),
          ),
        };
      });
    });
  }
  const seqOf = (thread: number, row: number): number =>
    context().store.threads[thread]!.events.seq[row]!;

  return [
    table(
      'threads',
      'Threads that were recorded',
      ({ store }) =>
        listed(threadTitles(store).map((title, i) => ({ title, t: store.threads[i]! }))),
      [
        ['thread', 'INTEGER', THREAD_HELP, ({ t }) => t.index],
        ['title', 'TEXT', 'As the timeline calls it', ({ title }) => title],
        [
          'kind',
          'TEXT',
          'page, frame, worker, shared-worker or service-worker',
          ({ t }) => t.info.kind,
        ],
        ['url', 'TEXT', 'Of its script or document', ({ t }) => t.info.url],
        ['events', 'INTEGER', 'Calls recorded on it', ({ t }) => t.events.count],
        [
          'dropped',
          'INTEGER',
          'Calls that found no room, or got lost',
          ({ t }) => t.dropped + t.missing,
        ],
        [
          'engine',
          'TEXT',
          'SQLite’s build, where one was recognised',
          ({ t }) => t.engines[0]?.name ?? null,
        ],
        ['sqlite_version', 'TEXT', 'Of that build', ({ t }) => t.engines[0]?.sqliteVersion ?? null],
      ],
    ),
    table(
      'statements',
      'Texts of statements, literals folded',
      ({ store }) =>
        listed(
          store.threads.flatMap(({ index, definitions }) =>
            [...definitions.values()].flatMap((d) =>
              d.kind === 'sql' ? [{ thread: index, id: d.id, text: d.text }] : [],
            ),
          ),
        ),
      [
        ['thread', 'INTEGER', THREAD_HELP, (s) => s.thread],
        ['id', 'INTEGER', 'Number of the text on its thread', (s) => s.id],
        ['text', 'TEXT', 'As recorded', (s) => s.text],
        [
          'fingerprint',
          'TEXT',
          'The same for texts that differ in values only',
          (s) => fingerprint(s.text),
        ],
      ],
    ),
    table(
      'executions',
      'Runs of statements: from a first step to the last',
      ({ store, facts }) => {
        const parts = store.threads.map((thread) => ({
          thread,
          all: facts.get(executions).of(thread),
          i: 0,
        }));
        const places = joined(parts.map(({ all }) => all.count));
        return {
          count: places.count,
          at(at) {
            const { part, i } = places.at(at);
            return Object.assign(parts[part]!, { i });
          },
        };
      },
      [
        ['thread', 'INTEGER', THREAD_HELP, (e) => e.thread.index],
        ['seq', 'INTEGER', 'Its first call', (e) => e.thread.events.seq[e.all.firstRow[e.i]!]!],
        ['ts', 'REAL', 'Begin of that call', (e) => e.thread.events.t0[e.all.firstRow[e.i]!]!],
        ['dur', 'REAL', 'Sum of its calls', (e) => e.all.us[e.i]!],
        ['rows', 'INTEGER', 'Steps that brought a row', (e) => e.all.rows[e.i]!],
        [
          'state',
          'TEXT',
          'done, rowsLeft, failed or running',
          (e) => STATES[e.all.state[e.i]!] ?? null,
        ],
        [
          'statement_id',
          'INTEGER',
          'statements.id on the same thread',
          (e) => e.all.text[e.i]! || null,
        ],
        [
          'statement',
          'TEXT',
          'Its text',
          (e) => (e.all.text[e.i] ? objectName(e.thread, e.all.text[e.i]!) || null : null),
        ],
      ],
    ),
    table(
      'transactions',
      'Transactions, told by VFS calls',
      ({ facts }) => held(facts.get(transactions).list),
      [
        ['thread', 'INTEGER', THREAD_HELP, (t) => t.thread],
        ['seq', 'INTEGER', 'First call', (t) => seqOf(t.thread, t.beginRow)],
        ['last_seq', 'INTEGER', 'Last call', (t) => seqOf(t.thread, t.endRow)],
        ['ts', 'REAL', 'Begin', (t) => t.beginUs],
        ['dur', 'REAL', 'First lock to last unlock', (t) => t.endUs - t.beginUs],
        ['path', 'TEXT', 'Database', (t) => t.path],
        ['kind', 'TEXT', 'read or write', (t) => t.kind],
        ['outcome', 'TEXT', 'committed, rolled back or nothing written', (t) => t.outcome],
        ['commit_point', 'TEXT', 'What made it durable', (t) => t.commitPoint],
        ['connection', 'INTEGER', 'Connection on the thread', (t) => t.context || null],
      ],
    ),
    table(
      'files',
      'Files and stores, with sums over all threads',
      ({ facts }) => listed(facts.get(files)),
      [
        [
          'path',
          'TEXT',
          'As the VFS or OPFS names it; database/store for IndexedDB',
          (f) => f.path,
        ],
        ['kind', 'TEXT', 'main-db, journal, wal, temp, opfs, idb-store, storage', (f) => f.kind],
        ['vfs', 'TEXT', 'Name of the VFS', (f) => f.vfs || null],
        ['reads', 'INTEGER', 'Calls', (f) => f.reads],
        ['read_bytes', 'INTEGER', 'Bytes', (f) => f.readBytes],
        ['writes', 'INTEGER', 'Calls', (f) => f.writes],
        ['write_bytes', 'INTEGER', 'Bytes', (f) => f.writeBytes],
        ['syncs', 'INTEGER', 'xSync, flush', (f) => f.syncs],
        ['locks', 'INTEGER', 'xLock', (f) => f.locks],
        ['opens', 'INTEGER', 'xOpen, access handles', (f) => f.opens],
        ['dur', 'REAL', 'Sum of all its calls', (f) => f.timeUs],
      ],
    ),
    table(
      'locks',
      'Waits for locks: Web Locks, access handles, IndexedDB transactions, SQLITE_BUSY',
      ({ facts }) => {
        const { waits, resources, edges } = facts.get(locks);
        const holders = new Map<number, { holder: number; heldUs: number }>();
        for (const { wait, holder, heldUs } of edges)
          if (heldUs > (holders.get(wait)?.heldUs ?? -1)) holders.set(wait, { holder, heldUs });
        return {
          count: waits.count,
          at: (i) => ({ waits, resources, i, holder: holders.get(i)?.holder ?? null }),
        };
      },
      [
        ['thread', 'INTEGER', 'Who waits', (l) => l.waits.thread[l.i]!],
        [
          'seq',
          'INTEGER',
          'The call that asks',
          (l) => seqOf(l.waits.thread[l.i]!, l.waits.row[l.i]!),
        ],
        ['ts', 'REAL', 'Begin', (l) => l.waits.from[l.i]!],
        ['dur', 'REAL', 'How long', (l) => l.waits.to[l.i]! - l.waits.from[l.i]!],
        [
          'kind',
          'TEXT',
          'web-lock, access-handle, idb or sqlite',
          (l) => l.resources[l.waits.resource[l.i]!]?.kind ?? null,
        ],
        [
          'name',
          'TEXT',
          'Of the lock, file or database',
          (l) => l.resources[l.waits.resource[l.i]!]?.name ?? null,
        ],
        [
          'outcome',
          'TEXT',
          'done, refused or open',
          (l) => OUTCOMES[l.waits.outcome[l.i]!] ?? null,
        ],
        [
          'holder',
          'INTEGER',
          'Thread that held it longest meanwhile; NULL where none was seen',
          (l) => l.holder,
        ],
      ],
    ),
    table(
      'checkpoints',
      'Frames copied from a WAL into its database',
      ({ facts }) => listed(facts.get(checkpoints)),
      [
        ['thread', 'INTEGER', THREAD_HELP, (c) => c.thread],
        ['seq', 'INTEGER', 'First call', (c) => seqOf(c.thread, c.fromRow)],
        ['ts', 'REAL', 'Begin', (c) => c.fromUs],
        ['dur', 'REAL', 'Microseconds', (c) => c.toUs - c.fromUs],
        ['path', 'TEXT', 'Database', (c) => c.path],
        ['trigger', 'TEXT', 'Why it ran', (c) => c.trigger],
        ['mode', 'TEXT', 'NULL where it is not known', (c) => c.mode],
        ['frames', 'INTEGER', 'In the log when it began', (c) => c.framesInLog],
        ['pages', 'INTEGER', 'Distinct pages written', (c) => c.pages],
        ['writes', 'INTEGER', 'Writes to the database', (c) => c.dbWrites],
        ['syncs', 'INTEGER', 'Of log and database', (c) => c.walSyncs + c.dbSyncs],
        ['statement', 'TEXT', 'That paid for it', (c) => c.statement || null],
      ],
    ),
    table(
      'pages',
      'Pages of databases, with sums over the trace',
      (now) => {
        const trees = now.facts.get(bTrees);
        const parts = now.facts.get(pages).map((o) => ({
          o,
          i: 0,
          trees: trees[o.index]!,
        }));
        const places = joined(parts.map(({ o }) => o.places.count));
        return {
          count: places.count,
          at(at) {
            const { part, i } = places.at(at);
            return Object.assign(parts[part]!, { i });
          },
        };
      },
      [
        ['path', 'TEXT', 'Database', ({ o }) => o.path],
        ['page', 'INTEGER', 'Number, from 1', ({ o, i }) => o.places.place[i]!],
        [
          'type',
          'TEXT',
          'Of a b-tree or pointer map page; NULL where it is none or not known',
          ({ o, i }) => PAGE_TYPES[o.places.type[i]!] ?? null,
        ],
        [
          'b_tree',
          'TEXT',
          'Table or index that it belongs to; NULL where that is not known',
          (p) => treeOf(p)?.name ?? null,
        ],
        [
          'b_tree_table',
          'TEXT',
          'The table itself, or that of the index',
          (p) => treeOf(p)?.table ?? null,
        ],
        ['reads', 'INTEGER', 'From the file', ({ o, i }) => o.places.reads[i]!],
        ['wal_reads', 'INTEGER', 'From the WAL', ({ o, i }) => o.places.walReads[i]!],
        [
          'rereads',
          'INTEGER',
          'Of both: the connection had it, nobody wrote it since',
          ({ o, i }) => o.places.rereads[i]!,
        ],
        ['writes', 'INTEGER', 'To the file', ({ o, i }) => o.places.writes[i]!],
        ['wal_writes', 'INTEGER', 'To the WAL', ({ o, i }) => o.places.walWrites[i]!],
        [
          'checkpoint_writes',
          'INTEGER',
          'By checkpoints',
          ({ o, i }) => o.places.checkpointWrites[i]!,
        ],
        ['first_ts', 'REAL', 'First access', ({ o, i }) => o.places.firstUs[i]!],
        ['last_ts', 'REAL', 'Last access', ({ o, i }) => o.places.lastUs[i]!],
      ],
    ),
    table(
      'page_accesses',
      'Each read and write of a page, in the order of time',
      (now) => {
        const a = now.facts.get(accesses);
        const found = { a, i: 0 };
        return { count: a.count, at: (i) => Object.assign(found, { i }) };
      },
      [
        ['thread', 'INTEGER', THREAD_HELP, ({ a, i }) => a.thread[i]!],
        ['seq', 'INTEGER', 'The call', ({ a, i }) => seqOf(a.thread[i]!, a.row[i]!)],
        ['ts', 'REAL', 'Begin', ({ a, i }) => a.us[i]!],
        ['path', 'TEXT', 'Database', ({ a, i }) => a.objects[a.object[i]!]?.path ?? null],
        ['page', 'INTEGER', 'First page', ({ a, i }) => a.place[i]!],
        ['pages', 'INTEGER', 'Pages in the call', ({ a, i }) => a.span[i]!],
        ['write', 'INTEGER', '1 = a write', ({ a, i }) => (a.what[i]! & Access.write ? 1 : 0)],
        ['wal', 'INTEGER', '1 = in the WAL', ({ a, i }) => (a.what[i]! & Access.wal ? 1 : 0)],
        [
          'checkpoint',
          'INTEGER',
          '1 = made by a checkpoint',
          ({ a, i }) => (a.what[i]! & Access.checkpoint ? 1 : 0),
        ],
        ['bytes', 'INTEGER', 'Moved', ({ a, i }) => a.bytes[i]!],
      ],
    ),
  ];
}
