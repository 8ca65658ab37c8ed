/**
 * Golden traces: recordings of real engines (tests/traces/golden), and the exact counts of every
 * analysis. A changed snapshot means that vfscope's output changed: check it, then write the
 * snapshots again with UPDATE_GOLDENS=1 (or `npm run docs -- goldens`, which also records again).
 */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { PARTS } from '../../src/analysis/core/time-parts.ts';
import { summaryOf } from '../../src/analysis/report/summary.ts';
import { missRatios } from '../../src/analysis/cache/miss-ratio.ts';
import { Facts } from '../../src/analysis/core/graph.ts';
import { openReaders } from '../../src/analysis/wal/open-readers.ts';
import { Op, type OpName } from '../../src/event/event.ts';
import { opName } from '../../src/event/operations.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { saveTrace } from '../../src/trace/file/write.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { toNs } from '../../src/trace/lanes/sweep.ts';
import { ENGINE_APPS } from '../oracle/catalog.ts';
import { OWN_SQL_GOLDENS, countsOnly, ownSqlCounts } from '../oracle/own-sql-goldens.ts';
import { countsOf } from '../traces/golden/counts.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';
import { SCENARIOS } from '../traces/golden/scenarios.ts';
import {
  partitionThread,
  findingsOf,
  partitionByStatement,
  summaryTime,
  transactionAnatomies,
} from '../traces/analyses.ts';

const FOLDER = path.join(import.meta.dirname, '..', 'traces', 'golden');
const UPDATE = process.env['UPDATE_GOLDENS'] === '1';
const MAX_BYTES = 3_000_000;

const stores = new Map<string, Promise<TraceStore>>();
function storeOf(name: string): Promise<TraceStore> {
  let store = stores.get(name);
  if (!store) {
    store = readTrace(readFileSync(path.join(FOLDER, `${name}.vfst`))).then((read) => {
      if (read.warnings.length) throw new Error(read.warnings.join('\n'));
      return read.store;
    });
    stores.set(name, store);
  }
  return store;
}

const sumNs = (parts: Record<string, number>, names: readonly string[]): number =>
  names.reduce((n, p) => n + toNs(parts[p]!), 0);
const PART_NAMES = PARTS.map((p) => `${p}Us`);

describe.each(SCENARIOS)('$name', ({ name }) => {
  it('counts what it counted', async () => {
    const file = path.join(FOLDER, `${name}.json`);
    const counts = countsOf(await storeOf(name));
    if (UPDATE) writeFileSync(file, `${JSON.stringify(counts, null, 1)}\n`);
    // a new key doesn't change the existing ones
    expect(counts).toMatchObject(JSON.parse(readFileSync(file, 'utf8')) as object);
  });

  it('parts of its time sum to the whole, to the nanosecond', async () => {
    const store = await storeOf(name);
    const [from, to] = store.extent();
    for (const [i, thread] of store.threads.entries()) {
      const p = partitionThread(thread);
      const parts = { ...p } as unknown as Record<string, number>;
      const own = store.threads[i]!.events.count > 0;
      expect([name, i, sumNs(parts, PART_NAMES)]).toEqual([name, i, toNs(p.spanUs)]);
      expect(toNs(p.spanUs)).toBeLessThanOrEqual(toNs(to) - toNs(from));
      expect(own || p.spanUs >= 0).toBe(true);
    }
    for (const thread of store.threads)
      for (const p of partitionByStatement(thread).values())
        expect(sumNs({ ...p } as unknown as Record<string, number>, PART_NAMES)).toBe(
          toNs(p.spanUs),
        );
    for (const a of transactionAnatomies(store)) {
      const all = Object.entries(a.time).reduce((n, [, us]) => n + toNs(us as number), 0);
      expect(all).toBe(toNs(a.toUs) - toNs(a.fromUs));
      if (!a.commit) continue;
      expect(Object.entries(a.commit.time).reduce((n, [, us]) => n + toNs(us as number), 0)).toBe(
        toNs(a.commit.toUs) - toNs(a.commit.fromUs),
      );
      expect(a.commit.fromUs).toBeGreaterThanOrEqual(a.fromUs);
      expect(a.commit.toUs).toBeLessThanOrEqual(a.toUs);
    }
    const time = summaryTime(store);
    if (time) expect(time).toEqual(summaryOf(store).time);
  });

  it('is written and read unchanged', async () => {
    const store = await storeOf(name);
    const again = await readTrace(new Uint8Array(await (await saveTrace(store)).arrayBuffer()));
    expect(again.warnings).toEqual([]);
    expect(countsOf(again.store)).toEqual(countsOf(store));
  });
});

describe('what is known beforehand', () => {
  const commits = async (name: string): Promise<number | null> =>
    summaryOf(await storeOf(name)).commits;

  it('1000 autocommit inserts make exactly the VFS calls of the SQL goldens', async () => {
    const store = await storeOf('memory-delete');
    const tally: Record<string, { calls: number; bytes: number }> = {};
    for (const { events, definitions } of store.threads) {
      const inserts = new Set<number>();
      for (let row = 0; row < events.count; row++) {
        const text = definitions.get(events.object[row]!);
        if (events.op[row] === Op.sqlStep && text?.kind === 'sql' && text.text.startsWith('INSERT'))
          inserts.add(events.seq[row]!);
        if (events.op[row]! >= 64 || !inserts.has(events.parent[row]!)) continue;
        const file = definitions.get(events.object[row]!);
        const entry = (tally[
          `${opName(events.op[row]!)} ${file?.kind === 'file' ? file.fileKind : 'other'}`
        ] ??= { calls: 0, bytes: 0 });
        entry.calls++;
        entry.bytes += events.length[row]!;
      }
    }
    expect(ownSqlCounts(tally)).toEqual(
      countsOnly(OWN_SQL_GOLDENS.find((g) => g.name === 'delete')!),
    );
  });

  it.each([
    ['memory-delete', 1001],
    ['opfs-coop-sync', 101],
    ['wal-exclusive', 302], // the change to WAL writes page 1, with a journal
    ['kvvfs', 21],
    ['opfs-proxy', 101],
    // CREATE TABLE, CREATE INDEX, the BEGIN .. COMMIT, 20 inserts, UPDATE
    ['idb-batch-atomic', 24],
    ['opfs-sahpool', 24],
    ['absurd-sql', 24],
    // the change to WAL, CREATE, INSERT, the updates
    ['checkpoint-storm', 83],
    ['checkpoint-starved', 4103],
    // the same with 85 updates; a query left open delays checkpoints, but no commit
    ['wal-never-shrinks', 88],
    ['wal-begins-anew', 88],
    // CREATE, INSERT, 3 updates that spill
    ['read-modify-write', 5],
    ['turso-wal', 81],
    // CREATE and INSERT, then reads only
    ['cold-warm', 2],
    ['cache-thrash', 2],
    // CREATE, INSERT, 5 inserts after a rollback to a savepoint; 5 full rollbacks aren't commits
    ['rollback-and-savepoints', 7],
  ])('%s: %i commits', async (name, expected) => {
    expect(await commits(name)).toBe(expected);
  });

  it('the counter of two tabs has as many commits as increments, whichever tab waited', async () => {
    // CREATE TABLE, INSERT and the increments of both tabs
    expect(await commits('opfs-wl-two-tabs')).toBe(2 + 2 * 20);
    expect(await commits('idb-two-tabs')).toBe(2 + 2 * 30);
  });
});

it('no cache is advised that is smaller than the current one', async () => {
  for (const name of ['wal-exclusive', 'checkpoint-storm', 'wal-never-shrinks'])
    for (const { goal, fromPages } of new Facts(await storeOf(name)).get(missRatios))
      if (goal) expect(goal.pages).toBeGreaterThanOrEqual(fromPages);
});

describe('the reader that keeps a log from starting over', () => {
  const advices = async (name: string): Promise<string[]> =>
    findingsOf(await storeOf(name)).flatMap(({ rule, advice }) => (rule === 'F13' ? advice : []));
  it('is named if it was stepped and left open', async () =>
    expect(await advices('wal-never-shrinks')).toEqual([
      expect.stringMatching(
        /^Reset or finalize "SELECT id FROM t", stepped at 3\.9884\d* s on Worker worker\.js and left open: /,
      ),
    ]));
  it('is none if it was reset, finalized, or stepped to its end', () => {
    const readers = (...last: [op: OpName, result: number][]): unknown[] => {
      const t = new ThreadBuilder(newStore());
      const sql = t.define({ kind: 'sql', text: 'SELECT id FROM t' });
      const call = { object: sql, aux: 1, context: 1 };
      t.call('sqlStep', { ...call, result: 100 }, () =>
        t.call('xRead', { object: t.file('/app.db'), context: 1, offset: 0, length: 4096 }),
      );
      for (const [op, result] of last) t.call(op, { ...call, result });
      t.send();
      return new Facts(t.store).get(openReaders).map((r) => [r.sql, [...r.databases], r.fromUs]);
    };
    const open = [['SELECT id FROM t', ['app.db'], 0]];
    expect(readers()).toEqual(open);
    expect(readers(['sqlStep', 100])).toEqual(open);
    expect(readers(['sqlStep', 101])).toEqual([]);
    expect(readers(['sqlReset', 0])).toEqual([]);
    expect(readers(['sqlFinalize', 0])).toEqual([]);
  });
});

describe('findings', () => {
  const judged = JSON.parse(
    readFileSync(path.join(import.meta.dirname, '..', 'oracle', 'findings.json'), 'utf8'),
  ) as {
    verdicts: Record<string, string>;
    rows: Record<string, string[]>;
    golden: Record<string, string[]>;
  };
  it.each(SCENARIOS)('of $name are those judged to be true', async ({ name }) => {
    const rules = new Set(findingsOf(await storeOf(name)).map((f) => f.rule));
    expect([...rules].sort()).toEqual(judged.golden[name]);
  });
  it('each has a verdict, and each engine app a row', () => {
    const found = new Set([...Object.values(judged.rows), ...Object.values(judged.golden)].flat());
    expect(Object.keys(judged.verdicts).sort()).toEqual([...found].sort());
    expect(Object.keys(judged.rows)).toEqual(ENGINE_APPS.map(({ id }) => id));
  });
});

it('every file in the folder is a scenario with its trace and its snapshot, small enough to store', () => {
  const files = readdirSync(FOLDER);
  const of = (extension: string): string[] =>
    files
      .filter((f) => f.endsWith(extension))
      .map((f) => f.slice(0, -extension.length))
      .sort();
  const names = SCENARIOS.map((s) => s.name).sort();
  expect(of('.vfst')).toEqual(names);
  expect(of('.json')).toEqual(names);
  const bytes = files
    .filter((f) => f.endsWith('.vfst'))
    .reduce((n, f) => n + readFileSync(path.join(FOLDER, f)).length, 0);
  expect(bytes).toBeLessThan(MAX_BYTES);
});
