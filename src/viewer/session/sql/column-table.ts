/**
 * A virtual table over what exists already: typed arrays and lists of an analysis, read in place. Comparisons for equality are
 * answered from an index that is made on first use, so that joins need not scan again and again.
 */
import type { Cell, Sink } from './sink.ts';
import {
  Compare,
  folded,
  type BoundTerm,
  type Cursor,
  type SqlColumn,
  type SqlTable,
  type Term,
} from './table.ts';

/** Cell of a row; NaN is NULL. */
export type ColumnData = (row: number) => Cell;
export interface TableData {
  count: number;
  /** In the order of the columns. */
  columns: readonly ColumnData[];
}

/** Of rows that share a value, as the planner guesses. */
const EQUAL_SHARE = 0.01;

export class ColumnTable implements SqlTable {
  private seen: TableData | null = null;
  private indexes = new Map<number, Map<Cell, number[]>>();

  /** @param data the same object as long as nothing has changed */
  constructor(
    readonly name: string,
    readonly help: string,
    readonly columns: readonly SqlColumn[],
    private readonly data: () => TableData,
  ) {}

  /** Of the trace as it is now. */
  current(): TableData {
    const now = this.data();
    if (now !== this.seen) this.indexes = new Map();
    return (this.seen = now);
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
  /** Rows by value of a column; texts are folded. */
  index(column: number): Map<Cell, number[]> {
    let index = this.indexes.get(column);
    if (index) return index;
    index = new Map();
    const { count, columns } = this.current();
    const data = columns[column]!;
    for (let row = 0; row < count; row++) {
      const value = data(row);
      const key = typeof value === 'string' ? folded(value) : value;
      const rows = index.get(key);
      if (rows) rows.push(row);
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
  private data: TableData = { count: 0, columns: [] };
  private rows: readonly number[] | null = null;
  private at = 0;
  private end = 0;
  private row = 0;

  constructor(private readonly table: ColumnTable) {}

  start(terms: readonly BoundTerm[]): void {
    this.data = this.table.current();
    this.rows = null;
    for (const { column, value } of terms) {
      // a number may equal a text after SQLite's conversions, and the other way round: then all rows are brought
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
    const value = this.data.columns[column]!(this.row);
    if (typeof value === 'number' && this.table.columns[column]!.type === 'REAL')
      sink.real(context, value);
    else sink.cell(context, value);
  }
  rowid(): number {
    return this.row;
  }
}
