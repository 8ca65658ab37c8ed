/**
 * One number, many outputs: each count of the golden traces is the same in the summary, the
 * Overview, the live strip, the timeline, the Statements and SQL views, the exports, the HTML
 * report, and the findings that count it. The table `QUANTITIES` lists the numbers.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { filesOf } from '../../src/analysis/files/files.ts';
import { explainedText } from '../../src/analysis/findings/explanation.ts';
import { findingFacts } from '../../src/analysis/findings/finding-facts.ts';
import { formatAs, formatBytes, formatCount } from '../../src/text/numbers.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { fileCountsOf, findingsOf } from '../traces/analyses.ts';
import { SCENARIOS } from '../traces/golden/scenarios.ts';
import { loadSqlite, rows } from './sql-queries.ts';
import { sum } from './doors/calls.ts';
import { doorsOf, wordsOf, type Doors } from './doors/doors.ts';
import { QUANTITIES } from './doors/quantities.ts';
import { counts, CLAIMS } from './doors/claims.ts';

const FOLDER = path.join(import.meta.dirname, '..', 'traces', 'golden');

beforeAll(loadSqlite);

describe.each(SCENARIOS)('$name', ({ name }) => {
  let d: Doors;
  beforeAll(async () => {
    const { store } = await readTrace(readFileSync(path.join(FOLDER, `${name}.vfst`)));
    d = await doorsOf(store);
  }, 120_000);

  it.each(QUANTITIES)('$name', async ({ unit, doors, ofVfs }) => {
    const all = Object.entries({ ...doors, ...(d.seesVfs && ofVfs) });
    const [actual, expected]: Record<string, unknown>[] = [{}, {}];
    if (all.length === 0) return; // a trace without VFS calls
    const value = (await all[0]![1](d)) as number | null;
    for (const [door, show] of all) {
      const shown = await show(d);
      if (shown === undefined) continue;
      actual![door] = shown;
      expected![door] =
        typeof shown === 'string'
          ? formatAs(value, unit)
          : shown && typeof shown === 'object'
            ? {
                about: expect.closeTo(
                  value!,
                  -Math.log10(2 * Math.max(1, value!) * 1e-6),
                ) as number,
              }
            : value !== null && unit !== 'count' && unit !== 'bytes'
              ? (expect.closeTo(value, unit === 'share' ? 9 : 2) as number)
              : value;
    }
    expect(actual).toEqual(expected);
  });

  it('files, one by one', async () => {
    const { store, areaByFile, html } = d;
    const sorted = (all: readonly unknown[][]): string[] =>
      all.map((line) => line.join(' ')).sort();
    const files = filesOf(store);
    const moves = sorted(files.map((f) => [f.kind, f.path, f.readBytes + f.writeBytes]));
    expect(sorted(areaByFile.rows.map((r) => [r.kind, r.name, r.bytes]))).toEqual(moves);
    const inSql = await rows(store, 'SELECT kind, path, read_bytes + write_bytes FROM files');
    expect(sorted(inSql)).toEqual(moves);
    const columns = ['Kind', 'File or store', 'Reads', 'Read', 'Writes', 'Written', 'Syncs'];
    const inReport = files.map((f) => [
      ...[f.kind, f.path, formatCount(f.reads), formatBytes(f.readBytes)],
      ...[formatCount(f.writes), formatBytes(f.writeBytes), formatCount(f.syncs)],
    ]);
    expect(sorted(html.table('Files', ...columns))).toEqual(sorted(inReport));
  });

  it.each([
    ['xRead', 'reads'],
    ['xWrite', 'writes'],
    ['xSync', 'syncs'],
  ] as const)('%s of the in-memory journal, which is no storage', async (op, column) => {
    const { store, sql, calls, drawer } = d;
    const files = fileCountsOf(store).filter(({ kind }) => kind === 'memory-journal');
    const shown = drawer(`${op} (memory journal)`);
    const value = sum(files, ({ vfs }) => vfs[op]);
    const kind = "kind = 'memory-journal'";
    expect({
      drawer: shown.count,
      sql: (await sql(`SELECT sum(${column}) FROM files WHERE ${kind}`)) ?? 0,
      csv: counts(calls.csv, op, 'memory-journal'),
      parquet: counts(calls.parquet, op, 'memory-journal'),
    }).toEqual({ drawer: value, sql: value, csv: value, parquet: value });
    if (op !== 'xSync') expect(shown.bytes).toBe(sum(files, ({ vfs }) => vfs[`${op}Bytes`]));
  });

  it('what findings report, what they explain, and what remains unexplained, in every output', () => {
    const { findings, explained, accounts } = d.told;
    for (const [teller, text] of d.tellers) {
      const told = accounts.flatMap(({ title, advice }) => [title, advice]);
      if (findings.length && explained) told.push(explainedText(explained));
      if (teller === 'findings')
        told.push(...findings.flatMap((f) => [f.title, ...findingFacts(f).flat()]));
      for (const sentence of told) expect(text, teller).toContain(wordsOf(sentence).trim());
    }
  });

  it('findings', async () => {
    for (const finding of findingsOf(d.store)) {
      const claims = Object.entries((await CLAIMS[finding.rule]?.(finding, d)) ?? {});
      const told = Object.fromEntries(claims.map(([what, [number]]) => [what, number]));
      const counted = Object.fromEntries(claims.map(([what, [, number]]) => [what, number]));
      expect(told, finding.title).toEqual(counted);
    }
  });
});
