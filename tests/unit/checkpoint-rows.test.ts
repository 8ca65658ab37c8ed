/** The table of other distances between checkpoints: neighbors that cost the same share a row. */
import { expect, it } from 'vitest';
import {
  choiceRows,
  type CheckpointChoice,
} from '../../src/analysis/what-if/checkpoint-choices.ts';
import { noCounts } from '../../src/analysis/what-if/log-script.ts';
import { choiceColumns } from '../../src/analysis/what-if/table.ts';

const choice = (
  autocheckpoint: number,
  dbWrites: number,
  hotReads = 0,
  recorded = false,
): CheckpointChoice => ({ ...noCounts(), dbWrites, hotReads, autocheckpoint, recorded });
const names = (choices: readonly CheckpointChoice[]): string[] =>
  choiceRows(choices).map((row) => choiceColumns.autocheckpoint.text(row));

it('merges neighbors with equal counts, including off, and names the recorded one', () => {
  const choices = [
    choice(100, 9),
    choice(250, 7),
    choice(500, 7, 1),
    choice(1000, 7, 1, true),
    choice(2000, 0),
    choice(10_000, 0),
    choice(0, 0),
  ];
  expect(names(choices)).toEqual(['100', '250', '500 to 1,000 (recorded: 1,000)', '2,000 to off']);
  expect(choiceRows(choices).map(({ dbWrites }) => dbWrites)).toEqual([9, 7, 7, 0]);
  expect(names([choice(100, 3, 0, true), choice(250, 4)])).toEqual(['100 (recorded)', '250']);
  // equal again after another: not neighbors
  expect(names([choice(100, 1), choice(250, 2), choice(500, 1)])).toEqual(['100', '250', '500']);
});
