/**
 * One number, many doors: what the golden traces come to is the same in the summary, the Overview, the live strip, the timeline, the
 * Statements and SQL views, the exports, the HTML report, and the findings that count the same.
 */
import { hasVfs } from '../../src/analysis/core/layers.ts';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parquetReadObjects } from 'hyparquet';
import { beforeAll, describe, expect, it } from 'vitest';
import { vfsTotal } from '../../src/analysis/files/file-counts.ts';
import { filesOf } from '../../src/analysis/files/files.ts';
import type { AreaBy } from '../../src/analysis/time/area.ts';
import type { NumberId } from '../../src/analysis/report/headline-numbers.ts';
import { summaryOf, type Summary } from '../../src/analysis/report/summary.ts';
import { csv } from '../../src/formats/csv.ts';
import { escapeXml } from '../../src/formats/escape.ts';
import { htmlReport } from '../../src/formats/html.ts';
import { parquetDataSet } from '../../src/formats/parquet.ts';
import { formatAs, formatCount, formatDuration, formatNumber } from '../../src/text/numbers.ts';
import { RowCounters } from '../../src/timeline/row-counters.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import type { AreaAnswer } from '../../src/viewer/session/queries/timeline.ts';
import { LiveCounts } from '../../src/viewer/session/live-stats.ts';
import { QUERIES } from '../../src/viewer/session/query-table.ts';
import { SCENARIOS } from '../traces/golden/scenarios.ts';
import { fileCountsOf, findingsOf, headlineNumbers, pagesOf } from '../traces/analyses.ts';
import { loadSqlite, rows } from './sql-queries.ts';
import { contextOf } from './viewer-context.ts';

const FOLDER = path.join(import.meta.dirname, '..', 'traces', 'golden');

/** A call as CSV and Parquet have it. */
type Call = Record<'op' | 'kind' | 'length' | 'result', string | number | bigint | null>;
const called = (calls: readonly Call[], op: string): Call[] => calls.filter((c) => c.op === op);
/** Calls on files of storage: SQLite keeps a small journal in memory. */
const stored = (calls: readonly Call[], op: string): Call[] =>
  called(calls, op).filter((c) => c.kind !== 'memory-journal');
const bytes = (calls: readonly Call[], op: string): number =>
  stored(calls, op).reduce((n, { length, result }) => n + (Number(result) ? 0 : Number(length)), 0);

/** The cells of an export that are looked at: no text of theirs in these traces holds a line end. */
async function csvCalls(store: TraceStore): Promise<Call[]> {
  let text = '';
  for await (const piece of csv(store)) text += piece;
  const cells = (line: string): string[] =>
    [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)].map(([, cell]) => cell!);
  const [head, ...lines] = text.trimEnd().split('\n');
  const places = Object.fromEntries(cells(head!).map((name, i) => [name, i]));
  return lines.map((line) => {
    const row = cells(line);
    return Object.fromEntries(
      (['op', 'kind', 'length', 'result'] as const).map((name) => [name, row[places[name]!]!]),
    ) as Call;
  });
}
async function parquetTable(store: TraceStore, table: string): Promise<Record<string, unknown>[]> {
  for (const { path: file, pieces } of parquetDataSet('golden', store)) {
    if (!file.startsWith(`${table}/`)) continue;
    const parts: Uint8Array[] = [];
    for await (const piece of pieces) parts.push(piece);
    const whole = new Uint8Array(Buffer.concat(parts));
    return parquetReadObjects({ file: whole.buffer });
  }
  throw new Error(`no table ${table}`);
}
const orNull = (value: unknown): number | null =>
  value === null || value === undefined ? null : Number(value);

interface Doors {
  store: TraceStore;
  summary: Summary;
  overview(id: NumberId): number | null;
  live(slot: string): number | null;
  sql(query: string): Promise<number | null>;
  /** The whole trace in the drawer of the timeline. */
  area: AreaAnswer;
  areaByFile: AreaAnswer;
  statements: ReturnType<(typeof QUERIES)['statements']>;
  csv: Call[];
  parquet: Call[];
  /** The trace as one row. */
  traces: Record<string, unknown>;
  html: string;
  seesVfs: boolean;
}

async function doorsOf(name: string): Promise<Doors> {
  const { store } = await readTrace(readFileSync(path.join(FOLDER, `${name}.vfst`)));
  const context = contextOf(store);
  const live = new LiveCounts(store);
  live.computeSlow(1, 0);
  const { numbers } = live.counts(0, true, 1);
  const headline = headlineNumbers(store);
  const [fromUs, endUs] = store.extent();
  context.timeline().update(endUs);
  context.timeline().settle(context.facts);
  const area = (by: AreaBy): AreaAnswer =>
    QUERIES.timelineArea(context, {
      ...{ fromUs, toUs: endUs + 1, by, threadsOff: [] },
      layers: ['sql', 'vfs', 'web'],
    });
  return {
    store,
    summary: summaryOf(store),
    overview: (id) => headline.find((n) => n.id === id)!.value,
    live: (slot) => numbers.find((n) => n.slot === slot)!.value,
    sql: async (query) => orNull((await rows(store, query))[0]![0]),
    area: area('operation'),
    areaByFile: area('file'),
    statements: QUERIES.statements(context, {}),
    csv: await csvCalls(store),
    parquet: (await parquetTable(store, 'events')) as Call[],
    traces: (await parquetTable(store, 'traces'))[0]!,
    html: htmlReport(store),
    seesVfs: store.threads.some(hasVfs),
  };
}

beforeAll(loadSqlite);

describe.each(SCENARIOS)('$name', ({ name }) => {
  let doors: Doors;
  beforeAll(async () => {
    doors = await doorsOf(name);
  }, 120_000);
  /** All doors to one value. */
  const same = (value: unknown, others: Record<string, unknown>): void =>
    expect(others).toEqual(Object.fromEntries(Object.keys(others).map((door) => [door, value])));
  const drawer = (op: string): { count: number; bytes: number } =>
    doors.area.rows.find((row) => row.name === op) ?? { count: 0, bytes: 0 };
  const OF_SQLITE = "kind NOT IN ('memory-journal', 'opfs', 'idb-store', 'storage')";
  const fact = (label: string, value: string): string =>
    `<tr><td>${label}</td><td>${escapeXml(value)}</td></tr>`;

  it.each([
    ['read', 'xRead', 'readBytes', 'read_bytes'],
    ['written', 'xWrite', 'writtenBytes', 'write_bytes'],
  ] as const)('bytes %s', async (way, op, id, column) => {
    const { store, summary, overview, csv: lines, parquet, sql, html, seesVfs } = doors;
    const value = vfsTotal(summary.files, `${op}Bytes`);
    same(value, { overview: overview(id) });
    expect(html).toMatch(
      new RegExp(
        `${escapeXml(formatAs(value, 'bytes'))} ${way === 'read' ? 'read, ' : 'written by SQLite'}`,
      ),
    );
    if (!seesVfs) return expect(value).toBeNull();
    const files = filesOf(store).filter(
      ({ kind }) => kind !== 'memory-journal' && !/^(opfs|idb-store|storage)$/.test(kind),
    );
    same(value, {
      files: files.reduce((n, f) => n + (way === 'read' ? f.readBytes : f.writeBytes), 0),
      drawer: drawer(op).bytes,
      sql: await sql(`SELECT sum(${column}) FROM files WHERE ${OF_SQLITE}`),
      csv: bytes(lines, op),
      parquet: bytes(parquet, op),
    });
    const [fromUs, endUs] = store.extent();
    const toUs = endUs + 1;
    let lanes = 0;
    for (const thread of store.threads.filter(hasVfs)) {
      const counters = new RowCounters(thread);
      counters.update();
      const rates = counters.rates(way === 'read' ? 0 : 1, fromUs, toUs, 1);
      lanes += (rates[0]! * (toUs - fromUs)) / 1e6;
    }
    // rates are of single precision
    expect(Math.abs(lanes - value!), 'timeline').toBeLessThanOrEqual(value! * 1e-6);
  });

  it('commits', async () => {
    const { summary, overview, live, sql, traces, html, store, seesVfs } = doors;
    const { commits } = summary;
    same(commits, {
      overview: overview('commits'),
      live: live('commits'),
      parquet: orNull(traces['commits']),
    });
    expect(html).toContain(
      fact(
        'Commits',
        `${formatNumber(commits)}, ${formatNumber(summary.syncsPerCommit)} syncs each`,
      ),
    );
    const said = findingsOf(store).filter(({ rule }) => rule === 'F07');
    for (const { evidence } of said) expect(evidence.count).toBeLessThanOrEqual(commits!);
    if (!seesVfs) return;
    const { commits: all, rows: lines } = QUERIES.transactions(contextOf(store), {});
    same(commits, {
      sql: await sql("SELECT count(*) FROM transactions WHERE outcome = 'committed'"),
      transactions: all.commits,
      lines: lines.filter(({ outcome }) => outcome === 'committed').length,
    });
  });

  it.each([
    ['reads', 'xRead'],
    ['writes', 'xWrite'],
    ['syncs', 'xSync'],
  ] as const)('%s', async (slot, op) => {
    const { store, summary, live, sql, csv: lines, parquet, seesVfs, overview } = doors;
    const web = summary.web.opfs.flushes;
    const value = seesVfs ? vfsTotal(summary.files, op) : live(slot);
    same(value, {
      live: live(slot),
      ...(slot === 'syncs' && {
        overview: Math.round(overview('syncsPerCommit')! * overview('commits')!),
      }),
    });
    if (!seesVfs) return slot === 'syncs' ? expect(value).toBe(web) : undefined;
    same(value, {
      sql: await sql(`SELECT sum(${slot}) FROM files WHERE ${OF_SQLITE}`),
      events: await sql(
        `SELECT count(*) FROM events WHERE op = '${op}' AND kind IS NOT 'memory-journal'`,
      ),
      drawer: drawer(op).count,
      csv: stored(lines, op).length,
      parquet: stored(parquet, op).length,
    });
    const journal = drawer(`${op} (memory journal)`);
    const ofJournal = fileCountsOf(store).filter(({ kind }) => kind === 'memory-journal');
    same(journal.count, {
      sql: (await sql(`SELECT sum(${slot}) FROM files WHERE kind = 'memory-journal'`)) ?? 0,
      csv: called(lines, op).length - stored(lines, op).length,
      parquet: called(parquet, op).length - stored(parquet, op).length,
      files: ofJournal.reduce((n, { vfs }) => n + vfs[op]!, 0),
    });
    if (op !== 'xSync')
      expect(journal.bytes).toBe(ofJournal.reduce((n, { vfs }) => n + vfs[`${op}Bytes`]!, 0));
  });

  it('files, one by one', async () => {
    const { store, areaByFile } = doors;
    const lines = (all: readonly unknown[][]): string[] => all.map((line) => line.join(' ')).sort();
    const files = lines(filesOf(store).map((f) => [f.kind, f.path, f.readBytes + f.writeBytes]));
    expect(lines(areaByFile.rows.map((r) => [r.kind, r.name, r.bytes]))).toEqual(files);
    const sql = await rows(store, 'SELECT kind, path, read_bytes + write_bytes FROM files');
    expect(lines(sql)).toEqual(files);
  });

  it('lock wait', () => {
    const { store, summary, overview, area, traces, html } = doors;
    const { lockUs } = summary.time;
    if (lockUs === null) {
      same(null, { overview: overview('lockShare'), parquet: orNull(traces['lock_ns']) });
      return;
    }
    const threads = QUERIES.threadPartitions(contextOf(store), {}).filter(({ sqlite }) => sqlite);
    const near = expect.closeTo(lockUs, 3) as number;
    expect({
      overview: overview('lockShare')! * overview('sqlTime')!,
      threads: threads.reduce((us, { partition }) => us + partition.lockUs, 0),
      drawer: area.times!.lockUs,
      parquet: orNull(traces['lock_ns'])! / 1000,
    }).toEqual({ overview: near, threads: near, drawer: near, parquet: near });
    if (lockUs > 0)
      expect(html).toContain(
        `<td>locks</td><td class="n">${escapeXml(formatDuration(lockUs))}</td>`,
      );
  });

  it('statements', async () => {
    const { store, summary, overview, sql, traces, statements, html } = doors;
    const { count } = summary.statements;
    same(count, {
      overview: overview('statements'),
      parquet: orNull(traces['statements']),
      view: statements && statements.executions,
    });
    expect(html).toContain(
      fact(
        'Statements',
        `${formatCount(count)} executions of ${formatCount(summary.statements.distinct)} texts`,
      ),
    );
    const side = await parquetTable(store, 'statements');
    same(count ?? 0, {
      sql: await sql('SELECT count(*) FROM executions'),
      parquet: side.reduce((n, { executions }) => n + Number(executions), 0),
    });
  });

  it('page reads', async () => {
    const { store, overview, sql, statements, seesVfs } = doors;
    const pages = pagesOf(store);
    const value = pages.reduce((n, { reads }) => n + reads, 0);
    const placesRead = pages.reduce((n, p) => n + p.placesRead, 0);
    same(value, {
      overview: Math.round((overview('rereads') ?? 0) * placesRead),
      sql: (await sql('SELECT sum(reads + wal_reads) FROM pages')) ?? 0,
      accesses:
        (await sql('SELECT sum(pages) FROM page_accesses WHERE write = 0 AND checkpoint = 0')) ?? 0,
    });
    if (!statements || !seesVfs) return;
    expect(
      statements.rows.reduce(
        (n, row) => n + (row.pages ? row.pages.read + row.pages.walRead : 0),
        0,
      ),
      'statements',
    ).toBe(value);
  });

  it('flushes, where a finding counts them', () => {
    const { store, summary } = doors;
    for (const { rule, evidence } of findingsOf(store))
      if (rule === 'F14') expect(evidence.count).toBe(summary.web.opfs.flushes);
  });
});
