// Builds that vfscope doesn't know: known ones with other names, private tables, shared memories,
// or other ways to create an instance.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import { afterEach, describe, expect, it } from 'vitest';
import { otherDatabase } from '../../src/engines/other-databases.ts';
import { Flag } from '../../src/event/event.ts';
import {
  exportsOf,
  moduleWith,
  renameExports,
  replaceText,
  shareMemory,
} from './helpers/rewrite-wasm.ts';
import { runScript, SCRIPT } from './helpers/script.ts';
import { loadSqlJs, runSqlJs, sqlJsWasm, type SqlJsOptions } from './helpers/sql-js.ts';
import { Traced } from './helpers/traced.ts';
import { loadWaSqlite } from './helpers/wa-sqlite.ts';

const require = createRequire(import.meta.url);
const open: Traced[] = [];
afterEach(() => {
  for (const t of open.splice(0)) t.restore();
});
const trace = (): Traced => {
  const t = new Traced();
  open.push(t);
  return t;
};

type Instantiate = SqlJsOptions['instantiate'];
const fromBytes =
  (bytes: Uint8Array<ArrayBuffer>): Instantiate =>
  async (imports) =>
    (await WebAssembly.instantiate(bytes, imports)).instance;
const filesOnly = (t: Traced): Record<string, unknown> => t.tally(t.all());

/** Results of the published build, and what is recorded of it. */
async function published(): Promise<{ answers: unknown[]; tally: Record<string, unknown> }> {
  const t = trace();
  const answers = runSqlJs(await loadSqlJs({ instantiate: fromBytes(sqlJsWasm()) }));
  const tally = filesOnly(t);
  expect(Object.keys(tally).length).toBeGreaterThan(10);
  t.restore();
  return { answers, tally };
}

describe('names', () => {
  it('exports and glue without any known name: VFS calls as usual, no SQL layer, and a note in the panel', async () => {
    const { answers, tally } = await published();
    const t = trace();
    const stripped = renameExports(sqlJsWasm(), (e) => `z_${e.name}`);
    const bytes = replaceText(stripped, 'extension-functions.c', 'zxtension-functions.c');
    const instantiate: Instantiate = async (imports) => {
      const { exports } = await fromBytes(bytes)(imports);
      return {
        exports: Object.fromEntries(
          Object.entries(exports).map(([name, value]) => [name.slice(2), value]),
        ),
      };
    };
    const glue = (source: string): string => source.replaceAll('sqlite3_', 'zqlite3_');
    expect(runSqlJs(await loadSqlJs({ glue, instantiate }))).toEqual(answers);
    expect(filesOnly(t)).toEqual(tally);
    expect(t.faultsOf(t.all())).toEqual([]);
    expect(t.engines).toEqual([
      expect.objectContaining({
        name: 'SQLite (unknown build)',
        sqliteVersion: '3.54.1',
        layers: { vfs: true, sql: false, counters: false, query: false },
        note: expect.stringContaining('SQL functions') as string,
      }),
    ]);
    expect(t.counters()).toEqual({ dropped: 0, faults: 0 });
  });

  it("SQLite's own names on the exports of an unknown build: all layers", async () => {
    type Init = (o: object) => Promise<{
      oo1: {
        DB: new (name: string, flags: string) => { exec(sql: string): unknown; close(): void };
      };
    }>;
    const { default: init } = (await import('@sqlite.org/sqlite-wasm')) as unknown as {
      default: Init;
    };
    const own = new Uint8Array(
      readFileSync(require.resolve('@sqlite.org/sqlite-wasm/sqlite3.wasm')),
    );
    const bytes = renameExports(own, (e) => e.name.replace('_enum_json', '_fnum_json'));
    const t = trace();
    const instantiateWasm = (
      imports: WebAssembly.Imports,
      done: (i: object, m?: object) => void,
    ): object => {
      void WebAssembly.instantiate(bytes, imports).then(({ instance, module }) => {
        const exports = Object.fromEntries(
          Object.entries(instance.exports).map(([k, v]) => [
            k.replace('_fnum_json', '_enum_json'),
            v,
          ]),
        );
        done({ exports }, module);
      });
      return {};
    };
    const sqlite3 = await init({ instantiateWasm });
    const db = new sqlite3.oo1.DB('/unknown.db', 'c');
    for (const sql of SCRIPT) db.exec(sql);
    db.close();
    expect(t.engines.map((e) => [e.name, e.layers])).toEqual([
      ['SQLite (unknown build)', { vfs: true, sql: true, counters: true, query: true }],
    ]);
    expect(t.faultsOf(t.all())).toEqual([]);
    expect(
      t.all().filter((r) => r.name === 'sqlite3_step' && t.sqlText(r.object)?.startsWith('INSERT'))
        .length,
    ).toBeGreaterThan(300);
    expect(t.all().filter((r) => r.op < 64 && !r.parent)).toEqual([]);
  });
});

it('a table that is neither exported nor imported: no VFS layer, and a note explains why', async () => {
  const hidden = renameExports(sqlJsWasm(), (e) => (e.kind === 1 ? null : e.name));
  const { answers } = await published();
  const t = trace();
  expect(runSqlJs(await loadSqlJs({ instantiate: fromBytes(hidden) }))).toEqual(answers);
  expect(t.engines.map((e) => e.layers)).toEqual([
    { vfs: false, sql: true, counters: false, query: false },
  ]);
  expect(t.engines[0]!.note).toContain('function table is private');
  expect(t.all().some((r) => r.name === 'sqlite3_exec' || r.name === 'sqlite3_step')).toBe(true);
  expect(t.counters().faults).toBe(0);
});

describe('ways to create an instance', () => {
  it('a module compiled elsewhere that arrives by postMessage', async () => {
    const { answers, tally } = await published();
    const module = await WebAssembly.compile(sqlJsWasm()); // untraced
    const { port1, port2 } = new MessageChannel();
    port1.postMessage(module);
    const arrived = (receiveMessageOnPort(port2) as { message: WebAssembly.Module }).message;
    port1.close();
    const t = trace();
    const instantiate: Instantiate = (imports) => WebAssembly.instantiate(arrived, imports);
    expect(runSqlJs(await loadSqlJs({ instantiate }))).toEqual(answers);
    expect(filesOnly(t)).toEqual(tally);
    expect(t.engines.map((e) => [e.name, e.layers.vfs, e.layers.sql])).toEqual([
      ['sql.js', true, true],
    ]);
  });

  it("again, after one didn't link and the next one trapped", async () => {
    const { answers, tally } = await published();
    const t = trace();
    const unlinked: Instantiate = (imports) =>
      fromBytes(sqlJsWasm())({ ...imports, [Object.keys(imports)[0]!]: {} });
    await expect(loadSqlJs({ instantiate: unlinked })).rejects.toThrow(WebAssembly.LinkError);
    const broken = await loadSqlJs({ instantiate: fromBytes(sqlJsWasm()) });
    const db = new broken.Database();
    db.run('CREATE TABLE t(x); BEGIN; INSERT INTO t VALUES(1)');
    const { _sqlite3_exec: exec } = broken as unknown as Record<string, (...a: number[]) => number>;
    const connection = Object.values(db).find((v) => typeof v === 'number') as unknown as number;
    const NOWHERE = 0x7ffffff0;
    expect(() => exec!(connection, NOWHERE, 0, 0, 0)).toThrow(WebAssembly.RuntimeError);
    const before = [...t.all()];
    expect(before.at(-1)).toMatchObject({ name: 'sqlite3_exec', parent: 0 });
    expect(before.at(-1)!.flags & Flag.threw).toBe(Flag.threw);

    expect(runSqlJs(await loadSqlJs({ instantiate: fromBytes(sqlJsWasm()) }))).toEqual(answers);
    const after = t.all().slice(before.length);
    expect(t.tally(after)).toEqual(tally);
    expect(t.faultsOf(after)).toEqual([]);
    expect(t.engines).toHaveLength(2);
    expect(t.counters()).toEqual({ dropped: 0, faults: 0 });
  });

  it('an engine whose memory is shared between threads', async () => {
    const { answers, tally } = await published();
    const t = trace();
    const bytes = shareMemory(sqlJsWasm(), 32768);
    let memory: WebAssembly.Memory | undefined;
    const instantiate: Instantiate = async (imports) => {
      const instance = await fromBytes(bytes)(imports);
      memory = Object.values(instance.exports).find((e) => e instanceof WebAssembly.Memory);
      return instance;
    };
    expect(runSqlJs(await loadSqlJs({ instantiate }))).toEqual(answers);
    expect(memory!.buffer).toBeInstanceOf(SharedArrayBuffer);
    expect(filesOnly(t)).toEqual(tally);
    expect(t.faultsOf(t.all())).toEqual([]);
    expect(t.counters()).toEqual({ dropped: 0, faults: 0 });
  });
});

describe('files and connections', () => {
  it('two databases, and one attached to the other, are distinguished', async () => {
    const t = trace();
    const { sqlite3 } = await loadWaSqlite('journey-sync');
    const a = await sqlite3.open_v2('a.db');
    const b = await sqlite3.open_v2('b.db');
    await sqlite3.exec(
      a,
      "CREATE TABLE t(x); ATTACH 'c.db' AS c; CREATE TABLE c.t(x); BEGIN; INSERT INTO t VALUES(1); INSERT INTO c.t VALUES(2); COMMIT",
    );
    await sqlite3.exec(b, 'CREATE TABLE t(x); INSERT INTO t VALUES(3)');
    const rows = t.all().filter((r) => r.op < 64);
    const contexts = (path: string): number[] => [
      ...new Set(rows.filter((r) => t.file(r.object)!.path.startsWith(path)).map((r) => r.context)),
    ];
    expect(contexts('a.db')).toHaveLength(1);
    expect(contexts('c.db')).toEqual(contexts('a.db'));
    expect(contexts('b.db')).toHaveLength(1);
    expect(contexts('b.db')).not.toEqual(contexts('a.db'));
    const paths = new Set(
      rows.map(
        (r) => `${t.file(r.object)!.fileKind} ${t.file(r.object)!.path.replace(/-mj.*/, '-mj')}`,
      ),
    );
    for (const name of ['a.db', 'b.db', 'c.db'])
      expect([...paths]).toEqual(
        expect.arrayContaining([`main-db ${name}`, `journal ${name}-journal`]),
      );
    expect([...paths].some((p) => p.includes('-mj'))).toBe(true); // the super-journal of both
    expect(t.faultsOf(t.all())).toEqual([]);
    await sqlite3.close(a);
    await sqlite3.close(b);
  });

  it('several statements in one sqlite3_exec: one event with a folded text, and the statements counted', async () => {
    const t = trace();
    const SQL = await loadSqlJs({ instantiate: fromBytes(sqlJsWasm()) });
    const db = new SQL.Database();
    db.run(
      "CREATE TABLE t(a); INSERT INTO t VALUES('secret;'); ;; CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; SELECT 2; END; DELETE FROM t;",
    );
    db.run('DROP TABLE t');
    db.close();
    const execs = t.all().filter((r) => r.name === 'sqlite3_exec');
    expect(execs.map((r) => r.aux2)).toEqual([4, 1]);
    expect(t.sqlText(execs[0]!.object)).toContain('INSERT INTO t VALUES(?)');
    expect(JSON.stringify(t.definitions)).not.toContain('secret');
    expect(t.all().filter((r) => r.op < 64 && r.parent === execs[0]!.seq).length).toBeGreaterThan(
      10,
    );
  });
});

describe.each(['mc-wa-sqlite', 'wa-sqlite-dynamic-main'])('%s', (name) => {
  it.each(['', '-async'] as const)('counts what the plain build does%s', async (suffix) => {
    const build = suffix ? 'journey-async' : 'journey-sync';
    const run = async (file?: string): Promise<{ answers: unknown[]; t: Traced }> => {
      const t = trace();
      const answers = await runScript((await loadWaSqlite(build, 'memory', file)).sqlite3);
      t.drain();
      t.restore();
      return { answers, t };
    };
    const plain = await run();
    const other = await run(
      name === 'mc-wa-sqlite' ? `${name}${suffix}` : `wa-sqlite${suffix}-dynamic-main`,
    );
    expect(other.answers).toEqual(plain.answers);
    expect(filesOnly(other.t)).toEqual(filesOnly(plain.t));
    const sql = (t: Traced): Record<string, number> =>
      t
        .all()
        .reduce<Record<string, number>>(
          (n, r) => (r.op >= 128 && r.op < 135 && (n[r.name] = (n[r.name] ?? 0) + 1), n),
          {},
        );
    expect(sql(other.t)).toEqual(sql(plain.t));
    expect(other.t.engines.map((e) => [e.name, e.layers, e.note])).toEqual(
      plain.t.engines.map((e) => [e.name, e.layers, e.note]),
    );
    expect(other.t.faultsOf(other.t.all())).toEqual([]);
    expect(other.t.counters()).toEqual({ dropped: 0, faults: 0 });
  });
});

describe("databases that aren't SQLite in C", () => {
  const packages = {
    '@tursodatabase/database-wasm': 'dist/turso.wasm32-wasi.wasm',
    '@electric-sql/pglite': 'dist/pglite.wasm',
    '@duckdb/duckdb-wasm': 'dist/duckdb-eh.wasm',
  };
  it.each(Object.entries(packages))('%s is recognized by its exports', (name, file) => {
    const names = exportsOf(readFileSync(`node_modules/${name}/${file}`)).map((e) => e.name);
    expect(otherDatabase(Object.fromEntries(names.map((n) => [n, () => 0])))).toBe(name);
  });
  it('is named, with the reason why only storage calls are recorded', async () => {
    const t = trace();
    await WebAssembly.instantiate(moduleWith(['duckdb_web_open']));
    await WebAssembly.instantiate(moduleWith(['something_else']));
    expect(t.engines).toEqual([
      expect.objectContaining({
        name: '@duckdb/duckdb-wasm',
        layers: { vfs: false, sql: false, counters: false },
        note: 'not SQLite C: storage calls only',
      }),
    ]);
    for (const own of [
      '@journeyapps/wa-sqlite/dist/wa-sqlite.wasm',
      'sql.js/dist/sql-wasm.wasm',
      '@sqlite.org/sqlite-wasm/sqlite3.wasm',
    ])
      expect(
        otherDatabase(
          Object.fromEntries(
            exportsOf(readFileSync(require.resolve(own))).map((e) => [e.name, () => 0]),
          ),
        ),
      ).toBeNull();
  });
});
