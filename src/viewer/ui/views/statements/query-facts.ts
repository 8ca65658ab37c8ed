/**
 * What SQLite's counters report about a statement's runs, for its page. Each is named like its
 * column.
 */
import { statementColumns } from '../../../../analysis/statements/table.ts';
import type { StatementRow } from '../../../../analysis/statements/statement-table.ts';
import { cellText } from '../../../../analysis/core/table.ts';

export interface QueryFact {
  title: string;
  text: string;
  help: string;
}
/** Shown even if they are 0. */
const ALWAYS = ['scanned', 'sorts', 'vm_steps'] as const;
const WHERE_ANY = [
  'auto_index_rows',
  'reprepares',
  'filter_hits',
  'filter_misses',
  'memory',
] as const;

/** Empty if no run was counted. */
export function queryFacts(statement: StatementRow): QueryFact[] {
  if (!statement.query) return [];
  return [...ALWAYS, ...WHERE_ANY].flatMap((name) => {
    const { title, help, unit, value } = statementColumns[name];
    const n = value(statement);
    const isSaid = ALWAYS.some((always) => always === name) || n;
    return isSaid ? [{ title, text: cellText(unit, n), help }] : [];
  });
}
