/**
 * Count mode in detail, results side by side: instructions by statement, and between VFS calls.
 * They are exact, and so are the differences.
 */
import type { RunResult, StepResult } from '../experiments/model/result-types.ts';
import { exactDifference, number, shortened, type ResultTable } from './table.ts';

type Maybe = RunResult | null;
interface Count {
  /** Number of occurrences; absent: these rows have no such number. */
  readonly n?: number;
  readonly instructions: number;
}
interface CountRow {
  /** '' = everything that belongs to no other row. */
  readonly name: string;
  /** One per result; null where it has nothing with that name. */
  readonly cells: readonly (Count | null)[];
}
type Sums = Map<string, Count>;

/** @param step id of a step, or `total` for all */
const stepsAt = (result: Maybe, step: string): StepResult[] =>
  (result?.steps ?? []).filter(({ id }) => step === 'total' || id === step);

/** @param n absent where it isn't counted */
function add(sums: Sums, name: string, instructions: number, n?: number): void {
  const sum = sums.get(name);
  sums.set(name, {
    instructions: (sum?.instructions ?? 0) + instructions,
    ...(n === undefined ? {} : { n: (sum?.n ?? 0) + n }),
  });
}

/**
 * @param sums one per result
 * @param weight instructions of a row
 * @returns the most expensive first, the rest last
 */
function rowsOf(
  sums: readonly Sums[],
  weight: (cells: CountRow['cells']) => number = (cells) =>
    cells.find((cell) => cell !== null)?.instructions ?? 0,
): CountRow[] {
  const names = [...new Set(sums.flatMap((sum) => [...sum.keys()]))];
  const rows = names.map((name) => ({ name, cells: sums.map((sum) => sum.get(name) ?? null) }));
  return rows.sort(
    (a, b) => Number(a.name === '') - Number(b.name === '') || weight(b.cells) - weight(a.cells),
  );
}

function statementSums(result: Maybe, step: string): Sums {
  const sums: Sums = new Map();
  for (const { statements = [] } of stepsAt(result, step))
    for (const { sql, runs, instructions } of statements) add(sums, sql, instructions, runs);
  return sums;
}

/** By kind of file and call: instructions before these calls, since the previous calls. */
function gapSums(result: Maybe, step: string): Sums {
  const counters = (step === 'total' ? result?.totals : stepsAt(result, step)[0]?.counters) ?? {};
  const sums: Sums = new Map();
  for (const [name, instructions] of Object.entries(counters)) {
    const [, kind, method] = /^gap\.([a-z-]+)\.(x\w+)$/.exec(name) ?? [];
    const calls = counters[`vfs.${kind}.${method}`];
    if (calls) add(sums, `${method} ${kind}`, instructions, calls);
  }
  return sums;
}

/**
 * Own instructions by function. Functions without a name belong to one wasm file, so columns of
 * other files have separate rows.
 * @returns one per result
 */
function functionSums(results: readonly Maybe[], step: string): Sums[] {
  const modules = new Set(results.flatMap((result) => (result ? [moduleOf(result)] : [])));
  return results.map((result) => {
    const sums: Sums = new Map();
    for (const { functions = [] } of stepsAt(result, step))
      for (const { name, instructions } of functions) {
        // an index is only valid in its own module
        const own = name.startsWith('#') && modules.size > 1;
        add(sums, own ? `${name} of ${moduleOf(result!)}` : name, instructions);
      }
    return sums;
  });
}
const moduleOf = ({ run }: RunResult): string => `${run.config.engine} ${run.config.build}`;

type Words = Pick<ResultTable, 'id' | 'title' | 'help'> & {
  readonly first: string;
  /** The meaning of `n`; absent: the rows have none. */
  readonly unit?: string;
  /** The label of the row without a name. */
  readonly rest?: string;
};

/** @param names of the results, as column heads where there are several */
function countTable(
  { first, unit, rest = '', ...words }: Words,
  rows: readonly CountRow[],
  results: readonly Maybe[],
  names: readonly string[],
): ResultTable {
  const several = results.length > 1;
  const two = results.length === 2;
  const each = (what: string): string[] =>
    several ? names.map((name) => `${what} ${name}`) : [what];
  const apart = (cells: CountRow['cells']): string => {
    // a missing row cost nothing
    const [a, b] = cells.map((cell) => cell?.instructions ?? 0) as [number, number];
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
      name || rest,
      ...(unit ? cells.map((cell) => number(cell?.n)) : []),
      ...cells.map((cell) => number(cell?.instructions)),
      ...(two ? [apart(cells)] : []),
      ...(unit && !several ? [mean(cells[0]!)] : []),
    ]),
  };
}

/**
 * Instructions by statement, and between VFS calls.
 * @param step as in `stepsAt`
 * @param names of the results, as column heads where there are several
 * @returns tables without rows where nothing was counted
 */
export function cpuTables(
  results: readonly Maybe[],
  step: string,
  names: readonly string[],
): ResultTable[] {
  const words: Words[] = [
    {
      id: 'statements',
      title: 'Instructions by statement',
      help: 'From prepare to finalize, literals folded; the rows sum up to the instructions above.',
      first: 'statement (literals folded)',
      unit: 'runs',
      rest: '(no statement: the script itself)',
    },
    {
      id: 'gaps',
      title: 'Instructions between VFS calls',
      help: 'What the engine executed since the VFS call before, up to a call of this kind.',
      first: 'between VFS calls: up to',
      unit: 'calls',
    },
  ];
  return [statementSums, gapSums].map((sumsOf, i) => {
    const rows = rowsOf(results.map((result) => sumsOf(result, step)));
    return countTable(words[i]!, rows, results, names);
  });
}

/**
 * Instructions by function of the engine.
 * @param step as in `stepsAt`
 * @param names of the results, as column heads where there are several
 */
export function functionTable(
  results: readonly Maybe[],
  step: string,
  names: readonly string[],
): ResultTable {
  const words: Words = {
    id: 'functions',
    title: 'Instructions by function',
    help: 'of the engine, own instructions; names where the build exports them',
    first: 'function',
    rest: '(all others)',
  };
  const rows = rowsOf(functionSums(results, step), (cells) =>
    Math.max(...cells.map((cell) => cell?.instructions ?? 0)),
  );
  return countTable(words, rows, results, names);
}
