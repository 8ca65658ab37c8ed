/**
 * Apache Parquet: the events of a trace as one file, and what the data set of a fleet is made of (fleet/unit.ts). One row group a chunk of
 * a thread, so nothing but a chunk is held in memory. The library (hyparquet-writer) is loaded when an export runs.
 */
import type { ColumnSource, SchemaElement } from 'hyparquet-writer';
import type { TraceStore } from '../trace/store.ts';
import { ThreadView } from '../analysis/events/table.ts';
import type { Cell } from '../analysis/core/table.ts';
import { EVENT_COLUMNS, type FileTable } from './tables.ts';

/** Raised when a column changes its name, type or meaning; columns that are added at the end leave it. */
export const PARQUET_SCHEMA_VERSION = 3;
/** Rows of a row group at most. */
export const GROUP_ROWS = 65536;

type Column = FileTable['columns'][number];
const PHYSICAL = { int32: 'INT32', int64: 'INT64', double: 'DOUBLE', text: 'BYTE_ARRAY' } as const;

function schemaOf(columns: readonly Column[]): SchemaElement[] {
  return [
    { name: 'root', num_children: columns.length },
    ...columns.map(({ name, type }): SchemaElement => ({
      name,
      type: PHYSICAL[type],
      repetition_type: 'OPTIONAL',
      ...(type === 'text' ? { converted_type: 'UTF8' as const } : {}),
    })),
  ];
}

/** Times and sequence numbers ascend: differences pack them best. Other columns are left to the writer's choice. */
const ASCENDING: readonly string[] = ['seq', 'ts_ns'];

function source({ name, type }: Column, data: Cell[]): ColumnSource {
  const values = type === 'int64' ? data.map((v) => (typeof v === 'number' ? BigInt(v) : v)) : data;
  return {
    name,
    data: values,
    ...(ASCENDING.includes(name) ? { encoding: 'DELTA_BINARY_PACKED' as const } : {}),
  };
}

/** A Parquet file. @param groups each a row group: cells by column, GROUP_ROWS at most */
export async function* parquetPieces(
  columns: readonly Column[],
  groups: Iterable<readonly Cell[][]>,
): AsyncGenerator<Uint8Array> {
  const { ByteWriter, ParquetWriter } = await import('hyparquet-writer');
  const bytes = new ByteWriter() as InstanceType<typeof ByteWriter> & { index: number };
  const kvMetadata = [{ key: 'vfscope.schema', value: String(PARQUET_SCHEMA_VERSION) }];
  const parquet = new ParquetWriter({
    writer: bytes,
    schema: schemaOf(columns),
    kvMetadata,
    createdBy: 'vfscope',
  });
  const taken = (): Uint8Array => {
    const piece = bytes.getBytes().slice();
    bytes.index = 0; // the library counts the file's bytes in `offset`
    return piece;
  };
  for (const cells of groups) {
    await parquet.write({
      columnData: columns.map((column, i) => source(column, cells[i]!)),
      rowGroupSize: GROUP_ROWS,
    });
    yield taken();
  }
  await parquet.finish();
  yield taken();
}

/** The events of a trace as row groups. */
export function* eventGroups(store: TraceStore): Generator<Cell[][]> {
  for (const thread of store.threads) {
    const view = new ThreadView(thread);
    for (let from = 0; from < view.count; from += GROUP_ROWS) {
      const n = Math.min(GROUP_ROWS, view.count - from);
      yield EVENT_COLUMNS.map((column) =>
        Array.from({ length: n }, (_, i) => column.value(view.at(from + i))),
      );
    }
  }
}

/** The events of a trace as one Parquet file, row group by row group. */
export function parquetEvents(store: TraceStore): AsyncGenerator<Uint8Array> {
  return parquetPieces(EVENT_COLUMNS, eventGroups(store));
}
