/** The queries of docs/fleet.md as documented, for each engine that reads the data set. */
import { readFileSync } from 'node:fs';

/** Returns how an engine refers to the files of a table. */
export type Source = (table: string) => string;

/**
 * SQL of each block in the section "Questions", by its first comment.
 * @param of replaces `read_parquet('fleet/TABLE/...')`
 */
export function questions(of: Source): Map<string, string> {
  const page = readFileSync('docs/fleet.md', 'utf8');
  const [, blocks = ''] = /## Questions\n[^]*?```sql\n([^]*?)```/.exec(page) ?? [];
  return new Map(
    blocks
      .trim()
      .split('\n\n')
      .map((sql) => {
        const [comment = '', ...rest] = sql.split('\n');
        const text = rest
          .join('\n')
          .replace(/read_parquet\('fleet\/(\w+)\/\*\/\*\.parquet'\)/g, (_, table: string) =>
            of(table),
          );
        return [comment.replace(/^-- /, ''), text.replace(/;\s*$/, '')];
      }),
  );
}

/**
 * Rows in a form that is the same for all engines: numbers with six digits, dates and texts as
 * text.
 */
export const comparable = (rows: readonly Readonly<Record<string, unknown>>[]): string[] =>
  rows.map((row) =>
    Object.values(row)
      .map((value) =>
        value === null || value === undefined
          ? 'null'
          : typeof value === 'string' && Number.isNaN(Number(value))
            ? value
            : String(Number(Number(value).toPrecision(6))),
      )
      .join(' | '),
  );
