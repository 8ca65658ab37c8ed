/**
 * One number, many doors: what the golden traces come to is the same in the summary, the Overview, the live strip, the timeline, the
 * Statements and SQL views, the exports, the HTML report, and the findings that count the same. `QUANTITIES` is the table of it.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parquetReadObjects } from 'hyparquet';
import { beforeAll, describe, expect, it } from 'vitest';
import { hasVfs } from '../../src/analysis/core/layers.ts';
import { grouped } from '../../src/analysis/core/maps.ts';
import { vfsTotal } from '../../src/analysis/files/file-counts.ts';
import { filesOf } from '../../src/analysis/files/files.ts';
import type { NumberId } from '../../src/analysis/report/headline-numbers.ts';
import { summaryOf } from '../../src/analysis/report/summary.ts';
import type { Finding } from '../../src/analysis/rules/types.ts';
import { EXECUTION_COUNTS, executionGroups } from '../../src/analysis/statements/statement-runs.ts';
import type { AreaBy } from '../../src/analysis/time/area.ts';
import { Flag } from '../../src/event/event.ts';
import { csv } from '../../src/formats/csv.ts';
import { htmlReport } from '../../src/formats/html.ts';
import { parquetDataSet } from '../../src/formats/parquet.ts';
import { UNKNOWN, formatAs, formatBytes, formatCount, type Unit } from '../../src/text/numbers.ts';
import { WAL_FRAME_HEADER, WAL_HEADER } from '../../src/sqlite/wal.ts';
import { RowCounters } from '../../src/timeline/row-counters.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { LiveCounts } from '../../src/viewer/session/live-stats.ts';
import { QUERIES } from '../../src/viewer/session/query-table.ts';
import {
  fileCountsOf,
  findingsOf,
  headlineNumbers,
  pagesOf,
  writeAmplificationOf,
} from '../traces/analyses.ts';
import { SCENARIOS } from '../traces/golden/scenarios.ts';
import { loadSqlite, rows } from './sql-queries.ts';
import { contextOf } from './viewer-context.ts';

const FOLDER = path.join(import.meta.dirname, '..', 'traces', 'golden');
const sum = <T>(list: Iterable<T>, of: (each: T) => unknown): number =>
  [...list].reduce((n, each) => n + Number(of(each) ?? 0), 0);

/** A call as CSV, Parquet and the SQL page have it. */
interface Call {
  thread: number;
  seq: number;
  op: string;
  kind: string | null;
  length: number;
  result: number | null;
  flags: number;
  parent: number | null;
  fromNs: number;
  ns: number;
}
const orNull = (value: unknown): number | null =>
  value === null || value === undefined || value === '' ? null : Number(value);
/** @param cell of a column @param inNs of a time, in whole nanoseconds */
const callOf = (cell: (name: string) => unknown, inNs: (name: string) => number): Call => ({
  op: String(cell('op')),
  kind: (cell('kind') as string | null) || null,
  result: orNull(cell('result')),
  parent: orNull(cell('parent_seq')),
  fromNs: inNs('ts'),
  ns: inNs('dur'),
  ...{ thread: Number(cell('thread')), seq: Number(cell('seq')) },
  ...{ length: Number(cell('length')), flags: Number(cell('flags')) },
});

/** No text in these traces holds a line end. */
async function csvCalls(store: TraceStore): Promise<Call[]> {
  let text = '';
  for await (const piece of csv(store)) text += piece;
  const cells = (line: string): string[] =>
    [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)].map(([, cell]) => cell!);
  const [head, ...lines] = text.trimEnd().split('\n');
  const places = Object.fromEntries(cells(head!).map((name, i) => [name, i]));
  return lines.map((line) => {
    const row = cells(line);
    return callOf(
      (name) => row[places[name]!],
      (name) => Number(row[places[`${name}_ns`]!]),
    );
  });
}
async function parquetTable(store: TraceStore, table: string): Promise<Record<string, unknown>[]> {
  for (const { path: file, pieces } of parquetDataSet('golden', store)) {
    if (!file.startsWith(`${table}/`)) continue;
    const parts: Uint8Array[] = [];
    for await (const piece of pieces) parts.push(piece);
    return parquetReadObjects({ file: new Uint8Array(Buffer.concat(parts)).buffer });
  }
  throw new Error(`no table ${table}`);
}
const parquetCalls = async (store: TraceStore): Promise<Call[]> =>
  (await parquetTable(store, 'events')).map((row) =>
    callOf(
      (name) => row[name],
      (name) => Number(row[`${name}_ns`]),
    ),
  );
const SQL_CALLS = [
  'thread',
  'seq',
  'op',
  'kind',
  'length',
  'result',
  'flags',
  'parent_seq',
  'ts',
  'dur',
];
/** The SQL page answers at most so many rows. */
const PAGE = 10_000;
async function sqlCalls(store: TraceStore): Promise<Call[]> {
  const all: Call[] = [];
  do {
    const page = await rows(
      store,
      `SELECT ${SQL_CALLS.join(', ')} FROM events LIMIT ${PAGE} OFFSET ${all.length}`,
    );
    for (const row of page) {
      const cell = (name: string): unknown => row[SQL_CALLS.indexOf(name)];
      all.push(callOf(cell, (name) => Math.round(Number(cell(name)) * 1000)));
    }
  } while (all.length > 0 && all.length % PAGE === 0);
  return all;
}

/** What a list of calls comes to, counted here once more: by their columns alone. */
const counted = {
  /** On files of storage: SQLite keeps a small journal in memory. */
  calls: (calls: readonly Call[], op: string): number =>
    sum(calls, (c) => c.op === op && c.kind !== 'memory-journal'),
  bytes: (calls: readonly Call[], op: string): number =>
    sum(calls, (c) =>
      c.op === op && c.kind !== 'memory-journal' && c.result === 0 ? c.length : 0,
    ),
  lockWaits: (calls: readonly Call[]): number =>
    sum(calls, ({ op, result, ns }) =>
      op === 'xLock'
        ? (result ?? 0) % 256 === 5 || result === 3850
        : op === 'lock.request' && ns > 1e6,
    ),
};

/**
 * Time in which SQLite waited for a lock, microseconds, from the columns of calls alone: Atomics.wait in xLock and its like; and of one
 * that suspends what no storage call takes, where of several under way the last begun decides, and an open transaction last.
 */
function lockUs(calls: readonly Call[]): number {
  let ns = 0;
  for (const own of grouped(calls, ({ thread }) => thread).values()) {
    const locks = own.filter(({ op }) => /^x(Lock|Unlock|CheckReservedLock)$/.test(op));
    const seqs = new Set(locks.map(({ seq }) => seq));
    ns += sum(own, (c) => (c.op === 'atomics.wait' && seqs.has(c.parent ?? -1) ? c.ns : 0));
    const storage = own.filter(({ op }) => /^(idb\.|opfs\.|lock\.request)/.test(op));
    for (const { seq, fromNs, ns: dur } of locks.filter(({ flags }) => flags & Flag.async)) {
      const toNs = fromNs + dur;
      const meanwhile = storage.filter(
        (s) =>
          s.fromNs < toNs &&
          s.fromNs + s.ns > fromNs &&
          (s.op !== 'lock.request' || s.parent === seq),
      );
      const borders = [fromNs, toNs, ...meanwhile.flatMap((s) => [s.fromNs, s.fromNs + s.ns])]
        .filter((at) => at >= fromNs && at <= toNs)
        .sort((a, b) => a - b);
      borders.slice(1).forEach((to, i) => {
        const open = meanwhile.filter((s) => s.fromNs < to && s.fromNs + s.ns >= to);
        const last = open.filter(({ op }) => op !== 'idb.transaction').at(-1);
        if (last ? last.op === 'lock.request' : open.length === 0) ns += to - borders[i]!;
      });
    }
  }
  return ns / 1000;
}

/** The HTML report: cells of its rows, by heading. */
class Html {
  private readonly sections = new Map<string, string[][]>();

  constructor(page: string) {
    const text = (html: string): string => unescapeXml(html.replace(/<[^>]*>/g, ''));
    for (const [, heading, content] of page.matchAll(/<section><h2>(.*?)<\/h2>(.*?)<\/section>/gs))
      this.sections.set(
        text(heading!),
        [...content!.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row]) =>
          [...row!.matchAll(/<t[dh][^>]*>(.*?)<\/t[dh]>/gs)].map(([, cell]) => text(cell!)),
        ),
      );
  }
  /** The text beside a label; undefined where the report has no such section. */
  fact(heading: string | RegExp, label: string, column = 1): string | undefined {
    const section = [...this.sections].find(([name]) => name.search(heading) === 0);
    if (!section) return undefined;
    const row = section[1].find(([first]) => first === label);
    if (!row) throw new Error(`the report has no "${label}"`);
    return row[column];
  }
  /** Columns of a table by their headings, a row at a time. */
  table(heading: string, ...columns: string[]): string[][] {
    const [head, ...lines] = this.sections.get(heading) ?? [[]];
    return lines.map((line) => columns.map((name) => line[head!.indexOf(name)]!));
  }
}
const unescapeXml = (text: string): string =>
  text.replace(/&(#\d+|[a-z]+);/g, (_, name: string) =>
    name.startsWith('#')
      ? String.fromCharCode(Number(name.slice(1)))
      : { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }[name]!,
  );
/** A whole number as people read it. */
const whole = (text: string): number => Number(text.replaceAll(',', ''));

async function doorsOf(store: TraceStore) {
  const context = contextOf(store);
  const headline = headlineNumbers(store);
  const live = new LiveCounts(store);
  live.computeSlow(1, 0);
  const strip = live.counts(0, true, 1).numbers;
  const [fromUs, endUs] = store.extent();
  const toUs = endUs + 1;
  context.timeline().update(endUs);
  context.timeline().settle(context.facts);
  const layers: ['sql', 'vfs', 'web'] = ['sql', 'vfs', 'web'];
  const area = (by: AreaBy) =>
    QUERIES.timelineArea(context, { fromUs, toUs, by, threadsOff: [], layers });
  const byOperation = area('operation');
  const seesVfs = store.threads.some(hasVfs);
  return {
    store,
    seesVfs,
    summary: summaryOf(store),
    overview: (id: NumberId) => headline.find((n) => n.id === id)!.value,
    live: (slot: string) => strip.find((n) => n.slot === slot)!.value,
    sql: async (query: string) => orNull((await rows(store, query))[0]![0]),
    /** The drawer of the timeline over the whole trace. */
    drawer: (op: string) =>
      byOperation.rows.find(({ name }) => name === op) ?? { count: 0, bytes: 0 },
    drawerTimes: byOperation.times,
    areaByFile: area('file'),
    /** The timeline's rates, over the whole trace: of single precision. */
    rates: (way: 0 | 1) =>
      sum(store.threads.filter(hasVfs), (thread) => {
        const counters = new RowCounters(thread);
        counters.update();
        return (counters.rates(way, fromUs, toUs, 1)[0]! * (toUs - fromUs)) / 1e6;
      }),
    /** SQLite's files, as the Files view and the Overview's threads have them. */
    files: filesOf(store).filter(({ kind }) => !NOT_OF_SQLITE.includes(kind)),
    threads: QUERIES.threadPartitions(context, {}).filter(({ sqlite }) => sqlite),
    statements: QUERIES.statements(context, {}),
    runs: [...context.facts.get(executionGroups).values()],
    transactions: seesVfs ? QUERIES.transactions(context, {}) : null,
    calls: {
      sql: await sqlCalls(store),
      csv: await csvCalls(store),
      parquet: await parquetCalls(store),
    },
    /** The trace as one row; others table by table. */
    traces: (await parquetTable(store, 'traces'))[0]!,
    parquet: (table: string) => parquetTable(store, table),
    html: new Html(htmlReport(store)),
  };
}
type Doors = Awaited<ReturnType<typeof doorsOf>>;
const NOT_OF_SQLITE = ['memory-journal', 'opfs', 'idb-store', 'storage'];
const OF_SQLITE = `kind NOT IN (${NOT_OF_SQLITE.map((kind) => `'${kind}'`).join(', ')})`;

/** A number; a text, where a door shows it rounded; about, where it computes less exactly; undefined where it does not show it of this trace. */
type Shown = number | null | string | undefined | { about: number };
interface Quantity {
  name: string;
  unit: Unit;
  /** By door. The first is what the others are compared with. */
  doors: Record<string, (d: Doors) => Shown | Promise<Shown>>;
  /** Only where SQLite's VFS is traced. */
  ofVfs?: Quantity['doors'];
}

/** The same list of calls behind three doors. */
const inCalls = (of: (calls: readonly Call[]) => number): Quantity['doors'] => ({
  'SQL, events': ({ calls }) => of(calls.sql),
  CSV: ({ calls }) => of(calls.csv),
  'Parquet, events': ({ calls }) => of(calls.parquet),
});
/** A column of the table of files behind the others. */
const inFiles = (
  column: 'reads' | 'read_bytes' | 'writes' | 'write_bytes' | 'syncs',
  ofFile: (f: Doors['files'][number]) => number,
): Quantity['doors'] => ({
  files: ({ files }) => sum(files, ofFile),
  'SQL, files': ({ sql }) => sql(`SELECT sum(${column}) FROM files WHERE ${OF_SQLITE}`),
  'Parquet, files': async ({ parquet }) =>
    sum(
      (await parquet('files')).filter(({ kind }) => !NOT_OF_SQLITE.includes(String(kind))),
      (row) => row[column],
    ),
});
const bytes = (
  op: 'xRead' | 'xWrite',
  headline: 'readBytes' | 'writtenBytes',
  title: string,
): Quantity => ({
  name: op === 'xRead' ? 'bytes read' : 'bytes written',
  unit: 'bytes',
  doors: {
    overview: ({ overview }) => overview(headline),
    summary: ({ summary }) => vfsTotal(summary.files, `${op}Bytes`),
    HTML: ({ html }) => html.fact('SQLite', title),
  },
  ofVfs: {
    drawer: ({ drawer }) => drawer(op).bytes,
    timeline: ({ rates }) => ({ about: rates(op === 'xRead' ? 0 : 1) }),
    ...inFiles(op === 'xRead' ? 'read_bytes' : 'write_bytes', (f) =>
      op === 'xRead' ? f.readBytes : f.writeBytes,
    ),
    ...inCalls((calls) => counted.bytes(calls, op)),
  },
});
const calls = (
  slot: 'reads' | 'writes' | 'syncs',
  op: 'xRead' | 'xWrite' | 'xSync',
  title: string,
): Quantity => ({
  name: slot,
  unit: 'count',
  doors: {
    live: ({ live }) => live(slot),
    overview: ({ overview }) =>
      slot === 'syncs' ? Math.round(overview('syncsPerCommit')! * overview('commits')!) : undefined,
  },
  ofVfs: {
    summary: ({ summary }) => vfsTotal(summary.files, op),
    drawer: ({ drawer }) => drawer(op).count,
    ...inFiles(slot, (f) => f[slot]),
    ...inCalls((all) => counted.calls(all, op)),
    'HTML, files': ({ html }) =>
      sum(html.table('Files', 'Kind', title), ([kind, n]) =>
        NOT_OF_SQLITE.includes(kind!) ? 0 : whole(n!),
      ),
  },
});
const ifKnown = <T>(value: number | null, show: () => T): T | undefined =>
  value === null ? undefined : show();
const VFS = EXECUTION_COUNTS.indexOf('vfs');
function underSteps(calls: readonly Call[]): number {
  const byCall = new Map(calls.map((c) => [`${c.thread} ${c.seq}`, c]));
  return sum(calls, (c) => {
    if (!/^x[A-Z]/.test(c.op) || c.kind === 'memory-journal') return false;
    let above = byCall.get(`${c.thread} ${c.parent}`);
    while (above && !above.op.startsWith('sqlite3_'))
      above = byCall.get(`${above.thread} ${above.parent}`);
    return above && /_(step|exec|reset|finalize)$/.test(above.op);
  });
}
const PAGE_READS = 'write = 0 AND checkpoint = 0';

const QUANTITIES: Quantity[] = [
  bytes('xRead', 'readBytes', 'Read by SQLite'),
  bytes('xWrite', 'writtenBytes', 'Written by SQLite'),
  calls('reads', 'xRead', 'Reads'),
  calls('writes', 'xWrite', 'Writes'),
  calls('syncs', 'xSync', 'Syncs'),
  {
    name: 'commits',
    unit: 'number',
    doors: {
      overview: ({ overview }) => overview('commits'),
      summary: ({ summary }) => summary.commits,
      live: ({ live }) => live('commits'),
      'Parquet, traces': ({ traces }) => orNull(traces['commits']),
      HTML: ({ html }) => html.fact('SQLite', 'Commits'),
    },
    ofVfs: {
      transactions: ({ transactions }) => transactions!.commits.commits,
      'transactions, rows': ({ transactions }) =>
        sum(transactions!.rows, ({ outcome }) => outcome === 'committed'),
      SQL: ({ sql }) => sql("SELECT count(*) FROM transactions WHERE outcome = 'committed'"),
      Parquet: async ({ parquet }) =>
        sum(await parquet('transactions'), ({ outcome }) => outcome === 'committed'),
    },
  },
  {
    name: 'rolled back',
    unit: 'count',
    doors: {
      overview: ({ overview }) => overview('rolledBack'),
      summary: ({ summary }) => summary.transactions.rolledBack,
      'Parquet, traces': ({ traces }) => orNull(traces['transactions_rolled_back']),
      transactions: ({ transactions, overview }) =>
        ifKnown(overview('rolledBack'), () =>
          sum(transactions!.rows, ({ outcome }) => outcome === 'rolled back'),
        ),
      SQL: ({ sql, overview }) =>
        ifKnown(overview('rolledBack'), () =>
          sql("SELECT count(*) FROM transactions WHERE outcome = 'rolled back'"),
        ),
    },
  },
  {
    name: 'statements',
    unit: 'count',
    doors: {
      overview: ({ overview }) => overview('statements'),
      summary: ({ summary }) => summary.statements.count,
      statements: ({ statements }) => statements && statements.executions,
      'SQL, executions': async ({ sql, summary }) =>
        summary.statements.count === null ? undefined : sql('SELECT count(*) FROM executions'),
      'SQL, statements': ({ sql, statements }) =>
        statements ? sql('SELECT sum(executions) FROM statements') : undefined,
      'Parquet, traces': ({ traces }) => orNull(traces['statements']),
      'Parquet, statements': async ({ parquet, statements }) =>
        statements ? sum(await parquet('statements'), ({ executions }) => executions) : undefined,
      HTML: ({ html }) => html.fact('SQLite', 'Statements'),
      'HTML, statements': ({ html, statements }) =>
        statements
          ? sum(html.table('Statements that took longest', 'Count'), ([n]) => whole(n!))
          : undefined,
    },
  },
  {
    name: 'VFS calls of statements',
    unit: 'count',
    doors: {},
    ofVfs: {
      statements: ({ statements }) => sum(statements?.rows ?? [], ({ vfsCalls }) => vfsCalls),
      compare: ({ runs }) =>
        sum(runs, ({ counts }) =>
          counts.reduce((n, of, i) => (i % EXECUTION_COUNTS.length === VFS ? n + of : n), 0),
        ),
      CSV: ({ calls }) => underSteps(calls.csv),
    },
  },
  {
    name: 'page reads',
    unit: 'count',
    doors: {
      pages: ({ store }) => sum(pagesOf(store), ({ reads }) => reads),
      overview: ({ overview, store }) =>
        Math.round(
          (overview('rereads') ?? 0) * sum(pagesOf(store), ({ placesRead }) => placesRead),
        ),
      'SQL, pages': async ({ sql }) => (await sql('SELECT sum(reads + wal_reads) FROM pages')) ?? 0,
      'SQL, page_accesses': async ({ sql }) =>
        (await sql(`SELECT sum(pages) FROM page_accesses WHERE ${PAGE_READS}`)) ?? 0,
      'Parquet, pages': async ({ parquet }) =>
        sum(await parquet('pages'), (p) => Number(p['reads']) + Number(p['wal_reads'])),
      'Parquet, page_accesses': async ({ parquet }) =>
        sum(await parquet('page_accesses'), (a) =>
          a['write'] || a['checkpoint'] ? 0 : a['pages'],
        ),
    },
    ofVfs: {
      statements: ({ statements }) =>
        statements
          ? sum(statements.rows, ({ pages }) => (pages ? pages.read + pages.walRead : 0))
          : undefined,
      'HTML, statements': ({ html, statements }) =>
        statements
          ? sum(html.table('Statements that took longest', 'Page reads'), ([n]) =>
              n === UNKNOWN ? 0 : whole(n!),
            )
          : undefined,
    },
  },
  {
    name: 'lock wait',
    unit: 'us',
    doors: {
      summary: ({ summary }) => summary.time.lockUs,
      overview: ({ overview }) =>
        overview('lockShare') === null ? null : overview('lockShare')! * overview('sqlTime')!,
      drawer: ({ drawerTimes }) => drawerTimes && drawerTimes.lockUs,
      'Parquet, traces': ({ traces }) =>
        traces['lock_ns'] === null ? null : Number(traces['lock_ns']) / 1000,
      threads: ({ threads }) =>
        threads.length ? sum(threads, ({ partition }) => partition.lockUs) : null,
      HTML: ({ html, summary }) =>
        summary.time.lockUs ? html.fact(/^Time on/, 'Lock wait') : undefined, // parts of no time have no row
    },
    ofVfs: inCalls(lockUs),
  },
  {
    name: 'lock waits',
    unit: 'count',
    doors: {
      live: ({ live }) => live('lock-waits'),
      ...inCalls(counted.lockWaits),
      'SQL, busy and locks': async ({ sql }) =>
        await sql(`SELECT coalesce((SELECT sum(refusals) FROM busy), 0) + (SELECT count(DISTINCT locks.thread || ' ' || locks.seq)
          FROM locks JOIN events USING (thread, seq) WHERE locks.kind = 'web-lock' AND events.dur > 1000)`),
    },
  },
  {
    name: 'write amplification',
    unit: 'number',
    doors: {
      overview: ({ overview }) => overview('amplification'),
      'of one file': ({ store }) => {
        const [only, ...others] = writeAmplificationOf(store);
        return only && !others.length
          ? (only.storageAmplification ?? only.vfsAmplification)
          : undefined;
      },
    },
  },
  {
    name: 'I/O share',
    unit: 'share',
    doors: {
      overview: ({ overview }) => overview('ioShare'),
      live: ({ live }) => live('io-share'),
      summary: ({ summary, overview }) =>
        summary.time.ioUs === null ? null : summary.time.ioUs / overview('sqlTime')!,
      'Parquet, traces': ({ traces, overview }) =>
        traces['io_ns'] === null ? null : Number(traces['io_ns']) / 1000 / overview('sqlTime')!,
      drawer: ({ drawerTimes: t, overview }) =>
        t && (t.readUs + t.writeUs + t.syncUs + t.idbTransactionUs) / overview('sqlTime')!,
    },
  },
  {
    name: 'cache hit rate',
    unit: 'share',
    doors: {
      overview: ({ overview }) => overview('hitRate'),
      live: ({ live }) => live('cache-hit'),
      summary: ({ summary }) => summary.pageCache.hitRate,
      'Parquet, traces': ({ traces: t }) =>
        orNull(t['page_cache_hits']) === null
          ? null
          : Number(t['page_cache_hits']) /
            (Number(t['page_cache_hits']) + Number(t['page_cache_misses'])),
      HTML: ({ html }) => html.fact('SQLite', 'Page cache hits')?.split(':')[0],
    },
  },
];

/** What a finding says, and what calls and tables come to. */
type Claim = readonly [said: number | null, counted: number | null];
/** The number before these words in the title of a finding. */
const said = ({ title }: Finding, words: string): number =>
  whole(new RegExp(`([\\d,]+) ${words}`).exec(title)![1]!);
const moved = ({ op, kind, length, result }: Call): number => {
  if (kind === 'memory-journal') return 0;
  return /^opfs\.(read|write)$/.test(op) ? Math.max(0, result ?? 0) : result === 0 ? length : 0;
};
const isOf =
  (op: string, kind: string) =>
  (call: Call): boolean =>
    call.op === op && call.kind === kind;
/** Evidence that is these calls. */
const areCalls = ({ evidence }: Finding, calls: readonly Call[]): Record<string, Claim> => ({
  calls: [evidence.count, calls.length],
  bytes: [evidence.bytes, sum(calls, moved)],
});
/** Evidence whose calls are all shown: at most 200 are. */
const bytesShown = ({ evidence }: Finding, { calls }: Doors): Record<string, Claim> => {
  const shown = new Set(evidence.events.map(({ thread, seq }) => `${thread} ${seq}`));
  const own = calls.csv.filter(({ thread, seq }) => shown.has(`${thread} ${seq}`));
  return shown.size < 200 ? { bytes: [evidence.bytes, sum(own, moved)] } : {};
};
/** Sequence numbers that a write and a sync of a WAL's header take, at most. */
const LOG_BEGINS = 12;
/** Evidence that is commits: each is shown by one of its calls. */
function areCommits(
  { evidence: { count, bytes, events } }: Finding,
  { calls, transactions }: Doors,
  claims: (own: readonly Call[]) => Record<string, Claim>,
): Record<string, Claim> {
  if (events.length < count) return {};
  const list = events.map((e) =>
    transactions!.rows.find((t) => t.thread === e.thread && t.seq <= e.seq && e.seq <= t.lastSeq)!,
  );
  // a commit begins with its statement: a WAL that begins again is written before its own first call
  const own = calls.csv.filter((c) =>
    list.some(
      (t) =>
        t.thread === c.thread &&
        t.seq - LOG_BEGINS <= c.seq &&
        c.seq <= t.lastSeq &&
        t.fromUs * 1000 <= c.fromNs + 1,
    ),
  );
  return {
    commits: [count, new Set(list).size],
    ...(bytes !== null && { bytes: [bytes, sum(list, (t) => t.bytesWritten)] }),
    ...claims(own),
  };
}
const counts = (calls: readonly Call[], op: string, ...kinds: string[]): number =>
  sum(kinds, (kind) => calls.filter(isOf(op, kind)).length);

/** By rule: bytes, commits, syncs, waits and page reads in its title and evidence. */
const CLAIMS: Record<
  string,
  (f: Finding, d: Doors) => Record<string, Claim> | Promise<Record<string, Claim>>
> = {
  F01: (f, d) =>
    areCommits(f, d, (own) => ({
      syncs: [said(f, 'syncs?'), counts(own, 'xSync', 'main-db', 'journal', 'wal')],
      writes: [said(f, 'writes?'), counts(own, 'xWrite', 'main-db', 'journal', 'wal')],
    })),
  F07: (f, d) =>
    areCommits(f, d, (own) => ({
      'journal writes': [said(f, 'journal writes?'), counts(own, 'xWrite', 'journal')],
      'journal syncs': [said(f, 'journal syncs?'), counts(own, 'xSync', 'journal')],
      'database writes': [said(f, 'database writes?'), counts(own, 'xWrite', 'main-db')],
    })),
  F09: bytesShown,
  F11: async (f, { sql }) => ({
    'page reads': [f.evidence.count, await sql('SELECT sum(rereads) FROM pages')],
    bytes: [
      f.evidence.bytes,
      await sql('SELECT sum(rereads * read_bytes / (reads + wal_reads)) FROM pages WHERE rereads'),
    ],
  }),
  F12: (f, d) =>
    areCommits(f, d, (own) => ({
      'journal writes': [said(f, 'journal writes?'), counts(own, 'xWrite', 'journal')],
      syncs: [said(f, 'syncs?'), counts(own, 'xSync', 'main-db', 'journal', 'wal')],
    })),
  F13: (f, { calls }) => {
    const own = calls.csv.filter((c) => isOf('xWrite', 'wal')(c) && c.length !== WAL_HEADER);
    return {
      frames: [f.evidence.count, own.filter(({ length }) => length === WAL_FRAME_HEADER).length],
      bytes: [f.evidence.bytes, sum(own, moved)],
    };
  },
  F14: (f, { summary, calls }) => ({
    flushes: [f.evidence.count, summary.web.opfs.flushes],
    calls: [f.evidence.count, sum(calls.csv, ({ op }) => op === 'opfs.flush')],
  }),
  F18: bytesShown,
  F23: bytesShown,
  F36: async (f, { calls, sql }) => ({
    ...areCalls(
      f,
      calls.csv.filter(({ op, kind }) => /^x(Read|Write)$/.test(op) && kind === 'temp'),
    ),
    'bytes of files': [
      f.evidence.bytes,
      await sql("SELECT sum(read_bytes + write_bytes) FROM files WHERE kind = 'temp'"),
    ],
  }),
  F39: (f, { calls }) => {
    const inLocks = calls.csv.filter(({ op }) => /^x(?!Lock|Unlock)/.test(op));
    const seqs = new Set(inLocks.map(({ thread, seq }) => `${thread} ${seq}`));
    const waits = calls.csv.filter(
      ({ op, thread, parent }) => op === 'atomics.wait' && seqs.has(`${thread} ${parent}`),
    );
    return { waits: [f.evidence.count, waits.length] };
  },
  F41: async (f, d) => ({
    calls: [f.evidence.count, await d.sql('SELECT sum(writes + wal_reads) FROM checkpoints')],
    'page writes': [said(f, 'pages?'), await d.sql('SELECT sum(writes) FROM checkpoints')],
    ...bytesShown(f, d),
  }),
  F44: (f, { calls }) =>
    areCalls(
      f,
      calls.csv.filter(({ op, length }) => /^opfs\.(read|write)$/.test(op) && length < 512),
    ),
  F45: bytesShown,
};

beforeAll(loadSqlite);

describe.each(SCENARIOS)('$name', ({ name }) => {
  let d: Doors;
  beforeAll(async () => {
    const { store } = await readTrace(readFileSync(path.join(FOLDER, `${name}.vfst`)));
    d = await doorsOf(store);
  }, 120_000);

  it.each(QUANTITIES)('$name', async ({ unit, doors, ofVfs }) => {
    const all = Object.entries({ ...doors, ...(d.seesVfs && ofVfs) });
    const [actual, expected]: Record<string, unknown>[] = [{}, {}];
    if (all.length === 0) return; // of a trace without VFS calls
    const value = (await all[0]![1](d)) as number | null;
    for (const [door, show] of all) {
      const shown = await show(d);
      if (shown === undefined) continue;
      actual![door] = shown;
      expected![door] =
        typeof shown === 'string'
          ? formatAs(value, unit)
          : shown && typeof shown === 'object'
            ? {
                about: expect.closeTo(
                  value!,
                  -Math.log10(2 * Math.max(1, value!) * 1e-6),
                ) as number,
              }
            : value !== null && unit !== 'count' && unit !== 'bytes'
              ? (expect.closeTo(value, unit === 'share' ? 9 : 2) as number)
              : value;
    }
    expect(actual).toEqual(expected);
  });

  it('files, one by one', async () => {
    const { store, areaByFile, html } = d;
    const sorted = (all: readonly unknown[][]): string[] =>
      all.map((line) => line.join(' ')).sort();
    const files = filesOf(store);
    const moves = sorted(files.map((f) => [f.kind, f.path, f.readBytes + f.writeBytes]));
    expect(sorted(areaByFile.rows.map((r) => [r.kind, r.name, r.bytes]))).toEqual(moves);
    const inSql = await rows(store, 'SELECT kind, path, read_bytes + write_bytes FROM files');
    expect(sorted(inSql)).toEqual(moves);
    const columns = ['Kind', 'File or store', 'Reads', 'Read', 'Writes', 'Written', 'Syncs'];
    const inReport = files.map((f) => [
      ...[f.kind, f.path, formatCount(f.reads), formatBytes(f.readBytes)],
      ...[formatCount(f.writes), formatBytes(f.writeBytes), formatCount(f.syncs)],
    ]);
    expect(sorted(html.table('Files', ...columns))).toEqual(sorted(inReport));
  });

  it.each([
    ['xRead', 'reads'],
    ['xWrite', 'writes'],
    ['xSync', 'syncs'],
  ] as const)('%s of the in-memory journal, which is no storage', async (op, column) => {
    const { store, sql, calls, drawer } = d;
    const files = fileCountsOf(store).filter(({ kind }) => kind === 'memory-journal');
    const shown = drawer(`${op} (memory journal)`);
    const value = sum(files, ({ vfs }) => vfs[op]);
    const kind = "kind = 'memory-journal'";
    expect({
      drawer: shown.count,
      sql: (await sql(`SELECT sum(${column}) FROM files WHERE ${kind}`)) ?? 0,
      csv: counts(calls.csv, op, 'memory-journal'),
      parquet: counts(calls.parquet, op, 'memory-journal'),
    }).toEqual({ drawer: value, sql: value, csv: value, parquet: value });
    if (op !== 'xSync') expect(shown.bytes).toBe(sum(files, ({ vfs }) => vfs[`${op}Bytes`]));
  });

  it('findings', async () => {
    for (const finding of findingsOf(d.store)) {
      const claims = Object.entries((await CLAIMS[finding.rule]?.(finding, d)) ?? {});
      const told = Object.fromEntries(claims.map(([what, [number]]) => [what, number]));
      const counted = Object.fromEntries(claims.map(([what, [, number]]) => [what, number]));
      expect(told, finding.title).toEqual(counted);
    }
  });
});
