/** Count mode in detail, results side by side: instructions by statement, and between VFS calls. Exact, so differences are, too. */
import type { Counters, RunResult, StatementCount } from './types.ts';

type Maybe = RunResult | null;
export interface StatementRow {
  /** '' = what belongs to no statement. */
  readonly sql: string;
  /** One a result; null where it ran no such statement. */
  readonly cells: readonly (Omit<StatementCount, 'sql'> | null)[];
}
export interface GapRow {
  readonly kind: string;
  readonly method: string;
  /** `instructions` = executed before these calls, since the calls before them; null where there was no such call. */
  readonly cells: readonly ({ readonly calls: number; readonly instructions: number } | null)[];
}

/** @param step id of a step, or `total` for all @returns the dearest first, by the first result that has it; [] in time mode */
export function statementRows(results: readonly Maybe[], step: string): StatementRow[] {
  const sums = results.map((result) => statementsOf(result, step));
  const texts = [...new Set(sums.flatMap((sum) => [...sum.keys()]))];
  const rows = texts.map((sql): StatementRow => ({
    sql,
    cells: sums.map((sum) => sum.get(sql) ?? null),
  }));
  const weight = ({ cells }: StatementRow): number =>
    cells.find((cell) => cell !== null)?.instructions ?? 0;
  return rows.sort((a, b) => Number(a.sql === '') - Number(b.sql === '') || weight(b) - weight(a));
}

function statementsOf(result: Maybe, step: string): Map<string, Omit<StatementCount, 'sql'>> {
  const sums = new Map<string, Omit<StatementCount, 'sql'>>();
  for (const { id, statements } of result?.steps ?? []) {
    if (step !== 'total' && id !== step) continue;
    for (const { sql, runs, instructions, calls } of statements ?? []) {
      const sum = sums.get(sql) ?? { runs: 0, instructions: 0, calls: 0 };
      sums.set(sql, {
        runs: sum.runs + runs,
        instructions: sum.instructions + instructions,
        calls: sum.calls + calls,
      });
    }
  }
  return sums;
}

const countersAt = (result: Maybe, step: string): Counters =>
  (step === 'total' ? result?.totals : result?.steps.find(({ id }) => id === step)?.counters) ?? {};

/** @param step as in `statementRows` @returns by kind of file and call; [] where no VFS was called or nothing was counted */
export function gapRows(results: readonly Maybe[], step: string): GapRow[] {
  const counters = results.map((result) => countersAt(result, step));
  const names = [...new Set(counters.flatMap((c) => Object.keys(c)))].flatMap(
    (name) => /^gap\.([a-z-]+)\.(x\w+)$/.exec(name) ?? [],
  );
  const rows: GapRow[] = [];
  for (let i = 0; i < names.length; i += 3) {
    const [kind, method] = [names[i + 1]!, names[i + 2]!];
    const cells = counters.map((c) => {
      const calls = c[`vfs.${kind}.${method}`];
      return calls ? { calls, instructions: c[`gap.${kind}.${method}`] ?? 0 } : null;
    });
    if (cells.some((cell) => cell !== null)) rows.push({ kind, method, cells });
  }
  const weight = ({ cells }: GapRow): number =>
    cells.find((cell) => cell !== null)?.instructions ?? 0;
  return rows.sort((a, b) => weight(b) - weight(a));
}

export interface FunctionRow {
  /** '' = all that are not listed. */
  readonly name: string;
  /** Own instructions, one a result; null where it executed none, or is not among those that are listed. */
  readonly cells: readonly (number | null)[];
}
/** @param step as in `statementRows` @returns the dearest first; names without a text are those of one wasm file: columns of others have their own rows */
export function functionRows(results: readonly Maybe[], step: string): FunctionRow[] {
  const modules = new Set(results.flatMap((result) => (result ? [moduleOf(result)] : [])));
  /** An index means something in its own module only. */
  const rowName = (name: string, result: RunResult): string =>
    name.startsWith('#') && modules.size > 1 ? `${name} of ${moduleOf(result)}` : name;
  const sums = results.map((result) => {
    const sum = new Map<string, number>();
    for (const { id, functions } of result?.steps ?? [])
      if (step === 'total' || id === step)
        for (const { name, instructions } of functions ?? [])
          sum.set(rowName(name, result!), (sum.get(rowName(name, result!)) ?? 0) + instructions);
    return sum;
  });
  const names = [...new Set(sums.flatMap((sum) => [...sum.keys()]))];
  const rows = names.map((name): FunctionRow => ({
    name,
    cells: sums.map((sum) => sum.get(name) ?? null),
  }));
  const weight = ({ cells }: FunctionRow): number => Math.max(...cells.map((cell) => cell ?? 0));
  return rows.sort(
    (a, b) => Number(a.name === '') - Number(b.name === '') || weight(b) - weight(a),
  );
}
const moduleOf = ({ run }: RunResult): string => `${run.config.engine} ${run.config.build}`;

/** `b - a` with its sign, `=` for none; digits in full. */
export function exactDifference(a: number, b: number): string {
  if (a === b) return '=';
  return `${b > a ? '+' : '−'}${Math.abs(b - a).toLocaleString('en-US')}`;
}
