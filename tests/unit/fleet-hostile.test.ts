// Bad input from users' browsers and disks to a fleet's data set: each is named, no other data is
// lost, and nothing counts twice.
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { fleetAdd } from '../../src/cli/fleet.ts';
import { isFieldReport, REPORT_FORMAT, type FieldReport } from '../../src/field/report.ts';
import { compact } from '../../src/fleet/compact.ts';
import { DataSet } from '../../src/fleet/data-set.ts';
import { fleetReport, fleetReportDocument } from '../../src/fleet/report.ts';
import { emptyPart } from '../../src/fleet/unit.ts';
import { reportText } from '../../src/terminal/report-text.ts';
import { buildCommand } from './cli-command.ts';

const GOLDEN = 'tests/traces/golden';
const SMALL = join(GOLDEN, 'turso-wal.vfst');
const folder = mkdtempSync(join(tmpdir(), 'vfscope-fleet-hostile-'));
const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
const said = (): string => stderr.mock.calls.flat().join('');
let [n, from, out]: [number, string, string] = [0, '', ''];
beforeEach(() => {
  stderr.mockClear();
  [from, out] = [join(folder, `in-${++n}`), join(folder, `out-${n}`)];
  mkdirSync(from);
});
afterAll(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

const report = (more: Partial<FieldReport> = {}): FieldReport => ({
  ...{ vfscope: REPORT_FORMAT, id: 'a', at: Date.UTC(2026, 10, 20), ms: 1000, weight: 1 },
  ...{ labels: {}, origin: '', agent: '', engine: null, sqlite: null, storage: '' },
  ...{ statements: [], runs: 1, failed: 0, syncs: [], locks: [], lockUs: 0, busy: 0 },
  ...{ errors: [], findings: [], faults: 0, trace: null, ...more },
});
const put = (name: string, ...reports: unknown[]): void =>
  writeFileSync(join(from, name), reports.map((each) => JSON.stringify(each)).join('\n'));
const add = (paths = [from]): Promise<number> => fleetAdd({ paths, out, shard: '1/1' });
async function rows(table: string): Promise<Record<string, unknown>[]> {
  const files = new DataSet(out).files(table);
  const all = files.map(({ path }) =>
    parquetReadObjects({ file: new Uint8Array(readFileSync(path)).buffer }),
  );
  return (await Promise.all(all)).flat();
}

test('any text in labels comes back unchanged, and reaches no path and no terminal', async () => {
  const texts = [
    ...['a,b', 'say "hi"', 'two\nlines', '../../../etc/passwd', "'; DROP TABLE reports; --"],
    ...['\u001b[2J\u202e', '=cmd()', '😀', '\ud83d', '', 'x'.repeat(200)],
  ];
  put('a.jsonl', ...texts.map((release, i) => report({ id: `r${i}`, labels: { release } })));
  // as in JSON: an own property
  put('b.json', JSON.parse(JSON.stringify(report({ id: 'p' })).replace('{}', '{"__proto__":"1"}')));
  expect(await add()).toBe(0);
  const lives = await rows('reports');
  expect(new Set(lives.map((row) => row.release ?? null))).toEqual(
    new Set([...texts.map((text) => (text === '\ud83d' ? '\ufffd' : text)), null]),
  );
  expect(lives.map((row) => row.labels)).toContain('{"__proto__":"1"}');
  const inData = readdirSync(out, { recursive: true, encoding: 'utf8' });
  expect(inData.filter((path) => /\.parquet$/.test(path) && !/^\w+\/day=[-\d]+\/(\w{16}|empty)\.parquet$/.test(path))).toEqual([]); // prettier-ignore
  const document = fleetReportDocument(await fleetReport(out, 'release'));
  const shown = reportText(document);
  expect(shown.replaceAll('\n', '')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/);
  // a column per release: the others are in --json
  expect(shown).toContain(
    'Only the 8 groups with the most page lives are shown, of 11. To get all, use --json.',
  );
});

test('numbers that no browser reports are rejected, and extreme ones break no report', async () => {
  const bad: Partial<FieldReport>[] = [
    { runs: 2 ** 53 },
    { busy: -1 },
    { weight: 1e300 },
    { weight: 0.5 },
    { syncs: [0, 2 ** 60] },
    { labels: { release: 'x'.repeat(10_000) } },
    { origin: 'x'.repeat(10_000) },
  ];
  expect(bad.map((more) => isFieldReport(report(more)))).toEqual(bad.map(() => false));
  put(
    'a.jsonl',
    ...bad.map((more) => report(more)),
    // clocks that are wrong or were set back
    report({ id: '1', at: 0 }),
    report({ id: '2', at: 1e300, ms: 1e300, lockUs: 1e300 }),
    report({ id: '3', at: Date.UTC(2099, 0, 1), runs: 2 ** 53 - 1 }),
  );
  expect(await add()).toBe(0);
  expect(said()).toContain(`${bad.length} of ${bad.length + 3} items aren't valid reports`);
  const found = await fleetReport(out, null);
  expect(found).toMatchObject({ lives: 3, weight: 3, from: '1970-01-01', to: '1970-01-01' });
  expect(found.waits.lives).toBe(1);
  expect(
    (await rows('reports')).map(({ lock_wait_ns: ns, statements }) => [ns, statements]).sort(),
  ).toEqual(
    [
      [0n, 1n],
      [2n ** 63n - 1n, 1n],
      [0n, 2n ** 53n - 1n],
    ].sort(),
  );
});

test('a truncated trace is added as far as it goes, and named; unreadable files are left out', async () => {
  const whole = readFileSync(join(GOLDEN, 'checkpoint-storm.vfst'));
  writeFileSync(join(from, 'cut.vfst'), whole.subarray(0, whole.length * 0.7));
  const forged = Buffer.from(whole);
  for (let at = 2000; at < forged.length; at += 977) forged[at]! ^= 255;
  writeFileSync(join(from, 'damaged.vfst'), forged);
  writeFileSync(join(from, 'empty.vfst'), '');
  mkdirSync(join(from, 'folder.vfst'));
  copyFileSync(SMALL, join(from, 'whole.vfst'));
  expect(await add()).toBe(2);
  const words = said();
  expect(words).toMatch(/cut\.vfst: .* cut off at byte/);
  expect(words).toMatch(/damaged\.vfst: .*left out/);
  expect(words).toMatch(/empty\.vfst: /);
  expect(words).toMatch(/folder\.vfst is a folder/);
  expect(words).toContain('2 left out.');
  const traces = await rows('traces');
  expect(traces.map(({ name }) => name).sort()).toEqual(['cut', 'damaged', 'whole']);
  // from each file its contents, no more and no less
  const events = await rows('events');
  for (const { trace, events: count } of traces)
    expect(events.filter((row) => row.trace === trace).length).toBe(Number(count));
});

test('one trace under two names counts once', async () => {
  copyFileSync(SMALL, join(from, 'a.vfst'));
  copyFileSync(SMALL, join(from, 'b.vfst'));
  expect(await add()).toBe(0);
  expect(said()).toContain('1 added');
  expect((await rows('traces')).length).toBe(1);
});

test('a report that arrives after its trace belongs to the same page life', async () => {
  const both = report({ errors: [['SQLITE_FULL', 'xWrite', 2]], syncs: [10, 7] });
  copyFileSync(SMALL, join(from, 'a.vfst'));
  await add();
  expect(await fleetReport(out, null)).toMatchObject({ lives: 1, weight: 1 });
  put('a.json', both);
  await add();
  const after = await fleetReport(out, null);
  expect(after).toMatchObject({ lives: 1, weight: 1, traces: 1 });
  expect(after.errors).toMatchObject([{ error: 'SQLITE_FULL', count: 2, lives: 1 }]);
  expect(after.errors[0]!.example).toEqual({ trace: (await rows('traces'))[0]!.trace, name: 'a' });
  expect(reportText(fleetReportDocument(after))).toMatch(/SQLITE_FULL .* a$/m);
  expect(after.syncs).toMatchObject([{ count: 7 }]);
});

test('a trace has no weight only if the report next to it is added, by any shard', async () => {
  copyFileSync(SMALL, join(from, 'a.vfst'));
  put('a.json', report({ labels: { release: '1' } }));
  const shares = async (): Promise<unknown> => ({
    lives: (await rows('reports')).map(({ source, weight }) => [source, weight]).sort(),
    traces: (await rows('traces')).map(({ weight, release }) => [weight, release]),
  });
  await add([join(from, 'a.vfst')]);
  expect(await shares()).toEqual({ lives: [['trace', 1]], traces: [[1, '1']] });
  const reported = { lives: [['field', 1]], traces: [[0, '1']] };
  for (const order of [
    ['a.json', 'a.vfst'],
    ['1/2', '2/2'],
    ['2/2', '1/2'],
  ]) {
    out = `${out}-`;
    for (const each of order)
      if (each.includes('/')) await fleetAdd({ paths: [from], out, shard: each });
      else await add([join(from, each)]);
    expect(await shares(), order.join()).toEqual(reported);
  }
});

test("a trace that couldn't be added isn't shown as an example", async () => {
  put('a.json', report({ errors: [['SQLITE_FULL', 'sqlite3_step', 1]] }));
  writeFileSync(join(from, 'a.vfst'), 'no trace');
  expect(await add()).toBe(2);
  expect((await fleetReport(out, null)).errors[0]!.example).toBeNull();
  put('b.json', report({ id: 'b', errors: [['SQLITE_FULL', 'sqlite3_step', 1]] }));
  copyFileSync(SMALL, join(from, 'b.vfst'));
  expect(await add()).toBe(2);
  expect((await fleetReport(out, null)).errors[0]).toMatchObject({
    ...{ lives: 2, example: { trace: (await rows('traces'))[0]!.trace, name: 'b' } },
  });
});

test('a reports file that is too large is named, and the others are added', async () => {
  put('a.json', report());
  writeFileSync(join(from, 'b.jsonl'), '');
  truncateSync(join(from, 'b.jsonl'), 600 * 2 ** 20); // takes no disk space
  expect(await add()).toBe(2);
  expect(said()).toMatch(/b\.jsonl: it has 600 MiB; vfscope fleet takes at most 256 MiB\. Save/);
  expect(await rows('reports')).toHaveLength(1);
});

test('a finding that no report can contain has a share of the page lives with a trace', async () => {
  copyFileSync(join(GOLDEN, 'opfs-coop-sync.vfst'), join(from, 'a.vfst'));
  copyFileSync(SMALL, join(from, 'b.vfst'));
  // a report of an unknown version may contain any rule, so it doesn't count
  put('c.jsonl', ...[1, 2, 3].map((i) => report({ id: `r${i}`, weight: 100, findings: [['F06', 4], ['F07', 1]] }))); // prettier-ignore
  put('d.json', report({ id: 'd', labels: { release: 'new' }, findings: [['F99', 1]] }));
  expect(await add()).toBe(0);
  const found = await fleetReport(out, null);
  const shareOf = (rule: string) => found.findings.find((f) => f.rule === rule)?.shares[0]!.share;
  expect(found.weight).toBe(303);
  expect([shareOf('F06'), shareOf('F07'), shareOf('F99')]).toEqual([300 / 303, 1 / 2, undefined]);
  const byRelease = await fleetReport(out, 'release');
  const busy = byRelease.findings.find(({ rule }) => rule === 'F07')!;
  expect(busy.shares.map(({ share }) => share)).toEqual([1 / 2, null]);
  expect(reportText(fleetReportDocument(byRelease))).toContain('no traces');
});

test("reports' storage isn't mixed with VFSs of traces that have the same name", async () => {
  copyFileSync(join(GOLDEN, 'opfs-proxy.vfst'), join(from, 'a.vfst'));
  put('b.jsonl', ...['opfs', 'idb+opfs', ''].map((storage, i) => report({ id: `r${i}`, storage })));
  expect(await add()).toBe(0);
  const { groups } = await fleetReport(out, 'vfs_class');
  expect(groups.map(({ name }) => name)).toEqual([
    '(unknown)',
    'opfs',
    'stores in idb+opfs',
    'stores in opfs',
  ]);
});

test('one page life that represents most others makes the interval wide', async () => {
  const many = Array.from({ length: 100 }, (_, i) => report({ id: `r${i}` }));
  put('a.jsonl', ...many, report({ id: 'b', weight: 100, findings: [['F06', 3]] }));
  expect(await add()).toBe(0);
  const [busy] = (await fleetReport(out, null)).findings;
  // as many as (200 * 200) / (100 * 1 + 1 * 10,000) = 3.96 of one weight
  expect(busy!.shares[0]!.share).toBe(0.5);
  expect(busy!.shares[0]!.low).toBeCloseTo(0.149, 3);
  expect(busy!.shares[0]!.high).toBeCloseTo(0.851, 3);
});

test("a data set of another version isn't extended", async () => {
  copyFileSync(SMALL, join(from, 'a.vfst'));
  await add();
  const [id] = new DataSet(out).ids();
  // from before columns were noted
  writeFileSync(join(out, '_manifest', `${id}.json`), '{"schema":3,"tables":["events"]}');
  copyFileSync(join(GOLDEN, 'cold-warm.vfst'), join(from, 'b.vfst'));
  for (const attempt of [add, () => compact(out), () => fleetReport(out, null)])
    await expect(attempt()).rejects.toThrow(`Another version of vfscope made ${out}`);
  expect((await rows('traces')).length).toBe(1);
});

test('an input that fails halfway leaves nothing', () => {
  const set = new DataSet(out);
  const parts = function* () {
    yield emptyPart('events');
    throw new Error('half-way');
  };
  expect(() => set.add('0123456789abcdef', parts())).toThrow('half-way');
  expect([set.files(), set.ids()]).toEqual([[], []]);
});

test('what a killed command left is removed after an hour', async () => {
  copyFileSync(SMALL, join(from, 'a.vfst'));
  await add();
  const [old, fresh] = ['old', 'fresh'].map((name) => join(out, '_tmp', name));
  for (const path of [old!, fresh!]) writeFileSync(path, 'half');
  const twoHoursAgo = Date.now() / 1000 - 7200;
  utimesSync(old!, twoHoursAgo, twoHoursAgo);
  await compact(out);
  expect([existsSync(old!), existsSync(fresh!)]).toEqual([false, true]);
});

test('a run without shards adds a missing shard', async () => {
  for (const name of ['turso-wal', 'cold-warm', 'kvvfs', 'rollback-and-savepoints'])
    copyFileSync(join(GOLDEN, `${name}.vfst`), join(from, `${name}.vfst`));
  await fleetAdd({ paths: [from], out, shard: '2/3' });
  await fleetAdd({ paths: [from], out, shard: '3/3' });
  expect(new DataSet(out).ids().length).toBeLessThan(4);
  expect(await add()).toBe(0);
  expect((await rows('traces')).length).toBe(4);
});

let command: string;
beforeAll(async () => {
  command = await buildCommand('vfscope-fleet-hostile-test');
}, 90_000);

test("the processes of a run add up their counts, and report where they can't write", () => {
  // enough files to use all cores
  put('a.jsonl', report());
  for (let i = 0; i < 20; i++) put(`${i}.json`, i % 5 ? report({ id: `r${i}` }) : { other: i });
  const run = (to: string) =>
    spawnSync(process.execPath, [command, 'fleet', 'add', from, '--out', to], { encoding: 'utf8' });
  const first = run(out);
  expect([first.status, first.stderr]).toEqual([
    2,
    expect.stringContaining(`17 added to ${out}, 0 already in it, 4 left out.`),
  ]);
  expect(run(out).stderr).toContain(`0 added to ${out}, 17 already in it, 4 left out.`);
  // acts as a full disk: no file can be written there
  const full = join(folder, 'full');
  mkdirSync(full);
  writeFileSync(join(full, 'reports'), '');
  const failed = run(full);
  expect(failed.status).toBe(2);
  expect(failed.stderr).toMatch(/reports.* can't be written/);
  expect(failed.stderr).toContain('Run the command again');
});
