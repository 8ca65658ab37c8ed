/**
 * Apache Arrow IPC files: the events as typed columns, text as dictionaries. The library
 * (flechette) is loaded when an export runs. A table must be whole before it can be encoded, so
 * this export takes about as much memory as its file.
 */
import type { TraceStore } from '../trace/store.ts';
import { ThreadView } from '../analysis/events/table.ts';
import type { Cell } from '../analysis/core/table.ts';
import { EVENT_COLUMNS, type ColumnType } from './tables.ts';

const BATCH_ROWS = 65536;

/** @returns the bytes of an Arrow file with one table, `EVENT_COLUMNS` */
export async function arrowFile(store: TraceStore): Promise<Uint8Array> {
  const arrow = await import('@uwdata/flechette');
  const typeOf = (type: ColumnType) => {
    switch (type) {
      case 'int32':
        return arrow.int32();
      case 'int64':
        return arrow.int64();
      case 'double':
        return arrow.float64();
      case 'text':
        return arrow.dictionary(arrow.utf8());
    }
  };
  const views = store.threads.map((thread) => new ThreadView(thread));
  const columns = EVENT_COLUMNS.map(
    (column): [string, ReturnType<typeof arrow.columnFromValues>] => {
      const each = (take: (value: Cell) => void): void => {
        for (const view of views)
          for (let row = 0; row < view.count; row++) take(column.value(view.at(row)));
      };
      return [
        column.name,
        arrow.columnFromValues(each, typeOf(column.type), { maxBatchRows: BATCH_ROWS }),
      ];
    },
  );
  const bytes = arrow.tableToIPC(arrow.tableFromColumns(columns), { format: 'file' });
  if (!bytes) throw new Error('the Arrow encoder gave no bytes');
  return bytes;
}

/** For the table of formats: the whole file in one piece. */
export async function* arrowPieces(store: TraceStore): AsyncGenerator<Uint8Array> {
  yield await arrowFile(store);
}
