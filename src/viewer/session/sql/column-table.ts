/**
 * A virtual table over existing data: typed arrays and lists of an analysis, read in place.
 * Comparisons for equality use an index that is made on first use, so that joins needn't scan
 * repeatedly.
 */
import type { Cell, Rows, Table } from '../../../analysis/core/table.ts';
import type { Sink } from './sink.ts';
import type { SqlColumn } from '../../../protocol/answers/sql-columns.ts';
import {
  Compare,
  folded,
  sqlColumns,
  type BoundTerm,
  type Cursor,
  type SqlTable,
  type Term,
} from './table.ts';

/** The planner's guess of how many rows share a value. */
const EQUAL_SHARE = 0.01;
const NO_ROWS: Rows<unknown> = { count: 0, at: () => null };

export class ColumnTable implements SqlTable {
  readonly name: string;
  readonly help: string;
  readonly columns: readonly SqlColumn[];
  private readonly values: readonly ((row: unknown) => Cell)[];
  private seen = NO_ROWS;
  private indexes = new Map<number, Map<Cell, number[]>>();
  /**
   * The row that was read last. A table may reuse one object for all its rows, so cursors read from
   * here.
   */
  private readonly last: { place: number; row: unknown } = { place: -1, row: null };

  /** @param data the same object as long as nothing has changed */
  constructor(
    { name, help, columns }: Table<unknown>,
    private readonly data: () => Rows<unknown>,
  ) {
    this.name = name;
    this.help = help;
    this.columns = sqlColumns(columns);
    this.values = this.columns.map((column) => columns[column.name]!.value);
  }

  /** Of the current trace. */
  current(): Rows<unknown> {
    const now = this.data();
    if (now !== this.seen) {
      this.indexes = new Map();
      this.last.place = -1;
    }
    return (this.seen = now);
  }
  value(rows: Rows<unknown>, place: number, column: number): Cell {
    const { last } = this;
    if (last.place !== place || rows !== this.seen) {
      last.row = rows.at(place);
      last.place = rows === this.seen ? place : -1;
    }
    return this.values[column]!(last.row);
  }
  rows(): number {
    return this.current().count;
  }
  selectivity({ op }: Term): number | null {
    return op === Compare.eq ? EQUAL_SHARE : null;
  }
  sorts(): boolean {
    return false;
  }
  /** Rows by value of a column. Texts are case-folded. */
  index(column: number): Map<Cell, number[]> {
    let index = this.indexes.get(column);
    if (index) return index;
    index = new Map();
    const rows = this.current();
    for (let row = 0; row < rows.count; row++) {
      const value = this.value(rows, row, column);
      const key = typeof value === 'string' ? folded(value) : value;
      const same = index.get(key);
      if (same) same.push(row);
      else index.set(key, [row]);
    }
    this.indexes.set(column, index);
    return index;
  }
  open(): Cursor {
    return new ColumnCursor(this);
  }
}

class ColumnCursor implements Cursor {
  done = true;
  private data = NO_ROWS;
  private rows: readonly number[] | null = null;
  private at = 0;
  private end = 0;
  private row = 0;

  constructor(private readonly table: ColumnTable) {}

  start(terms: readonly BoundTerm[]): void {
    this.data = this.table.current();
    this.rows = null;
    for (const { column, value } of terms) {
      // a number may equal a text after SQLite's conversions, and vice versa; in that case, return
      // all rows
      const isText = this.table.columns[column]!.type === 'TEXT';
      if (value === null || isText !== (typeof value === 'string')) continue;
      const found =
        this.table.index(column).get(typeof value === 'string' ? folded(value) : value) ?? [];
      if (!this.rows || found.length < this.rows.length) this.rows = found;
    }
    this.at = -1;
    this.end = this.rows ? this.rows.length : this.data.count;
    this.next();
  }
  next(): void {
    this.at++;
    this.done = this.at >= this.end;
    this.row = this.rows ? (this.rows[this.at] ?? 0) : this.at;
  }
  column(sink: Sink, context: number, column: number): void {
    const value = this.table.value(this.data, this.row, column);
    if (typeof value === 'number' && this.table.columns[column]!.type === 'REAL')
      sink.real(context, value);
    else sink.cell(context, value);
  }
  rowid(): number {
    return this.row;
  }
}
