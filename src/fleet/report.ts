/**
 * A report on a fleet's data set: which share of page lives is affected by what, with a trace to
 * open.
 */
import { getOrMake } from '../analysis/core/maps.ts';
import type { Block, Report, ReportTable } from '../analysis/report/blocks.ts';
import { HistogramCounter, bucketOf } from '../field/buckets.ts';
import { FIELD_RULES } from '../field/report.ts';
import { countOf, formatCount, formatDuration, formatShare } from '../text/numbers.ts';
import { cut, oneLine, UNKNOWN_SQL } from '../text/clean.ts';
import { currentFiles, exact } from './compact.ts';
import { DataSet } from './data-set.ts';
import { lifeColumns } from './lives.ts';
import { ruleTitle } from './rule-title.ts';
import { dayOf } from './unit.ts';

export const GROUPS = ['release', 'browser', 'device', 'engine', 'vfs_class'] as const;
export type GroupBy = (typeof GROUPS)[number];

type Row = Readonly<Record<string, unknown>>;
export interface FleetReport {
  lives: number;
  weight: number;
  traces: number;
  from: string | null;
  to: string | null;
  by: GroupBy | null;
  /** Sorted by name. Without `by`, there is one group with the name ''. */
  groups: { name: string; lives: number; weight: number }[];
  findings: (Shares & { rule: string; title: string })[];
  waits: Shares;
  errors: (Shares & { error: string; call: string; count: number })[];
  statements: {
    fingerprint: string | null;
    runs: number;
    p50Us: number;
    p95Us: number;
    p99Us: number;
    lives: number;
    example: Example | null;
  }[];
  syncs: { group: string; count: number; p50Us: number; p99Us: number }[];
}
export interface Shares {
  /** Affected page lives, and their total weight. */
  lives: number;
  weight: number;
  /**
   * Weight of the affected / weight of all that could show it, by group; null = none could, such as
   * a rule that needs a trace where none has one. The interval contains users' true share in 95 of
   * 100 cases (Wilson).
   */
  shares: { share: number | null; low: number; high: number }[];
  /** null = not in the data set. */
  example: Example | null;
}
/** A trace to open. */
export interface Example {
  trace: string;
  /** Name of its file; null where it was anonymized. */
  name: string | null;
}

/** Rules that every page life can show. The other rules need a trace. */
const IN_REPORTS: ReadonlySet<string> = new Set(Object.values(FIELD_RULES));
/** Users notice waits of this length, summed over the page life. */
const FELT_WAIT_NS = 100_000_000;
const MOST_ROWS = 20;
/** Maximum columns of groups, and characters of their names. */
const MOST_GROUPS = 8;
const MOST_NAME = 40;
/** Maximum characters of a file's name. */
const MOST_FILE = 80;

interface Life {
  weight: number;
  group: number;
  /** Its trace. */
  example: Example | null;
}

/** @throws CommandFailure where a file of the data set can't be read */
export async function fleetReport(root: string, by: GroupBy | null): Promise<FleetReport> {
  const set = new DataSet(root);
  set.insistOnColumns();
  const reports = await rowsOf(set, 'reports');
  const examples = new Map<string, string>();
  for (const { source, trace, example } of reports)
    if (source === 'field' && typeof example === 'string') examples.set(example, String(trace));
  // a trace that was added before its report covers the same page life
  const unique = [...new Map(reports.map((row) => [String(row.trace), row])).values()].filter(
    ({ source, trace }) => source !== 'trace' || !examples.has(String(trace)),
  );
  const nameOf = (row: Row): string => (by === null ? '' : (text(row[by]) ?? '(unknown)'));
  const names = [...new Set(unique.map(nameOf))].sort();
  const groups = names.map((name) => ({ name, lives: 0, weight: 0 }));
  const lives = new Map<string, Life>();
  /** By id. A report names the trace beside its file, which may be unreadable or not added yet. */
  const traces = new Map(
    (await rowsOf(set, 'traces', ['trace', 'name'])).map((row): [string, Example] => {
      const trace = String(row.trace);
      return [trace, { trace, name: text(row.name) }];
    }),
  );
  for (const row of unique) {
    const group = names.indexOf(nameOf(row));
    const weight = Number(row.weight);
    groups[group]!.lives++;
    groups[group]!.weight += weight;
    const example = traces.get(String(row.example)) ?? null;
    lives.set(String(row.trace), { weight, group, example });
  }
  const every = basisOf([...lives.values()], groups.length);
  const traced = basisOf(
    [...every.lives].filter(({ example }) => example !== null),
    groups.length,
  );
  /**
   * The page life of a row. If a trace's report is in the data set, the row belongs to the report's
   * page life.
   */
  const lifeOf = ({ trace }: Row): Life | undefined =>
    lives.get(String(trace)) ?? lives.get(examples.get(String(trace)) ?? '');
  const shares = (rows: readonly Row[], basis = every): Shares =>
    sharesOf(
      rows.flatMap((row) => lifeOf(row) ?? []),
      basis,
    );
  const findings = groupedBy(await rowsOf(set, 'findings'), ({ rule }) => String(rule)).flatMap(
    ([rule, rows]) => {
      const found = shares(rows, IN_REPORTS.has(rule) ? every : traced);
      return found.lives ? [{ rule, title: ruleTitle(rule) ?? '', ...found }] : [];
    },
  );
  /** A report and its trace count the same calls. The report's count is used for both. */
  const once = (rows: readonly Row[]): Row[] =>
    distinct(rows).filter(({ trace }) => !examples.has(String(trace)));
  const errors = groupedBy(
    once(await rowsOf(set, 'errors')).filter(({ handled }) => handled !== 1),
    ({ error, call }) => `${String(error)}\0${String(call)}`,
  ).map(([key, rows]) => ({
    error: key.split('\0')[0]!,
    call: key.split('\0')[1]!,
    count: rows.reduce((n, { count }) => n + Number(count), 0),
    ...shares(rows),
  }));
  const moments = unique.map(({ at_ms }) => Number(at_ms)).sort((a, b) => a - b);
  const day = (ms: number | undefined): string | null => (ms === undefined ? null : dayOf(ms));
  return {
    lives: unique.length,
    weight: groups.reduce((n, { weight }) => n + weight, 0),
    traces: traces.size,
    from: day(moments[0]),
    to: day(moments.at(-1)),
    by,
    groups,
    findings: findings.sort(most),
    waits: shares(unique.filter((row) => Number(row.lock_wait_ns) >= FELT_WAIT_NS)),
    errors: errors.sort(most),
    ...durations(once(await rowsOf(set, 'histograms')), lifeOf, names),
  };
}

const most = (a: Shares, b: Shares): number => b.weight - a.weight || b.lives - a.lives;
const text = (value: unknown): string | null => (typeof value === 'string' && value ? value : null);

/** A report that was sent twice has its rows twice. */
const distinct = (rows: readonly Row[]): Row[] => [
  ...new Map(rows.map((row) => [Object.values(row).join('\0'), row])).values(),
];

async function rowsOf(set: DataSet, table: string, columns?: string[]): Promise<Row[]> {
  const { parquetReadObjects } = await import('hyparquet');
  const { current } = await currentFiles(set, set.files(table));
  const all: Row[] = [];
  for (const { bytes } of current) {
    const file = exact(bytes);
    for (const row of await parquetReadObjects({ file, ...(columns && { columns }) }))
      all.push(row);
  }
  return all;
}

function groupedBy(rows: readonly Row[], key: (row: Row) => string): [string, Row[]][] {
  const found = new Map<string, Row[]>();
  for (const row of rows) getOrMake(found, key(row), (): Row[] => []).push(row);
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Always the same one. */
const exampleOf = (lives: Iterable<Life | undefined>): Example | null =>
  [...lives]
    .flatMap((life) => life?.example ?? [])
    .reduce<Example | null>((a, b) => (a && a.trace < b.trace ? a : b), null);

/**
 * Page lives that shares are based on, and by group the sums of their weights and of the squared
 * weights.
 */
interface Basis {
  lives: ReadonlySet<Life>;
  groups: readonly { weight: number; squares: number }[];
}
function basisOf(lives: readonly Life[], count: number): Basis {
  const groups = Array.from({ length: count }, () => ({ weight: 0, squares: 0 }));
  for (const { group, weight } of lives) {
    groups[group]!.weight += weight;
    groups[group]!.squares += weight ** 2;
  }
  return { lives: new Set(lives), groups };
}

/** @param having may contain a page life several times; those outside the basis don't count */
function sharesOf(having: readonly Life[], { lives, groups }: Basis): Shares {
  const unique = [...new Set(having)].filter((life) => lives.has(life));
  const shares = groups.map(({ weight, squares }, group) => {
    const own = unique.filter((life) => life.group === group);
    // page lives with different weights carry less information than as many with one weight: Kish's
    // effective sample size
    const n = weight && weight ** 2 / squares;
    return interval(own.reduce((sum, life) => sum + life.weight, 0) / weight, n);
  });
  return {
    lives: unique.length,
    weight: unique.reduce((n, { weight }) => n + weight, 0),
    shares,
    example: exampleOf(unique),
  };
}

/** Wilson's 95% interval. @param n number of page lives with equal weights */
function interval(share: number, n: number): Shares['shares'][number] {
  const z = 1.96;
  if (n === 0) return { share: null, low: 0, high: 1 };
  const middle = share + (z * z) / (2 * n);
  const half = z * Math.sqrt((share * (1 - share)) / n + (z * z) / (4 * n * n));
  const all = 1 + (z * z) / n;
  return {
    share,
    low: Math.max(0, (middle - half) / all),
    high: Math.min(1, (middle + half) / all),
  };
}

function durations(
  rows: readonly Row[],
  lifeOf: (row: Row) => Life | undefined,
  names: readonly string[],
): Pick<FleetReport, 'statements' | 'syncs'> {
  const counted = (some: readonly Row[]): HistogramCounter => {
    const counter = new HistogramCounter();
    for (const row of some)
      counter.addAll([
        bucketOf((1.01 * Number(row.from_ns)) / 1000),
        Number(row.count) * (lifeOf(row)?.weight || 1),
      ]);
    return counter;
  };
  const statements = groupedBy(
    rows.filter(({ what }) => what === 'statement'),
    ({ fingerprint }) => text(fingerprint) ?? '',
  ).map(([fingerprint, own]) => {
    const counter = counted(own);
    const lives = new Set(own.map(lifeOf));
    return {
      fingerprint: fingerprint || null,
      runs: own.reduce((n, { count }) => n + Number(count), 0),
      p50Us: counter.quantile(0.5)!,
      p95Us: counter.quantile(0.95)!,
      p99Us: counter.quantile(0.99)!,
      lives: lives.size,
      example: exampleOf(lives),
    };
  });
  const syncs = names.flatMap((group, i) => {
    const own = rows.filter((row) => row.what === 'sync' && lifeOf(row)?.group === i);
    const counter = counted(own);
    if (!own.length) return [];
    const count = own.reduce((n, row) => n + Number(row.count), 0);
    return [{ group, count, p50Us: counter.quantile(0.5)!, p99Us: counter.quantile(0.99)! }];
  });
  return {
    statements: statements.sort((a, b) => b.p99Us - a.p99Us || b.runs - a.runs),
    syncs,
  };
}

/** As a cell: the name to look for in the folder of traces. */
const fileOf = (example: Example | null): string =>
  example === null ? '' : cut(oneLine(example.name ?? example.trace), MOST_FILE);

/** The same as text. */
export function fleetReportDocument(report: FleetReport): Report {
  const { by, groups, lives, traces, from, to } = report;
  /** The groups with the most page lives, sorted by name. */
  const columns = [...groups.keys()]
    .sort((a, b) => groups[b]!.lives - groups[a]!.lives || a - b)
    .slice(0, MOST_GROUPS)
    .sort((a, b) => a - b);
  const head = columns.map((i) =>
    by === null
      ? 'Share'
      : `${cut(oneLine(groups[i]!.name), MOST_NAME)} (${formatCount(groups[i]!.lives)})`,
  );
  const shown = ({ shares }: Shares): string[] =>
    columns.map((i) => {
      const { share, low, high } = shares[i]!;
      if (share === null) return 'no traces';
      return `${formatShare(share)} (${formatShare(low)}-${formatShare(high)})`;
    });
  const table = (
    titles: readonly string[],
    rows: readonly (readonly string[])[],
    texts: number,
    code?: readonly number[],
  ): ReportTable => ({
    head: titles,
    rows: rows.slice(0, MOST_ROWS),
    texts: [...Array.from({ length: texts }, (_, i) => i), titles.length - 1],
    ...(code && { code }),
  });
  const blocks: Block[] = [
    {
      heading: 'Page lives',
      facts: [
        ['Observed', countOf(lives, 'page life', 'page lives')],
        ['Stand for', formatCount(report.weight)],
        ['Traces', formatCount(traces)],
        ['Days', from === null ? 'none' : `${from} to ${to}`],
      ],
      lines: [
        'A share is of page lives, by their weight; of a finding that no report holds, of those with a trace. In brackets: its interval of 95 %.',
        ...(columns.length < groups.length
          ? [
              `Only the ${MOST_GROUPS} groups with the most page lives are shown, of ${formatCount(groups.length)}. To get all, use --json.`,
            ]
          : []),
      ],
    },
  ];
  if (report.findings.length)
    blocks.push({
      heading: 'Findings',
      table: table(
        ['Rule', 'Finding', ...head, 'Example'],
        report.findings.map((f) => [
          f.rule,
          cut(oneLine(f.title), 70),
          ...shown(f),
          fileOf(f.example),
        ]),
        2,
      ),
    });
  blocks.push({
    heading: `Lock waits of ${formatDuration(FELT_WAIT_NS / 1000)} or more in a page life`,
    table: table(
      ['Lives', ...head, 'Example'],
      [[formatCount(report.waits.lives), ...shown(report.waits), fileOf(report.waits.example)]],
      0,
    ),
  });
  if (report.statements.length)
    blocks.push({
      heading: 'Statements by their 99th percentile',
      table: table(
        ['Statement', 'Runs', 'p50', 'p95', 'p99', 'Lives', 'Example'],
        report.statements.map((s) => [
          cut(oneLine(s.fingerprint ?? UNKNOWN_SQL), 80),
          formatCount(s.runs),
          ...[s.p50Us, s.p95Us, s.p99Us].map(formatDuration),
          formatCount(s.lives),
          fileOf(s.example),
        ]),
        1,
        [0],
      ),
    });
  if (report.syncs.length)
    blocks.push({
      heading: 'Syncs',
      table: {
        head: [by === null ? 'Of' : lifeColumns[by].title, 'Syncs', 'p50', 'p99'],
        rows: report.syncs
          .slice(0, MOST_ROWS)
          .map((s) => [
            cut(oneLine(s.group), MOST_NAME) || 'all',
            formatCount(s.count),
            formatDuration(s.p50Us),
            formatDuration(s.p99Us),
          ]),
        texts: [0],
      },
    });
  if (report.errors.length)
    blocks.push({
      heading: 'Errors that the app heard of',
      table: table(
        ['Error', 'Call', 'Count', ...head, 'Example'],
        report.errors.map((e) => [
          cut(oneLine(e.error), 70),
          e.call,
          formatCount(e.count),
          ...shown(e),
          fileOf(e.example),
        ]),
        2,
      ),
    });
  return {
    title: by === null ? 'Fleet' : `Fleet by ${by === 'vfs_class' ? 'VFS class' : by}`,
    blocks,
  };
}
