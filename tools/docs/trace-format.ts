// The table of columns in docs/trace-format.md. The rest is written by hand.
import { readFileSync, writeFileSync } from 'node:fs';
import { COLUMNS } from '../../src/trace/file/chunk-columns.ts';
import { markdown } from './support-page.ts';

const PAGE = 'docs/trace-format.md';
const TABLE = /(<!-- columns: npm run docs -->\n)[^]*?(<!-- \/columns -->)/;

/** The page with its table updated. @param page its current text */
export function traceFormatDoc(page: string): string {
  const rows = COLUMNS.map(({ number, field, as, against, range }) => [
    String(number),
    `\`${field}\``,
    as,
    against,
    range.join(' to '),
  ]);
  const table = markdown([['column', 'field', 'as', 'against', 'numbers'], ...rows]);
  return page.replace(TABLE, (_, begin: string, end: string) => `${begin}\n${table}\n\n${end}`);
}

/** Writes the page. */
export const write = (): void => writeFileSync(PAGE, traceFormatDoc(readFileSync(PAGE, 'utf8')));
