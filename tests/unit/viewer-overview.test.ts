// What the Overview shows of a trace, and what the palette finds in it, without a browser.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { HeadlineNumber } from '../../src/analysis/numbers/headline-numbers.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { QUERIES } from '../../src/viewer/session/query-table.ts';
import { formatAs, formatShare } from '../../src/text/numbers.ts';
import { browserName } from '../../src/text/browser.ts';
import { commitsText } from '../../src/viewer/ui/views/transactions/transaction-columns.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';
import { autocommits, contextOf } from './viewer-context.ts';
import { databaseSettingsOf, headlineNumbers } from '../traces/analyses.ts';

const value = (numbers: readonly HeadlineNumber[], id: string): number | null =>
  numbers.find((n) => n.id === id)!.value;

describe('how a database is set up', () => {
  it('is detected from its commits, its calls, and its PRAGMAs', () => {
    const [db, ...more] = databaseSettingsOf(
      autocommits(3, [
        'PRAGMA synchronous = 1',
        'pragma main.cache_size(-4096)',
        "PRAGMA locking_mode='EXCLUSIVE'",
      ]),
    );
    expect(more).toEqual([]);
    expect(db).toMatchObject({ path: '/app.db', vfs: 'test', pageSize: { value: 4096 } });
    expect(db!.journalMode).toEqual({ value: 'delete', how: 'commits deleted the journal' });
    expect(db!.synchronous.value).toBe('normal');
    expect(db!.cacheSize.value).toBe('-4096');
    expect(db!.lockingMode.value).toBe('exclusive');
  });
  it('is unknown if nothing shows it, with the cause', () => {
    const [db] = databaseSettingsOf(autocommits(1, ['PRAGMA cache_size=?']));
    expect(db!.synchronous).toEqual({
      value: null,
      how: expect.stringContaining('no PRAGMA synchronous was seen') as string,
    });
    expect(db!.cacheSize).toEqual({
      value: null,
      how: expect.stringContaining('folded its value') as string,
    });
  });
  it('a page size that was requested and not used is shown, unless it is folded', () => {
    const pageSize = (...pragmas: string[]) =>
      databaseSettingsOf(autocommits(1, pragmas))[0]!.pageSize;
    expect(pageSize()).toMatchObject({ value: 4096, asked: null });
    expect(pageSize('PRAGMA page_size=512', 'PRAGMA main.page_size = 8192')).toEqual({
      value: 4096,
      asked: 8192,
      header: null,
      how: expect.stringContaining('PRAGMA page_size=8192 changed nothing') as string,
    });
    expect(pageSize('PRAGMA page_size(4096)')).toMatchObject({
      asked: 4096,
      how: expect.not.stringContaining('changed nothing') as string,
    });
    expect(pageSize('PRAGMA page_size=?')).toMatchObject({
      asked: null,
      how: expect.stringContaining('folded its value') as string,
    });
  });
  it('the page size of the database header is next to that of the calls', () => {
    const withHeader = (commits: number, bytes: number) => {
      const store = autocommits(commits);
      const t = new ThreadBuilder(store);
      const header = {
        kind: 'database-header',
        file: t.file('/app.db'),
        at: 0,
        pages: 9,
        free: 0,
        schema: 1,
        vacuum: 0,
      } as const;
      t.define({ ...header, pageSize: bytes });
      t.call('xLock', { object: 1 });
      t.send();
      return databaseSettingsOf(store)[0]!.pageSize;
    };
    expect(withHeader(1, 4096)).toMatchObject({
      value: 4096,
      header: 4096,
      how: expect.stringContaining('has the same') as string,
    });
    expect(withHeader(1, 8192)).toMatchObject({
      value: 4096,
      header: 8192,
      how: expect.stringContaining('has 8 KiB') as string,
    });
    // no call has a page's length
    expect(withHeader(0, 512)).toMatchObject({ value: 512, header: 512 });
  });
  it('commits take precedence over PRAGMAs, and the last PRAGMA over the first', () => {
    const [db] = databaseSettingsOf(
      autocommits(1, [
        'PRAGMA journal_mode=wal',
        'PRAGMA synchronous=off',
        'PRAGMA synchronous=extra',
      ]),
    );
    expect(db!.journalMode.value).toBe('delete');
    expect(db!.synchronous.value).toBe('extra');
    const [asked] = databaseSettingsOf(autocommits(0, ['PRAGMA journal_mode=wal']));
    expect(asked!.journalMode).toEqual({
      value: 'wal',
      how: expect.stringContaining('no commit was seen') as string,
    });
  });
});

describe('the headline numbers', () => {
  it("are the trace's own", () => {
    const numbers = headlineNumbers(autocommits(12));
    expect(value(numbers, 'statements')).toBe(12);
    expect(value(numbers, 'commits')).toBe(12);
    expect(value(numbers, 'syncsPerCommit')).toBe(1);
    // from the database write to the unlock 426 µs, of the statement's 506
    expect(value(numbers, 'commitShare')).toBeCloseTo(426 / 506, 9);
    expect(value(numbers, 'syncShare')).toBeCloseTo(400 / 506, 9);
    // the part of the time is called Sync, and this is another number
    expect(numbers.find(({ id }) => id === 'syncShare')!.title).toBe('Sync inside commits');
    expect(value(numbers, 'vfsPerStatement')).toBe(9);
    expect(value(numbers, 'amplification')).toBeCloseTo((4096 + 512) / 4096, 9);
    expect(value(numbers, 'rereads')).toBe(12);
    expect(value(numbers, 'readBytes')).toBe(12 * 4096);
    expect(value(numbers, 'writtenBytes')).toBe(12 * (4096 + 512));
    expect(value(numbers, 'idbTransactions')).toBe(0);
    expect(numbers.find((n) => n.id === 'longestReserved')!.event).not.toBeNull();
  });
  it('count checkpoints and their time, and are none without a log', async () => {
    const golden = async (name: string): Promise<readonly HeadlineNumber[]> =>
      headlineNumbers((await readTrace(readFileSync(`tests/traces/golden/${name}.vfst`))).store);
    const storm = await golden('checkpoint-storm');
    expect(value(storm, 'checkpoints')).toBe(21);
    expect(value(storm, 'checkpointShare')).toBeGreaterThan(0);
    expect(value(storm, 'checkpointShare')).toBeLessThan(1);
    // only its OPFS calls are visible, so there is no time in SQL
    const turso = await golden('turso-wal');
    expect([value(turso, 'checkpoints'), value(turso, 'checkpointShare')]).toEqual([2, null]);
    expect(headlineNumbers(autocommits(1)).find((n) => n.id === 'checkpoints')).toMatchObject({
      value: null,
      cause: 'no write-ahead log was used',
    });
  });
  it('show their cause if they are unknown', () => {
    const store = newStore();
    const t = new ThreadBuilder(store);
    t.call('idbGet', { object: t.define({ kind: 'idb-store', db: 'a', store: 'b' }) });
    t.send();
    for (const n of headlineNumbers(store))
      if (n.value === null) expect(n.cause, n.id).toMatch(/\w{3}/);
      else expect(n.cause, n.id).toBeNull();
    expect(value(headlineNumbers(store), 'commits')).toBeNull();
  });
  it('are formatted as people write them', () => {
    expect(formatAs(null, 'us')).toBe('n/a');
    expect(formatAs(2.345, 'number')).toBe('2.35');
    expect(formatAs(12345, 'count')).toBe('12,345');
    expect(
      browserName(
        'Mozilla/5.0 (X11) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/151.0.0.0 Safari/537.36',
      ),
    ).toBe('Chrome 151');
    expect(browserName('Mozilla/5.0 (X11; rv:140.0) Gecko/20100101 Firefox/140.0')).toBe(
      'Firefox 140',
    );
    expect(browserName('a browser of my own')).toBe('a browser of my own');
  });
});

describe('questions of the Overview', () => {
  it('name events as before when older ones were dropped', () => {
    const store = autocommits(40);
    const before = QUERIES.findings(contextOf(store), {}).findings[0]!.evidence.events;
    const { count, seq } = store.threads[0]!.events;
    const [first, last] = [seq[100]!, seq[count - 1]!];
    store.threads[0]!.forget(100);
    const after = QUERIES.findings(contextOf(store), {}).findings[0]!.evidence.events;
    expect(before.length).toBeGreaterThan(10);
    for (const { seq } of after) expect(seq).toBeGreaterThanOrEqual(first);
    expect(Math.max(...after.map(({ seq }) => seq))).toBeLessThanOrEqual(last);
    expect(
      QUERIES.overview(contextOf(store), {}).numbers.find((n) => n.id === 'longestReserved')!.event!
        .seq,
    ).toBeGreaterThanOrEqual(first);
    expect(QUERIES.firstEvent(contextOf(store), { thread: 0 })).toEqual({ thread: 0, seq: first });
    expect(QUERIES.firstEvent(contextOf(store), { thread: 7 })).toBeNull();
  });
  it('count readwrite IndexedDB transactions by durability', () => {
    const store = newStore();
    const t = new ThreadBuilder(store);
    for (const [mode, tier] of [
      [1, 0],
      [1, 2],
      [1, 2],
      [0, 1],
      [1, 1],
      [1, 3],
    ] as const)
      t.call('idbTransaction', { aux: mode | (tier << 2) });
    t.send();
    expect(QUERIES.overview(contextOf(store), {}).durability).toEqual({
      default: 1,
      strict: 1,
      relaxed: 2,
    });
  });
  it('describe how an engine waits for storage', () => {
    const store = newStore();
    const t = new ThreadBuilder(store);
    const engine = { name: 'wa-sqlite', sqliteVersion: '3.53.0', sourceId: null, note: null };
    const layers = { vfs: true, sql: true, counters: true };
    for (const [i, suspension] of (['asyncify', 'none'] as const).entries())
      t.say({ kind: 'engine', id: 90 + i, ...engine, suspension, layers });
    t.call('xOpen', { object: t.file('/a.db') });
    t.send();
    expect(
      QUERIES.overview(contextOf(store), {}).engines.map((e) => [e.name, e.suspension]),
    ).toEqual([
      ['wa-sqlite', 'asyncify'],
      ['wa-sqlite', 'none'],
    ]);
  });
  it('the report as Markdown has the same numbers', async () => {
    const report = await QUERIES.markdownReport(contextOf(autocommits(12)), {});
    expect(report).toContain('- Commits: 12\n- Syncs per commit: 1\n');
  });
});

describe('all commits together', () => {
  it('are the totals of each, and their parts add up to the whole', () => {
    const { rows } = QUERIES.transactions(contextOf(autocommits(12)), {});
    const commits = QUERIES.commitsTogether(contextOf(autocommits(12)), {});
    expect(commits).toMatchObject({ commits: 12, us: 12 * 426, of: 'sql', ofUs: 12 * 506 });
    expect(rows.reduce((us, { commitUs }) => us + (commitUs ?? 0), 0)).toBeCloseTo(commits.us, 6);
    expect(commits.time).toMatchObject({
      syncUs: 12 * 400,
      dbWriteUs: 12 * 10,
      journalWriteUs: 12 * 10,
      idleUs: 0,
    });
    expect(Object.values(commits.time).reduce((a, b) => a + b, 0)).toBeCloseTo(commits.us, 6);
    expect(commitsText(commits)).toBe(
      '12 commits took 5.11 ms, 84.2 % of the time while SQL runs; 426 µs each',
    );
    expect(QUERIES.commitsTogether(contextOf(autocommits(0)), {})).toMatchObject({
      commits: 0,
      us: 0,
      ofUs: null,
    });
  });
  it('are those that the filters leave, with the share of their time', () => {
    const context = contextOf(autocommits(12));
    const { rows } = QUERIES.transactions(context, {});
    const scope = { fromUs: rows[3]!.fromUs + 1, toUs: rows[5]!.fromUs + 1 };
    const some = QUERIES.commitsTogether(context, scope);
    const ofUs = rows.slice(3, 6).reduce((us, t) => us + t.durationUs - t.idleUs, 0);
    expect(some).toMatchObject({ commits: 3, us: 3 * 426, of: 'transactions', ofUs });
    expect(commitsText(some)).toBe(
      `3 commits took 1.28 ms, ${formatShare((3 * 426) / ofUs)} of these transactions' time; 426 µs each`,
    );
    for (const filter of [{ thread: 0 }, { statement: 'insert into t values (?)' }])
      expect(QUERIES.commitsTogether(context, filter)).toMatchObject({
        commits: 12,
        of: 'transactions',
        ofUs: 4 * ofUs,
      });
    expect(QUERIES.commitsTogether(context, { statement: 'select 1' }).commits).toBe(0);
  });
});

describe('the palette', () => {
  it('finds statements and files by all words in any case, the most used first', () => {
    const context = contextOf(autocommits(5, ['PRAGMA cache_size=-100']));
    const all = QUERIES.paletteItems(context, { words: [], limit: 10 });
    expect(all.map(({ kind, text, count }) => [kind, text, count])).toEqual([
      ['file', '/app.db', 35],
      ['file', '/app.db-journal', 10],
      ['statement', 'INSERT INTO t VALUES (?)', 5],
      ['statement', 'PRAGMA cache_size=-100', 1],
    ]);
    expect(
      QUERIES.paletteItems(context, { words: ['VALUES', 'into'], limit: 10 }).map((i) => i.text),
    ).toEqual(['INSERT INTO t VALUES (?)']);
    expect(QUERIES.paletteItems(context, { words: ['app'], limit: 1 })).toHaveLength(1);
  });
});
