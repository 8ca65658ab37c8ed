/**
 * Apache Parquet: the events of a trace as one file, and the files of a fleet's data set
 * (fleet/unit.ts). Each row group is a chunk of a thread, so only one chunk is in memory.
 */
import type { TraceStore } from '../trace/store.ts';
import { eventColumns, ThreadView } from '../analysis/events/table.ts';
import { eventCells } from './event-cells.ts';
import { Bytes } from './parquet-bytes.ts';
import { ColumnWriter, type Cells, type Chunk } from './parquet-column.ts';
import { EVENT_COLUMNS, type FileTable } from './tables.ts';

/**
 * Raised when a column changes its name, type, or meaning. New tables, and new columns at the end,
 * don't raise it; a data set refuses those, too (fleet/data-set.ts).
 */
export const PARQUET_SCHEMA_VERSION = 3;
/** Maximum rows of a row group. */
export const GROUP_ROWS = 65536;

/** A row group. */
export interface Group {
  /** At most GROUP_ROWS. */
  rows: number;
  /** By column. Each column is written before the next one is made. */
  cells: Iterable<Cells>;
}
type Column = FileTable['columns'][number];

/** Codes of types, OPTIONAL, and UTF8, by their names in parquet.thrift. */
const PHYSICAL = { int32: 1, int64: 2, double: 5, text: 6 } as const;
const OPTIONAL = 1;
const UTF8 = 0;
const UNCOMPRESSED = 0;
const MAGIC = Uint8Array.from('PAR1', (letter) => letter.charCodeAt(0));

/** A Parquet file, in pieces. */
export function* parquetPieces(
  columns: readonly Column[],
  groups: Iterable<Group>,
): Generator<Uint8Array> {
  const out = new Bytes();
  let before = 0;
  const taken = (): Uint8Array => {
    const piece = out.view().slice();
    before += out.length;
    out.clear();
    return piece;
  };
  const writer = new ColumnWriter(out, () => before + out.length);
  const written: Chunk[][] = [];
  out.put(MAGIC);
  for (const { cells } of groups) {
    const chunks: Chunk[] = [];
    for (const each of cells) chunks.push(writer.write(columns[chunks.length]!.type, each));
    written.push(chunks);
    yield taken();
  }
  const from = out.length;
  footer(out, columns, written);
  out.u32(out.length - from);
  out.put(MAGIC);
  yield taken();
}

/** FileMetaData of parquet.thrift. */
function footer(out: Bytes, columns: readonly Column[], groups: readonly Chunk[][]): void {
  const rowsOf = ([first]: Chunk[]): number => first!.rows;
  out.one(() => {
    out.i32(1, 2);
    out.structs<Column | null>(2, [null, ...columns], (column) => {
      if (!column) {
        out.binary(4, 'root');
        out.i32(5, columns.length);
        return;
      }
      out.i32(1, PHYSICAL[column.type]);
      out.i32(3, OPTIONAL);
      out.binary(4, column.name);
      if (column.type === 'text') out.i32(6, UTF8);
    });
    out.i64(
      3,
      groups.reduce((n, group) => n + rowsOf(group), 0),
    );
    out.structs(4, groups, (chunks) => {
      const bytes = chunks.reduce((n, chunk) => n + chunk.bytes, 0);
      out.structs(1, chunks, (chunk, i) => columnChunk(out, columns[i]!, chunk));
      out.i64(2, bytes);
      out.i64(3, rowsOf(chunks));
    });
    out.structs(
      5,
      [['vfscope.schema', String(PARQUET_SCHEMA_VERSION)] as const],
      ([key, value]) => {
        out.binary(1, key);
        out.binary(2, value);
      },
    );
    out.binary(6, 'vfscope');
    // each column's bounds are in the order of its type
    out.structs(7, columns, () => out.struct(1, () => {}));
  });
}

function columnChunk(out: Bytes, { name, type }: Column, chunk: Chunk): void {
  out.i64(2, chunk.dictionaryAt ?? chunk.dataAt);
  out.struct(3, () => {
    out.i32(1, PHYSICAL[type]);
    out.i32s(2, chunk.encodings);
    out.binaries(3, [name]);
    out.i32(4, UNCOMPRESSED);
    out.i64(5, chunk.rows);
    out.i64(6, chunk.bytes);
    out.i64(7, chunk.bytes);
    out.i64(9, chunk.dataAt);
    if (chunk.dictionaryAt !== null) out.i64(11, chunk.dictionaryAt);
    out.struct(12, () => {
      out.i64(3, chunk.nulls);
      if (chunk.range) {
        out.binary(5, chunk.range[1]);
        out.binary(6, chunk.range[0]);
      }
    });
  });
}

/** In the order of EVENT_COLUMNS. */
const EVENT_CELLS = (Object.keys(eventColumns) as (keyof typeof eventColumns)[]).map(
  (name) => eventCells[name],
);
/** The events of a trace as row groups. */
export function* eventGroups(store: TraceStore): Generator<Group> {
  for (const thread of store.threads) {
    const view = new ThreadView(thread);
    for (let from = 0; from < view.count; from += GROUP_ROWS) {
      const rows = Math.min(GROUP_ROWS, view.count - from);
      yield { rows, cells: cellsOfEvents(view, from, rows) };
    }
  }
}
function* cellsOfEvents(view: ThreadView, from: number, rows: number): Generator<Cells> {
  for (const read of EVENT_CELLS) yield read(view, from, rows);
}

/** The events of a trace as one Parquet file, row group by row group. */
export async function* parquetEvents(store: TraceStore): AsyncGenerator<Uint8Array> {
  yield* parquetPieces(EVENT_COLUMNS, eventGroups(store));
}
