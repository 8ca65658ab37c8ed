/**
 * A workload with its bound values written into its SQL, for places where nothing can be bound,
 * such as the sqlite3 shell. If both sides use this, a native reference and a wasm build do the
 * same work.
 */
import { Kind, SqlScanner } from '../../../sqlite/sql-scan.ts';
import type { SqlStep, Step, Value, Workload } from '../model/types.ts';

/** A value as SQL has it. */
export function literal(value: Value): string {
  if (value === null) return 'NULL';
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'NULL';
  if (typeof value === 'string') return `'${value.replaceAll("'", "''")}'`;
  return `x'${Array.from(value, (byte) => byte.toString(16).padStart(2, '0')).join('')}'`;
}

/** The text between parameters, and the indices of the parameters' values, from 0. */
interface Template {
  readonly texts: readonly string[];
  readonly places: readonly number[];
}
function templateOf(sql: string): Template {
  const units = Uint16Array.from(sql, (_, i) => sql.charCodeAt(i));
  const scanner = new SqlScanner(-1);
  const texts: string[] = [];
  const places: number[] = [];
  const named = new Map<string, number>();
  let [begin, most] = [0, 0];
  for (let at = 0; at < units.length;) {
    const end = scanner.next(units, at, units.length);
    if (scanner.kind === Kind.parameter) {
      const name = sql.slice(at, end);
      const number = /^\?\d+$/.test(name) ? Number(name.slice(1)) : named.get(name);
      const place = number ?? most + 1;
      if (name !== '?') named.set(name, place);
      most = Math.max(most, place);
      texts.push(sql.slice(begin, at));
      places.push(place - 1);
      begin = end;
    }
    at = end;
  }
  texts.push(sql.slice(begin));
  return { texts, places };
}

/** The end of a statement: after a comment, on a new line. */
const endOf = (sql: string): string => (sql.includes('--') ? '\n;\n' : ';\n');

/** One line per row of values. */
function filled(sql: string, rows: Iterable<readonly Value[]>): string {
  const { texts, places } = templateOf(sql);
  const last = texts.at(-1)!.replace(/[;\s]+$/, '');
  const end = endOf(last);
  const lines: string[] = [];
  for (const values of rows) {
    let line = '';
    places.forEach((place, i) => (line += texts[i]! + literal(values[place] ?? null)));
    lines.push(line + last + end);
  }
  return lines.join('');
}

const ended = (sql: string): string => (/;\s*$/.test(sql) ? `${sql}\n` : sql + endOf(sql));

/** The SQL of a step; null where the step works outside SQL. */
export function sqlOf(step: Step): string | null {
  switch (step.kind) {
    case 'sql':
      return ended(step.sql);
    case 'bound': {
      const all = filled(step.sql, step.rows);
      return step.oneTransaction ? `BEGIN;\n${all}COMMIT;\n` : all;
    }
    case 'sequence':
      return step.steps.map((part) => sqlOf(part) ?? '').join('');
    case 'transactions': {
      const all: string[] = [];
      for (let t = 0; t < step.transactions; t++)
        all.push(ended(step.begin), filled(step.sql, step.rows(t)), ended(step.commit));
      return all.join('');
    }
    default:
      return null;
  }
}

function* texts(steps: Iterable<Step>): Generator<Step> {
  for (const step of steps) {
    const sql = sqlOf(step);
    const { id, title } = step;
    if (sql === null) yield step;
    else yield { kind: 'sql', id, title, sql } satisfies SqlStep;
  }
}

export const asText = (workload: Workload): Workload => ({
  ...workload,
  setup: (p) => texts(workload.setup(p)),
  steps: (p) => texts(workload.steps(p)),
});
