/**
 * The catalogue's tables as files hold them: times are whole nanoseconds in columns that end in `_ns`, so that sums are exact, and an
 * event goes by its sequence number, for files have no rows that live on.
 */
import { eventColumns, ThreadView } from '../analysis/events/table.ts';
import { Facts } from '../analysis/graph.ts';
import type { Cell, Column, Columns, Rows, Unit } from '../analysis/table.ts';
import { TABLES } from '../analysis/tables.ts';
import type { TraceStore } from '../trace/store.ts';

export type ColumnType = 'int32' | 'int64' | 'double' | 'text';
const TYPES: Readonly<Record<Unit, ColumnType>> = {
  moment: 'int64',
  us: 'int64',
  bytes: 'int64',
  count: 'int64',
  id: 'int64',
  event: 'int64',
  int: 'int32',
  number: 'double',
  share: 'double',
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

/** Whole nanoseconds: what a trace's times are made of. */
export const toNs = (us: number): number => Math.round(us * 1000);

/** @param store of the events that columns of unit `event` name */
export function fileColumns<Row>(
  columns: Columns<Row>,
  store: Pick<TraceStore, 'threads'>,
): FileColumn<Row>[] {
  const seqOf = (row: Row, event: number): Cell => {
    const thread = store.threads[columns['thread']!.value(row) as number];
    return thread?.events.seq[event - thread.forgotten] ?? null;
  };
  const inFile = ([name, { unit, help, value }]: [string, Column<Row>]): FileColumn<Row> => {
    const converted = (convert: (n: number, row: Row) => Cell) => (row: Row) => {
      const cell = value(row);
      return typeof cell === 'number' ? convert(cell, row) : cell;
    };
    const column = { name, type: TYPES[unit], help, value };
    if (unit === 'moment' || unit === 'us')
      return { ...column, name: `${name}_ns`, value: converted(toNs) };
    if (unit === 'event')
      return {
        ...column,
        name: name.replace(/row$/, 'seq'),
        value: converted((event, row) => seqOf(row, event)),
      };
    return column;
  };
  return Object.entries(columns)
    .filter(([, { only }]) => only !== 'sql')
    .map(inFile);
}

/** In the order of the files; they need no trace. */
export const EVENT_COLUMNS = fileColumns<ThreadView>(eventColumns, { threads: [] });

/** All tables but `events` and `traces`. */
export function fileTables(store: TraceStore): FileTable[] {
  const facts = new Facts(store);
  return TABLES.map(({ name, columns, rows }) => {
    const inFile = fileColumns(columns as Columns<unknown>, store);
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
