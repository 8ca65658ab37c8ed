/** Tables of results for a terminal. */
import type { RunResult } from '../experiments/model/result-types.ts';
import type { NamedResult } from '../experiments/model/environment.ts';
import { nativeTable } from '../results/native.ts';
import { measuresOf } from '../results/measures.ts';
import { twinNote, twinTable } from '../results/twins.ts';
import { cpuTables, functionTable } from '../results/cpu.ts';
import { table } from '../../terminal/report-text.ts';
import { cut, oneLine } from '../../text/clean.ts';
import type { ResultTable } from '../results/table.ts';

const MOST_TEXT = 72;

/** Its head and its rows, with minus signs that programs can read. */
export const tableLines = ({ head, rows, more }: ResultTable): string[] => [
  ...table(
    head,
    rows.map(([name = '', ...cells]) => [
      cut(oneLine(name), MOST_TEXT),
      ...cells.map((cell) => cell.replace('−', '-')),
    ]),
  ),
  ...(more ? [`  and ${more} more, which need fewer (--json has them)`] : []),
];

/** SQL beside plain IndexedDB; nothing where no twin ran. */
export function twinLines(runs: readonly NamedResult[]): string[] {
  const twins = twinTable(runs);
  if (!twins) return [];
  const note = twinNote(twins);
  return ['', twins.title, ...tableLines(twins), ...(note ? [`  ${note}`] : [])];
}

/** Times beside native ones; nothing where there are none. */
export function nativeLines(runs: readonly NamedResult[]): string[] {
  const native = nativeTable(runs);
  return native ? ['', native.title, ...tableLines(native)] : [];
}
/** Times of checkpoints, and rates over threads; nothing where there are none. */
export const measureLines = (runs: readonly NamedResult[]): string[] =>
  measuresOf(runs).flatMap(({ table }) => ['', table.title, ...tableLines(table)]);

const NAMES = ['A', 'B'];
/**
 * `lab run --count --statements`, `--functions`.
 * @param results one, or two to compare
 * @param byFunction else by statement and between VFS calls
 */
export function detailText(results: readonly RunResult[], byFunction: boolean): string {
  const tables = byFunction
    ? [functionTable(results, 'total', NAMES)]
    : cpuTables(results, 'total', NAMES);
  const lines = tables.flatMap((one) => [
    '',
    ...(one.rows.length ? tableLines(one) : [`  ${one.title}: n/a`]),
  ]);
  return `${lines.join('\n')}\n`;
}
