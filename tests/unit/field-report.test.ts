// A report fits into 4 KB whatever the app does, and `fleet add` accepts it; slow statements
// request a trace.
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { TRACED } from '../../src/engines/sql-functions.ts';
import { isFieldReport, MOST_REPORT_BYTES } from '../../src/field/report.ts';
import { Ring } from '../../src/field/ring.ts';
import { EngineSql } from '../../src/field/sql.ts';
import { Tally } from '../../src/field/tally.ts';
import { PromiseWatch } from '../../src/record/promise-watch.ts';

beforeAll(() => {
  vi.stubGlobal('location', { origin: `https://${'a'.repeat(2000)}.example` });
  vi.stubGlobal('navigator', { userAgent: 'x'.repeat(3000) });
});
afterAll(() => vi.unstubAllGlobals());

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
const about = (labels: Record<string, string>) => ({ weight: 100, labels, trace: null });

/** As many statements and errors as are counted separately. @param text of each */
function busyTally(text: string): Tally {
  const tally = new Tally(() => {});
  for (let i = 0; i < 600; i++) {
    const statement = tally.statement(`${i} ${text}`, () => i);
    for (let us = 1; us < 2 ** 20; us *= 2) tally.run(statement, us * (i + 1));
    tally.error(`${text}Error ${i}`, `call${i}`);
  }
  return tally;
}

test.each([
  ['a few labels', { release: '1.2.0', device: 'small' }],
  ['many', Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`l${i}`, 'v'.repeat(500)]))],
  ['long names', { ['n'.repeat(500)]: 'v' }],
  ['many bytes a character', Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`l${i}`, '漢"\n'.repeat(60)]))], // prettier-ignore
])('less than 4 KB with %s', (_, labels) => {
  for (const text of ['select 1', '漢字"\n\ud83d'.repeat(100)]) {
    const report = busyTally(text).report(about(labels), true);
    expect(bytesOf(report)).toBeLessThanOrEqual(MOST_REPORT_BYTES);
    expect(isFieldReport(JSON.parse(JSON.stringify(report)))).toBe(true);
    // the sums include what the lists leave out: 500 statements, and the others together
    expect(report.runs).toBe(600 * 20);
  }
});

test('labels that fit stay unchanged', () => {
  const labels = { release: '1.2.0', device: 'small' };
  expect(busyTally('select 1').report(about(labels), true).labels).toEqual(labels);
});

test('long labels leave space for errors and statements; the first labels stay', () => {
  const labels = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`l${i}`, 'v'.repeat(200)])); // prettier-ignore
  const report = busyTally('select 1').report(about(labels), true);
  expect(Object.keys(report.labels)).toEqual(['l0', 'l1', 'l2', 'l3']);
  expect(report.errors.length).toBe(20);
  expect(report.statements.length).toBeGreaterThan(3);
});

test('a 99th percentile above the limit requests a trace, from 100 runs on', () => {
  const reasons: string[] = [];
  const tally = new Tally((why) => reasons.push(why), 5000);
  const statement = tally.statement('select 1', () => 1);
  const run = (us: number, times: number): void => {
    for (let i = 0; i < times; i++) tally.run(statement, us);
  };
  run(9000, 1);
  run(100, 150);
  expect(reasons).toEqual([]); // 1 of 151
  run(9000, 1);
  expect(reasons).toEqual(['p99 of statements above 5 ms']); // 2 of 152
  const short = new Tally((why) => reasons.push(why), 5000);
  for (let i = 0; i < 50; i++)
    short.run(
      short.statement('select 2', () => 2),
      9000,
    );
  expect(reasons.length).toBe(1);
});

test("an SQLITE_BUSY that the engine retries isn't an error", () => {
  const tally = new Tally(() => {});
  const told = (): unknown => {
    const { busy, errors, findings } = tally.report(about({}), true);
    return { busy, errors, findings };
  };
  // a burst of three counts as one, as in F06
  for (let i = 0; i < 3; i++) tally.answer(5, 'sqlite3_step');
  const burst = { busy: 3, errors: [['SQLITE_BUSY', 'sqlite3_step', 3]], findings: [['F06', 3]] };
  expect(told()).toEqual(burst);
  tally.answer(5, 'sqlite3_step');
  tally.handled('sqlite3_step');
  expect(told()).toEqual(burst);
  tally.handled('sqlite3_step');
  expect(told()).toEqual({ ...burst, busy: 2, errors: [['SQLITE_BUSY', 'sqlite3_step', 2]], findings: [] }); // prettier-ignore
  tally.handled('sqlite3_step');
  tally.handled('sqlite3_step');
  expect(told()).toEqual({ busy: 0, errors: [], findings: [] });
});

test("a slow statement requests a trace, and isn't a hang", () => {
  let now = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 3000));
  const reasons: string[] = [];
  expect(loopOn('sql.js', 'sqlite3_exec', [0], reasons)).toMatchObject({ findings: [] });
  clock.mockRestore();
  expect(reasons).toEqual(['slow call: sqlite3_exec']);
});

/** Calls of one connection, as an engine answers them. @returns the counts in the report */
function loopOn(
  engine: string,
  name: string,
  answers: readonly number[],
  reasons: string[] = [],
): unknown {
  const memory = new WebAssembly.Memory({ initial: 1 });
  const [db, stmt, sql] = [8, 16, 64];
  new Uint8Array(memory.buffer).set(new TextEncoder().encode('select 1'), sql);
  const tally = new Tally((why) => reasons.push(why));
  const watch = new PromiseWatch(null);
  const calls = new EngineSql({ ring: new Ring(64), tally, hangMs: 2000, watch }, memory, null, engine); // prettier-ignore
  const call = (of: string, a: number, rc: number): void => {
    const traced = TRACED.find((each) => each.name === of)!;
    const prepares = traced.subject === 'prepare';
    // (db, zSql, bytes, flags, ppStmt), or (db, zSql)
    const more = [sql, prepares ? 8 : 0, 0, prepares ? 32 : 0, 0] as const;
    calls.call(traced, () => rc, null, null, a, ...more);
  };
  new Uint32Array(memory.buffer)[32 / 4] = stmt;
  if (name === 'sqlite3_step') call('sqlite3_prepare_v3', db, 0);
  for (const rc of answers) call(name, name === 'sqlite3_step' ? stmt : db, rc);
  const { busy, failed, errors, findings, faults } = tally.report(about({}), true);
  expect(faults).toBe(0);
  return { busy, failed, errors, findings };
}
const BUSY = 'SQLITE_BUSY';
test.each([
  ['sql.js', 'sqlite3_exec', 4],
  ['@sqlite.org/sqlite-wasm', 'sqlite3_step', 4],
  ['@sqlite.org/sqlite-wasm', 'sqlite3_open_v2', 0],
  ['wa-sqlite', 'sqlite3_exec', 4],
])("an app's own loop on what is refused counts: %s %s", (engine, name, failed) => {
  expect(loopOn(engine, name, [5, 5, 5, 5, 0])).toEqual({
    ...{ busy: 4, failed, errors: [[BUSY, name, 4]], findings: [['F06', 4]] },
  });
});
test.each(['sqlite3_step', 'sqlite3_prepare_v3', 'sqlite3_open_v2'])(
  'wa-sqlite makes %s again, once',
  (name) => {
    const none = { busy: 0, failed: 0, errors: [], findings: [] };
    expect(loopOn('@journeyapps/wa-sqlite', name, [5, 0])).toEqual(none);
    const loop = loopOn('@journeyapps/wa-sqlite', name, [5, 5, 5, 5, 0]);
    expect(loop).toMatchObject({ busy: 3, errors: [[BUSY, name, 3]], findings: [['F06', 3]] });
  },
);
