// CSV, Arrow, Parquet and SQLite hold every event with every column, as their own readers see it.
import { mkdtempSync, readFileSync, rmSync, writeFileSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { tableFromIPC } from '@uwdata/flechette';
import fc from 'fast-check';
import { parquetReadObjects } from 'hyparquet';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { exportCommand } from '../../src/cli/export.ts';
import { arrowFile } from '../../src/formats/arrow.ts';
import { csv, csvCell } from '../../src/formats/csv.ts';
import { visible } from '../../src/formats/escape.ts';
import { ThreadView } from '../../src/analysis/events/table.ts';
import type { Cell } from '../../src/analysis/core/table.ts';
import { EVENT_COLUMNS } from '../../src/formats/tables.ts';
import {
  PARQUET_SCHEMA_VERSION,
  parquetDataSet,
  parquetEvents,
} from '../../src/formats/parquet.ts';
import { sqliteFile } from '../../src/formats/sqlite.ts';
import { summaryOf } from '../../src/analysis/report/summary.ts';
import { Op } from '../../src/event/event.ts';
import { saveTrace } from '../../src/trace/file/write.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { newStore } from '../traces/builder.ts';
import { sampleStore } from '../traces/sample.ts';
import { syntheticStore } from '../traces/synthetic.ts';

const require = createRequire(import.meta.url);
const folder = mkdtempSync(join(tmpdir(), 'vfscope-formats-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** What every format must hold. */
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
  /** A reader after RFC 4180. */
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
  /** Texts of what matters to a spreadsheet, more often than by chance. */
  const tricky = fc.string({
    unit: fc.constantFrom(...'=+-@＝＋－＠;,"\'\n\r\t \u001b\u009b\u202eaé', '\u00a0'),
    maxLength: 12,
  });
  const texts = fc.oneof(tricky, fc.string({ unit: 'binary' }));
  test('any text comes back, but for apostrophes before formulas, line ends and control characters', () => {
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
  test('no text becomes a formula, whatever a spreadsheet splits at, and none commands a terminal', () => {
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

test('arrow holds more than one batch', async () => {
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

describe('a data set of many traces', () => {
  const quoted = (path: string): string => `'${path.replaceAll("'", "''")}'`;
  const traces: [string, TraceStore][] = [
    ['monday', sampleStore()],
    ['tuesday', syntheticStore({ events: 2000, threads: 2, seed: 2 })],
  ];
  async function query(sql: string): Promise<Record<string, unknown>[]> {
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    const rows = plain((await connection.runAndReadAll(sql)).getRowObjects());
    connection.closeSync();
    instance.closeSync();
    return rows;
  }

  test('DuckDB counts, sums and joins over all of them', async () => {
    for (const [name, store] of traces)
      for (const { path, pieces } of parquetDataSet(name, store)) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        writeFileSync(join(folder, path), await bytesOf(pieces));
      }
    const at = (table: string): string =>
      `read_parquet(${quoted(join(folder, table, '*', '*.parquet'))}, hive_partitioning = true)`;
    const sum = (store: TraceStore): number =>
      store.threads.reduce(
        (n, { events }) =>
          n +
          [...events.dur.subarray(0, events.count)].reduce((a, d) => a + Math.round(d * 1000), 0),
        0,
      );
    expect(
      await query(
        `SELECT trace, count(*) AS n, sum(dur_ns) AS ns FROM ${at('events')} GROUP BY trace ORDER BY trace`,
      ),
    ).toEqual(traces.map(([trace, store]) => ({ trace, n: store.eventCount, ns: sum(store) })));
    const reads = (store: TraceStore): number =>
      store.threads.reduce(
        (n, { events }) =>
          n + events.op.subarray(0, events.count).filter((op) => op === Op.xRead).length,
        0,
      );
    expect(
      await query(`SELECT e.trace, count(*) AS n FROM ${at('events')} e JOIN ${at('objects')} o
        ON o.trace = e.trace AND o.thread = e.thread AND o.object_id = e.object_id WHERE e.op = 'xRead' GROUP BY e.trace ORDER BY e.trace`),
    ).toEqual(traces.map(([trace, store]) => ({ trace, n: reads(store) })));
    expect(
      await query(`SELECT trace, commits, statements FROM ${at('traces')} ORDER BY trace`),
    ).toEqual(
      traces.map(([trace, store]) => ({
        trace,
        commits: summaryOf(store).commits,
        statements: summaryOf(store).statements.count,
      })),
    );
    expect(
      await query(
        `SELECT value FROM parquet_kv_metadata(${quoted(join(folder, 'events/trace=monday/part-0.parquet'))})`,
      ),
    ).toHaveLength(1);
  });

  test('the schema is the one that docs/fleet.md promises', async () => {
    const document = readFileSync('docs/fleet.md', 'utf8');
    expect(document).toContain(`schema version ${PARQUET_SCHEMA_VERSION}`);
    for (const { path } of parquetDataSet('x', sampleStore())) {
      const table = path.slice(0, path.indexOf('/'));
      const rows = await query(`SELECT column_name AS name, column_type AS type FROM
        (DESCRIBE SELECT * FROM read_parquet(${quoted(join(folder, table, 'trace=monday', '*.parquet'))}, hive_partitioning = false))`);
      const section = document.slice(document.indexOf(`### ${table}`)).split('\n###')[0]!;
      const documented = [...section.matchAll(/^\| `(\w+)` \| (\w+) /gm)].map(([, name, type]) => ({
        name,
        type,
      }));
      expect(documented, table).toEqual(rows);
    }
  });

  test('names that would leave the folder are refused', () => {
    for (const name of ['..', 'a/b', '', '.x'])
      expect(() => [...parquetDataSet(name, newStore())], name).toThrow(RangeError);
  });

  test('the command makes one from a folder, names what it left out, and hides names when sanitizing', async () => {
    const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const [from, out] = [join(folder, 'in'), join(folder, 'out')];
    mkdirSync(from);
    for (const [name, store] of traces)
      writeFileSync(
        join(from, `${name}.vfst`),
        new Uint8Array(await (await saveTrace(store)).arrayBuffer()),
      );
    expect(await exportCommand({ file: from, format: 'parquet', out, sanitize: true })).toBe(0);
    const found = await query(
      `SELECT DISTINCT trace FROM read_parquet(${quoted(join(out, 'events', '*', '*.parquet'))}, hive_partitioning = true, hive_types = {'trace': VARCHAR})`,
    );
    expect(found.map((r) => String(r.trace))).toEqual([
      expect.stringMatching(/^[0-9a-f]{16}$/),
      expect.stringMatching(/^[0-9a-f]{16}$/),
    ]);
    writeFileSync(join(from, 'broken.vfst'), 'no trace');
    expect(await exportCommand({ file: from, format: 'parquet', out })).toBe(2);
    expect(stderr.mock.calls.join('\n')).toMatch(
      /broken\.vfst: .*no vfscope trace[^]*2 of 3 traces are in/,
    );
    expect(await exportCommand({ file: from, format: 'csv', out })).toBe(2);
    vi.restoreAllMocks();
  });
});
