// Any column of any type is read back unchanged from a Parquet file by another reader, with -0 as
// 0.
import fc from 'fast-check';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { expect, test } from 'vitest';
import type { Cell } from '../../src/analysis/core/table.ts';
import { cellsOf } from '../../src/formats/parquet-column.ts';
import { parquetPieces } from '../../src/formats/parquet.ts';
import type { ColumnType } from '../../src/formats/tables.ts';

/** A file with one column. @param groups cells by row group */
function fileOf(type: ColumnType, groups: readonly (readonly Cell[])[]): ArrayBuffer {
  const column = { name: 'c', type, help: '', value: (cell: Cell): Cell => cell };
  const pieces = parquetPieces(
    [column],
    groups.map((cells) => ({
      rows: cells.length,
      cells: cellsOf<Cell>([column], cells.length, (i) => cells[i]!),
    })),
  );
  return new Uint8Array(Buffer.concat([...pieces])).buffer;
}
async function readBack(file: ArrayBuffer): Promise<unknown[]> {
  return (await parquetReadObjects({ file })).map(({ c }) => (c as unknown) ?? null);
}

/** Values for each of: a dictionary, differences, and plain numbers. */
const numbers = (least: number, most: number): fc.Arbitrary<number> =>
  fc.oneof(
    fc.constantFrom(0, 1, 4096, least, most),
    fc.integer({ min: Math.max(least, -5), max: 40 }),
    fc.integer({ min: least, max: most }),
  );
const VALUES: readonly [ColumnType, fc.Arbitrary<Cell>][] = [
  ['int32', numbers(-(2 ** 31), 2 ** 31 - 1)],
  ['int64', numbers(-(2 ** 53) + 1, 2 ** 53 - 1)],
  ['int64', numbers(-(2 ** 40), 2 ** 40)],
  ['int64', fc.integer({ min: 0, max: 70_000 })],
  ['double', fc.double({ noNaN: true })],
  ['double', fc.constantFrom(0, 4096, 1.5, -Infinity, Infinity)],
  [
    'text',
    fc.oneof(
      fc.constantFrom('', 'a', 'b'),
      fc.string({ unit: 'binary-ascii' }),
      fc.string({ unit: 'grapheme' }),
    ),
  ],
];
const cells = (value: fc.Arbitrary<Cell>): fc.Arbitrary<Cell[]> =>
  fc.oneof(
    fc.array(value, { minLength: 1, maxLength: 400 }),
    fc.array(fc.option(value, { freq: 3 }), { minLength: 1, maxLength: 40 }),
    fc.tuple(value, fc.integer({ min: 1, max: 300 })).map(([same, n]) => Array<Cell>(n).fill(same)),
    fc
      .array(value, { minLength: 1, maxLength: 300 })
      .map((list) => list.sort((a, b) => (a! < b! ? -1 : 1))),
  );

test.each(VALUES)('%s', async (type, value) => {
  await fc.assert(
    fc.asyncProperty(fc.array(cells(value), { maxLength: 3 }), async (groups) => {
      const file = fileOf(type, groups);
      const rows = await readBack(file);
      const expected = groups
        .flat()
        .map((cell) => (type === 'int64' && cell !== null ? BigInt(cell) : cell));
      expect(rows).toEqual(expected.map((cell) => (Object.is(cell, -0) ? 0 : cell)));
      // readers skip row groups by their bounds
      for (const [i, { columns }] of parquetMetadata(file).row_groups.entries()) {
        const { min_value, max_value, null_count } = columns[0]!.meta_data!.statistics!;
        const known = groups[i]!.filter((cell) => cell !== null);
        expect(Number(null_count)).toBe(groups[i]!.length - known.length);
        if (type === 'text' || !known.length) continue;
        expect([Number(min_value), Number(max_value)]).toEqual([
          Math.min(...known.map(Number)) + 0,
          Math.max(...known.map(Number)) + 0,
        ]);
      }
    }),
    { numRuns: 60 },
  );
});

test('a zero has no sign, in any position and any encoding', async () => {
  for (const cells of [[-0], [0, -0], [-0, 0], [-0, ...Array<number>(20).fill(0)]])
    expect(await readBack(fileOf('double', [cells]))).toEqual(cells.map(() => 0));
});

test("values out of a type's range become its maximum or minimum, and NaN becomes null", async () => {
  expect(await readBack(fileOf('int64', [[1e300, -1e300, 2 ** 63, NaN, Infinity]]))).toEqual([
    ...[2n ** 63n - 1n, -(2n ** 63n), 2n ** 63n - 1n, null, 2n ** 63n - 1n],
  ]);
  expect(await readBack(fileOf('int32', [[1e10, -1e10, NaN]]))).toEqual([
    ...[2 ** 31 - 1, -(2 ** 31), null],
  ]);
});

test('texts are bounded by their bytes, and long ones not at all', () => {
  const bounds = (texts: string[]): unknown => {
    const { statistics } = parquetMetadata(fileOf('text', [texts])).row_groups[0]!.columns[0]!
      .meta_data!;
    return [statistics?.min_value, statistics?.max_value];
  };
  // by UTF-16 the last one is the smaller
  expect(bounds(['b', 'a', '\uffee', '\u{1f600}'])).toEqual(['a', '\u{1f600}']);
  expect(bounds(['x'.repeat(65)])).toEqual([undefined, undefined]);
});
