/** The trace as one row of numbers, for comparisons over many traces. */
import { fact } from '../core/graph.ts';
import { col, listed, table, type Column, type Columns } from '../core/table.ts';
import { LOST } from '../core/losses.ts';
import { isInSql, PART_WORDS } from '../core/time-parts.ts';
import { NUMBERS, numbersFrom, SUMMARY_NEEDS } from '../numbers/headline-numbers.ts';
import { summary, type Summary } from './summary.ts';

interface TraceLine extends Summary {
  /** Milliseconds since the epoch. */
  originMs: number;
  numbers: ReturnType<typeof numbersFrom>;
}

/** A headline number as a column. */
function number(
  id:
    | ('duration' | 'statements' | 'distinctStatements' | 'commits' | 'syncsPerCommit')
    | ('transactionsRead' | 'transactionsWrite' | 'rolledBack'),
): Column<TraceLine> {
  const { title, definition, unit } = NUMBERS[id];
  return col(unit, title, definition, ({ numbers }) => numbers.get(id).value);
}

/** A part of the time of the threads that run SQLite. */
function time(
  part: 'cpu' | 'lock' | 'lockWait' | 'tracer' | 'other' | 'idle' | 'outside',
): Column<TraceLine> {
  const { title, meaning } = PART_WORDS[part];
  const about = isInSql(part) ? `While SQL runs: ${meaning}` : meaning;
  return col('us', title, about, (t) => t.time[`${part}Us`]);
}

const traceColumns = {
  origin_ms: col('number', 'Origin', 'Time 0 of the trace, ms since the epoch', (t) => t.originMs),
  duration: number('duration'),
  events: col('count', 'Events', 'Calls recorded', (t) => t.events),
  dropped: col(
    'count',
    'Dropped',
    `${LOST}: above 0 all counts are lower bounds`,
    (t) => t.dropped,
  ),
  url: col('text', 'URL', 'Of the page', (t) => t.environment.url || null),
  user_agent: col(
    'text',
    'Browser',
    'User agent; null where threads differ',
    (t) => t.environment.userAgent || null,
  ),
  cross_origin_isolated: col('int', 'Cross-origin isolated', '0 or 1', (t) => {
    const { crossOriginIsolated: is } = t.environment;
    return is === null ? null : Number(is);
  }),
  clock_step_us: col(
    'number',
    'Clock step',
    'Coarsest clock of the threads that run SQLite, microseconds',
    (t) => t.environment.clockStepUs,
  ),
  engine: col(
    'text',
    'Engine',
    'First SQLite build that was seen',
    (t) => t.engines[0]?.name ?? null,
  ),
  sqlite_version: col('text', 'SQLite', 'Its version', (t) => t.engines[0]?.sqliteVersion ?? null),
  vfs: col(
    'text',
    'VFS',
    'Names of the VFSs, comma-separated',
    (t) => [...new Set(t.engines.flatMap((e) => e.vfs))].join(', ') || null,
  ),
  statements: number('statements'),
  statements_distinct: number('distinctStatements'),
  transactions_read: number('transactionsRead'),
  transactions_write: number('transactionsWrite'),
  transactions_rolled_back: number('rolledBack'),
  commits: number('commits'),
  syncs_per_commit: number('syncsPerCommit'),
  cpu: time('cpu'),
  io: col('us', 'I/O', 'While SQL runs: storage', (t) => t.time.ioUs),
  lock: time('lock'),
  tracer: time('tracer'),
  other: time('other'),
  idle: time('idle'),
  outside: time('outside'),
  tracer_outside: col(
    'us',
    'vfscope outside SQL',
    "The recording's own set-up, while no SQL ran",
    (t) => t.time.tracerOutsideUs,
  ),
  page_cache_hits: col(
    'count',
    'Page cache hits',
    'By the counters of the engine',
    (t) => t.pageCache.hits,
  ),
  page_cache_misses: col(
    'count',
    'Page cache misses',
    'By the counters of the engine',
    (t) => t.pageCache.misses,
  ),
  lock_wait: time('lockWait'),
} satisfies Columns<TraceLine>;

const traceRows = fact(
  'traceRows',
  'summary',
  { ...SUMMARY_NEEDS, summary },
  ({ originMs }, { summary }, facts) =>
    listed<TraceLine>([{ ...summary, originMs, numbers: numbersFrom(facts) }]),
);
export const reportTables = [
  table(
    'traces',
    "One row for the trace: its summary. Numbers that a trace can't show are null, never 0",
    traceRows,
    traceColumns,
  ),
];
