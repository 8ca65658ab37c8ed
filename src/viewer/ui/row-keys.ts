/** What rows of tables are called where they are chosen, in the view itself or by a link from another. */
import type { StatementRow } from '../../analysis/statements/statement-table.ts';
import type { FileLine } from '../../protocol/answers/files.ts';

/** Stable over updates: texts that were cut stand apart from whole ones. */
export const statementKey = ({
  text,
  truncated,
}: Pick<StatementRow, 'text' | 'truncated'>): string => `${truncated ? 1 : 0}${text ?? '\0'}`;

export const fileKey = ({
  kind,
  path,
  origin,
}: Pick<FileLine, 'kind' | 'path' | 'origin'>): string =>
  origin ? `${kind} ${path} ${origin}` : `${kind} ${path}`;
