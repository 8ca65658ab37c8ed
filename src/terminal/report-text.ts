/** A report in columns, for a terminal. */
import { cellText, type Block, type Report, type ReportTable } from '../analysis/report/blocks.ts';
import { cut, plain, shown } from '../text/clean.ts';

const WIDEST = 72;

/** Columns: text (the first by default) is left-aligned, numbers right-aligned. */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  texts: readonly number[] = [0],
): string[] {
  const widths = head.map((h, i) =>
    rows.reduce((most, row) => Math.max(most, row[i]!.length), h.length),
  );
  return [head, ...rows].map((row) =>
    `  ${row.map((cell, i) => (texts.includes(i) ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  ')}`.trimEnd(),
  );
}

/** Removes the trace's control characters before they reach the terminal. */
export function reportText(report: Report): string {
  return `${[shown(report.title), ...report.blocks.flatMap((block) => ['', ...blockLines(block)])].join('\n')}\n`;
}

function blockLines({ heading, facts = [], table: content, lines = [] }: Block): string[] {
  const widest = facts.reduce((most, [label]) => Math.max(most, label.length), 0);
  return [
    shown(heading),
    ...facts.map(([label, value]) => `  ${shown(label).padEnd(widest)}  ${shown(value)}`),
    ...(content?.rows.length ? tableLines(content) : []),
    ...lines.map((line) => `  ${shown(line)}`),
  ];
}

/** Wide cells go on separate lines below their row; empty ones are omitted. */
function tableLines({ head, rows, texts }: ReportTable): string[] {
  const wide = head.flatMap((_, i) => (rows.some((row) => typeof row[i] === 'object') ? [i] : []));
  const narrow = <T>(cells: readonly T[]): T[] => cells.filter((_, i) => !wide.includes(i));
  const columns = head.flatMap((_, i) => (wide.includes(i) ? [] : [texts.includes(i)]));
  const drawn = table(
    narrow(head).map(plain),
    rows.map((row) => narrow(row).map((cell) => plain(cut(cellText(cell), WIDEST)))),
    columns.flatMap((isText, i) => (isText ? [i] : [])),
  );
  return drawn.flatMap((line, i) => {
    const below = i === 0 ? [] : wide.map((w) => cellText(rows[i - 1]![w]!));
    return [line, ...below.filter(Boolean).map((text) => `    ${shown(text)}`)];
  });
}
