/**
 * What a statement does to a schema, from its text: CREATE, DROP, or ALTER, the kind of object, and
 * its name.
 */
import { tokens } from './sql-text.ts';

export interface SchemaStatement {
  readonly verb: 'create' | 'drop' | 'alter';
  readonly what: 'table' | 'index' | 'view' | 'trigger' | 'virtual table';
  /** Without quotes, as it was written. */
  readonly name: string;
  /** The name's schema: `main`, `temp`, or an attached database; null = not written. */
  readonly schema: string | null;
  readonly temporary: boolean;
  /** Of a created index or trigger. */
  readonly table: string | null;
  /** CREATE TABLE ... AS SELECT: its columns come from a query, which would have to run. */
  readonly fromQuery: boolean;
  /** Of a virtual table, in lower case. */
  readonly module: string | null;
}

/** A word of the statement in lower case, and as a name without quotes. */
interface Word {
  readonly word: string;
  readonly name: string;
}
/** Of a long statement, only its beginning is read. */
const MOST_TOKENS = 60;
const QUOTE: Readonly<Record<string, string>> = { '"': '"', '`': '`', "'": "'" };

/** A name without its quotes. */
export function unquoted(text: string): string {
  if (text.startsWith('[')) return text.slice(1, text.endsWith(']') ? -1 : undefined);
  const quote = QUOTE[text[0] ?? ''];
  return quote ? text.slice(1, -1).replaceAll(quote + quote, quote) : text;
}

function wordsOf(sql: string): Word[] {
  const words: Word[] = [];
  for (const { kind, text } of tokens(sql)) {
    if (kind === 'space' || kind === 'comment') continue;
    const isName = kind === 'quoted' || kind === 'string';
    words.push({
      word: kind === 'word' ? text.toLowerCase() : isName ? '' : text,
      name: unquoted(text),
    });
    if (words.length === MOST_TOKENS) break;
  }
  return words;
}

/** @param sql one statement @returns null for any other statement */
export function schemaStatementOf(sql: string): SchemaStatement | null {
  if (!/^\s*(?:create|drop|alter|--|\/\*)/i.test(sql)) return null;
  const words = wordsOf(sql);
  let at = 0;
  const takes = (...wanted: string[]): boolean => {
    const fits = wanted.every((word, i) => words[at + i]?.word === word);
    if (fits) at += wanted.length;
    return fits;
  };
  const verb = (['create', 'drop', 'alter'] as const).find((word) => takes(word));
  if (!verb) return null;
  const temporary = takes('temp') || takes('temporary');
  const isVirtual = takes('virtual');
  takes('unique');
  const kind = (['table', 'index', 'view', 'trigger'] as const).find((word) => takes(word));
  if (!kind) return null;
  if (!takes('if', 'not', 'exists')) takes('if', 'exists');
  const first = words[at++]?.name;
  if (first === undefined) return null;
  const second = takes('.') ? words[at++]?.name : undefined;
  const behind = (word: string): string | null => {
    const place = words.findIndex((one, i) => i >= at && one.word === word);
    return (place >= 0 ? words[place + 1]?.name : undefined) ?? null;
  };
  return {
    verb,
    what: isVirtual ? 'virtual table' : kind,
    name: second ?? first,
    schema: second === undefined ? null : first,
    temporary,
    table: kind === 'index' || kind === 'trigger' ? behind('on') : null,
    fromQuery: kind === 'table' && verb === 'create' && words[at]?.word === 'as',
    module: isVirtual ? (behind('using')?.toLowerCase() ?? null) : null,
  };
}

/**
 * The first of the numbers that replace folded values. All differ, so that SQLite can't take one
 * for another.
 */
const FIRST_STAND_IN = 1_000_001;

/**
 * A recorded schema statement that SQLite accepts: a recording folds literals to `?`, which isn't
 * allowed in a schema.
 * @returns `folded`: numbers stand for unknown values
 */
export function withStandIns(sql: string): { sql: string; folded: boolean } {
  // with a sign, ORDER BY can't take it for a column's number; a length in a type can't have one
  const sign = schemaStatementOf(sql)?.what === 'table' ? '' : '+';
  let next = FIRST_STAND_IN;
  let folded = false;
  let out = '';
  for (const { kind, text } of tokens(sql)) {
    folded ||= kind === 'parameter';
    out += kind === 'parameter' ? `${sign}${next++}` : text;
  }
  return { sql: out, folded };
}
