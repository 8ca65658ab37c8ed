/**
 * The advisor's input from a recording: statements that read or change rows and how often they ran,
 * the most time first.
 */
import type { Facts } from '../../analysis/core/graph.ts';
import { fingerprintsOf } from '../../analysis/core/fingerprints.ts';
import { getOrMake } from '../../analysis/core/maps.ts';
import type { RecordedRuns } from '../experiments/engine/plan.ts';
import { recordedSchemas } from '../../analysis/statements/recorded-schema.ts';
import { statementTable, type StatementRow } from '../../analysis/statements/statement-table.ts';
import { statementKind } from '../../sqlite/statement-kind.ts';
import { isLeaf, isSign, isWord, sqlTree } from './sql-tree.ts';
import type { LeftOut } from './advice.ts';

export interface RecordedStatement extends Readonly<RecordedRuns> {
  /** As first recorded. */
  readonly text: string;
  readonly fingerprint: string;
  readonly kind: 'select' | 'insert' | 'update' | 'delete';
  /** Values of one run as SQL literals; null: not recorded, or not complete. */
  readonly values: readonly string[] | null;
}
export interface Recorded {
  readonly statements: readonly RecordedStatement[];
  /** INSERTs that read tables, or whose triggers do. */
  readonly inserting: readonly RecordedStatement[];
  /** The app had foreign keys enabled. */
  readonly foreignKeys: boolean;
  /** INSERTs by table. Table names are in lower case. */
  readonly inserts: ReadonlyMap<string, number>;
  readonly leftOut: readonly LeftOut[];
}

const MOST_STATEMENTS = 200;

/** The runs of a row in the table of statements. */
export const recordedRuns = ({ executions, rows, pages }: StatementRow): RecordedRuns => ({
  runs: executions,
  recordedRows: rows,
  recordedPages: pages && pages.read + pages.walRead,
});

/** @throws Error with a message for the user where it has no statement texts */
export function recordedOf(facts: Facts): Recorded {
  const texts = textsOf(facts);
  const left = new Left();
  const statements: RecordedStatement[] = [];
  const inserting: RecordedStatement[] = [];
  const inserts = new Map<string, number>();
  for (const row of facts.get(statementTable)?.rows ?? []) {
    if (row.text === null || row.executions === 0) continue;
    const kind = statementKind(row.text);
    if (kind === 'insert') {
      const table = intoOf(row.text);
      if (table) inserts.set(table, (inserts.get(table) ?? 0) + row.executions);
    }
    if (kind !== 'select' && kind !== 'insert' && kind !== 'update' && kind !== 'delete') continue;
    const list = kind === 'insert' ? inserting : statements;
    if (row.truncated) left.add('Their text was cut in the recording', row.text);
    else if (list.length === MOST_STATEMENTS)
      left.add(`Only the ${MOST_STATEMENTS} that took longest are tried`, row.text);
    else
      list.push({
        text: texts.get(row.text) ?? row.text,
        fingerprint: row.text,
        kind,
        ...recordedRuns(row),
        values:
          row.bound?.examples.find(
            ({ values, left: cut }) => cut === 0 && values.every((value) => !value.endsWith('…')),
          )?.values ?? null,
      });
  }
  if (statements.length === 0)
    throw new Error(
      'The recording has no SELECT, UPDATE, or DELETE. Record again with SQL text captured.',
    );
  const foreignKeys = facts.get(recordedSchemas).some((schema) => schema.foreignKeys);
  return { statements, inserting, foreignKeys, inserts, leftOut: left.list() };
}

/** The first complete text of each fingerprint. */
function textsOf({ store }: Facts): Map<string, string> {
  const texts = new Map<string, string>();
  for (const thread of store.threads) {
    const printOf = fingerprintsOf(thread);
    for (const [id, d] of thread.definitions) {
      const print = d.kind === 'sql' && d.truncated !== true ? printOf(id) : null;
      if (print !== null && d.kind === 'sql' && !texts.has(print)) texts.set(print, d.text);
    }
  }
  return texts;
}

/** The table of an INSERT, in lower case; null = not found, or in an attached database. */
function intoOf(sql: string): string | null {
  try {
    const nodes = sqlTree(sql);
    const at = nodes.findIndex((node) => isWord(node, 'into')) + 1;
    const [first, dot, second] = nodes.slice(at);
    const isQualified = isSign(dot, '.');
    if (isQualified && !(isLeaf(first) && first.name === 'main')) return null;
    const name = isQualified ? second : first;
    return isLeaf(name) ? name.name : null;
  } catch {
    return null; // a cut text: its table isn't known
  }
}

/** Skipped statements, by cause. */
export class Left {
  private readonly by = new Map<string, { prints: Set<string>; times: number }>();
  /** @param print its fingerprint, or its text */
  add(why: string, print: string): void {
    const left = getOrMake(this.by, why, () => ({ prints: new Set<string>(), times: 0 }));
    left.prints.add(print);
    left.times++;
  }
  /** @param each counts every addition; else only the first */
  list(each = false): LeftOut[] {
    return [...this.by].map(([why, { prints, times }]) => ({
      why,
      statements: each ? times : prints.size,
      example: [...prints][0]!,
    }));
  }
}
