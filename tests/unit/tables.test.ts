// The catalog of tables: each is described, and is in the Query view and in exported files with the same rows and numbers.
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { eventTable } from '../../src/analysis/events/table.ts';
import { cellText, inParts, isNumeric, listed } from '../../src/analysis/core/table.ts';
import { TABLES } from '../../src/analysis/tables.ts';
import { statementQueries } from '../../src/viewer/session/queries/statements.ts';
import { sqlQueries } from '../../src/viewer/session/sql/sql-query.ts';
import { EVENT_COLUMNS, fileTables } from '../../src/formats/tables.ts';
import { FLEET_TABLES } from '../../src/fleet/tables.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { tablesDoc } from '../../tools/docs/tables.ts';
import { contextOf, loadSqlite, rows } from './sql-queries.ts';

let golden: TraceStore;
beforeAll(async () => {
  await loadSqlite();
  golden = (await readTrace(readFileSync('tests/traces/golden/opfs-wl-two-tabs.vfst'))).store;
});

describe('every table of the catalog', () => {
  const all = [eventTable, ...TABLES];
  it('has its own name, and a description of itself and of each column', () => {
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
    for (const { name, help, columns } of all) {
      expect(name).toMatch(/^[a-z_]+$/);
      expect(help).toMatch(/^[A-Z].*[^.]$/);
      for (const [column, { title, help: meaning }] of Object.entries(columns)) {
        expect(column, name).toMatch(/^[a-z][a-z0-9_]*$/);
        expect([title, meaning], `${name}.${column}`).not.toContain('');
      }
    }
  });

  it('is in the Query view', () => {
    const tables = sqlQueries.sqlTables(contextOf(golden), {});
    expect(tables.map(({ name }) => name)).toEqual(all.map(({ name }) => name));
    for (const [i, { columns }] of tables.entries())
      expect(columns.map(({ name, help }) => [name, help])).toEqual(
        Object.entries(all[i]!.columns).flatMap(([name, { only, help }]) =>
          only === 'exports' ? [] : [[name, help]],
        ),
      );
  });

  it('is in a data set, and in its documentation (to fix it: npm run docs)', () => {
    const own = ['reports', 'histograms'];
    expect([...FLEET_TABLES.keys()].sort()).toEqual(
      [...all.map(({ name }) => name), ...own].sort(),
    );
    const page = readFileSync('docs/fleet.md', 'utf8');
    expect(tablesDoc(page)).toBe(page);
  });

  it('has the same content in files as in the Query view', async () => {
    let some = 0;
    for (const { name, columns, rows: inFile } of fileTables(golden)) {
      const cells = [...inFile];
      some += cells.length;
      const numbers = columns.filter((c) => c.type !== 'text' && !c.name.endsWith('seq'));
      const sums = numbers.map(({ name: column }) => {
        const at = columns.findIndex((c) => c.name === column);
        return cells.reduce((n, row) => n + (row[at] as number), 0);
      });
      const sql = numbers.map(({ name: column }) =>
        column.endsWith('_ns')
          ? `sum(CAST(round("${column.slice(0, -3)}" * 1000) AS INTEGER))`
          : `sum("${column}")`,
      );
      const [found] = await rows(
        golden,
        `SELECT ${['count(*)', ...sql].join(', ')} FROM "${name}"`,
      );
      expect([name, found![0]]).toEqual([name, cells.length]);
      found!
        .slice(1)
        .forEach((n, i) =>
          expect(Number(n ?? 0), `${name}.${numbers[i]!.name}`).toBeCloseTo(sums[i]!, 3),
        );
    }
    expect(some).toBeGreaterThan(300);
  });
});

it("a table's event reference leads to that event in a file", () => {
  const [thread, seq, ts] = ['thread', 'seq', 'ts_ns'].map((name) =>
    EVENT_COLUMNS.findIndex((c) => c.name === name),
  );
  expect([thread, seq, ts]).not.toContain(-1);
  const { columns, rows: cells } = fileTables(golden).find(({ name }) => name === 'executions')!;
  const place = (name: string): number => columns.findIndex((c) => c.name === name);
  let seen = 0;
  for (const row of cells) {
    const { events } = golden.threads[row[place('thread')] as number]!;
    const at = events.rowOfSeq(row[place('seq')] as number);
    expect(Math.round(events.t0[at]! * 1000)).toBe(row[place('ts_ns')]);
    seen++;
  }
  expect(seen).toBeGreaterThan(10);
});

it('statements are the same in the view, in SQL, and in files', async () => {
  const view = statementQueries.statements(contextOf(golden), {})!;
  const expected = view.rows.map((s) => [s.text, s.executions, Math.round(s.time.spanUs * 1000)]);
  expect(expected.length).toBeGreaterThan(3);
  expect(
    await rows(
      golden,
      'SELECT fingerprint, executions, CAST(round(dur * 1000) AS INTEGER) FROM statements',
    ),
  ).toEqual(expected);
  const { columns, rows: cells } = fileTables(golden).find(({ name }) => name === 'statements')!;
  const places = ['fingerprint', 'executions', 'dur_ns'].map((name) =>
    columns.findIndex((c) => c.name === name),
  );
  expect([...cells].map((row) => places.map((at) => row[at]))).toEqual(expected);
});

it('cells have their unit, and unknown values are never 0', () => {
  expect([
    ...[cellText('us', 1500), cellText('us', 0, 100), cellText('bytes', 4096)],
    ...[cellText('count', 12_345), cellText('moment', 1e6), cellText('share', 0.5)],
    ...[cellText('id', 12_345), cellText('text', 'a'), cellText('count', null)],
  ]).toEqual([
    ...['1.5 ms', '< 100 µs', '4 KiB', '12,345', '1.000000 s', '50 %', '12345', 'a', 'n/a'],
  ]);
  expect((['us', 'id', 'text', 'code'] as const).map(isNumeric)).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

it('rows of parts follow each other, in whatever order they are requested', () => {
  const all = inParts([2, 0, 3], (part, i) => `${part}:${i}`);
  const wanted = ['0:0', '0:1', '2:0', '2:1', '2:2'];
  expect(all.count).toBe(5);
  expect([0, 1, 2, 3, 4].map((i) => all.at(i))).toEqual(wanted);
  expect([4, 0, 2].map((i) => all.at(i))).toEqual(['2:2', '0:0', '2:0']);
  expect(listed(['a']).at(0)).toBe('a');
});
