// A query's result as a table: numbers in a column are easy to compare.
import { expect, it } from 'vitest';
import { resultColumns } from '../../src/viewer/ui/views/sql/result.ts';

const textsOf = (values: (number | string | null)[]): string[] => {
  const [column] = resultColumns({ columns: ['x'], rows: values.map((value) => [value]) });
  return values.map((_, row) => column!.text!(row));
};

it("aligns a column's decimals, and separates thousands", () => {
  expect(textsOf([910.6, 891.26, 12_345.678, 3])).toEqual([
    '910.60',
    '891.26',
    '12,345.68',
    '3.00',
  ]);
  expect(textsOf([0.5, 0.25])).toEqual(['0.500000', '0.250000']);
  expect(textsOf([0.0042, 910.6])).toEqual(['0.0042', '910.6000']);
  expect(textsOf([4096, 1_048_576])).toEqual(['4,096', '1,048,576']);
});

it('leaves NULL and texts unchanged', () => {
  expect(textsOf([1234.5, null])).toEqual(['1,234.50', 'NULL']);
  expect(textsOf([1234, 'x'])).toEqual(['1234', 'x']);
});
