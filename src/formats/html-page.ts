/**
 * One HTML file with headings, facts, tables, and pictures. It has no scripts and loads nothing
 * (its own policy forbids both), and every text is escaped. The reports of traces and of the Lab
 * are made of these parts.
 */
import { cellText, type Block, type Cell, type ReportTable } from '../analysis/report/blocks.ts';
import { cut } from '../text/clean.ts';
import { escapeXml } from './escape.ts';
import { chartSvg, type Chart } from './svg-bars.ts';

/** Characters of a cell: a page chooses the names of its files. */
export const LONGEST = 10_000;
const CSS = `:root{color-scheme:light dark;--line:#8884}body{font:14px/1.45 system-ui,sans-serif;max-width:1100px;margin:2em auto;padding:0 1em}
h1{font-size:1.4em;margin-bottom:.2em}h2{font-size:1.1em;margin-top:1.8em}table{border-collapse:collapse;width:100%}
th,td{padding:.25em .6em;text-align:left;border-bottom:1px solid var(--line);vertical-align:top}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
td.s{min-width:15em}code{font:12px/1.4 ui-monospace,monospace;overflow-wrap:anywhere}.box{overflow-x:auto}svg{width:100%;min-width:700px;height:auto;color:CanvasText}
svg text{fill:currentColor;font:11px system-ui,sans-serif}svg .thread{font-weight:600}svg .lane{text-anchor:end}svg .tick{text-anchor:middle;font-size:10px}
.legend span{display:inline-block;margin-right:1.2em}.legend i{display:inline-block;width:.8em;height:.8em;margin-right:.4em;border-radius:2px}.note{opacity:.75}`;

const escaped = (text: string): string => escapeXml(cut(text, LONGEST));
/** Names of counters (`vfs.xSync`) and pragmas stay as they are. */
const capital = (text: string): string =>
  /^[^\W_]+[._]\w/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);

/**
 * Numbers are aligned right. A narrow screen doesn't squeeze whole sentences to one word a line.
 */
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

/** @param content HTML */
export const section = (heading: string, content: string): string =>
  `<section><h2>${escaped(heading)}</h2>${content}</section>`;

/** A block under its heading: facts, a table, lines. */
export const blockHtml = ({ heading, facts, table, lines = [] }: Block): string =>
  section(
    heading,
    [
      ...(facts ? [factsHtml(facts)] : []),
      ...(table ? [tableHtml(table)] : []),
      ...lines.map((line) => `<p>${escaped(line)}</p>`),
    ].join('\n'),
  );

/** Charts under a heading; nothing if there are none. */
export const chartsHtml = (heading: string, charts: readonly Chart[]): string[] =>
  charts.length
    ? [
        section(
          heading,
          charts.map((chart) => `<div class="box">${chartSvg(chart)}</div>`).join('\n'),
        ),
      ]
    : [];

/** @param body HTML of its sections, such as those of blockHtml */
export const htmlPage = ({
  title,
  note,
  body,
}: {
  readonly title: string;
  readonly note: string;
  readonly body: readonly string[];
}): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width"><title>${escapeXml(title)}</title><style>${CSS}</style></head><body>
<h1>${escapeXml(title)}</h1><p class="note">${escaped(note)}</p>
${body.join('\n')}
</body></html>
`;
