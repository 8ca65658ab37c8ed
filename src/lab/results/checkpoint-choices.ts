/** The cost of other values of wal_autocheckpoint, by log. */
import { cellText, type Column } from '../../analysis/core/table.ts';
import {
  choiceRows,
  type CheckpointChoices,
  type ChoiceRow,
} from '../../analysis/what-if/checkpoint-choices.ts';
import { choiceColumns } from '../../analysis/what-if/table.ts';
import { formatExact } from '../../text/numbers.ts';
import type { ResultTable } from './table.ts';

const COLUMNS: readonly Column<ChoiceRow>[] = Object.values(choiceColumns);

/** A row for each value, or for neighboring values with the same cost. @param i index of the log */
export const choiceTable = ({ path, choices }: CheckpointChoices, i: number): ResultTable => ({
  id: `checkpoint-choices-${i}`,
  title: path,
  help: '',
  head: COLUMNS.map(({ title }) => title),
  rows: choiceRows(choices).map((choice) =>
    COLUMNS.map(({ unit, value, text }) => {
      if (text) return text(choice);
      const cell = value(choice);
      return typeof cell === 'number' ? formatExact(cell) : cellText(unit, cell);
    }),
  ),
  more: 0,
});
