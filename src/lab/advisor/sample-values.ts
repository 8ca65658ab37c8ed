/**
 * Turns a recorded statement into text that runs: without comments, with folded lists expanded, and
 * with literals for parameters. A recording folds values. So a parameter takes its recorded value
 * if there is one, else a value of the copy from the column that it is compared with, else NULL.
 */
import { tokens } from '../../sqlite/sql-text.ts';
import { quotedName } from './sql-tree.ts';
import type { TableInfo } from './schema.ts';
import type { TableUse } from './scopes.ts';
import type { ParameterUse, StatementUse } from './uses.ts';
import type { RecordedStatement } from './recorded.ts';
import type { TriedStatement } from './advice.ts';

type Ask = (sql: string) => Promise<unknown[][]>;

/**
 * Positions in the sorted values of a column: for an equality, and for the ends of ranges. A list
 * takes the first, then those of LIST_PLACES.
 */
const MEDIAN = 0.5;
const ENDS = { from: 0.9, to: 0.1 };
const BOTH_ENDS = { from: 0.45, to: 0.55 };
const LIST_PLACES = [0.25, 0.75];
const LONGEST_VALUE = 2000;

/**
 * Whether a text is a single literal: a recording's values come from the page, so they aren't
 * trusted.
 */
export function isLiteral(text: string): boolean {
  const parts = [...tokens(text)].filter(({ kind }) => kind !== 'space');
  if (parts.length === 2 && parts[0]!.text === '-') parts.shift();
  const [only] = parts;
  return (
    parts.length === 1 &&
    (only!.kind === 'number' ||
      only!.kind === 'string' ||
      only!.kind === 'blob' ||
      only!.text.toLowerCase() === 'null')
  );
}

/**
 * Numbers of parameters as SQLite assigns them: `?` the next, `?7` its own, and a name the same
 * number everywhere.
 */
export function numbersOf(parameters: readonly Pick<ParameterUse, 'leaf'>[]): number[] {
  const names = new Map<string, number>();
  let last = 0;
  return parameters.map(({ leaf: { text } }) => {
    const known = names.get(text);
    const number =
      text === '?' ? last + 1 : /^\?\d+$/.test(text) ? Number(text.slice(1)) : (known ?? last + 1);
    names.set(text, number);
    last = Math.max(last, number);
    return number;
  });
}

/**
 * The position of a value in a column's order, 0 to 1, and the fallback where the column has no
 * value.
 */
export interface StandIn {
  readonly place: number;
  readonly unknown: string | null;
}
const MIDDLE: StandIn = { place: MEDIAN, unknown: null };

export class SampleValues {
  private readonly known = new Map<string, Promise<string | null>>();
  private readonly rows = new Map<string, Promise<ReadonlyMap<string, string | null>>>();

  constructor(private readonly ask: Ask) {}

  /** @param sql as `opened` @param use of that text */
  async fill(
    sql: string,
    use: StatementUse,
    { values, recordedRows, runs }: Pick<RecordedStatement, 'values' | 'recordedRows' | 'runs'>,
    { place, unknown }: StandIn = MIDDLE,
  ): Promise<{ sql: string; values: TriedStatement['values'] }> {
    const { parameters } = use;
    if (parameters.length === 0) return { sql, values: 'none' };
    const numbers = numbersOf(parameters);
    const recorded =
      values && values.length === Math.max(...numbers) && values.every(isLiteral) ? values : null;
    const chosen = new Map<number, string | null>();
    const lists = new Map<TableUse, Map<string, number>>();
    for (const [i, parameter] of parameters.entries()) {
      const number = numbers[i]!;
      const taken = chosen.get(number);
      if (taken !== undefined && taken !== null) continue;
      const own = recorded?.[number - 1];
      const perRun = String(Math.max(1, Math.round(recordedRows / runs)));
      chosen.set(
        number,
        own ??
          (parameter.role === 'limit'
            ? perRun
            : parameter.role === 'offset'
              ? '0'
              : ((await this.fromCopy(parameter, parameters, lists, place)) ?? unknown)),
      );
    }
    let [out, at] = ['', 0];
    parameters.forEach(({ leaf }, i) => {
      out += `${sql.slice(at, leaf.at)}${chosen.get(numbers[i]!) ?? 'NULL'}`;
      at = leaf.at + leaf.text.length;
    });
    const missing = numbers.some((number) => chosen.get(number) === null);
    return {
      sql: out + sql.slice(at),
      values: recorded ? 'recorded' : missing ? 'null' : 'copy',
    };
  }

  private async fromCopy(
    parameter: ParameterUse,
    all: readonly ParameterUse[],
    lists: Map<TableUse, Map<string, number>>,
    middle: number,
  ): Promise<string | null> {
    const { beside, role } = parameter;
    if (!beside) return null;
    const { use, column } = beside;
    const { table } = use;
    const same = all.filter((other) => other.beside?.use === use);
    if (role === 'from' || role === 'to') {
      const both = same.some(
        (other) =>
          other.beside!.column === column && other.role === (role === 'from' ? 'to' : 'from'),
      );
      return this.at(table, column, (both ? BOTH_ENDS : ENDS)[role]);
    }
    if (role === 'pattern') {
      const value = await this.at(table, column, middle);
      // it isn't known whether the app's pattern has a fixed beginning, so no pattern here has one
      return value?.startsWith("'") ? `'%${value.slice(1, -1)}%'` : value;
    }
    const places = lists.get(use) ?? new Map<string, number>();
    lists.set(use, places);
    const place = places.get(column) ?? 0;
    places.set(column, place + 1);
    if (place > 0) return this.at(table, column, LIST_PLACES[(place - 1) % LIST_PLACES.length]!);
    // all equalities of one mention use the same row, so that they match together
    const columns = [
      ...new Set(same.filter((o) => o.role === 'equal').map((o) => o.beside!.column)),
    ];
    return (await this.row(table, columns, middle)).get(column) ?? this.at(table, column, middle);
  }

  /** The value at a position in a column's order, as a literal; null = none, or too long. */
  private at(table: TableInfo, column: string, share: number): Promise<string | null> {
    const key = JSON.stringify([table.name, column, share]);
    const found = this.known.get(key) ?? this.valueAt(table, column, share);
    this.known.set(key, found);
    return found;
  }
  private async valueAt(table: TableInfo, column: string, share: number): Promise<string | null> {
    const [t, c] = [quotedName(table.name), quotedName(table.columns.get(column) ?? column)];
    const [[value] = []] = await this.ask(
      `SELECT quote(${c}) FROM ${t} WHERE ${c} IS NOT NULL ORDER BY ${c} LIMIT 1 OFFSET (SELECT CAST(count(${c}) * ${share} AS INT) FROM ${t})`,
    );
    return short(value);
  }

  /** Values of the row at a position in the order of the first column. */
  private row(
    table: TableInfo,
    columns: readonly string[],
    share: number,
  ): Promise<ReadonlyMap<string, string | null>> {
    const key = JSON.stringify([table.name, columns, share]);
    const found = this.rows.get(key) ?? this.rowAt(table, columns, share);
    this.rows.set(key, found);
    return found;
  }
  private async rowAt(
    table: TableInfo,
    columns: readonly string[],
    share: number,
  ): Promise<ReadonlyMap<string, string | null>> {
    const names = columns.map((column) => quotedName(table.columns.get(column) ?? column));
    const [first] = names;
    const t = quotedName(table.name);
    const [row = []] = await this.ask(
      `SELECT ${names.map((name) => `quote(${name})`).join(', ')} FROM ${t} WHERE ${first} IS NOT NULL ORDER BY ${first} LIMIT 1 OFFSET (SELECT CAST(count(${first}) * ${share} AS INT) FROM ${t})`,
    );
    return new Map(columns.map((column, i) => [column, short(row[i])]));
  }
}

const short = (value: unknown): string | null =>
  typeof value === 'string' && value.length <= LONGEST_VALUE && value !== 'NULL' ? value : null;
