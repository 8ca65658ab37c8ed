// One fact, one number: the counts of the Answer and the strip match the lists that they link to,
// on every stored recording.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { headline, headlineIn } from '../../src/analysis/answer/headline.ts';
import { moments } from '../../src/analysis/answer/moments.ts';
import { topTables } from '../../src/analysis/answer/top-tables.ts';
import { worst } from '../../src/analysis/answer/worst.ts';
import { pageCache } from '../../src/analysis/cache/page-cache.ts';
import { waitLines } from '../../src/analysis/contention/wait-lines.ts';
import { sumsOf } from '../../src/analysis/contention/wait-sums.ts';
import { Facts } from '../../src/analysis/core/graph.ts';
import { sqliteThreads } from '../../src/analysis/core/main-threads.ts';
import { ioTime, SQL_PARTS, type PartTimes } from '../../src/analysis/core/time-parts.ts';
import { callCounts } from '../../src/analysis/files/call-counts.ts';
import { UNKNOWN_FILE } from '../../src/analysis/files/files.ts';
import { originFiles } from '../../src/analysis/files/table.ts';
import { explained } from '../../src/analysis/findings/explanation.ts';
import { bTrees, bTreeTotals, ownersOf } from '../../src/analysis/pages/b-trees.ts';
import { pages } from '../../src/analysis/pages/pages.ts';
import {
  NUMBERS,
  numbersFrom,
  type NumberId,
} from '../../src/analysis/numbers/headline-numbers.ts';
import { flameGraph } from '../../src/analysis/statements/flame-graph.ts';
import { statementTable } from '../../src/analysis/statements/statement-table.ts';
import { anatomies } from '../../src/analysis/transactions/transaction-anatomy.ts';
import { transactionRows } from '../../src/analysis/transactions/table.ts';
import { checkpointLines } from '../../src/analysis/wal/table.ts';
import { Op } from '../../src/event/event.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import type { TraceStore } from '../../src/trace/store.ts';

const GOLDEN = join(import.meta.dirname, '..', 'traces', 'golden');
const EXAMPLE = join(import.meta.dirname, '..', '..', 'src', 'devtools', 'example.vfst');
const RECORDINGS = [
  ...readdirSync(GOLDEN)
    .filter((name) => name.endsWith('.vfst'))
    .map((name) => [name, join(GOLDEN, name)] as const),
  ['the example', EXAMPLE] as const,
];
const sumOf = (times: PartTimes): number =>
  SQL_PARTS.reduce((us, part) => us + times[`${part}Us`], 0);
const callsOf = ({ threads }: TraceStore, op: number): number =>
  threads.reduce(
    (n, { events }) => n + events.op.subarray(0, events.count).filter((o) => o === op).length,
    0,
  );

describe.each(RECORDINGS)('%s', (_, file) => {
  const read = readTrace(readFileSync(file)).then(({ store }) => new Facts(store));
  const number = async (id: NumberId): Promise<number | null> =>
    numbersFrom(await read).get(id).value;

  it('has one time in SQL, in the sentence, its bar, Statements, the flame graph, and actions', async () => {
    const facts = await read;
    const { times } = facts.get(headline);
    const inSql = await number('sqlTime');
    if (!times) return expect(inSql).toBeNull();
    expect(sumOf(times)).toBeCloseTo(inSql!, 2);
    expect(facts.get(explained)?.inSqlUs ?? 0).toBe(inSql);
    const table = facts.get(statementTable);
    if (!table) return;
    expect(table.spanUs).toBeCloseTo(inSql!, 2);
    expect(flameGraph(facts, {})!.totalUs).toBeCloseTo(inSql!, 2);
    expect(flameGraph(facts, {}, true)!.totalUs).toBeCloseTo(inSql!, 2);
    expect(sumOf(facts.get(worst).times!)).toBeCloseTo(inSql!, 2);
    // its threads share it
    const byThread = facts
      .get(sqliteThreads)
      .map(({ index }) => sumOf(headlineIn(facts, { thread: index }).times!));
    expect(byThread.reduce((a, b) => a + b, 0)).toBeCloseTo(inSql!, 2);
  });

  it('has one number of runs, and one share of I/O and of lock calls', async () => {
    const facts = await read;
    const table = facts.get(statementTable);
    const [runs, io, locks, inSql] = [
      await number('statements'),
      await number('ioShare'),
      await number('lockCallShare'),
      await number('sqlTime'),
    ];
    if (!table) return expect(runs).toBeNull();
    expect(table.executions).toBe(runs);
    expect(table.rows.reduce((n, { executions }) => n + executions, 0)).toBe(runs);
    const { rows } = table;
    const sum = (us: (row: (typeof rows)[number]) => number): number =>
      rows.reduce((all, row) => all + us(row), 0);
    if (io !== null) expect(sum(({ time }) => ioTime(time))).toBeCloseTo(io * inSql!, 2);
    if (locks !== null) expect(sum(({ time }) => time.lockUs)).toBeCloseTo(locks * inSql!, 2);
  });

  it('has one number of lock waits, and one time', async () => {
    const facts = await read;
    const sums = sumsOf(facts.get(waitLines));
    const [waits, share, inSql] = [
      await number('lockWaits'),
      await number('lockShare'),
      await number('sqlTime'),
    ];
    if (waits !== null) expect(sums.ofSqlite).toBe(waits);
    if (share !== null) expect(sums.whileSqlUs).toBeCloseTo(share * inSql!, 2);
  });

  it('has one number of commits, transactions, and checkpoints', async () => {
    const facts = await read;
    const list = facts.get(transactionRows);
    const [commits, reads, writes, rolledBack] = [
      await number('commits'),
      await number('transactionsRead'),
      await number('transactionsWrite'),
      await number('rolledBack'),
    ];
    const { list: view, about } = numbersFrom(facts).get('commits');
    // the link shows what is counted below, or the log of an engine whose VFS calls aren't visible
    expect([view, about]).toEqual(
      facts.get(callCounts).seesVfs ? ['transactions', { outcome: 'committed' }] : ['wal', null],
    );
    if (commits !== null && reads !== null) {
      const lines = Array.from({ length: list.count }, (_, i) => list.at(i));
      expect(lines.filter(({ kind }) => kind === 'read').length).toBe(reads);
      expect(lines.filter(({ kind }) => kind === 'write').length).toBe(writes);
      expect(lines.filter(({ outcome }) => outcome === 'committed').length).toBe(commits);
      expect(lines.filter(({ outcome }) => outcome === 'rolled back').length).toBe(rolledBack);
      expect(facts.get(anatomies).commitTotals().commits).toBe(commits);
    }
    const checkpoints = await number('checkpoints');
    if (checkpoints !== null) expect(facts.get(checkpointLines).length).toBe(checkpoints);
  });

  it('has the reads, writes, syncs, and bytes of the strip in Files', async () => {
    const facts = await read;
    if (!facts.get(callCounts).seesVfs) return;
    const files = facts
      .get(originFiles)
      .filter(
        ({ vfs, kind, path }) =>
          (vfs !== '' || path === UNKNOWN_FILE.path) && kind !== 'memory-journal',
      );
    for (const [id, of] of [
      ['reads', 'reads'],
      ['writes', 'writes'],
      ['syncs', 'syncs'],
      ['readBytes', 'readBytes'],
      ['writtenBytes', 'writeBytes'],
    ] as const)
      expect(
        files.reduce((n, row) => n + row[of], 0),
        id,
      ).toBe(await number(id));
  });

  it("has the Answer's tables as Files has them, and its moments as long as their rows", async () => {
    const facts = await read;
    const trees = facts.get(bTrees);
    for (const { path, name, kind, reads, writes } of facts.get(topTables)) {
      const database = facts.get(pages).find((one) => one.path === path && one.kind === 'main-db')!;
      const { list } = trees[database.index]!;
      const totals = bTreeTotals(
        database.places,
        ownersOf(trees[database.index]!, database.places),
        list.length,
      );
      const at = list.findIndex((tree) => tree.name === name && tree.kind === kind);
      expect(totals.reads[at]! + totals.walReads[at]!).toBe(reads);
      expect(totals.writes[at]! + totals.walWrites[at]! + totals.checkpointWrites[at]!).toBe(
        writes,
      );
    }
    const list = facts.get(transactionRows);
    const lines = Array.from({ length: list.count }, (_, i) => list.at(i));
    for (const moment of facts.get(moments).filter(({ kind }) => kind === 'transaction')) {
      const line = lines.find(({ thread, seq }) => thread === moment.thread && seq === moment.seq);
      expect(line!.durationUs).toBeCloseTo(moment.toUs - moment.fromUs, 3);
    }
  });

  it('has one number of hits and misses, and of IndexedDB transactions', async () => {
    const facts = await read;
    const { hits, misses } = facts.get(pageCache);
    const table = facts.get(statementTable);
    if (hits !== null && table) {
      const shared = table.cacheShared ?? { hits: 0, misses: 0 };
      const of = (what: 'hits' | 'misses'): number =>
        table.rows.reduce((n, { cache }) => n + (cache?.[what] ?? 0), shared[what]);
      expect([of('hits'), of('misses')]).toEqual([hits, misses]);
    }
    const idb = await number('idbTransactions');
    if (idb !== null) expect(callsOf(facts.store, Op.idbTransaction)).toBe(idb);
  });

  it('links each number that counts or sums something to a list', async () => {
    await read;
    const without = (Object.keys(NUMBERS) as NumberId[]).filter((id) => !('list' in NUMBERS[id]));
    // about the recording itself
    expect(without).toEqual(['seen', 'dropped', 'cost']);
  });
});
