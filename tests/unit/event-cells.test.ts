// Reading events column by column gives what the table's columns have for each event.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventColumns, ThreadView } from '../../src/analysis/events/table.ts';
import { eventCells } from '../../src/formats/event-cells.ts';
import { cellsOf, type Cells } from '../../src/formats/parquet-column.ts';
import { EVENT_COLUMNS } from '../../src/formats/tables.ts';
import { readTrace } from '../../src/trace/file/read.ts';

const GOLDEN = 'tests/traces/golden';
const traces = readdirSync(GOLDEN).filter((name) => name.endsWith('.vfst'));
/** With bytes as text, which compares fast. */
const plain = (cells: Cells): unknown => {
  const [texts, numbers] = 'texts' in cells ? [cells.texts, cells.ids] : [null, cells];
  const { buffer, byteOffset, byteLength } = numbers;
  return { texts, bytes: Buffer.from(buffer, byteOffset, byteLength).toString('latin1') };
};

test.each(traces)('%s', async (file) => {
  const { store } = await readTrace(readFileSync(join(GOLDEN, file)), { width: 'wide' });
  expect(store.eventCount).toBeGreaterThan(0);
  for (const thread of store.threads) {
    const view = new ThreadView(thread);
    const half = view.count >> 1;
    for (const [from, count] of [
      [0, half],
      [half, view.count - half],
    ] as const)
      // prettier-ignore
      for (const [i, name] of (Object.keys(eventColumns) as (keyof typeof eventColumns)[]).entries()) {
        const [cells] = cellsOf([EVENT_COLUMNS[i]!], count, (row) => view.at(from + row));
        expect(plain(eventCells[name](view, from, count)), name).toEqual(plain(cells!));
      }
  }
});
