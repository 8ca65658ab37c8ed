/** The outputs ("doors") of a trace: each computes a number in its own way. */
import { hasVfs } from '../../../src/analysis/core/layers.ts';
import { filesOf } from '../../../src/analysis/files/files.ts';
import type { NumberId } from '../../../src/analysis/numbers/headline-numbers.ts';
import { reportMarkdown } from '../../../src/analysis/report/report-markdown.ts';
import { reportOf } from '../../../src/analysis/report/report.ts';
import { summaryOf } from '../../../src/analysis/report/summary.ts';
import { findingsReport } from '../../../src/cli/findings.ts';
import { reportText } from '../../../src/terminal/report-text.ts';
import { executionGroups } from '../../../src/analysis/statements/statement-runs.ts';
import type { AreaBy } from '../../../src/analysis/time/area.ts';
import { htmlReport } from '../../../src/formats/html.ts';
import { RowCounters } from '../../../src/timeline/row-counters.ts';
import type { EventRef, TraceStore } from '../../../src/trace/store.ts';
import { LiveCounts } from '../../../src/viewer/session/live-stats.ts';
import { EXAMPLES } from '../../../src/viewer/ui/views/sql/examples.ts';
import { QUERIES } from '../../../src/viewer/session/query-table.ts';
import { headlineNumbers } from '../../traces/analyses.ts';
import { rows } from '../sql-queries.ts';
import { contextOf } from '../viewer-context.ts';
import { sum, orNull, csvCalls, parquetTable, parquetCalls, sqlCalls } from './calls.ts';

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
  /** The text next to a label; undefined if the report lacks this section. */
  fact(heading: string | RegExp, label: string, column = 1): string | undefined {
    const section = [...this.sections].find(([name]) => name.search(heading) === 0);
    if (!section) return undefined;
    const row = section[1].find(([first]) => first === label);
    if (!row) throw new Error(`the report has no "${label}"`);
    return row[column];
  }
  /** Columns of a table by their headings, as rows. */
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
/** Only letters, digits, periods, and percent signs, because layouts and escapes add others. */
export const wordsOf = (text: string): string => text.replace(/[^\p{L}\d.%]+/gu, ' ');
/** A whole number from text with thousands separators. */
export const whole = (text: string): number => Number(text.replaceAll(',', ''));

export async function doorsOf(store: TraceStore) {
  const context = contextOf(store);
  const headline = headlineNumbers(store);
  const live = new LiveCounts(store);
  live.computeSlow(1, 0);
  /** The live strip's numbers after a recording, and those that it only shows during one. */
  const strip = [true, false].flatMap((settled) => live.counts(0, settled, 1).numbers);
  const [fromUs, endUs] = store.extent();
  const toUs = endUs + 1;
  context.timeline().update(endUs);
  context.timeline().settle(context.facts);
  const layers: ['sql', 'vfs', 'web'] = ['sql', 'vfs', 'web'];
  const area = (by: AreaBy) =>
    QUERIES.timelineArea(context, { fromUs, toUs, by, threadsOff: [], layers });
  const byOperation = await area('operation');
  const seesVfs = store.threads.some(hasVfs);
  const page = htmlReport(store);
  return {
    store,
    seesVfs,
    summary: summaryOf(store),
    overview: (id: NumberId) => headline.find((n) => n.id === id)!.value,
    live: (slot: string) => strip.find((n) => n.slot === slot)!.value,
    sql: async (query: string) => orNull((await rows(store, query))[0]![0]),
    /** Rows of an example in the Query view. */
    example: (title: string) => rows(store, EXAMPLES.find((e) => e.title === title)!.sql),
    /** A row of the timeline's drawer with the entire recording selected. */
    drawer: (op: string) =>
      byOperation.rows.find(({ name }) => name === op) ?? { count: 0, bytes: 0 },
    drawerTimes: byOperation.times,
    areaByFile: await area('file'),
    /** Totals from the timeline's rates over the entire recording, in single precision. */
    rates: (way: 0 | 1) =>
      sum(store.threads.filter(hasVfs), (thread) => {
        const counters = new RowCounters(thread);
        counters.update();
        return (counters.rates(way, fromUs, toUs, 1)[0]! * (toUs - fromUs)) / 1e6;
      }),
    /** Commits in the timeline's transaction tracks. */
    laneCommits: sum(store.threads, ({ index }) => {
      const lane = context.timeline().lane(`${index}:txn`)!;
      return sum(
        lane.settled.kind.subarray(0, lane.settled.count),
        (kind) => lane.labelOf!(0, kind) === 'commit',
      );
    }),
    /** SQLite's files, as in the Files view and the Overview's threads. */
    files: filesOf(store).filter(({ kind }) => !NOT_OF_SQLITE.includes(kind)),
    threads: QUERIES.threadPartitions(context, {}).filter(({ sqlite }) => sqlite),
    statements: QUERIES.statements(context, {}),
    runs: [...context.facts.get(executionGroups).values()],
    transactions: seesVfs
      ? { ...QUERIES.transactions(context, {}), commits: QUERIES.commitsTogether(context, {}) }
      : null,
    transaction: (ref: EventRef) => QUERIES.transaction(context, ref)!,
    locks: QUERIES.locks(context, {}),
    told: QUERIES.findings(context, {}),
    /** Texts that are searched for findings' numbers. */
    tellers: Object.entries({
      findings: reportText(findingsReport(context.facts)),
      summary: reportText(reportOf(context.facts)),
      Markdown: reportMarkdown(reportOf(context.facts)),
      HTML: unescapeXml(page.replace(/<[^>]*>/g, '')),
    }).map(([teller, text]) => [teller, wordsOf(text)] as const),
    calls: {
      sql: await sqlCalls(store),
      csv: await csvCalls(store),
      parquet: await parquetCalls(store),
    },
    /** The single row of the table traces. `parquet` reads any other table. */
    traces: (await parquetTable(store, 'traces'))[0]!,
    parquet: (table: string) => parquetTable(store, table),
    html: new Html(page),
  };
}
export type Doors = Awaited<ReturnType<typeof doorsOf>>;
export const NOT_OF_SQLITE = ['memory-journal', 'opfs', 'idb-store', 'storage'];
export const OF_SQLITE = `kind NOT IN (${NOT_OF_SQLITE.map((kind) => `'${kind}'`).join(', ')})`;
