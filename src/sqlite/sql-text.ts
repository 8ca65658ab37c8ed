/**
 * SQL text without its values, as strings. Every literal becomes `?`, so that values never leave
 * the page; names, comments, and parameters are unchanged. The tokenizer is sql-scan.ts, the
 * folding sql-fold.ts.
 */
import { SqlFolder } from './sql-fold.ts';
import { SqlScanner } from './sql-scan.ts';

type TokenKind =
  'space' | 'comment' | 'word' | 'quoted' | 'string' | 'blob' | 'number' | 'parameter' | 'other';
interface Token {
  kind: TokenKind;
  text: string;
}

/** By `Kind` of sql-scan.ts. */
const KINDS: readonly TokenKind[] = [
  'space',
  'comment',
  'word',
  'quoted',
  'string',
  'blob',
  'number',
  'parameter',
  'other',
];
/** A string may contain NULs, so no unit ends it. */
const NO_STOP = -1;

function unitsOf(sql: string): Uint16Array {
  const units = new Uint16Array(sql.length);
  for (let i = 0; i < sql.length; i++) units[i] = sql.charCodeAt(i);
  return units;
}

/** Every token in order. Joined, their texts are the input. */
export function* tokens(sql: string): Generator<Token> {
  const units = unitsOf(sql);
  const scanner = new SqlScanner(NO_STOP);
  for (let i = 0; i < sql.length;) {
    const end = scanner.next(units, i, sql.length);
    yield { kind: KINDS[scanner.kind]!, text: sql.slice(i, end) };
    i = end;
  }
}

/**
 * The text with every literal and its sign as `?`. A list after IN becomes `(?, ...)`, and rows of
 * VALUES after the first become `, ...`, because their number isn't part of the shape. Everything
 * else is unchanged.
 */
export function foldLiterals(sql: string): string {
  const folder = new SqlFolder((length) => new Uint16Array(length), NO_STOP);
  folder.fold(unitsOf(sql), 0, sql.length, false);
  if (!folder.changed) return sql;
  let folded = '';
  // in pieces, because a function only takes so many arguments
  for (let i = 0; i < folder.length; i += 4096)
    folded += String.fromCharCode(...folder.out.subarray(i, Math.min(folder.length, i + 4096)));
  return folded;
}

/**
 * The statements of a script, without their semicolons. The body of a trigger is part of its
 * statement. Comments at the end aren't statements.
 */
export function statementsIn(script: string): string[] {
  const folder = new SqlFolder((length) => new Uint16Array(length), NO_STOP);
  const units = unitsOf(script);
  const found: string[] = [];
  for (let at = 0; at < script.length;) {
    const end = folder.fold(units, at, script.length, true);
    const text = script.slice(at, end).trim();
    if ([...tokens(text)].some(({ kind }) => kind !== 'space' && kind !== 'comment'))
      found.push(text);
    at = end + 1;
  }
  return found;
}

/**
 * The shape of a statement, which is the same for all runs of a query: folded, without comments,
 * with single spaces, and with keywords and unquoted names in lower case.
 */
export function fingerprint(sql: string): string {
  let out = '';
  let gap = false;
  for (const { kind, text } of tokens(foldLiterals(sql))) {
    if (kind === 'space' || kind === 'comment') {
      gap = out !== '';
      continue;
    }
    if (gap) out += ' ';
    gap = false;
    out += kind === 'word' ? text.toLowerCase() : text;
  }
  return out.replace(/(?: ?;)+$/, '');
}
