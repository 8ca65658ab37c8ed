/**
 * Every SQLite build that Node can run, traced without its cooperation: what is recorded, and that
 * the app sees no difference.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterEach, describe, expect, it } from 'vitest';
import { Flag, Op } from '../../src/event/event.ts';
import { Traced } from './helpers/traced.ts';
import { ROWS, runScript, SCRIPT } from './helpers/script.ts';
import { loadWaSqlite, type Build, type WaSqlite } from './helpers/wa-sqlite.ts';

const require = createRequire(import.meta.url);
const open: Traced[] = [];
afterEach(() => {
  for (const t of open.splice(0)) t.restore();
});
const trace = (...args: ConstructorParameters<typeof Traced>): Traced => {
  const t = new Traced(...args);
  open.push(t);
  return t;
};

const bytesOf = (vfs: WaSqlite['vfs']): [string, Buffer][] => {
  const files = vfs.mapNameToFile as Map<string, { data: ArrayBuffer; size: number }>;
  return [...files].map(([name, f]) => [name, Buffer.from(f.data.slice(0, f.size))]);
};

/** Counts calls of the VFS object itself, independently of the tracer. */
function countCalls(vfs: WaSqlite['vfs']): Record<string, number> {
  const counts: Record<string, number> = {};
  const methods =
    'Open Close Read Write Truncate Sync FileSize Lock Unlock Delete Access FileControl'.split(' ');
  for (const m of methods) {
    const key = typeof vfs[`j${m}`] === 'function' ? `j${m}` : `x${m}`;
    const inner = vfs[key] as (...a: unknown[]) => unknown;
    counts[`x${m}`] = 0;
    const isAsync = inner.constructor.name === 'AsyncFunction';
    vfs[key] = isAsync
      ? async (...a: unknown[]): Promise<unknown> => {
          counts[`x${m}`]!++;
          return inner.apply(vfs, a);
        }
      : (...a: unknown[]): unknown => {
          if (!rewinding(vfs)) counts[`x${m}`]!++;
          return inner.apply(vfs, a);
        };
  }
  return counts;
}
/** The 1.0 API's handleAsync calls a method twice: to begin it, and to return the result. */
const rewinding = (vfs: WaSqlite['vfs']): boolean =>
  (vfs.rewinding as (() => boolean) | undefined)?.() ?? false;

describe.each(['journey-sync', 'journey-async', 'wa1-sync', 'wa1-async'] as const)(
  '%s',
  (build: Build) => {
    const isAsync = build.endsWith('async');

    it('returns the same rows and the same bytes, traced or not', async () => {
      const plain = await loadWaSqlite(build);
      const expected = await runScript(plain.sqlite3);
      const t = trace();
      const traced = await loadWaSqlite(build);
      expect(await runScript(traced.sqlite3)).toEqual(expected);
      expect(bytesOf(traced.vfs)).toEqual(bytesOf(plain.vfs));
      expect(expected.at(-1)).toEqual(['ok']);
      expect(t.all().length).toBeGreaterThan(1000);
      expect(t.counters().faults).toBe(0);
      expect(t.notes).toEqual([]);
    });

    it('names the engine and its recorded layers', async () => {
      const t = trace();
      await runScript((await loadWaSqlite(build)).sqlite3);
      expect(t.engines).toEqual([
        expect.objectContaining({
          name: build.startsWith('journey') ? '@journeyapps/wa-sqlite' : 'wa-sqlite',
          sqliteVersion: build.startsWith('journey') ? '3.53.0' : '3.44.0',
          suspension: isAsync ? 'asyncify' : 'none',
          layers: {
            ...{ vfs: true, sql: true },
            ...{ counters: build.startsWith('journey'), query: build.startsWith('journey') },
          },
          note: null,
        }),
      ]);
    });

    it('every call once, with its end, as many as the VFS itself got', async () => {
      const t = trace();
      const { sqlite3, vfs } = await loadWaSqlite(build);
      let counts: Record<string, number> = {};
      if (build !== 'wa1-async') counts = countCalls(vfs);
      await runScript(sqlite3);
      const rows = t.all();
      expect(t.faultsOf(rows)).toEqual([]);
      const seen: Record<string, number> = {};
      for (const r of rows)
        if (!(r.flags & Flag.memoryJournal)) seen[r.name] = (seen[r.name] ?? 0) + 1;
      for (const [name, n] of Object.entries(counts))
        expect([name, seen[name] ?? 0]).toEqual([name, n]);
      expect(seen.sqlite3_open).toBe(1);
      expect(seen.sqlite3_close).toBe(1);
      expect(seen.sqlite3_step).toBe(SCRIPT.length + 2); // one row of the count, one of the check
      expect(seen.sqlite3_prepare).toBeGreaterThanOrEqual(SCRIPT.length);
      expect(
        rows
          .filter((r) => r.op === Op.xRead)
          .every((r) => Boolean(r.flags & Flag.async) === isAsync),
      ).toBe(true);
      const inserts = rows.filter(
        (r) => r.name === 'sqlite3_step' && t.sqlText(r.object)?.startsWith('INSERT'),
      );
      expect(inserts).toHaveLength(ROWS + 20);
      // an autocommit insert reaches its VFS, so an asynchronous build suspends in it
      expect(inserts.slice(-20).every((r) => Boolean(r.flags & Flag.async) === isAsync)).toBe(true);
      expect(t.recorder.current).toBe(0);
    });
  },
);

it('has the same counts in the sync and Asyncify builds', async () => {
  const tallies = [];
  for (const build of ['wa1-sync', 'wa1-async', 'journey-sync', 'journey-async'] as const) {
    const t = trace();
    await runScript((await loadWaSqlite(build)).sqlite3);
    tallies.push(t.tally(t.all()));
    t.restore();
  }
  expect(tallies[1]).toEqual(tallies[0]);
  expect(tallies[3]).toEqual(tallies[2]);
});

it('an Asyncify call lasts from its first call to its real end', async () => {
  const t = trace();
  const { sqlite3, vfs } = await loadWaSqlite('journey-async');
  vfs.jSync = async (): Promise<number> => {
    const until = performance.now() + 5;
    while (performance.now() < until) await new Promise((done) => setImmediate(done));
    return 0;
  };
  const db = await sqlite3.open_v2('slow.db');
  await sqlite3.exec(db, 'CREATE TABLE t(a)');
  const syncs = t.all().filter((r) => r.name === 'xSync');
  const step = t.all().find((r) => r.seq === syncs[0]!.parent)!;
  expect(syncs.length).toBeGreaterThan(1);
  for (const s of syncs) expect(s.t1 - s.t0).toBeGreaterThanOrEqual(5);
  expect(step.t1 - step.t0).toBeGreaterThanOrEqual(5 * syncs.length);
  await sqlite3.close(db);
});

it('reads page-cache counters if the build has them, and only when they changed', async () => {
  const t = trace();
  const { sqlite3 } = await loadWaSqlite('journey-sync');
  const db = await sqlite3.open_v2('c.db');
  await sqlite3.exec(db, 'CREATE TABLE t(a)');
  const mark = t.mark();
  for (let i = 0; i < 10; i++) await sqlite3.exec(db, `INSERT INTO t VALUES(${i})`);
  const counters = t.since(mark).filter((r) => r.name === 'sqlite3_counters');
  expect(counters).toHaveLength(10);
  const writes = counters.map((r) => r.aux);
  expect(writes).toEqual([...writes].sort((a, b) => a - b));
  expect(writes.at(-1)! - writes[0]!).toBe(
    t.since(mark).filter((r) => r.name === 'xWrite' && t.kind(r) === 'main-db').length - 2,
  );
  const before = t.mark();
  await sqlite3.exec(db, 'SELECT 1');
  expect(t.since(before).filter((r) => r.name === 'sqlite3_counters')).toEqual([]);
  await sqlite3.close(db);
});

it('a prepared statement keeps its text and its instance across resets', async () => {
  const t = trace();
  const { sqlite3 } = await loadWaSqlite('journey-sync');
  const db = await sqlite3.open_v2('p.db');
  await sqlite3.exec(db, 'CREATE TABLE t(a, b)');
  const mark = t.mark();
  for await (const stmt of sqlite3.statements(
    db,
    "INSERT INTO t VALUES(?, 'secret'); SELECT a FROM t WHERE b = 'secret'",
  ))
    for (let i = 0; i < 5; i++) {
      await sqlite3.reset(stmt);
      await sqlite3.step(stmt);
    }
  const rows = t.since(mark).filter((r) => r.name === 'sqlite3_step');
  expect(new Set(rows.slice(0, 5).map((r) => `${t.sqlText(r.object)} ${r.aux}`)).size).toBe(1);
  expect([...new Set(rows.map((r) => t.sqlText(r.object)))]).toEqual([
    'INSERT INTO t VALUES(?, ?)',
    'SELECT a FROM t WHERE b = ?',
  ]);
  expect(new Set(rows.map((r) => r.aux)).size).toBe(2);
  expect(JSON.stringify(t.definitions)).not.toContain('secret');
  await sqlite3.close(db);
});

it('two engines at once, and one of them twice: each with its own files, connections, and texts', async () => {
  const t = trace();
  const engines = [
    await loadWaSqlite('journey-async'),
    await loadWaSqlite('journey-sync'),
    await loadWaSqlite('journey-async'),
  ];
  const answers = await Promise.all(engines.map((e, i) => runScript(e.sqlite3, `db${i}.db`)));
  expect(answers[1]).toEqual(answers[0]);
  expect(answers[2]).toEqual(answers[0]);
  const rows = t.all();
  expect(t.counters()).toEqual({ dropped: 0, faults: 0 });
  expect(t.engines).toHaveLength(3);
  const tallies = engines.map((_, i) =>
    rows
      .filter((r) => t.file(r.object)?.path.includes(`db${i}.db`))
      .reduce<Record<string, number>>((n, r) => ((n[r.name] = (n[r.name] ?? 0) + 1), n), {}),
  );
  expect(tallies[1]).toEqual(tallies[0]);
  expect(tallies[2]).toEqual(tallies[0]);
  expect(rows.filter((r) => !r.endSeq)).toEqual([]);
  const steps = new Map(rows.filter((r) => r.op >= 128).map((r) => [r.seq, r]));
  for (const r of rows.filter((r) => r.op < 64)) {
    expect(steps.get(r.parent)?.context).toBe(r.context);
    expect(steps.get(r.parent)!.endSeq).toBeGreaterThan(r.endSeq);
  }
  const contexts = engines.map(
    (_, i) =>
      new Set(rows.filter((r) => t.file(r.object)?.path === `db${i}.db`).map((r) => r.context)),
  );
  expect(contexts.map((c) => c.size)).toEqual([1, 1, 1]);
});

describe.each([
  // absurd-sql's fork of sql.js, of 2021: older glue, whose functions are assigned at their first
  // call
  { npm: '@jlongster/sql.js', name: 'absurd-sql', sqliteVersion: '3.35.0', backs: false },
  { npm: 'sql.js', name: 'sql.js', sqliteVersion: '3.54.1', backs: true },
])('$npm', ({ npm, name, sqliteVersion, backs }) => {
  interface SqlJs {
    Database: new () => {
      run(sql: string, p?: unknown[]): void;
      exec(sql: string): { values: unknown[][] }[];
      export(): Uint8Array;
      close(): void;
    };
  }
  const load = async (): Promise<SqlJs> => {
    const path = require.resolve(`${npm}/dist/sql-wasm.js`);
    Reflect.deleteProperty(require.cache, path);
    const init = require(path) as (o: object) => Promise<SqlJs>;
    return init({ wasmBinary: readFileSync(require.resolve(`${npm}/dist/sql-wasm.wasm`)) });
  };
  const run = (SQL: SqlJs): unknown => {
    const db = new SQL.Database();
    for (const sql of SCRIPT) db.run(sql);
    db.run('INSERT INTO t VALUES(?, ?, ?)', [1000, 'k', null]);
    const answer = db.exec('SELECT count(*), sum(length(v)) FROM t')[0]!.values;
    const { length } = db.export();
    db.close();
    return [answer, length];
  };

  it('VFS and SQL calls, with the same results', async () => {
    const expected = run(await load());
    const t = trace();
    expect(run(await load())).toEqual(expected);
    const rows = t.all();
    expect(t.engines).toEqual([
      expect.objectContaining({
        name,
        sqliteVersion,
        suspension: 'none',
        layers: { vfs: true, sql: true, counters: false, query: false },
      }),
    ]);
    expect(t.faultsOf(rows)).toEqual([]);
    expect(t.notes).toEqual([]);
    const execs = rows.filter((r) => r.name === 'sqlite3_exec');
    expect(execs.filter((r) => t.sqlText(r.object)?.startsWith('INSERT'))).toHaveLength(ROWS + 20);
    const tally = t.tally(rows);
    expect(tally['xLock main-db']!.calls).toBeGreaterThan(60);
    expect(tally['xWrite main-db']!.calls).toBeGreaterThan(20);
    expect(tally['xDelete journal']!.calls).toBeGreaterThanOrEqual(23);
    // the call without a parent is the backup that export() makes, which isn't a traced function
    const exportOpen = rows.filter((r) => r.name === 'sqlite3_open').at(-1)!;
    const orphans = rows.filter((r) => r.op < 64 && !r.parent);
    expect(orphans.length > 0).toBe(backs);
    expect(orphans.filter((r) => r.seq < exportOpen.endSeq)).toEqual([]);
  });
});

describe('@sqlite.org/sqlite-wasm', () => {
  interface Oo1 {
    exec(
      o: string | { sql: string; rowMode?: string; returnValue?: string; bind?: unknown[] },
    ): unknown;
    close(): void;
  }
  interface Sqlite3 {
    oo1: { DB: new (name: string, flags?: string, vfs?: string) => Oo1 };
    capi: Record<string, unknown>;
    wasm: { memory: WebAssembly.Memory; functionTable(): WebAssembly.Table };
  }
  const load = async (): Promise<Sqlite3> => {
    const { default: init } = (await import('@sqlite.org/sqlite-wasm')) as unknown as {
      default: () => Promise<Sqlite3>;
    };
    return init();
  };
  const run = (s: Sqlite3, name: string, vfs?: string): unknown => {
    const db = new s.oo1.DB(name, 'c', vfs);
    for (const sql of SCRIPT) db.exec(sql);
    const answer = db.exec({
      sql: 'SELECT count(*), sum(length(v)) FROM t',
      rowMode: 'array',
      returnValue: 'resultRows',
    });
    db.close();
    return answer;
  };

  it('named exports: VFS, SQL, and counters, with the same results', async () => {
    const expected = [[ROWS + 20, expect.any(Number)]];
    const t = trace();
    const s = await load();
    expect(run(s, '/app.db')).toEqual(expected);
    const rows = t.all();
    expect(t.engines).toEqual([
      expect.objectContaining({
        name: '@sqlite.org/sqlite-wasm',
        sqliteVersion: '3.54.1',
        layers: { vfs: true, sql: true, counters: true, query: true },
        note: null,
      }),
    ]);
    expect(t.faultsOf(rows)).toEqual([]);
    expect(t.notes).toEqual([]);
    const tally = t.tally(rows);
    expect(tally['xLock main-db']!.calls).toBeGreaterThan(60);
    expect(tally['xWrite main-db']!.calls).toBeGreaterThan(20);
    expect(
      rows.filter((r) => r.name === 'sqlite3_step' && t.sqlText(r.object)?.startsWith('INSERT')),
    ).toHaveLength(ROWS + 20);
    expect(rows.filter((r) => r.name === 'sqlite3_counters').length).toBeGreaterThan(20);
    expect(rows.filter((r) => r.op < 64 && !r.parent)).toEqual([]);
  });

  it('a :memory: database makes no file calls, and its memory journal is marked', async () => {
    const t = trace();
    const s = await load();
    run(s, ':memory:');
    expect(Object.keys(t.tally(t.all())).filter((k) => !k.endsWith('memory-journal'))).toEqual([]);
    expect(t.faultsOf(t.all())).toEqual([]);
  });

  it('memory growth leaves the trace correct', async () => {
    const t = trace();
    const s = await load();
    const db = new s.oo1.DB('/grow.db', 'c');
    const before = s.wasm.memory.buffer.byteLength;
    db.exec('PRAGMA cache_size=-65536; CREATE TABLE t(a); BEGIN;');
    for (let i = 0; i < 40; i++) db.exec('INSERT INTO t VALUES(zeroblob(1000000))');
    db.exec('COMMIT');
    expect(s.wasm.memory.buffer.byteLength).toBeGreaterThan(before);
    db.close();
    expect(t.faultsOf(t.all())).toEqual([]);
    expect(t.tally(t.all())['xWrite main-db']!.bytes).toBeGreaterThan(40_000_000);
    expect(t.counters()).toEqual({ dropped: 0, faults: 0 });
  });
});
