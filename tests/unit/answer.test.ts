// The Answer view: its first sentences, the order of actions, and what cost most.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { actionsOf, changeText, insteadText } from '../../src/analysis/answer/actions.ts';
import { headline, headlineIn } from '../../src/analysis/answer/headline.ts';
import { worst, worstIn } from '../../src/analysis/answer/worst.ts';
import { Facts } from '../../src/analysis/core/graph.ts';
import { unseenWork } from '../../src/analysis/core/unrecorded-workers.ts';
import { findings } from '../../src/analysis/findings/index.ts';
import { checkpoints } from '../../src/analysis/wal/checkpoints.ts';
import { bTrees } from '../../src/analysis/pages/b-trees.ts';
import { statementsOfTable, treeUse } from '../../src/analysis/pages/tree-use.ts';
import { longestReserved } from '../../src/analysis/transactions/longest-reserved.ts';
import {
  statementTable,
  statementTableIn,
  type StatementRow,
} from '../../src/analysis/statements/statement-table.ts';
import { sweeps } from '../../src/analysis/time/thread-times.ts';
import { isInSql, PARTS } from '../../src/analysis/core/time-parts.ts';
import { extent } from '../../src/analysis/core/time-range.ts';
import { accounts } from '../../src/analysis/findings/accounts.ts';
import { saidText, type Said, type SaidNumber } from '../../src/analysis/numbers/said.ts';
import { sqlRangeOf } from '../../src/viewer/session/queries/time-strips.ts';
import type { Scope } from '../../src/analysis/core/scope.ts';
import { totalTimeInSql } from '../../src/analysis/time/summary-time.ts';
import type { Finding } from '../../src/analysis/rules/types.ts';
import { formatDuration } from '../../src/text/numbers.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';

const golden = async (name: string): Promise<Facts> =>
  new Facts((await readTrace(readFileSync(`tests/traces/golden/${name}.vfst`))).store);
const lengthOf = ({ fromUs, toUs }: { fromUs: number; toUs: number }): number => toUs - fromUs;
const said = (store: TraceStore): string => new Facts(store).get(headline).text;

describe('the first sentences', () => {
  it('name the thread, its time, and where most of it went', async () => {
    const facts = await golden('idb-batch-atomic');
    const { text, times, fromUs, toUs } = facts.get(headline);
    const inSql = formatDuration(facts.get(totalTimeInSql));
    expect(text).toBe(
      `SQLite kept the worker worker.js busy for ${inSql} of the ${formatDuration(toUs - fromUs)} you recorded. ` +
        'Writing and committing, with waits for IndexedDB transactions, took 55.8 % of that: 24 commits, 26 syncs, 329 KiB written.',
    );
    const { outsideUs: _, idleUs: __, ...inParts } = times!;
    expect(Object.values(inParts).reduce((a, b) => a + b, 0)).toBeCloseTo(
      facts.get(totalTimeInSql)!,
      2,
    );
  });

  it('with several threads, name the one that was busy for most of the time', async () => {
    expect((await golden('idb-two-tabs')).get(headline).text).toMatch(
      /^SQLite kept \d threads( \(mostly .+, \d+(\.\d)? %\))? busy for a total of [\d.]+ m?s while you recorded [\d.]+ m?s\. /,
    );
  });

  it('have the definition of each number, and the list of what it counts', async () => {
    const isNumber = (part: Said[number]): part is SaidNumber => typeof part !== 'string';
    for (const name of ['idb-batch-atomic', 'idb-two-tabs', 'turso-wal', 'memory-delete']) {
      const facts = await golden(name);
      const [from, to] = facts.get(extent);
      const all = [
        facts.get(headline),
        ...(facts.get(headline).times
          ? [headlineIn(facts, { fromUs: from, toUs: (from + to) / 2 })]
          : []),
        ...facts.get(accounts).map(({ title: text, said }) => ({ text, said })),
      ];
      for (const { text, said } of all) {
        expect(saidText(said)).toBe(text);
        const words = said.filter((part) => !isNumber(part)).join('');
        // names of threads, packages, and statements may contain digits
        expect(words.replace(/"[^"]*"|\S+\.js|@\S+/g, '')).not.toMatch(/\d/);
        for (const { definition } of said.filter(isNumber)) expect(definition).toMatch(/\w.*\.$/);
      }
    }
    const { said, times } = (await golden('idb-batch-atomic')).get(headline);
    const parts = (['write', 'sync', 'idbTransaction'] as const)
      .map((part) => ({ part, us: times![`${part}Us`] }))
      .filter(({ us }) => us > 0);
    expect(said.filter(isNumber).map(({ list, about }) => [list, about])).toEqual([
      ['statements', { part: null }],
      ['timeline', null],
      ['statements', { parts }],
      ['transactions', { outcome: 'committed' }],
      ['files', null],
      ['files', null],
    ]);
  });

  it('report what was seen if SQLite ran nowhere', () => {
    expect(said(newStore())).toBe('Nothing was recorded.');
    const loaded = new ThreadBuilder(newStore());
    loaded.define({
      ...{ kind: 'engine', name: 'wa-sqlite', sqliteVersion: '3.53.0', sourceId: null },
      ...{ suspension: 'none', layers: { vfs: true, sql: true, counters: false }, note: null },
    });
    loaded.call('idbGet', {});
    loaded.send();
    expect(said(loaded.store)).toBe(
      'Your app loaded wa-sqlite, but it ran no statement while you recorded.',
    );
    const stores = new ThreadBuilder(newStore());
    stores.call('idbGet', {});
    stores.send();
    expect(said(stores.store)).toMatch(
      /^vfscope didn't see SQLite\. .+ called the browser's storage itself\.$/,
    );
  });

  it("of an engine whose SQL can't be seen report what it stored", async () => {
    expect((await golden('turso-wal')).get(headline).text).toBe(
      "vfscope can't see the SQL of @tursodatabase/database-wasm, only storage calls: 81 commits, 85 syncs, 346 KiB written.",
    );
    const inMemory = new ThreadBuilder(newStore());
    inMemory.define({
      ...{ kind: 'engine', name: 'other', sqliteVersion: null, sourceId: null },
      ...{ suspension: 'unknown', layers: { vfs: false, sql: false, counters: false }, note: null },
    });
    inMemory.send();
    expect(said(inMemory.store)).toBe(
      "vfscope can't see the SQL of other. No storage call was recorded.",
    );
  });

  it("don't claim that a page that was already running used no SQLite", () => {
    const late = new ThreadBuilder(newStore(), { kind: 'page', url: 'https://a.example/' });
    late.define({ kind: 'note', topic: 'late-start', text: 'SQLite and workers ...' });
    late.call('idbGet', {});
    late.send();
    expect(said(late.store)).toBe(
      "vfscope didn't see SQLite run: workers that ran before the recording began aren't recorded; reload the page while you record.",
    );
  });

  it('give minimums for a page that was already running and used SQLite, whose older workers are missing', () => {
    const late = new ThreadBuilder(newStore(), { kind: 'page', url: 'https://a.example/' });
    late.define({ kind: 'note', topic: 'late-start', text: 'SQLite and workers ...' });
    late.call('sqlStep', { aux: 1, context: 1, result: 101, dur: 5000 });
    late.send();
    expect(new Facts(late.store).get(unseenWork)).toEqual({
      isLeast: true,
      text: "workers that ran before the recording began aren't recorded; reload the page while you record",
    });
    expect(said(late.store)).toContain('at least');
  });

  it("name the app's unrecorded worker, and give a minimum time", () => {
    const note = {
      kind: 'note',
      id: 0,
      topic: 'worker-native',
      text: 'Not recorded: CSP.',
      url: 'https://a.example/db.js',
    } as const;
    const none = new ThreadBuilder(newStore());
    none.define(note);
    none.send();
    expect(said(none.store)).toBe("vfscope didn't see SQLite run: db.js isn't recorded.");
    const some = new ThreadBuilder(newStore());
    some.define(note);
    some.call('sqlStep', { aux: 1, context: 1, result: 101, dur: 5000 });
    some.send();
    expect(said(some.store)).toMatch(/ busy for at least 5 ms/);
  });
});

describe('what to do', () => {
  const found = (rule: string, savingUs: number | null): Finding =>
    ({ rule, savingUs, advice: rule }) as unknown as Finding;
  it('is one action a rule, with data at risk and a standstill first', () => {
    const actions = actionsOf([
      found('F01', 9),
      found('F38', 5),
      found('F38', 4),
      found('F46', null),
    ]);
    expect(actions.map(({ rule, findings }) => [rule, findings.length])).toEqual([
      ['F46', 1],
      ['F01', 1],
      ['F38', 2],
    ]);
  });
  it('has the SQL to copy if a statement can fix it', async () => {
    const all = (await golden('idb-batch-atomic')).get(findings);
    expect(all.find(({ rule }) => rule === 'F01')?.sql).toBe('BEGIN;\n-- your statements\nCOMMIT;');
    const thrash = (await golden('cache-thrash')).get(findings).find(({ rule }) => rule === 'F11');
    expect(thrash?.sql).toMatch(/^PRAGMA cache_size=-?\d+;$/);
    expect(thrash?.advice).toContain(thrash?.sql?.slice(0, -1));
    // all frames that its checkpoints found in the log fit: one checkpoint then copies each page
    // once
    const storm = await golden('checkpoint-storm');
    const frames = storm.get(checkpoints).reduce((n, { framesInLog }) => n + framesInLog!, 0);
    expect(frames).toBeLessThan(1000);
    const copies = storm.get(findings).find(({ rule }) => rule === 'F41');
    expect(copies?.sql).toBe('PRAGMA wal_autocheckpoint=1000;');
    expect(copies?.advice).toContain(copies?.sql?.slice(0, -1));
    const spilled = (await golden('read-modify-write'))
      .get(findings)
      .find(({ rule }) => rule === 'F12');
    expect(spilled?.advice).toContain('above the 51 pages that the largest transaction changes');
    expect(spilled?.sql).toBe('PRAGMA cache_size=100;');
  });
});

describe('what cost most', () => {
  it("are the first statements of their table, and moments that don't contain each other", async () => {
    const facts = await golden('idb-batch-atomic');
    const { statements, tables, moments } = facts.get(worst);
    expect(statements).toEqual(facts.get(statementTable)!.rows.slice(0, 5));
    expect(tables.map(({ name, writes }) => [name, writes])).toEqual([
      ['t', 36],
      ['sqlite_schema', 24],
      ['t_k', 22],
    ]);
    const lengths = moments.map(({ fromUs, toUs }) => toUs - fromUs);
    expect(lengths).toEqual([...lengths].sort((a, b) => b - a));
    expect(moments[0]).toMatchObject({
      kind: 'transaction',
      title: 'Write transaction, 202 statements',
    });
    const hold = facts.get(longestReserved)!;
    expect(moments.some((m) => m.fromUs <= hold.fromUs && hold.toUs <= m.toUs)).toBe(true);
    for (const [i, a] of moments.entries())
      for (const b of moments.slice(0, i))
        expect(Math.min(a.toUs, b.toUs) - Math.max(a.fromUs, b.fromUs)).toBeLessThanOrEqual(
          (a.toUs - a.fromUs) / 2,
        );
  });
  it("a moment reports if another connection's lock made it long", async () => {
    const { moments } = (await golden('opfs-wl-two-tabs')).get(worst);
    expect(moments.map(({ title }) => title)).toContainEqual(
      expect.stringMatching(
        /^Write transaction, 3 statements, [\d.]+ ms of it waiting for a lock$/,
      ),
    );
  });
});

describe('the first sentences about a part of a recording', () => {
  const BUSY = 'SQLite kept the worker worker.js busy for';

  it('have the time in SQL of a range, and adjacent ranges have all of it together', async () => {
    const facts = await golden('idb-batch-atomic');
    const { fromUs, toUs, times: all, cost } = facts.get(headline);
    const sql = sqlRangeOf(facts);
    const third = (sql.toUs - sql.fromUs) / 3;
    const edges = [fromUs, sql.fromUs + third, sql.toUs - third, toUs + 1];
    const ranges = edges.slice(1).map((to, i) => ({ fromUs: edges[i]!, toUs: to }));
    const parts = ranges.map((range) => headlineIn(facts, range));
    for (const part of PARTS.filter(isInSql))
      expect(parts.reduce((us, { times }) => us + times![`${part}Us`], 0)).toBeCloseTo(
        all![`${part}Us`],
        2,
      );
    for (const [i, { text, narrowed, ...rest }] of parts.entries()) {
      const table = statementTableIn(facts, ranges[i]!)!;
      const length = Math.min(ranges[i]!.toUs, toUs) - ranges[i]!.fromUs;
      expect(text).toMatch(
        new RegExp(
          `^In this range of ${formatDuration(length)}, ${BUSY} ${formatDuration(table.spanUs)}\\. .+ took [\\d.]+ % of that\\.$`,
        ),
      );
      expect(narrowed).toBe(true);
      // the cost of recording is that of the whole recording
      expect(rest).toMatchObject({ fromUs, toUs, cost });
    }
  });

  it('name no write for a statement that only reads from IndexedDB', async () => {
    const facts = await golden('idb-batch-atomic');
    const row = facts.get(statementTable)!.rows.find(({ sql }) => sql?.includes('hex(v)'))!;
    expect(headlineIn(facts, { statement: row.text }).text).toMatch(
      /\. Waiting for IndexedDB transactions took 44\.9 % of that\.$/,
    );
  });

  it('cover a range, a thread, a statement, and both, built by hand', () => {
    const store = newStore();
    const [a, b] = ['a', 'b'].map(() => new ThreadBuilder(store)) as [ThreadBuilder, ThreadBuilder];
    for (const [t, us] of [
      [a, 5000],
      [b, 3000],
    ] as const) {
      for (const sql of ['SELECT 1', 'SELECT x FROM y']) {
        const object = t.define({ kind: 'sql', text: sql });
        t.call('sqlStep', { object, context: 1, aux: 1, result: 101, dur: us });
        t.idle(2000);
      }
      t.send();
    }
    const facts = new Facts(store);
    const [one, two] = facts.get(statementTable)!.rows as [StatementRow, StatementRow];
    const say = (scope: Scope): string => headlineIn(facts, scope).text;
    const CPU = 'Computing in SQLite and its VFS took 100 % of that.';
    expect(say({ fromUs: 0, toUs: 4000 })).toBe(
      `In this range of 4 ms, SQLite was busy for a total of 7 ms. ${CPU}`,
    );
    expect(say({ thread: 1 })).toMatch(
      new RegExp(`^With these filters, SQLite kept .+ busy for 6 ms\\. ${CPU}$`),
    );
    expect([say({ statement: one.text }), say({ statement: two.text })]).toEqual(
      Array(2).fill(`With these filters, SQLite was busy for a total of 8 ms. ${CPU}`),
    );
    expect(say({ fromUs: 5000, toUs: 6000, thread: 0 })).toBe(
      'In this range of 1 ms, with the other filters, no SQL ran.',
    );
    // the timeline may show more than the recording
    expect(say({ fromUs: -1e6, toUs: 1e6 })).toMatch(/^In this range of 12 ms, .+ of 16 ms\. /);
  });
});

describe('what cost most in a part of a recording', () => {
  it('of one thread and of the others add up to all of it', async () => {
    const facts = await golden('idb-two-tabs');
    const all = facts.get(worst).times!;
    const each = facts.store.threads.map(({ index }) => worstIn(facts, { thread: index }));
    const sum = each.reduce((us, { times }) => us + (times?.spanUs ?? 0), 0);
    expect(each.filter(({ times }) => times!.spanUs > 0).length).toBeGreaterThan(1);
    expect(sum).toBeCloseTo(all.spanUs, 2);
    for (const [thread, { moments }] of each.entries())
      expect(moments.every((moment) => moment.thread === thread)).toBe(true);
  });

  it('of a time range has the moments and tables with most of it', async () => {
    const facts = await golden('idb-batch-atomic');
    const whole = facts.get(worst);
    const all = facts.get(statementTable)!;
    for (const part of ['read', 'write', 'cpu'] as const) {
      const { moments, tables } = worstIn(facts, { part });
      const us = moments.map((moment) => moment.us);
      expect(us.length, part).toBeGreaterThan(0);
      expect(us).toEqual([...us].sort((a, b) => b - a));
      for (const { thread, fromUs, toUs, us } of moments) {
        const own = facts.get(sweeps).of(facts.store.threads[thread]!);
        expect(us).toBeCloseTo(own.partitionWithin({ fromUs, toUs })[`${part}Us`], 2);
        expect(us).toBeGreaterThan(0);
      }
      const times = tables.map(({ partUs }) => partUs!);
      expect(times).toEqual([...times].sort((a, b) => b - a));
      const ofAll = all.rows.reduce((sum, { time }) => sum + time[`${part}Us`], 0);
      expect(times.reduce((a, b) => a + b, 0)).toBeLessThanOrEqual(ofAll);
    }
    expect(whole.moments.every(({ fromUs, toUs, us }) => us === toUs - fromUs)).toBe(true);
    expect(worstIn(facts, { part: 'lockWait' })).toMatchObject({ moments: [], tables: [] });
  });

  it('has the tables of a range, of a thread, and of a statement', async () => {
    const facts = await golden('idb-batch-atomic');
    const { tables } = facts.get(worst);
    const [fromUs, toUs] = facts.store.extent();
    expect(worstIn(facts, { fromUs, toUs: toUs + 1 }).tables).toEqual(tables);
    expect(worstIn(facts, { fromUs, toUs: fromUs }).tables).toEqual([]);
    const half = (fromUs + toUs) / 2;
    const parts = [
      { fromUs, toUs: half },
      { fromUs: half, toUs: toUs + 1 },
    ].map((range) => worstIn(facts, range).tables);
    const writesOf = (list: typeof tables, name: string): number =>
      list.find((one) => one.name === name)?.writes ?? 0;
    for (const { name, writes } of tables)
      expect(parts.reduce((sum, list) => sum + writesOf(list, name), 0)).toBe(writes);
    const byThread = facts.store.threads.map(({ index }) => worstIn(facts, { thread: index }));
    for (const { name, writes } of tables)
      expect(byThread.reduce((sum, one) => sum + writesOf(one.tables, name), 0)).toBe(writes);
    const { statement } = facts.get(treeUse).find(({ writes }) => writes > 0)!;
    const own = facts.get(treeUse).filter((use) => use.statement === statement);
    const trees = facts.get(bTrees);
    for (const { database, tree, writes, checkpointed } of own) {
      const name = trees[database]!.list[tree]?.name;
      if (name && writes + checkpointed)
        expect(writesOf(worstIn(facts, { statement }).tables, name)).toBe(writes + checkpointed);
    }
  });

  it('of one statement is its time alone, and its runs are the worst moments', async () => {
    const facts = await golden('idb-batch-atomic');
    const { rows } = facts.get(statementTable)!;
    const row = rows.find(({ executions }) => executions > 10)!;
    const { statements, times, moments } = worstIn(facts, { statement: row.text });
    expect(statements).toEqual([row]);
    expect(times!.spanUs).toBe(row.time.spanUs);
    expect(moments.length).toBeGreaterThan(0);
    expect(moments.every(({ kind }) => kind === 'statement')).toBe(true);
    // its time in Top statements includes prepare, reset, and finalize; a moment's time doesn't
    expect(moments[0]!.title).toMatch(/^One run of /);
    expect(lengthOf(moments[0]!)).toBeCloseTo(row.maxUs!, 3);
  });

  it('of a time range is sorted by it, and sums to the part', async () => {
    const facts = await golden('idb-batch-atomic');
    const { statements, times } = worstIn(facts, { part: 'write' });
    const us = statements!.map(({ time }) => time.writeUs);
    expect(us).toEqual([...us].sort((a, b) => b - a));
    expect(times!.writeUs).toBeCloseTo(facts.get(headline).times!.writeUs, 2);
  });

  it('of a table are the statements that touched it or its indexes', async () => {
    const facts = await golden('idb-batch-atomic');
    const touched = statementsOfTable(facts.get(treeUse), facts.get(bTrees), 't');
    const { statements, moments } = worstIn(facts, { table: 't' });
    expect(statements!.length).toBeGreaterThan(1);
    expect(statements!.length).toBeLessThan(facts.get(statementTable)!.rows.length);
    expect(statements!.every(({ text }) => touched.has(text))).toBe(true);
    expect(moments.every(({ kind }) => kind === 'statement')).toBe(true);
    expect(worstIn(facts, { table: 'no such table' }).statements).toEqual([]);
  });

  it('of a range has no moment outside it', async () => {
    const facts = await golden('idb-batch-atomic');
    const [first] = facts.get(worst).moments;
    const scope = { fromUs: first!.fromUs, toUs: first!.toUs };
    const { moments } = worstIn(facts, scope);
    expect(moments[0]).toEqual(first);
    expect(moments.every(({ fromUs, toUs }) => fromUs >= scope.fromUs && toUs <= scope.toUs)).toBe(
      true,
    );
  });
});

it('a saving too small for its total is shown on its own', () => {
  expect(changeText(880_000, 495_000)).toBe('880 ms → 495 ms');
  expect(changeText(8_760_000, 8_757_900)).toBe('8.76 s, saves 2.1 ms');
});

it('an action whose remedy another one includes is no alternative to it', () => {
  expect(insteadText({ rule: 'F14', insteadOf: 'F01' })).toBe('F01 already saves most of this');
  expect(insteadText({ rule: 'F07', insteadOf: 'F01' })).toBe('alternative to F01');
  expect(insteadText({ rule: 'F14', insteadOf: null })).toBe('');
});
