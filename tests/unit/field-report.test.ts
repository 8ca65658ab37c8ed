// A report fits into 4 KB whatever the app says and does, and `fleet add` takes it; slow statements ask for a trace.
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { isFieldReport, MOST_REPORT_BYTES } from '../../src/field/report.ts';
import { Tally } from '../../src/field/tally.ts';

beforeAll(() => {
  vi.stubGlobal('location', { origin: `https://${'a'.repeat(2000)}.example` });
  vi.stubGlobal('navigator', { userAgent: 'x'.repeat(3000) });
});
afterAll(() => vi.unstubAllGlobals());

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
const about = (labels: Record<string, string>) => ({ weight: 100, labels, trace: null });

/** As many statements and errors as are told apart. @param text of each */
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
    // what is left out of the lists is in the sums: 500 statements, and the others together
    expect(report.runs).toBe(600 * 20);
  }
});

test('labels that fit stay as they are', () => {
  const labels = { release: '1.2.0', device: 'small' };
  expect(busyTally('select 1').report(about(labels), true).labels).toEqual(labels);
});

test('a 99th percentile above the limit asks for a trace, from 100 runs on', () => {
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

test('an answer of SQLITE_BUSY that the engine asks again for is none', () => {
  const tally = new Tally(() => {});
  const told = (): unknown => {
    const { busy, errors, findings } = tally.report(about({}), true);
    return { busy, errors, findings };
  };
  // a burst of three is one of F06
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
