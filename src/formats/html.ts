/**
 * A report in one HTML file: summary, findings, a static timeline, files and statements. No script, nothing loaded from elsewhere (its own
 * policy forbids both), everything from the traced page escaped.
 */
import { threadColumns, threadTable } from '../analysis/events/table.ts';
import { fileColumns, fileTable } from '../analysis/files/table.ts';
import { Facts } from '../analysis/graph.ts';
import { reportOf } from '../analysis/report/report.ts';
import { cellText, shownCell, type Block } from '../analysis/report/blocks.ts';
import { cut } from '../text/clean.ts';
import { summary as summaryFact, type Summary } from '../analysis/report/summary.ts';
import { statementColumns, statementTable } from '../analysis/statements/table.ts';
import { isNumeric, type Columns, type Table } from '../analysis/table.ts';
import { ACTIVITIES } from '../trace/lanes/lanes.ts';
import type { TraceStore } from '../trace/store.ts';
import { escapeXml } from './escape.ts';
import { ACTIVITY_COLORS, svgTimeline } from './svg-timeline.ts';
import {
  UNKNOWN,
  formatCount,
  formatDuration,
  formatNumber,
  formatShare,
} from '../text/numbers.ts';

const MAX_ROWS = 200;
const MAX_FINDINGS = 20;
/** Characters of a cell: a page names its files as it likes. */
const LONGEST = 10_000;
const CSS = `:root{color-scheme:light dark;--line:#8884}body{font:14px/1.45 system-ui,sans-serif;max-width:1100px;margin:2em auto;padding:0 1em}
h1{font-size:1.4em;margin-bottom:.2em}h2{font-size:1.1em;margin-top:1.8em}table{border-collapse:collapse;width:100%}
th,td{padding:.25em .6em;text-align:left;border-bottom:1px solid var(--line);vertical-align:top}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
td.s{min-width:15em}code{font:12px/1.4 ui-monospace,monospace;overflow-wrap:anywhere}.box{overflow-x:auto}svg{width:100%;min-width:700px;height:auto;color:CanvasText}
svg text{fill:currentColor;font:11px system-ui,sans-serif}svg .thread{font-weight:600}svg .lane{text-anchor:end}svg .tick{text-anchor:middle;font-size:10px}
.legend span{display:inline-block;margin-right:1.2em}.legend i{display:inline-block;width:.8em;height:.8em;margin-right:.4em;border-radius:2px}.note{opacity:.75}`;

interface Column {
  title: string;
  /** Numbers stand right. */
  number?: boolean;
  /** Whole sentences: not squeezed to a word a line on a narrow screen. */
  sentences?: boolean;
  code?: boolean;
}
/** @param rows cells as text; escaped here */
function table(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const head = columns
    .map((c) => `<th${c.number ? ' class="n"' : ''}>${escapeXml(c.title)}</th>`)
    .join('');
  const body = rows
    .slice(0, MAX_ROWS)
    .map((row) => `<tr>${row.map((cell, i) => td(cell, columns[i])).join('')}</tr>`)
    .join('\n');
  const more =
    rows.length > MAX_ROWS
      ? `<p class="note">${rows.length - MAX_ROWS} more rows are not shown.</p>`
      : '';
  return `<div class="box"><table><thead><tr>${head}</tr></thead><tbody>\n${body}\n</tbody></table></div>${more}`;
}
function td(cell: string, column: Column | undefined): string {
  const text = escapeXml(cut(cell, LONGEST));
  return `<td${column?.number ? ' class="n"' : column?.sentences ? ' class="s"' : ''}>${column?.code ? `<code>${text}</code>` : text}</td>`;
}
const plain = (title: string): Column => ({ title });

function facts(s: Summary): string {
  const { environment, transactions, time: t, pageCache } = s;
  const engines = s.engines.map(
    (e) =>
      `${e.name}${e.sqliteVersion ? `, SQLite ${e.sqliteVersion}` : ''}${e.vfs.length ? `, VFS ${e.vfs.join(', ')}` : ''}`,
  );
  const rows: [string, string][] = [
    ['Page', environment.url ?? UNKNOWN],
    ['Engines', [...new Set(engines)].join('; ') || UNKNOWN],
    ['Browser', environment.userAgent ?? UNKNOWN],
    ['Clock step', formatDuration(environment.clockStepUs)],
    ['Duration', formatDuration(s.durationUs)],
    [
      'Events',
      `${formatCount(s.events)}${s.dropped ? `, ${formatCount(s.dropped)} more were dropped: counts are lower bounds` : ', none dropped'}`,
    ],
    [
      'Statements',
      `${formatCount(s.statements.count)} run, ${formatCount(s.statements.distinct)} distinct`,
    ],
    [
      'Transactions',
      `${formatCount(transactions.read)} read, ${formatCount(transactions.write)} write, ${formatCount(transactions.rolledBack)} rolled back`,
    ],
    ['Commits', `${formatCount(s.commits)}, ${formatNumber(s.syncsPerCommit)} syncs each`],
    [
      'Time, all threads together',
      `CPU ${formatDuration(t.cpuUs)}, storage ${formatDuration(t.ioUs)}, locks ${formatDuration(t.lockUs)}, tracer ${formatDuration(t.tracerUs)}, other ${formatDuration(t.otherUs)}, idle ${formatDuration(t.idleUs)}`,
    ],
    ['Page cache hit rate', formatShare(pageCache.hitRate)],
  ];
  return table([plain(''), plain('')], rows);
}

/** A part of the page for a bug report: its facts, its table, its lines. */
function blockHtml({ facts: pairs = [], table: content, lines = [] }: Block): string {
  const columns = content?.head.map((title, i) => ({
    title: title.charAt(0).toUpperCase() + title.slice(1),
    code: content.code?.includes(i) ?? false,
    number: !content.texts.includes(i),
    sentences: content.rows.some((row) => typeof row[i] === 'object'),
  }));
  return [
    ...(pairs.length ? [table([plain(''), plain('')], pairs)] : []),
    ...(content && columns
      ? [
          table(
            columns,
            content.rows.map((row) => row.map(cellText)),
          ),
        ]
      : []),
    ...lines.map((line) => `<p>${escapeXml(cut(line, LONGEST))}</p>`),
  ].join('\n');
}

/** A table of the catalogue, in some of its columns. */
function catalogueTable<Row, C extends Columns<Row>>(
  facts: Facts,
  { rows }: Table<Row>,
  columns: C,
  names: readonly (keyof C & string)[],
): string {
  const shown = names.map((name) => columns[name]!);
  const all = facts.get(rows);
  return table(
    shown.map(({ title, unit }) => ({ title, number: isNumeric(unit), code: unit === 'code' })),
    Array.from({ length: all.count }, (_, i) => {
      if (i >= MAX_ROWS) return [];
      const row = all.at(i);
      return shown.map((column, at) => shownCell(names[at]!, column, row));
    }),
  );
}

/** A damaged file can hold any number here. */
function recordedAt(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? 'at an unknown time' : date.toISOString();
}

/** The report as text. @param title what it is called: the trace's name */
export function htmlReport(store: TraceStore, title = 'vfscope trace'): string {
  const known = new Facts(store);
  const summary = known.get(summaryFact);
  const legend = ACTIVITIES.map((a, i) =>
    i ? `<span><i style="background:${ACTIVITY_COLORS[i]}"></i>${a}</span>` : '',
  ).join('');
  const timeline = svgTimeline(store);
  const { blocks } = reportOf(known, { most: MAX_FINDINGS * 2 });
  const parts = (heading: string): [string, string][] =>
    blocks.filter((b) => b.heading === heading).map((b) => [heading, blockHtml(b)]);
  const sections: [string, string][] = [
    ['Summary', facts(summary)],
    ...parts('To mind'),
    ...parts('Findings'),
    [
      'Timeline',
      timeline
        ? `<p class="legend">${legend}</p><div class="box">${timeline}</div>`
        : '<p>The trace holds no calls.</p>',
    ],
    [
      'Files',
      catalogueTable(known, fileTable, fileColumns, [
        'path',
        'kind',
        'reads',
        'read_bytes',
        'writes',
        'write_bytes',
        'syncs',
        'dur',
      ]),
    ],
    [
      'Statements',
      catalogueTable(known, statementTable, statementColumns, [
        'fingerprint',
        'executions',
        'dur',
        'share',
        'p50',
        'vfs_calls',
      ]),
    ],
    [
      'Threads',
      catalogueTable(known, threadTable, threadColumns, ['title', 'url', 'events', 'note']),
    ],
  ];
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width"><title>${escapeXml(title)}</title><style>${CSS}</style></head><body>
<h1>${escapeXml(title)}</h1><p class="note">Recorded ${recordedAt(store.originMs)}. A call inside another call counts in both their times.</p>
${sections.map(([name, content]) => `<section><h2>${name}</h2>${content}</section>`).join('\n')}
</body></html>
`;
}
