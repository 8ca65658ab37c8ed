// CSV, Arrow, Parquet, and SQLite files hold every event with every column, as their own readers
// see it.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tableFromIPC } from '@uwdata/flechette';
import fc from 'fast-check';
import { parquetReadObjects } from 'hyparquet';
import { describe, expect, test } from 'vitest';
import { arrowFile } from '../../src/formats/arrow.ts';
import { csv, csvCell } from '../../src/formats/csv.ts';
import { visible } from '../../src/formats/escape.ts';
import { ThreadView } from '../../src/analysis/events/table.ts';
import type { Cell } from '../../src/analysis/core/table.ts';
import { EVENT_COLUMNS } from '../../src/formats/tables.ts';
import { parquetEvents } from '../../src/formats/parquet.ts';
import { sqliteFile } from '../../src/formats/sqlite.ts';
import { summaryOf } from '../../src/analysis/report/summary.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { newStore } from '../traces/builder.ts';
import { sampleStore } from '../traces/sample.ts';
import { syntheticStore } from '../traces/synthetic.ts';

const require = createRequire(import.meta.url);

/** What every format must contain. */
function expected(store: TraceStore): Record<string, Cell>[] {
  return store.threads.flatMap((thread) => {
    const view = new ThreadView(thread);
    return Array.from({ length: thread.events.count }, (_, row) =>
      Object.fromEntries(EVENT_COLUMNS.map((c) => [c.name, c.value(view.at(row))])),
    );
  });
}
async function bytesOf(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const piece of pieces) parts.push(piece);
  return new Uint8Array(Buffer.concat(parts));
}
const plain = (rows: readonly Record<string, unknown>[]): Record<string, unknown>[] =>
  rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([k, v]) => [k, typeof v === 'bigint' ? Number(v) : (v ?? null)]),
    ),
  );

const STORES: [string, () => TraceStore][] = [
  ['something of everything', sampleStore],
  ['three thousand events on two threads', () => syntheticStore({ events: 3000, threads: 2 })],
  ['nothing', newStore],
];

describe('csv', () => {
  /** A reader that follows RFC 4180. */
  function parse(text: string): string[][] {
    const rows: string[][] = [[]];
    for (const [, quoted, bare, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\n)/g)) {
      rows.at(-1)!.push(quoted === undefined ? bare! : quoted.replaceAll('""', '"'));
      if (end === '\n') rows.push([]);
    }
    rows.pop();
    return rows;
  }
  test.each(STORES)('%s', async (_, make) => {
    const store = make();
    let text = '';
    for await (const piece of csv(store)) text += piece;
    const [head, ...rows] = parse(text);
    expect(head).toEqual(EVENT_COLUMNS.map((c) => c.name));
    expect(rows).toEqual(
      expected(store).map((row) => Object.values(row).map((v) => (v === null ? '' : String(v)))),
    );
  });
  /** Texts of characters that matter to a spreadsheet, more often than by chance. */
  const tricky = fc.string({
    unit: fc.constantFrom(...'=+-@＝＋－＠;,"\'\n\r\t \u001b\u009b\u202eaé', '\u00a0'),
    maxLength: 12,
  });
  const texts = fc.oneof(tricky, fc.string({ unit: 'binary' }));
  test('any text comes back unchanged, except apostrophes before formulas, line ends, and control characters', () => {
    const seen = (text: string): string =>
      visible(text.replace(/\r\n?/g, '\n')).replaceAll("'", '');
    fc.assert(
      fc.property(texts, (text) => {
        expect(seen(parse(`${csvCell(text)},x\n`)[0]![0]!)).toBe(seen(text));
        if (!/[=+\-@＝＋－＠\r]/.test(text) && text === visible(text))
          expect(parse(`${csvCell(text)},x\n`)[0]![0]).toBe(text);
      }),
    );
  });
  test('no text becomes a formula, wherever a spreadsheet splits, and none controls a terminal', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const line = `1,${csvCell(text)},x`;
        const cells = [...parse(`${line}\n`)[0]!, ...line.split(/[;\n]/), ...line.split(/[\t\n]/)];
        expect(cells.filter((cell) => /^[\s"]*[=+\-@＝＋－＠]/.test(cell))).toEqual([]);
        expect(line).not.toMatch(
          /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/,
        );
      }),
    );
    expect(['a;=1+1', '\n=1', '＝1', '\u001b[2J', 'a\r\nb', 'a;b'].map(csvCell)).toEqual([
      ...[`"a;'=1+1"`, `"\n'=1"`, `'＝1`, '\ufffd[2J', '"a\nb"', '"a;b"'],
    ]);
    expect([csvCell('=cmd()'), csvCell(-4096), csvCell(null), csvCell('')]).toEqual([
      "'=cmd()",
      '-4096',
      '',
      '""',
    ]);
  });
});

test.each(STORES)('arrow, read by flechette: %s', async (_, make) => {
  const store = make();
  const table = tableFromIPC(await arrowFile(store));
  expect(table.names).toEqual(EVENT_COLUMNS.map((c) => c.name));
  expect(plain(table.toArray() as Record<string, unknown>[])).toEqual(expected(store));
});

test('arrow holds several batches', async () => {
  const store = syntheticStore({ events: 140_000, threads: 2 });
  const table = tableFromIPC(await arrowFile(store));
  expect(table.numRows).toBe(store.eventCount);
  expect(table.getChild('seq').at(100_000)).toBe(expected(store)[100_000]!.seq);
});

test.each(STORES)('parquet, read by hyparquet: %s', async (_, make) => {
  const store = make();
  const bytes = await bytesOf(parquetEvents(store));
  const rows = await parquetReadObjects({ file: bytes.buffer as ArrayBuffer });
  expect(plain(rows)).toEqual(expected(store));
});

test.each(STORES)('sqlite, read by sql.js: %s', async (_, make) => {
  const store = make();
  const bytes = await sqliteFile(
    store,
    readFileSync(require.resolve('wa-sqlite/dist/wa-sqlite.wasm')),
  );
  const { default: load } = (await import(String('sql.js'))) as unknown as {
    default: () => Promise<SqlJs>;
  };
  const db = new (await load()).Database(bytes);
  const rows = (sql: string): Record<string, unknown>[] => {
    const [result] = db.exec(sql);
    return result
      ? result.values.map((v) => Object.fromEntries(v.map((x, i) => [result.columns[i]!, x])))
      : [];
  };
  expect(rows('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  expect(rows('SELECT * FROM calls ORDER BY thread, seq')).toEqual(expected(store));
  expect(rows('SELECT sum(executions) AS n FROM statements')[0]!.n ?? null).toBe(
    summaryOf(store).statements.count,
  );
  expect(rows('SELECT count(*) AS n FROM threads')).toEqual([{ n: store.threads.length }]);
  db.close();
});
interface SqlJs {
  Database: new (bytes: Uint8Array) => {
    exec(sql: string): { columns: string[]; values: unknown[][] }[];
    close(): void;
  };
}
