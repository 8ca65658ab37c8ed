/**
 * Tables that a query reads, from its text alone:
 *
 *   WITH late AS (SELECT * FROM notes WHERE ...) SELECT * FROM late JOIN tags ON ...       notes, tags
 *
 * A view reads more than its text shows, and a function may read anything, so the tables of a query
 * with one of them aren't known.
 */
import { tokens } from './sql-text.ts';

/** What is open: parentheses, and what may follow in them. */
interface Level {
  /** In a FROM clause: after a comma, another source follows. */
  from: boolean;
  /** A table, a subquery, or a join comes next. */
  source: boolean;
  /** In a WITH clause: after a comma, another common table expression follows. */
  withs: boolean;
  /** The name of a common table expression comes next. */
  name: boolean;
}
const level = (source = false): Level => ({ from: source, source, withs: false, name: false });

/** Functions in FROM that only read their arguments. */
const PURE: ReadonlySet<string> = new Set(['json_each', 'json_tree', 'jsonb_each', 'jsonb_tree']);
/** Words that can't be a name, and after which no source follows. */
const ENDS_FROM: ReadonlySet<string> = new Set(['where', 'group', 'having', 'order', 'limit']);

/** A name without its quotes, in lower case, as SQLite compares names. */
const plainName = (text: string): string =>
  (/^["`[]/.test(text) ? text.slice(1, -1).replaceAll('""', '"') : text).toLowerCase();

/**
 * @param isTable whether a name in lower case is that of a table, not of a view
 * @returns names in lower case; null = not known
 */
export function tablesRead(
  sql: string,
  isTable: (name: string) => boolean,
): ReadonlySet<string> | null {
  const all = [...tokens(sql)].filter(({ kind }) => kind !== 'space' && kind !== 'comment');
  const read = new Set<string>();
  const defined = new Set<string>();
  const open = [level()];
  for (let i = 0; i < all.length; i++) {
    const { kind, text } = all[i]!;
    const at = open.at(-1)!;
    const before = all[i - 1]?.text.toLowerCase();
    const next = all[i + 1]?.text;
    const word = kind === 'word' ? text.toLowerCase() : '';
    if (text === '(') {
      open.push(level(at.source));
      at.source = false;
    } else if (text === ')') {
      if (open.length === 1) return null;
      open.pop();
    } else if (text === ',') {
      at.source ||= at.from;
      at.name ||= at.withs;
    } else if (text === ';') return null;
    else if (word === 'select' || word === 'values') {
      Object.assign(at, level());
    } else if (word === 'with' && (before === undefined || before === '(')) {
      Object.assign(at, level(), { withs: true, name: true });
    } else if (at.name) {
      if (word === 'recursive') continue;
      defined.add(plainName(text));
      at.name = false;
    } else if (at.source) {
      if (kind !== 'word' && kind !== 'quoted') return null;
      let name = plainName(text);
      let behind = next;
      if (next === '.') {
        if (name !== 'main') return null;
        name = plainName(all[i + 2]?.text ?? '');
        behind = all[i + 3]?.text;
        i += 2;
      }
      at.source = false;
      if (behind === '(') {
        if (!PURE.has(name)) return null;
      } else if (isTable(name)) read.add(name);
      else if (!defined.has(name)) return null;
    } else if (word === 'join' || (word === 'from' && before !== 'distinct')) {
      at.from = true;
      at.source = true;
    } else if (word === 'in' && next !== '(') at.source = true;
    else if (ENDS_FROM.has(word)) at.from = false;
  }
  return read;
}
