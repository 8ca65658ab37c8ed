/**
 * A script's statements in as few transactions as SQLite allows: the script's cost if its author
 * groups them.
 */
import { statementsIn, tokens } from '../../../sqlite/sql-text.ts';

/** Statements that can't be in a transaction, or that would end it. */
const OUTSIDE: ReadonlySet<string> = new Set(['pragma', 'vacuum', 'attach', 'detach', 'rollback']);
const TO_SAVEPOINT = /^rollback\b(?:\s+transaction\b)?\s+to\b/i;

function firstWord(sql: string): string {
  for (const { kind, text } of tokens(sql)) if (kind === 'word') return text.toLowerCase();
  return '';
}

/**
 * Single statements and committed transactions become one transaction. A rolled-back transaction
 * stays separate.
 */
export function inOneTransaction(script: string): string {
  const out: string[] = [];
  let open = false;
  /** Statements of the script's open transaction, its BEGIN first. */
  let own: string[] | null = null;
  const close = (): void => {
    if (open) out.push('COMMIT');
    open = false;
  };
  const take = (statements: readonly string[]): void => {
    if (statements.length && !open) out.push('BEGIN');
    open ||= statements.length > 0;
    out.push(...statements);
  };
  for (const sql of statementsIn(script)) {
    const word = firstWord(sql);
    if (own) {
      own.push(sql);
      const committed = word === 'commit' || word === 'end';
      if (!committed && !(word === 'rollback' && !TO_SAVEPOINT.test(sql))) continue;
      if (committed) take(own.slice(1, -1));
      else {
        close();
        out.push(...own);
      }
      own = null;
    } else if (word === 'begin') own = [sql];
    else if (OUTSIDE.has(word)) {
      close();
      out.push(sql);
    } else take([sql]);
  }
  close();
  return [...out, ...(own ?? [])].map((sql) => `${sql};\n`).join('');
}
