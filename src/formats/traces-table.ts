/** The trace as one row of numbers: what a comparison over many traces asks for first. */
import { summaryOf } from '../analysis/report/summary.ts';
import type { Cell } from '../analysis/table.ts';
import type { TraceStore } from '../trace/store.ts';
import { toNs, type ColumnType, type FileTable } from './tables.ts';

/** What a trace cannot show is null. */
export function tracesTable(store: TraceStore): FileTable {
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
