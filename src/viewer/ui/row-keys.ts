/** Keys of table rows, used to select them in the view itself or by a link from another view. */
import type { StatementRow } from '../../analysis/statements/statement-table.ts';
import type { FileLine } from '../../protocol/answers/files.ts';

/** Stable across updates: cut texts never equal whole ones. */
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
