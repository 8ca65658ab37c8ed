// The tables of a fleet's data set in docs/fleet.md, between its two marks. The rest is written by
// hand.
import { wrapped } from './wrap.ts';
import { readFileSync, writeFileSync } from 'node:fs';
import { FLEET_TABLES } from '../../src/fleet/tables.ts';
import type { ColumnType } from '../../src/formats/tables.ts';

const PAGE = 'docs/fleet.md';
const MARKED = /(<!-- tables: npm run docs -->\n)[^]*(<!-- end of tables -->)/;
/** DuckDB's names for them. */
const TYPES: Readonly<Record<ColumnType, string>> = {
  int32: 'INTEGER',
  int64: 'BIGINT',
  double: 'DOUBLE',
  text: 'VARCHAR',
};

/** The page with its tables updated. @param page its current text */
export function tablesDoc(page: string): string {
  const sections = [...FLEET_TABLES.values()].map(({ name, help, columns }) =>
    [
      `### ${name}`,
      `${help}.`,
      [
        '| column | type | meaning |',
        '| --- | --- | --- |',
        ...columns.map(
          (c) => `| \`${c.name}\` | ${TYPES[c.type]} | ${c.help.replaceAll('|', '\\|')} |`,
        ),
      ].join('\n'),
    ].join('\n\n'),
  );
  return wrapped(
    page.replace(MARKED, (_, begin: string, end: string) =>
      [begin, ...sections, end]
        .join('\n')
        .replaceAll('\n### ', '\n\n### ')
        .replace(/\n{3,}/g, '\n\n'),
    ),
  );
}

/** Writes the page. */
export const write = (): void => writeFileSync(PAGE, tablesDoc(readFileSync(PAGE, 'utf8')));
