/** `vfscope query FILE "SELECT ..."`: SQL over a recording, as on the viewer's Query page. */
import { threadViews } from '../analysis/events/table.ts';
import { Facts } from '../analysis/core/graph.ts';
import { cut, oneLine, shown } from '../text/clean.ts';
import { countOf } from '../text/numbers.ts';
import { wrongUse } from '../terminal/failure.ts';
import { Exit, openTrace } from '../terminal/open-file.ts';
import { table } from '../terminal/report-text.ts';
import { jsonText, print } from '../terminal/stdout.ts';
import type { TraceStore } from '../trace/store.ts';
import { SqlEngine } from '../viewer/session/sql/engine.ts';
import { EventsTable } from '../viewer/session/sql/events-table.ts';
import type { SqlTable } from '../viewer/session/sql/table.ts';
import { tablesOf } from '../viewer/session/sql/tables.ts';
import { readWasm } from './plan-wasm.ts';

const [MOST_ROWS, MOST_TEXT, MOST_MS] = [100, 1000, 60_000];
/** Characters of a cell in a terminal. */
const WIDEST = 80;
/** Texts that mention the command's options. `vfscope mcp` has no options, so it replaces them. */
export const HINTS = {
  tables: 'For tables and columns: --tables',
  rows: 'there are more: --rows N',
} as const;

interface QueryArgs {
  file: string;
  /** null: list the tables. */
  sql: string | null;
  /** Maximum rows. */
  rows?: number;
  json: boolean;
  /** List only names and columns of tables. */
  short?: boolean;
}

/** @returns the exit code: 0, or 2 if the file can't be read or SQLite rejects the statement */
export async function queryCommand({
  file,
  sql,
  rows = MOST_ROWS,
  json,
  short = false,
}: QueryArgs): Promise<number> {
  const { store } = await openTrace(file);
  const tables = tablesIn(store);
  if (sql === null) {
    await print(
      json
        ? jsonText(tables.map(described))
        : tables.map(short ? shortText : describedText).join(''),
    );
    return Exit.done;
  }
  const engine = await SqlEngine.open({ wasmBinary: await readWasm() }, tables);
  const {
    columns,
    rows: found,
    more,
  } = await engine
    .run({
      ...{ sql, maxRows: rows, maxMs: MOST_MS, maxText: MOST_TEXT },
      canceled: () => false,
      forgotten: () => store.forgotten,
    })
    .catch((e: Error) => {
      throw wrongUse(`The query failed: ${e.message}. ${HINTS.tables}`);
    });
  if (json) await print(jsonText({ columns, rows: found, more }));
  else {
    const isText = (i: number): boolean => found.some((row) => typeof row[i] === 'string');
    const cells = found.map((row) =>
      row.map((cell) => (cell === null ? 'null' : cut(oneLine(String(cell)), WIDEST))),
    );
    const lines = table(
      columns.map((name) => shown(name)),
      cells,
      columns.flatMap((_, i) => (isText(i) ? [i] : [])),
    );
    const count = `${countOf(found.length, 'row')}${more ? `; ${HINTS.rows}` : ''}`;
    await print(`${[...(columns.length ? lines : []), count].join('\n')}\n`);
  }
  return Exit.done;
}

function tablesIn(store: TraceStore): readonly SqlTable[] {
  const facts = new Facts(store);
  return [
    new EventsTable(store, (thread) => facts.get(threadViews).of(thread)),
    ...tablesOf(() => ({ facts })),
  ];
}

const described = ({ name, help, columns }: SqlTable): object => ({ name, help, columns });
const shortText = ({ name, columns }: SqlTable): string =>
  `${name}: ${columns.map((column) => column.name).join(' ')}\n`;
const describedText = ({ name, help, columns }: SqlTable): string =>
  `${name}: ${help}\n  ${columns.map((column) => column.name).join(', ')}\n`;
