/** What other values of wal_autocheckpoint would cost, by log. */
import { cellText, type Column } from '../../analysis/core/table.ts';
import type {
  CheckpointChoice,
  CheckpointChoices,
} from '../../analysis/what-if/checkpoint-choices.ts';
import { choiceColumns } from '../../analysis/what-if/table.ts';
import { formatExact } from '../../text/numbers.ts';
import type { ResultTable } from './table.ts';

const COLUMNS: readonly Column<CheckpointChoice>[] = Object.values(choiceColumns);

/** A row for each value. @param i place of the log */
export const choiceTable = ({ path, choices }: CheckpointChoices, i: number): ResultTable => ({
  id: `checkpoint-choices-${i}`,
  title: path,
  help: '',
  head: COLUMNS.map(({ title }) => title),
  rows: choices.map((choice) =>
    COLUMNS.map(({ unit, value, text }) => {
      if (text) return text(choice);
      const cell = value(choice);
      return typeof cell === 'number' ? formatExact(cell) : cellText(unit, cell);
    }),
  ),
  more: 0,
});
