/**
 * Makes a recorded statement one that SQLite can prepare: a recording folds lists of values into
 * `(?, ...)`.
 */
import { tokens } from './sql-text.ts';

/** Values in an opened `IN (?, ...)`. */
const LIST = '?, ?, ?';
/**
 * How a recording folds them, token by token: `?, ...` in a list, and `), ...` after the first row
 * of VALUES.
 */
const FOLDED_LIST = '? , space . . .';
const FOLDED_ROWS = ') , space . . .';

/**
 * Removes comments, opens lists, and drops the rows of VALUES after the first and the semicolon at
 * the end.
 */
export function opened(sql: string): string {
  const parts: string[] = [];
  const shape: string[] = [];
  for (const { kind, text } of tokens(sql)) {
    parts.push(kind === 'comment' ? ' ' : text);
    shape.push(kind === 'other' || text === '?' ? text : kind);
    const last = shape.slice(-6).join(' ');
    if (last !== FOLDED_LIST && last !== FOLDED_ROWS) continue;
    parts.splice(-6, 6, last === FOLDED_LIST ? LIST : ')');
    shape.splice(-6, 6, 'list');
  }
  return parts
    .join('')
    .trim()
    .replace(/[\s;]+$/, '');
}
