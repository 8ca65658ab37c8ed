/**
 * Comma-separated values after RFC 4180, one line an event, UTF-8, lines ending in LF. Text comes
 * from the traced page: a cell that a spreadsheet would read as a formula gets a leading
 * apostrophe, and control characters, which a terminal would obey, become U+FFFD.
 */
import type { TraceStore } from '../trace/store.ts';
import { visible } from './escape.ts';
import { ThreadView } from '../analysis/events/table.ts';
import type { Cell } from '../analysis/core/table.ts';
import { inPieces } from './pieces.ts';
import { EVENT_COLUMNS } from './tables.ts';

/**
 * Where a formula could begin: at the start of a cell, and after anything that another separator
 * would split at. In many languages, Excel splits at semicolons. It then doesn't see the quotes
 * inside its cells, and splits at their line ends, too.
 */
const FORMULA = /(^|[;\n\t])(?=(?:[^\S\n\t]|")*[=+\-@\uff0b\uff0d\uff1d\uff20])/g;

/**
 * One cell. Numbers are unchanged; null is an empty cell, and an empty text is `""`. Line ends are
 * LF.
 */
export function csvCell(value: Cell): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const safe = visible(value.replace(/\r\n?/g, '\n')).replace(FORMULA, "$1'");
  return safe === '' || /[",;\t\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** An event, by its thread's index in the store and its row in the thread's columns. */
export interface RowRef {
  thread: number;
  row: number;
}
/** All rows at this moment: a recording may grow while it is written. */
function* allRows(store: TraceStore): Generator<RowRef> {
  const counts = store.threads.map(({ events }) => events.count);
  for (const [thread, count] of counts.entries())
    for (let row = 0; row < count; row++) yield { thread, row };
}

/**
 * The whole trace, or the given rows in their order, as text in pieces. Unknown rows are left out.
 */
export const csv = (
  store: TraceStore,
  rows: Iterable<RowRef> = allRows(store),
): AsyncGenerator<string> => inPieces(lines(store, rows));

function* lines(store: TraceStore, rows: Iterable<RowRef>): Generator<string> {
  yield `${EVENT_COLUMNS.map((c) => c.name).join(',')}\n`;
  const views: (ThreadView | undefined)[] = [];
  for (const { thread: index, row } of rows) {
    const thread = store.threads[index];
    if (!thread || !(row >= 0 && row < thread.events.count)) continue;
    const view = (views[index] ??= new ThreadView(thread));
    let line = '';
    for (let i = 0; i < EVENT_COLUMNS.length; i++)
      line += (i ? ',' : '') + csvCell(EVENT_COLUMNS[i]!.value(view.at(row)));
    yield `${line}\n`;
  }
}
