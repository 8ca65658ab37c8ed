/**
 * Every recorded call as a row of named columns, the threads that made them, and what their ids
 * stand for.
 */
import { LOST } from '../core/losses.ts';
import {
  detailText,
  isFailure,
  lengthOf,
  objectName,
  offsetOf,
  resultText,
} from '../../trace/describe.ts';
import { bytesMoved } from '../../trace/bytes-moved.ts';
import { OPS, layerOfCode, opName } from '../../event/operations.ts';
import type { Definition } from '../../event/definitions.ts';
import { fingerprint } from '../../sqlite/sql-text.ts';
import { ownersOf, type Owners } from '../../trace/owners.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { definedAs, isInMemory, targetOf } from '../../trace/in-memory.ts';
import { threadTitles } from '../core/thread-titles.ts';
import { fileOf } from '../files/files.ts';
import { fact, threadFact } from '../core/graph.ts';
import { col, listed, table, type Columns } from '../core/table.ts';

export const THREAD = 'Number of the thread within the trace, from 0';

/**
 * The events of a thread, one at a time. What they refer to is looked up once. Valid for the trace
 * at that moment.
 */
export class ThreadView {
  /** Events when the view was made: a recording grows while it is written. */
  readonly count: number;
  readonly events;
  /** Row of the event that the view is at. */
  i = 0;
  private readonly names = new Map<number, string | null>();
  private readonly kinds = new Map<number, string | null>();
  readonly owners: Owners;
  private texts: Uint32Array | null = null;

  constructor(readonly thread: ThreadStore) {
    this.events = thread.events;
    this.count = thread.events.count;
    this.owners = ownersOf(thread);
  }
  at(i: number): this {
    this.i = i;
    return this;
  }
  get ended(): boolean {
    return this.events.endSeq[this.i] !== 0;
  }
  /** Row of the call that it serves; -1 = not known. */
  get parent(): number {
    const { parent } = this.events;
    return parent[this.i] === 0 ? -1 : this.events.rowOfSeq(parent[this.i]!);
  }
  /** Row of the innermost SQL call that it serves, itself included; -1 = not known. */
  get statementRow(): number {
    return this.owners.statement(this.i);
  }
  /** By row: id of the text of the statement that it serves; 0 = not known. */
  get statementId(): Uint32Array {
    return (this.texts ??= this.owners.texts());
  }
  /** Name of an id; null if not known. */
  name(id: number): string | null {
    let name = this.names.get(id); // called for each event, so it doesn't create a function
    if (name === undefined) this.names.set(id, (name = objectName(this.thread, id) || null));
    return name;
  }
  /**
   * Kind of the call's target: SQLite's file kind, opfs, idb-store, storage, else the definition's
   * own kind.
   */
  get kind(): string | null {
    const target = targetOf(this.events, this.i);
    let kind = this.kinds.get(target);
    if (kind === undefined) {
      const definition = definedAs(this.thread.definitions, target);
      this.kinds.set(target, (kind = fileOf(definition)?.kind ?? definition?.kind ?? null));
    }
    return kind;
  }
}

/** By an operation's code. */
export const LAYERS = OPS.map((_, code) => layerOfCode(code));
export const NAMES = OPS.map((_, code) => opName(code));
export const ACTIVITIES = OPS.map((info) => info?.activity ?? 'none');
export const COUNTS = OPS.map((info) => info?.counts ?? null);

export const eventColumns = {
  thread: col('int', 'Thread', THREAD, (e) => e.thread.index),
  seq: col(
    'id',
    'Sequence',
    'Sequence number drawn at the begin: unique on its thread, and the order of its events',
    (e) => e.events.seq[e.i]!,
  ),
  end_seq: col(
    'id',
    'End',
    'Sequence number drawn at the end; null: the end was not seen',
    (e) => e.events.endSeq[e.i]! || null,
  ),
  ts: col('moment', 'Time', 'Begin, since the trace began', (e) => e.events.t0[e.i]!),
  dur: col(
    'us',
    'Duration',
    'From the call to its end, across suspensions; null: the end was not seen',
    (e) => (e.ended ? e.events.dur[e.i]! : null),
  ),
  layer: col(
    'text',
    'Layer',
    "sql, vfs, web (calls of the browser's storage, Storage in the panel), or host",
    (e) => LAYERS[e.events.op[e.i]!]!,
  ),
  op: col(
    'code',
    'Call',
    'Name of the call: xRead, idb.put, opfs.write, sqlite3_step',
    (e) => NAMES[e.events.op[e.i]!]!,
  ),
  object_id: col(
    'id',
    'Object',
    'What the call was on: joins to objects, by thread',
    (e) => e.events.object[e.i]! || null,
  ),
  object: col(
    'code',
    'File or store',
    'Its name: path, database/store, lock, text of the statement',
    (e) => e.name(e.events.object[e.i]!),
  ),
  kind: col(
    'text',
    'Kind',
    "SQLite's file kind (main-db, journal, wal, temp, memory-journal, other), opfs, idb-store, storage, or the kind of definition",
    (e) => e.kind,
  ),
  offset: col(
    'number',
    'Offset',
    'Byte offset, numeric key, or new size; null: none, or not numeric',
    (e) => offsetOf(e.events, e.i),
  ),
  length: col('count', 'Length', 'Bytes requested or transferred', (e) => lengthOf(e.events, e.i)),
  result: col(
    'int',
    'Result',
    'SQLite result code; bytes that an OPFS call returned; for a request 0, or 1 or a negative number if it failed (result_name has the exception); null: no end',
    (e) => (e.ended ? e.events.result[e.i]! : null),
  ),
  result_name: col(
    'text',
    'Result',
    'SQLITE_BUSY, QuotaExceededError, threw, failed, device characteristics; null for plain success',
    ({ events, i, ended }) =>
      (ended && resultText(events.op[i]!, events.result[i]!, events.flags[i]!)) || null,
  ),
  detail: col(
    'text',
    'Detail',
    'Lock level, open flags, opcode, IndexedDB mode and durability, change counter, cache counters',
    (e) => detailText(e.thread, e.i) || null,
  ),
  aux: col(
    'id',
    'Detail',
    'The number behind detail; of a WAL frame header the page number',
    (e) => e.events.aux[e.i]!,
  ),
  aux2: col(
    'id',
    'Second detail',
    "Page type of a database page; of a WAL commit frame the database's size in pages",
    (e) => e.events.aux2[e.i] ?? 0,
  ),
  flags: col(
    'int',
    'Flags',
    '1 not timed, 2 in-memory journal, 4 threw, 8 asynchronous',
    (e) => e.events.flags[e.i]!,
  ),
  parent_seq: col(
    'id',
    'Parent',
    'seq of the SQL or VFS call that it serves',
    (e) => e.events.parent[e.i]! || null,
  ),
  connection: col(
    'id',
    'Connection',
    'Database connection, IndexedDB transaction, or handle, by its number on the thread',
    (e) => e.events.context[e.i]! || null,
  ),
  statement_seq: col(
    'id',
    'Statement',
    'seq of the SQL call that it serves, itself included',
    (e) => (e.statementRow < 0 ? null : e.events.seq[e.statementRow]!),
  ),
  statement: col('code', 'Statement', 'SQL that the call served, literals folded', (e) =>
    e.name(e.statementId[e.i]!),
  ),
  statement_id: col(
    'id',
    'Statement',
    'object_id of that text in objects, by thread',
    (e) => e.statementId[e.i]! || null,
  ),
  activity: col(
    'text',
    'Activity',
    'What it was for: cpu, read, write, sync, lock, wait, meta, or none',
    (e) => ACTIVITIES[e.events.op[e.i]!]!,
  ),
  counts: col(
    'text',
    'Counts as',
    "read, write, sync, lock, or open in all counts; null: none of these, or of SQLite's in-memory journal, which isn't storage",
    ({ events, i }) => (isInMemory(events, i) ? null : COUNTS[events.op[i]!]!),
  ),
  bytes: col(
    'bytes',
    'Bytes',
    'Bytes moved, for OPFS as the call returned; 0 if it failed, was short, or is on the in-memory journal',
    ({ events, i }) => bytesMoved(events, i),
  ),
  failed: col('int', 'Failed', '1: the call failed', ({ events, i, ended }) =>
    ended && isFailure(events.op[i]!, events.result[i]!, events.flags[i]!) ? 1 : 0,
  ),
} satisfies Columns<ThreadView>;

/** Too many rows for a list: readers make each row when they need it. */
export const eventTable = { name: 'events', help: 'Every recorded call', columns: eventColumns };

/** Of each thread. */
export const threadViews = threadFact(
  'threadViews',
  'names of events',
  {},
  (thread) => new ThreadView(thread),
);
interface TitledThread {
  t: ThreadStore;
  title: string;
}
const threadColumns = {
  thread: col('int', 'Thread', THREAD, ({ t }) => t.index),
  id: col('text', 'ID', 'Unique in a recording', ({ t }) => t.info.id),
  kind: col(
    'text',
    'Kind',
    'page, frame, worker, shared-worker, or service-worker',
    ({ t }) => t.info.kind,
  ),
  name: col('text', 'Name', 'name option of the worker', ({ t }) => t.info.name || null),
  url: col('code', 'URL', 'Of the document or script', ({ t }) => t.info.url || null),
  parent: col('text', 'Parent', 'id of the thread that created it', ({ t }) => t.info.parent),
  events: col('count', 'Events', 'Calls recorded on it', ({ t }) => t.events.count),
  dropped: col('count', 'Dropped', LOST, ({ t }) => t.lost),
  title: col('text', 'Thread', 'As the timeline names it', ({ title }) => title),
  engine: col(
    'text',
    'Engine',
    "SQLite's build, where one was recognized",
    ({ t }) => t.engines[0]?.name ?? null,
  ),
  sqlite_version: col(
    'text',
    'SQLite',
    'Version of that build',
    ({ t }) => t.engines[0]?.sqliteVersion ?? null,
  ),
  note: col(
    'text',
    'Note',
    'Why it is not recorded, or only in part; empty where all of it is',
    ({ t }) =>
      [...new Set(t.notes.map((n) => (n.url ? `${n.text} (${n.url})` : n.text)))].join('; '),
  ),
} satisfies Columns<TitledThread>;

const threadRows = fact('threadRows', 'threads', {}, (store) =>
  listed(threadTitles(store).map((title, i) => ({ title, t: store.threads[i]! }))),
);
const threadTable = table(
  'threads',
  'Pages and workers that were recorded',
  threadRows,
  threadColumns,
);

interface Defined {
  thread: ThreadStore;
  id: number;
  d: Definition;
}
const objectRows = fact('objectRows', 'files, locks, and statements', {}, ({ threads }) =>
  listed(
    threads.flatMap((thread): Defined[] =>
      [...thread.definitions].map(([id, d]) => ({ thread, id, d })),
    ),
  ),
);
const objectTable = table(
  'objects',
  'What ids of a thread stand for: files, stores, locks, statements, names',
  objectRows,
  {
    thread: col('int', 'Thread', THREAD, (o) => o.thread.index),
    object_id: col('id', 'Object', 'Number on its thread', (o) => o.id),
    definition: col(
      'text',
      'Definition',
      'file, opfs-file, idb-store, idb-database, lock, storage-key, name, message, sql, engine',
      (o) => o.d.kind,
    ),
    kind: col('text', 'Kind', 'Kind of file, as in events', (o) => fileOf(o.d)?.kind ?? null),
    name: col(
      'code',
      'Name',
      'Path, name, or text of a statement, literals folded',
      (o) => objectName(o.thread, o.id) || null,
    ),
    vfs: col('text', 'VFS', 'VFS of a file of SQLite', (o) => fileOf(o.d)?.vfs || null),
    fingerprint: col('code', 'Fingerprint', 'Of a statement: joins to statements', ({ d }) =>
      d.kind === 'sql' ? fingerprint(d.text) : null,
    ),
  },
);

export const eventTables = [threadTable, objectTable];
