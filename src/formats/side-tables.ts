/** The small tables beside the events: threads, what their ids stand for, statements by text, and the trace itself as one row. */
import { summaryOf } from '../analysis/report/summary.ts';
import { eachExecution } from '../analysis/statements/statements.ts';
import { fileOf } from '../analysis/files/files.ts';
import { objectName } from '../trace/describe.ts';
import { isStatementOp } from '../event/operations.ts';
import { fingerprint } from '../sqlite/sql-text.ts';
import type { TraceStore } from '../trace/store.ts';
import { toNs, type Cell, type ColumnType } from './event-table.ts';

export interface SideTable {
  readonly name: 'traces' | 'threads' | 'objects' | 'statements';
  readonly columns: readonly { name: string; type: ColumnType }[];
  readonly rows: readonly (readonly Cell[])[];
}

const columnsOf = (columns: Record<string, ColumnType>): SideTable['columns'] =>
  Object.entries(columns).map(([name, type]) => ({ name, type }));

export function threadsTable(store: TraceStore): SideTable {
  return {
    name: 'threads',
    columns: columnsOf({
      thread: 'int32',
      id: 'text',
      kind: 'text',
      name: 'text',
      url: 'text',
      parent: 'text',
      events: 'int64',
      dropped: 'int64',
    }),
    rows: store.threads.map(({ index, info, events, dropped, missing }) => [
      index,
      info.id,
      info.kind,
      info.name || null,
      info.url || null,
      info.parent,
      events.count,
      dropped + missing,
    ]),
  };
}

/** Files, stores, locks, statements and names by thread and id; `object_id` of an event leads here. */
export function objectsTable(store: TraceStore): SideTable {
  const rows: Cell[][] = [];
  for (const thread of store.threads)
    for (const [id, d] of thread.definitions) {
      const file = fileOf(d);
      rows.push([
        thread.index,
        id,
        d.kind,
        file?.kind ?? null,
        objectName(thread, id) || null,
        file?.vfs || null,
      ]);
    }
  return {
    name: 'objects',
    columns: columnsOf({
      thread: 'int32',
      object_id: 'int64',
      definition: 'text',
      kind: 'text',
      name: 'text',
      vfs: 'text',
    }),
    rows,
  };
}

/** Statements by text, in the order in which they first ran; `busy_ns` is the time inside their sqlite3_* calls. */
export function statementsTable(store: TraceStore): SideTable {
  const byText = new Map<string, { executions: number; calls: number; ns: number }>();
  const entry = (text: string): { executions: number; calls: number; ns: number } => {
    let found = byText.get(text);
    if (!found) byText.set(text, (found = { executions: 0, calls: 0, ns: 0 }));
    return found;
  };
  for (const thread of store.threads) {
    const { events } = thread;
    for (let row = 0; row < events.count; row++) {
      const op = events.op[row]!;
      const text = isStatementOp(op) ? objectName(thread, events.object[row]!) : '';
      if (!text) continue;
      const statement = entry(text);
      statement.calls++;
      statement.ns += toNs(events.dur[row]!);
    }
    eachExecution(thread, (row) => {
      const text = objectName(thread, events.object[row]!);
      if (text) entry(text).executions++;
    });
  }
  return {
    name: 'statements',
    columns: columnsOf({
      statement_id: 'int64',
      statement: 'text',
      fingerprint: 'text',
      executions: 'int64',
      calls: 'int64',
      busy_ns: 'int64',
    }),
    rows: [...byText].map(([text, { executions, calls, ns }], i) => [
      i + 1,
      text,
      fingerprint(text),
      executions,
      calls,
      ns,
    ]),
  };
}

/** The trace as one row: what a comparison over many traces asks for first. What a trace cannot show is null. */
export function tracesTable(store: TraceStore): SideTable {
  const s = summaryOf(store);
  const { environment, time, pageCache, transactions } = s;
  const bool = (value: boolean | null): number | null => (value === null ? null : Number(value));
  const ns = (us: number | null): number | null => (us === null ? null : toNs(us));
  const engine = s.engines[0];
  const cells: Record<string, [ColumnType, Cell]> = {
    origin_ms: ['double', store.originMs],
    duration_ns: ['int64', toNs(s.durationUs)],
    events: ['int64', s.events],
    dropped: ['int64', s.dropped],
    url: ['text', environment.url || null],
    user_agent: ['text', environment.userAgent || null],
    cross_origin_isolated: ['int32', bool(environment.crossOriginIsolated)],
    clock_step_us: ['double', environment.clockStepUs],
    engine: ['text', engine?.name ?? null],
    sqlite_version: ['text', engine?.sqliteVersion ?? null],
    vfs: ['text', [...new Set(s.engines.flatMap((e) => e.vfs))].join(', ') || null],
    statements: ['int64', s.statements.count],
    statements_distinct: ['int64', s.statements.distinct],
    transactions_read: ['int64', transactions.read],
    transactions_write: ['int64', transactions.write],
    transactions_rolled_back: ['int64', transactions.rolledBack],
    commits: ['int64', s.commits],
    syncs_per_commit: ['double', s.syncsPerCommit],
    cpu_ns: ['int64', ns(time.cpuUs)],
    io_ns: ['int64', ns(time.ioUs)],
    lock_ns: ['int64', ns(time.lockUs)],
    tracer_ns: ['int64', ns(time.tracerUs)],
    other_ns: ['int64', ns(time.otherUs)],
    idle_ns: ['int64', ns(time.idleUs)],
    page_cache_hits: ['int64', pageCache.hits],
    page_cache_misses: ['int64', pageCache.misses],
  };
  return {
    name: 'traces',
    columns: Object.entries(cells).map(([name, [type]]) => ({ name, type })),
    rows: [Object.values(cells).map(([, value]) => value)],
  };
}
