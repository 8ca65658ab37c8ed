/**
 * What one input (a trace or a file of field reports) adds to a fleet's data set: a Parquet file
 * for each table and day with rows. The same input always gives the same bytes, so writing it
 * again, or twice at once, changes nothing.
 */
import { Facts } from '../analysis/core/graph.ts';
import { getOrMake } from '../analysis/core/maps.ts';
import { listed, type Cell, type Columns, type Rows } from '../analysis/core/table.ts';
import { findingColumns } from '../analysis/findings/table.ts';
import { errorColumns } from '../analysis/errors/table.ts';
import { lockWaits } from '../analysis/locks/lock-waits.ts';
import { locks } from '../analysis/locks/locks.ts';
import { ruleTitle } from './rule-title.ts';
import { summary } from '../analysis/report/summary.ts';
import { TABLES } from '../analysis/tables.ts';
import type { Histogram } from '../field/buckets.ts';
import { MOST_TEXT, type FieldReport, type StatementReport } from '../field/report.ts';
import { cellsOf, sameText } from '../formats/parquet-column.ts';
import { eventGroups, GROUP_ROWS, parquetPieces, type Group } from '../formats/parquet.ts';
import { fileColumns } from '../formats/tables.ts';
import { recordedVfs } from '../lab/experiments/replay/recorded-vfs.ts';
import { fingerprint } from '../sqlite/sql-text.ts';
import type { TraceStore } from '../trace/store.ts';
import { histogramColumns, histogramRows, reportHistograms } from './histograms.ts';
import { lifeColumns, type Labels, type Life } from './lives.ts';
import { FLEET_TABLES, traceExtraColumns, type TraceExtras } from './tables.ts';

/** A file of the data set. */
export interface Part {
  table: string;
  /** In UTC, as 2026-11-29. */
  day: string;
  pieces: Iterable<Uint8Array>;
}

/**
 * The day of a time, in UTC; 1970-01-01 where it isn't valid.
 * @param ms since the epoch, from a page, so it can be any value
 */
export function dayOf(ms: number): string {
  const isDate = ms >= 0 && ms < 4e12; // up to 2096
  return new Date(isDate ? ms : 0).toISOString().slice(0, 10);
}

/** @param groups row groups with all columns except `trace` */
function part(table: string, day: string, id: string, groups: Iterable<Group>): Part {
  const withTrace = function* (): Generator<Group> {
    for (const { rows, cells } of groups) yield { rows, cells: inFront(sameText(id, rows), cells) };
  };
  return { table, day, pieces: parquetPieces(FLEET_TABLES.get(table)!.columns, withTrace()) };
}
function* inFront<T>(first: T, others: Iterable<T>): Generator<T> {
  yield first;
  yield* others;
}

/** Cells by column, as stored in files. @param some the table's columns in `rows` */
function* groupsOf<Row>(columns: Columns<Row>, rows: Rows<Row>): Generator<Group> {
  const inFile = fileColumns(columns);
  for (let from = 0; from < rows.count; from += GROUP_ROWS) {
    const n = Math.min(GROUP_ROWS, rows.count - from);
    yield { rows: n, cells: cellsOf(inFile, n, (i) => rows.at(from + i)) };
  }
}

/** Columns of the same rows, followed by those of `others`. */
function* beside(groups: Iterable<Group>, others: Iterable<Group>): Generator<Group> {
  const more = [...others];
  let i = 0;
  for (const { rows, cells } of groups) yield { rows, cells: [...cells, ...more[i++]!.cells] };
}

/** An empty table, so that readers of the data set find every table. */
export const emptyPart = (table: string): Part => ({
  table,
  day: dayOf(0),
  pieces: parquetPieces(FLEET_TABLES.get(table)!.columns, []),
});

export interface TraceInput {
  /** Of the file's bytes. */
  id: string;
  store: TraceStore;
  /** Name of its file; null = not given. */
  name: string | null;
  labels: Labels;
  /** The data set also has the report of the same page life. */
  isReported: boolean;
}

/** The files of a trace. Tables without rows have none. */
export function* traceParts({ id, store, name, labels, isReported }: TraceInput): Generator<Part> {
  const facts = new Facts(store);
  const day = dayOf(store.originMs);
  const about = facts.get(summary);
  const of = recordedVfs(store, about);
  const vfsClass = of.vfs ?? (of.nearest ? `like ${of.nearest}` : null);
  const extras: TraceExtras = { labels, name, vfsClass, weight: isReported ? 0 : 1 };
  yield part('events', day, id, eventGroups(store));
  for (const { name: table, columns, rows } of TABLES) {
    const found = facts.get(rows) as Rows<unknown>;
    if (!found.count) continue;
    const groups = groupsOf(columns as Columns<unknown>, found);
    // one trace has one row
    const whole =
      table === 'traces' ? beside(groups, groupsOf(traceExtraColumns, listed([extras]))) : groups;
    yield part(table, day, id, whole);
  }
  const found = facts.get(histogramRows);
  if (found.count) yield part('histograms', day, id, groupsOf(histogramColumns, found));
  if (!isReported)
    yield part(
      'reports',
      day,
      id,
      groupsOf(lifeColumns, listed([lifeOf(facts, store, { id, labels, vfsClass })])),
    );
}

function lifeOf(
  facts: Facts,
  store: TraceStore,
  { id, labels, vfsClass }: { id: string; labels: Labels; vfsClass: string | null },
): Life {
  const { durationUs, environment, engines, statements, syncs } = facts.get(summary);
  const { waits, busy } = facts.get(locks);
  const waited = facts.get(lockWaits);
  return {
    source: 'trace',
    atMs: store.originMs,
    durationUs,
    weight: 1,
    labels,
    origin: originOf(environment.url),
    agent: environment.userAgent || null,
    engine: engines[0]?.name ?? null,
    sqliteVersion: engines[0]?.sqliteVersion ?? null,
    vfsClass,
    statements: statements.count,
    failed: null,
    syncs,
    lockWaits: waited.length,
    lockWaitUs: waited.reduce((us, { wait }) => us + waits.to[wait]! - waits.from[wait]!, 0),
    busy: busy.reduce((n, { steps }) => n + steps, 0),
    example: id,
  };
}

const originOf = (url: string | null): string | null =>
  (url && /^[a-z-]+:\/\/[^/]+/.exec(url)?.[0]) ?? null;

export interface ReportInput {
  /** The report as read. */
  id: string;
  report: FieldReport;
  /** Id of the trace of the same page life; null = none. */
  example: string | null;
}

/**
 * The text that stands for a statement of a report: the same as in traces, where it is complete.
 */
function textOf({ text, hash }: StatementReport): string {
  if (text === '') return `(statement ${hash})`;
  return text.length < MOST_TEXT ? fingerprint(text) : `${text}… (${hash})`;
}

/** The files of a report file, by day. @param reports each id once */
export function* reportParts(reports: readonly ReportInput[]): Generator<Part> {
  const days = new Map<string, ReportInput[]>();
  for (const input of reports)
    getOrMake(days, dayOf(input.report.at), (): ReportInput[] => []).push(input);
  for (const [day, all] of days) {
    const rows = (table: string, cells: (input: ReportInput) => Iterable<readonly Cell[]>) =>
      reportPart(table, day, all, cells);
    yield* rows('reports', (input) => rowCells(lifeColumns, [reportedLife(input)]));
    yield* rows('histograms', ({ report }) =>
      rowCells(histogramColumns, reportHistograms(report, textOf)),
    );
    yield* rows('errors', ({ report }) =>
      report.errors.map(([error, call, count]) => sparse(errorColumns, { error, call, count })),
    );
    yield* rows('findings', ({ report }) =>
      report.findings.map(([rule, count]) =>
        sparse(findingColumns, { rule, count, title: ruleTitle(rule) }),
      ),
    );
  }
}

const rowCells = <Row>(columns: Columns<Row>, rows: readonly Row[]): Cell[][] =>
  rows.map((row) => fileColumns(columns).map(({ value }) => value(row)));
/** A row with only some known columns. */
const sparse = (columns: Columns<never>, known: Readonly<Record<string, Cell>>): Cell[] =>
  fileColumns(columns as Columns<unknown>).map(({ name }) => known[name] ?? null);

function* reportPart(
  table: string,
  day: string,
  inputs: readonly ReportInput[],
  cells: (input: ReportInput) => Iterable<readonly Cell[]>,
): Generator<Part> {
  const { columns } = FLEET_TABLES.get(table)!;
  const cellAt = columns.map(({ type }, c) => ({ type, value: (row: Cell[]): Cell => row[c]! }));
  const groups = function* (): Generator<Group> {
    for (const rows of inGroups(inputs, cells))
      yield { rows: rows.length, cells: cellsOf(cellAt, rows.length, (i) => rows[i]!) };
  };
  const all = groups();
  const first = all.next();
  if (!first.done) yield { table, day, pieces: parquetPieces(columns, inFront(first.value, all)) };
}

/**
 * Rows with the ids of their reports, as many as fit into a row group: a file of many reports has
 * millions of rows.
 */
function* inGroups(
  inputs: readonly ReportInput[],
  cells: (input: ReportInput) => Iterable<readonly Cell[]>,
): Generator<Cell[][]> {
  let rows: Cell[][] = [];
  for (const input of inputs)
    for (const row of cells(input)) {
      rows.push([input.id, ...row]);
      if (rows.length < GROUP_ROWS) continue;
      yield rows;
      rows = [];
    }
  if (rows.length) yield rows;
}

const reportedLife = ({ report, example }: ReportInput): Life => ({
  source: 'field',
  atMs: report.at,
  durationUs: report.ms * 1000,
  weight: report.weight,
  labels: report.labels,
  origin: report.origin || null,
  agent: report.agent || null,
  engine: report.engine,
  sqliteVersion: report.sqlite,
  vfsClass: report.storage ? `stores in ${report.storage}` : null,
  statements: report.runs,
  failed: report.failed,
  syncs: countIn(report.syncs),
  lockWaits: countIn(report.locks),
  lockWaitUs: report.lockUs,
  busy: report.busy,
  example,
});

const countIn = (histogram: Histogram): number =>
  histogram.reduce((n, value, i) => n + (i % 2 ? value : 0), 0);
