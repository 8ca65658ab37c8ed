/** Count mode in detail, results side by side: instructions by statement, and between VFS calls. Exact, so differences are, too. */
import type { Counters, RunResult, StatementCount } from '../experiments/model/types.ts';
import { exactDifference, number, shortened, type ResultTable } from './table.ts';

type Maybe = RunResult | null;
interface StatementRow {
  /** '' = what belongs to no statement. */
  readonly sql: string;
  /** One a result; null where it ran no such statement. */
  readonly cells: readonly (Omit<StatementCount, 'sql'> | null)[];
}
interface GapRow {
  readonly kind: string;
  readonly method: string;
  /** `instructions` = executed before these calls, since the calls before them; null where there was no such call. */
  readonly cells: readonly ({ readonly calls: number; readonly instructions: number } | null)[];
}

/** @param step id of a step, or `total` for all @returns the dearest first, by the first result that has it; [] in time mode */
function statementRows(results: readonly Maybe[], step: string): StatementRow[] {
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
function gapRows(results: readonly Maybe[], step: string): GapRow[] {
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

interface FunctionRow {
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

interface Count {
  readonly n?: number;
  readonly instructions: number;
}
interface CountRow {
  readonly name: string;
  readonly cells: readonly (Count | null)[];
}
type Words = Pick<ResultTable, 'id' | 'title' | 'help'> & {
  readonly first: string;
  /** What `n` counts; absent: the rows have none. */
  readonly unit?: string;
};

/** @param names of the results, for the columns where there are several */
function countTable(
  { first, unit, ...words }: Words,
  rows: readonly CountRow[],
  results: readonly Maybe[],
  names: readonly string[],
): ResultTable {
  const several = results.length > 1;
  const two = results.length === 2;
  const each = (what: string): string[] =>
    several ? names.map((name) => `${what} ${name}`) : [what];
  const apart = (cells: CountRow['cells']): string => {
    const [a, b] = cells.map((cell) => cell?.instructions ?? 0) as [number, number]; // what is not there took none
    return results.includes(null) ? '' : a === b ? '0' : exactDifference(a, b);
  };
  const mean = (cell: Count | null): string =>
    cell?.n ? number(Math.round(cell.instructions / cell.n)) : '';
  return {
    ...words,
    head: [
      first,
      ...(unit ? each(unit) : []),
      ...each('instructions'),
      ...(two ? [`${names[1]} - ${names[0]}`] : []),
      ...(unit && !several ? ['each'] : []),
    ],
    ...shortened(rows, ({ name, cells }) => [
      name,
      ...(unit ? cells.map((cell) => number(cell?.n)) : []),
      ...cells.map((cell) => number(cell?.instructions)),
      ...(two ? [apart(cells)] : []),
      ...(unit && !several ? [mean(cells[0]!)] : []),
    ]),
  };
}

/**
 * Instructions by statement, and between VFS calls. @param step as in `statementRows` @param names of the results, for the columns where
 * there are several @returns tables without a row where nothing was counted
 */
export function cpuTables(
  results: readonly Maybe[],
  step: string,
  names: readonly string[],
): ResultTable[] {
  const statements = statementRows(results, step).map(({ sql, cells }) => ({
    name: sql || '(no statement: the script itself)',
    cells: cells.map((c) => c && { n: c.runs, instructions: c.instructions }),
  }));
  const gaps = gapRows(results, step).map(({ kind, method, cells }) => ({
    name: `${method} ${kind}`,
    cells: cells.map((c) => c && { n: c.calls, instructions: c.instructions }),
  }));
  const words: Words[] = [
    {
      id: 'statements',
      title: 'Instructions by statement',
      help: 'From prepare to finalize, literals folded; the rows sum up to the instructions above.',
      first: 'statement (literals folded)',
      unit: 'runs',
    },
    {
      id: 'gaps',
      title: 'Instructions between VFS calls',
      help: 'What the engine executed since the VFS call before, up to a call of this kind.',
      first: 'between VFS calls: up to',
      unit: 'calls',
    },
  ];
  return [statements, gaps].map((rows, i) => countTable(words[i]!, rows, results, names));
}

/** Instructions by function of the engine. @param step as in `statementRows` @param names of the results, for the columns where there are several */
export function functionTable(
  results: readonly Maybe[],
  step: string,
  names: readonly string[],
): ResultTable {
  const rows = functionRows(results, step).map(({ name, cells }) => ({
    name: name || '(all others)',
    cells: cells.map((n) => (n === null ? null : { instructions: n })),
  }));
  const words: Words = {
    id: 'functions',
    title: 'Instructions by function',
    help: 'of the engine, own instructions; names where the build exports them',
    first: 'function',
  };
  return countTable(words, rows, results, names);
}
