/**
 * A report as GitHub's Markdown, for an issue: `vfscope summary --markdown`, and Copy as Markdown.
 * The page's texts can't become markup: HTML, links, mentions, references to other issues, or the
 * end of a table cell or code span.
 */
import { cellText, type Block, type Report } from './blocks.ts';
import { plain, shown } from '../../text/clean.ts';

/** Escapes the texts of the trace. */
export function reportMarkdown(report: Report): string {
  return [`### ${escaped(report.title)}`, ...report.blocks.map(block)].join('\n\n') + '\n';
}

/**
 * Markdown's special characters, and those that GitHub interprets (`@name`, `#1`, `:smile:`,
 * `https://`, `www.`).
 */
const SPECIAL = /[\\`*_[\]<>#|~@&$]|:(?=[a-z/])|(?<=www)\./gi;

/** Escapes any text so that it is shown unchanged. */
const escaped = (text: string): string =>
  plain(text).replace(SPECIAL, (c) => (c === '@' ? '&#64;' : c === '#' ? '&#35;' : `\\${c}`));

/** A statement as code. A bar would end the cell even in code; two backticks can contain one. */
function code(text: string): string {
  const clean = shown(text).replaceAll('|', '\\|');
  return clean.includes('`') ? `\`\` ${clean.replace(/`{2,}/g, "'")} \`\`` : `\`${clean}\``;
}

function block({ heading, facts, table, lines = [] }: Block): string {
  const parts = [`#### ${escaped(heading)}`];
  if (facts)
    parts.push(
      facts.map(([label, value]) => `- ${escaped(label)}: ${escaped(shown(value))}`).join('\n'),
    );
  if (table) {
    const { head, rows, texts, code: sql } = table;
    const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
    parts.push(
      [
        line(head.map(escaped)),
        line(head.map((_, i) => (texts.includes(i) ? '---' : '---:'))),
        ...rows.map((row) =>
          line(
            row.map((cell, i) =>
              sql?.includes(i) ? code(cellText(cell)) : escaped(shown(cellText(cell))),
            ),
          ),
        ),
      ].join('\n'),
    );
  }
  if (lines.length) parts.push(lines.map((line) => `- ${escaped(shown(line))}`).join('\n'));
  return parts.join('\n\n');
}
