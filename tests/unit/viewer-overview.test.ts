// What the Overview, Compare, the palette and the settings are made of, without a browser.
import { readFileSync } from 'node:fs';
import { get, writable } from 'svelte/store';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { databaseSettingsOf } from '../../src/trace/analysis/database-settings.ts';
import { diffOf } from '../../src/trace/analysis/diff.ts';
import { Analyses } from '../../src/trace/analysis/shared.ts';
import { headlineNumbers, type HeadlineNumber } from '../../src/trace/analysis/headline-numbers.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { formatHash, keepHash, parseHash } from '../../src/viewer/hash-state.ts';
import { viewStateOf } from '../../src/viewer/view-state.ts';
import type { ViewerModel } from '../../src/viewer/model.ts';
import { SettingsModel, settingsOf } from '../../src/viewer/settings.ts';
import { Compared, MAX_KEPT_EVENTS } from '../../src/viewer/worker/compared.ts';
import { Exports } from '../../src/viewer/worker/exports.ts';
import { QUERIES } from '../../src/viewer/worker/queries/index.ts';
import type { QueryContext } from '../../src/viewer/worker/queries/context.ts';
import { EXPORT_FORMATS, type ExportFormat } from '../../src/viewer/export-formats.ts';
import { TimelineLanes } from '../../src/trace/timeline-lanes.ts';
import { browserOf, headlineText } from '../../src/viewer/views/overview/words.ts';
import { commitsText } from '../../src/viewer/views/transactions-words.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';

/** Commits in journal mode delete, each of one page of 4096 bytes, by autocommit; PRAGMAs first. */
function autocommits(n: number, pragmas: string[] = []): TraceStore {
  const store = newStore();
  const t = new ThreadBuilder(store, { name: 'db' });
  const db = t.file('/app.db');
  const journal = t.file('/app.db-journal', 'journal');
  for (const text of pragmas) t.call('sqlStep', { object: t.define({ kind: 'sql', text }), context: 1, aux: 900 });
  const insert = t.define({ kind: 'sql', text: 'INSERT INTO t VALUES (?)' });
  for (let i = 0; i < n; i++) {
    t.call('sqlStep', { object: insert, context: 1, aux: i + 1, result: 101, dur: 10 }, () => {
      t.call('xLock', { object: db, context: 1, aux: 1, dur: 5 });
      t.call('xRead', { object: db, context: 1, offset: 4096, length: 4096, dur: 50 });
      t.call('xLock', { object: db, context: 1, aux: 2, dur: 5 });
      t.call('xWrite', { object: journal, context: 1, offset: 0, length: 512, dur: 10 });
      t.call('xWrite', { object: db, context: 1, offset: 4096, length: 4096, dur: 10 });
      t.call('xSync', { object: db, context: 1, dur: 400 });
      t.call('xDelete', { object: journal, context: 1, dur: 10 });
      t.call('xFileControl', { object: db, context: 1, aux: 22 });
      t.call('xUnlock', { object: db, context: 1, aux: 0, dur: 5 });
    });
    t.idle(20);
  }
  t.send();
  return store;
}

function contextOf(store: TraceStore, compared: QueryContext['compared'] = { other: null, previous: null }): QueryContext {
  const lanes = new TimelineLanes(store);
  const shared = new Analyses(store);
  const rest = (): Promise<void> => Promise.resolve();
  return { store, shared, compared, pyramid: () => lanes.pyramid, timeline: () => lanes, memo: (_, make) => make(), rest };
}
const value = (numbers: readonly HeadlineNumber[], id: string): number | null => numbers.find((n) => n.id === id)!.value;

describe('how a database is set up', () => {
  it('is told by its commits, its calls and its PRAGMAs', () => {
    const [db, ...more] = databaseSettingsOf(
      autocommits(3, ['PRAGMA synchronous = 1', 'pragma main.cache_size(-4096)', "PRAGMA locking_mode='EXCLUSIVE'"]),
    );
    expect(more).toEqual([]);
    expect(db).toMatchObject({ path: '/app.db', vfs: 'test', pageSize: { value: 4096 } });
    expect(db!.journalMode).toEqual({ value: 'delete', how: 'commits deleted the journal' });
    expect(db!.synchronous.value).toBe('normal');
    expect(db!.cacheSize.value).toBe('-4096');
    expect(db!.lockingMode.value).toBe('exclusive');
  });
  it('is not known where nothing says it, and the cause is said', () => {
    const [db] = databaseSettingsOf(autocommits(1, ['PRAGMA cache_size=?']));
    expect(db!.synchronous).toEqual({ value: null, how: expect.stringContaining('no PRAGMA synchronous was seen') as string });
    expect(db!.cacheSize).toEqual({ value: null, how: expect.stringContaining('folded its value') as string });
  });
  it('a page size that was asked for and not taken is said; a folded one cannot be', () => {
    const pageSize = (...pragmas: string[]) => databaseSettingsOf(autocommits(1, pragmas))[0]!.pageSize;
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
    expect(pageSize('PRAGMA page_size=?')).toMatchObject({ asked: null, how: expect.stringContaining('folded its value') as string });
  });
  it('the page size of the database header stands beside that of the calls', () => {
    const withHeader = (commits: number, bytes: number) => {
      const store = autocommits(commits);
      const t = new ThreadBuilder(store);
      const header = { kind: 'database-header', file: t.file('/app.db'), at: 0, pages: 9, free: 0, schema: 1, vacuum: 0 } as const;
      t.define({ ...header, pageSize: bytes });
      t.call('xLock', { object: 1 });
      t.send();
      return databaseSettingsOf(store)[0]!.pageSize;
    };
    expect(withHeader(1, 4096)).toMatchObject({ value: 4096, header: 4096, how: expect.stringContaining('says the same') as string });
    expect(withHeader(1, 8192)).toMatchObject({ value: 4096, header: 8192, how: expect.stringContaining('8,192 bytes') as string });
    expect(withHeader(0, 512)).toMatchObject({ value: 512, header: 512 }); // no call has the length of a page
  });
  it('commits are believed before PRAGMAs, and the last PRAGMA before the first', () => {
    const [db] = databaseSettingsOf(autocommits(1, ['PRAGMA journal_mode=wal', 'PRAGMA synchronous=off', 'PRAGMA synchronous=extra']));
    expect(db!.journalMode.value).toBe('delete');
    expect(db!.synchronous.value).toBe('extra');
    const [asked] = databaseSettingsOf(autocommits(0, ['PRAGMA journal_mode=wal']));
    expect(asked!.journalMode).toEqual({ value: 'wal', how: expect.stringContaining('no commit was seen') as string });
  });
});

describe('the headline numbers', () => {
  it('are the trace’s own', () => {
    const numbers = headlineNumbers(autocommits(12));
    expect(value(numbers, 'statements')).toBe(12);
    expect(value(numbers, 'commits')).toBe(12);
    expect(value(numbers, 'syncsPerCommit')).toBe(1);
    // from the database write to the unlock 426 µs, of the statement's 506
    expect(value(numbers, 'commitShare')).toBeCloseTo(426 / 506, 9);
    expect(value(numbers, 'syncShare')).toBeCloseTo(400 / 506, 9);
    expect(value(numbers, 'vfsPerStatement')).toBe(9);
    expect(value(numbers, 'amplification')).toBeCloseTo((4096 + 512) / 4096, 9);
    expect(value(numbers, 'rereads')).toBe(12);
    expect(value(numbers, 'readBytes')).toBe(12 * 4096);
    expect(value(numbers, 'writtenBytes')).toBe(12 * (4096 + 512));
    expect(value(numbers, 'idbTransactions')).toBe(0);
    expect(numbers.find((n) => n.id === 'longestReserved')!.event).not.toBeNull();
  });
  it('count checkpoints and their time; none without a log', async () => {
    const golden = async (name: string): Promise<readonly HeadlineNumber[]> =>
      headlineNumbers((await readTrace(readFileSync(`tests/traces/golden/${name}.vfst`))).store);
    const storm = await golden('checkpoint-storm');
    expect(value(storm, 'checkpoints')).toBe(21);
    expect(value(storm, 'checkpointShare')).toBeGreaterThan(0);
    expect(value(storm, 'checkpointShare')).toBeLessThan(1);
    const turso = await golden('turso-wal'); // its calls are seen in OPFS only: there is no time in SQL
    expect([value(turso, 'checkpoints'), value(turso, 'checkpointShare')]).toEqual([2, null]);
    expect(headlineNumbers(autocommits(1)).find((n) => n.id === 'checkpoints')).toMatchObject({
      value: null,
      cause: 'no write-ahead log was used',
    });
  });
  it('that cannot be known say why', () => {
    const store = newStore();
    const t = new ThreadBuilder(store);
    t.call('idbGet', { object: t.define({ kind: 'idb-store', db: 'a', store: 'b' }) });
    t.send();
    for (const n of headlineNumbers(store))
      if (n.value === null) expect(n.cause, n.id).toMatch(/\w{3}/);
      else expect(n.cause, n.id).toBeNull();
    expect(value(headlineNumbers(store), 'commits')).toBeNull();
  });
  it('read as people write them', () => {
    expect(headlineText({ value: null, unit: 'us' })).toBe('n/a');
    expect(headlineText({ value: 2.345, unit: 'ratio' })).toBe('2.35');
    expect(headlineText({ value: 12345, unit: 'count' })).toBe('12,345');
    expect(browserOf('Mozilla/5.0 (X11) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/151.0.0.0 Safari/537.36')).toBe('Chrome 151');
    expect(browserOf('Mozilla/5.0 (X11; rv:140.0) Gecko/20100101 Firefox/140.0')).toBe('Firefox 140');
    expect(browserOf('a browser of my own')).toBe('a browser of my own');
  });
});

describe('questions of the Overview', () => {
  it('name events for life, also when older ones were forgotten', () => {
    const store = autocommits(40);
    const before = QUERIES.findings(contextOf(store), {}).findings[0]!.evidence.events;
    const all = store.threads[0]!.events.count;
    store.threads[0]!.forget(100);
    const after = QUERIES.findings(contextOf(store), {}).findings[0]!.evidence.events;
    expect(before.length).toBeGreaterThan(10);
    for (const { row } of after) expect(row).toBeGreaterThanOrEqual(100);
    expect(Math.max(...after.map(({ row }) => row))).toBeLessThan(all);
    expect(QUERIES.overview(contextOf(store), {}).numbers.find((n) => n.id === 'longestReserved')!.event!.row).toBeGreaterThanOrEqual(100);
    expect(QUERIES.firstEvent(contextOf(store), { thread: 0 })).toEqual({ thread: 0, row: 100 });
    expect(QUERIES.firstEvent(contextOf(store), { thread: 7 })).toBeNull();
  });
  it('count readwrite transactions of IndexedDB by durability', () => {
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
    expect(QUERIES.overview(contextOf(store), {}).durability).toEqual({ default: 1, strict: 1, relaxed: 2 });
  });
  it('say how an engine waits for storage', () => {
    const store = newStore();
    const t = new ThreadBuilder(store);
    const engine = { name: 'wa-sqlite', sqliteVersion: '3.53.0', sourceId: null, note: null };
    const layers = { vfs: true, sql: true, counters: true };
    for (const [i, suspension] of (['asyncify', 'none'] as const).entries())
      t.say({ kind: 'engine', id: 90 + i, ...engine, suspension, layers });
    t.call('xOpen', { object: t.file('/a.db') });
    t.send();
    expect(QUERIES.overview(contextOf(store), {}).engines.map((e) => [e.name, e.suspension])).toEqual([
      ['wa-sqlite', 'asyncify'],
      ['wa-sqlite', 'none'],
    ]);
  });
  it('the report as Markdown holds the same numbers', () => {
    const report = QUERIES.markdownReport(contextOf(autocommits(12)), {});
    expect(report).toContain('- commits: 12, 1 syncs each');
  });
});

describe('all commits together', () => {
  it('are the sum of each, and their parts sum to the whole', () => {
    const { commits, rows } = QUERIES.transactions(contextOf(autocommits(12)), {});
    expect(commits).toMatchObject({ commits: 12, spanUs: 12 * 426, inSqlUs: 12 * 506 });
    expect(rows.reduce((us, { commitUs }) => us + (commitUs ?? 0), 0)).toBeCloseTo(commits.spanUs, 6);
    expect(commits.time).toMatchObject({ syncUs: 12 * 400, dbWriteUs: 12 * 10, journalWriteUs: 12 * 10, idleUs: 0 });
    expect(Object.values(commits.time).reduce((a, b) => a + b, 0)).toBeCloseTo(commits.spanUs, 6);
    expect(commitsText(commits)).toBe('12 commits took 5.11 ms, 84.2 % of the time with SQL in flight; 426 µs each');
    expect(QUERIES.transactions(contextOf(autocommits(0)), {}).commits).toMatchObject({ commits: 0, spanUs: 0, inSqlUs: null });
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
    expect(QUERIES.paletteItems(context, { words: ['VALUES', 'into'], limit: 10 }).map((i) => i.text)).toEqual([
      'INSERT INTO t VALUES (?)',
    ]);
    expect(QUERIES.paletteItems(context, { words: ['app'], limit: 1 })).toHaveLength(1);
  });
});

describe('a comparison', () => {
  it('sets two traces side by side', () => {
    const [a, b] = [autocommits(12), autocommits(3)];
    const both = QUERIES.comparison(contextOf(a, { other: { store: b, shared: new Analyses(b), name: 'b.vfst' }, previous: null }), {})!;
    expect(both.name).toBe('b.vfst');
    const commits = both.numbers.find((n) => n.a.id === 'commits')!;
    expect([commits.a.value, commits.b.value]).toEqual([12, 3]);
    expect(both.diff.statements).toMatchObject([{ executionsA: 12, executionsB: 3, verdict: 'changed' }]);
    expect(both.a.times!.syncUs).toBe(4 * both.b.times!.syncUs);
    expect(QUERIES.comparison(contextOf(a), {})).toBeNull();
  });
  it('draws both over time, a column equally long in both where that is asked for', () => {
    const [a, b] = [autocommits(12), autocommits(3)];
    const context = contextOf(a, { other: { store: b, shared: new Analyses(b), name: 'b.vfst' }, previous: null });
    const wide = { other: 'b.vfst', width: 400 };
    const one = QUERIES.compareStrips(context, { ...wide, oneScale: true })!;
    const inUse = ({ stacks }: { stacks: Uint8Array[] }): number => {
      let last = 0;
      stacks.forEach((stack) => stack.forEach((share, i) => (last = share ? Math.max(last, Math.floor(i / 8) + 1) : last)));
      return last;
    };
    expect(one.a.spanUs).toBeGreaterThan(3 * one.b.spanUs);
    expect(inUse(one.a)).toBe(400);
    expect(inUse(one.b)).toBe(Math.floor((400 * one.b.spanUs) / one.a.spanUs));
    const late = new ThreadBuilder(newStore());
    late.call('tracer', { dur: 5 });
    late.idle(1e6);
    const statement = late.define({ kind: 'sql', text: 'SELECT 1' });
    late.call('sqlStep', { object: statement, context: 1, dur: 10 });
    late.send();
    const begun = { other: { store: late.store, shared: new Analyses(late.store), name: 'b.vfst' }, previous: null };
    expect(QUERIES.compareStrips(contextOf(a, begun), { ...wide, oneScale: true })!.b.spanUs).toBe(10);
    const own = QUERIES.compareStrips(context, { ...wide, oneScale: false })!;
    expect([inUse(own.a), inUse(own.b)]).toEqual([400, 400]);
    expect(QUERIES.compareStrips(contextOf(a), { ...wide, oneScale: true })).toBeNull();
    const empty = newStore();
    const none = { other: { store: empty, shared: new Analyses(empty), name: 'b.vfst' }, previous: null };
    expect(QUERIES.compareStrips(contextOf(a, none), { ...wide, oneScale: true })!.b).toEqual({ spanUs: 0, stacks: [] });
  });
  it('says which findings a change has solved, which are new, and which are left', () => {
    const [many, few] = [autocommits(40), autocommits(3)];
    const findings = (a: TraceStore, b: TraceStore) =>
      diffOf(a, b).findings.map(({ rule, verdict, savingUsA, savingUsB }) => [rule, verdict, savingUsA !== null, savingUsB !== null]);
    expect(findings(many, few)).toEqual([
      ['F01', 'solved', true, false],
      ['F07', 'solved', true, false],
    ]);
    expect(findings(few, many)).toEqual([
      ['F01', 'new', false, true],
      ['F07', 'new', false, true],
    ]);
    expect(findings(many, many).map(([rule, verdict]) => [rule, verdict])).toEqual([
      ['F01', 'in both'],
      ['F07', 'in both'],
    ]);
    expect(diffOf(many, few).findings[0]).toMatchObject({
      title: 'One transaction per statement',
      a: [expect.stringContaining('40 commits') as string],
      b: [],
    });
  });
  it('keeps the recording before, unless it is empty or huge', () => {
    const compared = new Compared();
    const store = autocommits(1);
    compared.keep(newStore(), 'empty');
    expect(() => compared.usePrevious()).toThrow('not kept');
    compared.keep(store, 'before');
    compared.keep(newStore(), 'empty');
    compared.usePrevious();
    expect(compared.other).toMatchObject({ store, name: 'before' });
    compared.keep({ eventCount: MAX_KEPT_EVENTS + 1 } as TraceStore, 'huge');
    expect(compared.previous).toBeNull();
    compared.forget();
    expect(compared.other).toBeNull();
  });
});

describe('exports', () => {
  const options = { sanitize: false, title: 'a trace', origin: 'https://app.example' };
  it.each(Object.keys(EXPORT_FORMATS) as ExportFormat[])('%s is written, sanitised without the app’s words', async (format) => {
    const exports = new Exports();
    const store = autocommits(4);
    const plain = await (await exports.run(store, { format, ...options }, () => {})).arrayBuffer();
    const clean = await (await exports.run(store, { format, ...options, sanitize: true }, () => {})).arrayBuffer();
    expect(plain.byteLength).toBeGreaterThan(200);
    expect(Buffer.from(clean).includes('/app.db')).toBe(false);
    // packed formats hide words from a plain search
    if (format !== 'vfst' && format !== 'parquet') expect(Buffer.from(plain).includes('app.db')).toBe(true);
    expect(exports.busy).toBe(false);
  });
  it('refuse a format that there is not, and end when another begins', async () => {
    const exports = new Exports();
    await expect(exports.run(newStore(), { ...options, format: 'toString' as ExportFormat }, () => {})).rejects.toThrow('no export format');
    const long = exports.run(autocommits(30_000), { ...options, format: 'chrome' }, () => {});
    const rejected = expect(long).rejects.toMatchObject({ name: 'AbortError' });
    await exports.run(autocommits(1), { ...options, format: 'csv' }, () => {});
    await rejected;
  });
});

describe('a file that is saved', () => {
  const options = { format: 'vfst', sanitize: false, title: 'a trace', origin: 'https://app.example' } as const;
  it('holds the trace and its origin, and says how far it is', async () => {
    const store = autocommits(4);
    const blob = await new Exports().run(store, options, () => {});
    expect(blob.type).toBe('application/x-vfscope-trace');
    const { store: read, header } = await readTrace(blob);
    expect([read.eventCount, header.origin]).toEqual([store.eventCount, 'https://app.example']);
    expect((await readTrace(await new Exports().run(store, { ...options, sanitize: true }, () => {}))).header.origin).toBe('');
  });
  it('can be given up before it is whole', async () => {
    const exports = new Exports();
    const saved = exports.run(autocommits(5_000), options, () => {});
    exports.cancel();
    await expect(saved).rejects.toMatchObject({ name: 'AbortError' });
    expect(exports.busy).toBe(false);
  });
});

describe('settings', () => {
  it('that make no sense become the defaults', () => {
    const defaults = settingsOf({});
    expect(defaults).toMatchObject({ theme: 'host', capture: 1, layers: ['sql', 'vfs', 'web'], stacks: false, reload: true });
    expect(
      settingsOf({ theme: 'pink', capture: 9, layers: ['x'], buffer: 'much', stacks: 'yes', flight: { seconds: 'many', kind: 'all' } }),
    ).toEqual(defaults);
    expect(settingsOf({ flight: { kind: 'seconds', seconds: 5, evil: 1 } }).flight).toEqual({
      ...defaults.flight,
      kind: 'seconds',
      seconds: 5,
    });
  });
  it('are read once and written as they change; a keeper that fails is said, and the choice holds', async () => {
    const written: Record<string, unknown>[] = [];
    const said: string[] = [];
    const keeper = {
      read: () => Promise.resolve<Record<string, unknown>>({ capture: 0 }),
      write: (values: Record<string, unknown>) => (written.push(values), Promise.resolve()),
    };
    const model = new SettingsModel(keeper, (text) => said.push(text));
    await model.read();
    expect(get(model.values).capture).toBe(0);
    await model.change({ capture: 2 });
    expect(written).toEqual([{ capture: 2 }]);
    keeper.write = () => Promise.reject(new Error('disk full'));
    await model.change({ theme: 'dark' });
    expect(get(model.values)).toMatchObject({ capture: 2, theme: 'dark' });
    expect(said).toEqual([expect.stringContaining('disk full')]);
    await new SettingsModel({ ...keeper, read: () => Promise.reject(new Error('gone')) }, (text) => said.push(text)).read();
    expect(said[1]).toContain('gone');
  });
});

describe('the address of a tab', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());
  it.each([
    ['', { tab: null, range: null, event: null, views: {} }],
    ['#tab=files&from=1&to=2.5&event=0:17', { tab: 'files', range: { from: 1, to: 2.5 }, event: { thread: 0, row: 17 }, views: {} }],
    ['#from=5&to=2&event=x:1', { tab: null, range: null, event: null, views: {} }],
    ['#from=&to=Infinity&event=-1:3', { tab: null, range: null, event: null, views: {} }],
    [
      `#events.filter=a%26b&events.layers=sql,vfs&__proto__.x=1&nodot=2&events.op=${'x'.repeat(2001)}`,
      { tab: null, range: null, event: null, views: { 'events.filter': 'a&b', 'events.layers': 'sql,vfs' } },
    ],
  ])('%s', (hash, state) => expect(parseHash(hash)).toEqual(state));
  it('says what it reads', () => {
    const state = {
      tab: 'timeline',
      range: { from: 1.5, to: 2000 },
      event: { thread: 2, row: 31 },
      views: { 'events.filter': 'x = 1 & y' },
    };
    expect(parseHash(formatHash(state))).toEqual(state);
  });
  it('is restored when the trace is there, and kept up to date after', async () => {
    const place = { location: { hash: '#tab=files&from=10&to=20&event=0:3&files.sort=reads' }, history: { replaceState: vi.fn() } };
    const model = {
      ...{ view: writable({ from: 0, to: 1 }), tab: writable('timeline'), follow: writable(true), selected: writable(null) },
      ...{ stats: writable(null), file: writable<{ name: string } | null>(null), look: vi.fn(), select: vi.fn() },
    };
    const end = keepHash(model as unknown as ViewerModel, ['files', 'timeline'], place as unknown as Window);
    expect(get(model.tab)).toBe('files');
    vi.runAllTimers();
    expect(place.history.replaceState).not.toHaveBeenCalled();
    model.file.set({ name: 'a.vfst' });
    model.view.set({ from: 0, to: 100 });
    await Promise.resolve();
    expect(model.look).toHaveBeenCalledWith({ from: 10, to: 20 });
    expect(model.select).toHaveBeenCalledWith(0, 3);
    model.follow.set(false);
    model.view.set({ from: 30, to: 40 });
    vi.runAllTimers();
    expect(place.history.replaceState).toHaveBeenLastCalledWith(null, '', '#tab=files&from=30&to=40&files.sort=reads');
    viewStateOf(model).set('events.filter', 'insert');
    viewStateOf(model).set('files.sort', null);
    vi.runAllTimers();
    expect(place.history.replaceState).toHaveBeenLastCalledWith(null, '', '#tab=files&from=30&to=40&events.filter=insert');
    model.file.set({ name: 'b.vfst' }); // what was set up for one trace is not for the next
    expect(get(viewStateOf(model).texts)).toEqual({});
    end();
  });
});
