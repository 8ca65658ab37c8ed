/**
 * The catalog's tables as they are in files. Times are whole nanoseconds in columns that end in
 * `_ns`, so that sums are exact.
 */
import { eventColumns, ThreadView } from '../analysis/events/table.ts';
import { Facts } from '../analysis/core/graph.ts';
import type { Cell, Column, Columns, Rows, Unit } from '../analysis/core/table.ts';
import { TABLES } from '../analysis/tables.ts';
import type { TraceStore } from '../trace/store.ts';

export type ColumnType = 'int32' | 'int64' | 'double' | 'text';
const TYPES: Readonly<Record<Unit, ColumnType>> = {
  moment: 'int64',
  us: 'int64',
  bytes: 'int64',
  count: 'int64',
  id: 'int64',
  int: 'int32',
  number: 'double',
  share: 'double',
  nsPerEvent: 'double',
  text: 'text',
  code: 'text',
};

export interface FileColumn<in Row = never> {
  readonly name: string;
  readonly type: ColumnType;
  readonly help: string;
  readonly value: (row: Row) => Cell;
}
export interface FileTable {
  readonly name: string;
  readonly columns: readonly Pick<FileColumn, 'name' | 'type'>[];
  readonly rows: Iterable<readonly Cell[]>;
}

/** Whole nanoseconds, which a trace's times are made of. */
export const toNs = (us: number): number => Math.round(us * 1000);

export function fileColumns<Row>(columns: Columns<Row>): FileColumn<Row>[] {
  const inFile = ([name, { unit, help, value }]: [string, Column<Row>]): FileColumn<Row> => {
    const column = { name, type: TYPES[unit], help, value };
    if (unit !== 'moment' && unit !== 'us') return column;
    const inNs = (row: Row): Cell => {
      const us = value(row);
      return typeof us === 'number' ? toNs(us) : us;
    };
    return { ...column, name: `${name}_ns`, value: inNs };
  };
  return Object.entries(columns)
    .filter(([, { only }]) => only !== 'sql')
    .map(inFile);
}

/** In the order of the files. */
export const EVENT_COLUMNS = fileColumns<ThreadView>(eventColumns);

/** All tables except `events`. */
export function fileTables(store: TraceStore): FileTable[] {
  const facts = new Facts(store);
  return TABLES.map(({ name, columns, rows }) => {
    const inFile = fileColumns(columns as Columns<unknown>);
    return { name, columns: inFile, rows: cellsOf(inFile, () => facts.get(rows)) };
  });
}

const cellsOf = <Row>(
  columns: readonly FileColumn<Row>[],
  rows: () => Rows<Row>,
): Iterable<Cell[]> => ({
  *[Symbol.iterator]() {
    const all = rows();
    for (let i = 0; i < all.count; i++) {
      const row = all.at(i);
      yield columns.map(({ value }) => value(row));
    }
  },
});
