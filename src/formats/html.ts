/**
 * A report in one HTML file, with a static timeline. No script, nothing loaded from elsewhere (its own policy forbids both), everything
 * from the traced page escaped.
 */
import { Facts } from '../analysis/core/graph.ts';
import { cellText, type Block, type Cell, type ReportTable } from '../analysis/report/blocks.ts';
import { FINDINGS, reportOf } from '../analysis/report/report.ts';
import { cut } from '../text/clean.ts';
import { ACTIVITIES } from '../event/operations.ts';
import type { TraceStore } from '../trace/store.ts';
import { escapeXml } from './escape.ts';
import { ACTIVITY_COLORS, svgTimeline } from './svg-timeline.ts';

const MAX_ROWS = 200;
/** Characters of a cell: a page names its files as it likes. */
const LONGEST = 10_000;
const CSS = `:root{color-scheme:light dark;--line:#8884}body{font:14px/1.45 system-ui,sans-serif;max-width:1100px;margin:2em auto;padding:0 1em}
h1{font-size:1.4em;margin-bottom:.2em}h2{font-size:1.1em;margin-top:1.8em}table{border-collapse:collapse;width:100%}
th,td{padding:.25em .6em;text-align:left;border-bottom:1px solid var(--line);vertical-align:top}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
td.s{min-width:15em}code{font:12px/1.4 ui-monospace,monospace;overflow-wrap:anywhere}.box{overflow-x:auto}svg{width:100%;min-width:700px;height:auto;color:CanvasText}
svg text{fill:currentColor;font:11px system-ui,sans-serif}svg .thread{font-weight:600}svg .lane{text-anchor:end}svg .tick{text-anchor:middle;font-size:10px}
.legend span{display:inline-block;margin-right:1.2em}.legend i{display:inline-block;width:.8em;height:.8em;margin-right:.4em;border-radius:2px}.note{opacity:.75}`;

const escaped = (text: string): string => escapeXml(cut(text, LONGEST));
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Numbers stand right; whole sentences are not squeezed to a word a line on a narrow screen. */
function tableHtml({ head, rows, texts, code }: ReportTable): string {
  const classes = head.map((_, i) =>
    !texts.includes(i)
      ? ' class="n"'
      : rows.some((row) => typeof row[i] === 'object')
        ? ' class="s"'
        : '',
  );
  const td = (cell: Cell, i: number): string => {
    const text = escaped(cellText(cell));
    return `<td${classes[i]}>${code?.includes(i) ? `<code>${text}</code>` : text}</td>`;
  };
  const titles = head.map((title, i) => `<th${classes[i]}>${escaped(capital(title))}</th>`);
  const body = rows.map((row) => `<tr>${row.map(td).join('')}</tr>`).join('\n');
  return `<div class="box"><table><thead><tr>${titles.join('')}</tr></thead><tbody>\n${body}\n</tbody></table></div>`;
}

const factsHtml = (facts: NonNullable<Block['facts']>): string =>
  `<div class="box"><table><tbody>\n${facts.map(([label, value]) => `<tr><td>${escaped(capital(label))}</td><td>${escaped(value)}</td></tr>`).join('\n')}\n</tbody></table></div>`;

const section = (heading: string, content: string): string =>
  `<section><h2>${escaped(heading)}</h2>${content}</section>`;

const blockHtml = ({ heading, facts, table, lines = [] }: Block): string =>
  section(
    heading,
    [
      ...(facts ? [factsHtml(facts)] : []),
      ...(table ? [tableHtml(table)] : []),
      ...lines.map((line) => `<p>${escaped(line)}</p>`),
    ].join('\n'),
  );

function timeline(store: TraceStore): string {
  const picture = svgTimeline(store);
  if (!picture) return section('Timeline', '<p>The trace holds no calls.</p>');
  const legend = ACTIVITIES.map((a, i) =>
    i ? `<span><i style="background:${ACTIVITY_COLORS[i]}"></i>${a}</span>` : '',
  );
  return section(
    'Timeline',
    `<p class="legend">${legend.join('')}</p><div class="box">${picture}</div>`,
  );
}

/** A damaged file can hold any number here. */
function recordedAt(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? 'at an unknown time' : date.toISOString();
}

/** The report as text, what to do before the long tables. @param title what it is called: the trace's name */
export function htmlReport(store: TraceStore, title = 'vfscope trace'): string {
  const report = reportOf(new Facts(store), { most: MAX_ROWS, longest: LONGEST });
  const long = report.blocks.findIndex(({ table }) => table);
  const findings = report.blocks.filter(({ heading }) => heading === FINDINGS);
  const tables = report.blocks.slice(long).filter((block) => !findings.includes(block));
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width"><title>${escapeXml(title)}</title><style>${CSS}</style></head><body>
<h1>${escapeXml(title)}</h1><p class="note">${escaped(report.title)}. Recorded ${recordedAt(store.originMs)}.</p>
${[...report.blocks.slice(0, long), ...findings].map(blockHtml).join('\n')}
${timeline(store)}
${tables.map(blockHtml).join('\n')}
</body></html>
`;
}
