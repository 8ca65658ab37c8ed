/**
 * What a statement does, from its text: its first word, or the one after EXPLAIN and common table
 * expressions.
 */
import { tokens } from './sql-text.ts';

/** By the number in lanes; 0 = none. */
export const STATEMENT_KINDS = [
  'none',
  'other',
  'select',
  'insert',
  'update',
  'delete',
  'schema',
  'transaction',
] as const;
export type StatementKind = (typeof STATEMENT_KINDS)[number];

const KIND_OF_WORD: Readonly<Record<string, StatementKind>> = {
  select: 'select',
  values: 'select',
  insert: 'insert',
  replace: 'insert',
  update: 'update',
  delete: 'delete',
  create: 'schema',
  alter: 'schema',
  drop: 'schema',
  reindex: 'schema',
  vacuum: 'schema',
  analyze: 'schema',
  begin: 'transaction',
  commit: 'transaction',
  end: 'transaction',
  rollback: 'transaction',
  savepoint: 'transaction',
  release: 'transaction',
};
/** Words that end a WITH clause, outside its parentheses. */
const VERBS: ReadonlySet<string> = new Set([
  'select',
  'values',
  'insert',
  'replace',
  'update',
  'delete',
]);

/** A text of several statements has the kind of the first. */
export function statementKind(sql: string): StatementKind {
  let depth = 0;
  let inWith = false;
  for (const { kind, text } of tokens(sql)) {
    if (text === '(') depth++;
    else if (text === ')') depth--;
    if (kind !== 'word' || depth > 0) continue;
    const word = text.toLowerCase();
    if (inWith ? VERBS.has(word) : word in KIND_OF_WORD) return KIND_OF_WORD[word]!;
    if (word === 'with') inWith = true;
    else if (!inWith && word !== 'explain' && word !== 'query' && word !== 'plan') return 'other';
  }
  return 'other';
}

/** The same as a number: its place in STATEMENT_KINDS. */
export const statementCode = (sql: string): number => STATEMENT_KINDS.indexOf(statementKind(sql));
