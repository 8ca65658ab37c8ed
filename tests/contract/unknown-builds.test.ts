// Builds that nobody has told us of: known ones with other names, private tables, shared memories, or on other ways to an instance.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import { afterEach, describe, expect, it } from 'vitest';
import { otherDatabase } from '../../src/engines/other-databases.ts';
import { TABLE_EXPORT, withTableExport } from '../../src/engines/private-table.ts';
import { exportsOf, moduleWith, renameExports, replaceText, shareMemory } from './helpers/rewrite-wasm.ts';
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

/** What the published build does, and what is seen of it. */
async function published(): Promise<{ answers: unknown[]; tally: Record<string, unknown> }> {
  const t = trace();
  const answers = runSqlJs(await loadSqlJs({ instantiate: fromBytes(sqlJsWasm()) }));
  const tally = filesOnly(t);
  expect(Object.keys(tally).length).toBeGreaterThan(10);
  t.restore();
  return { answers, tally };
}

describe('names', () => {
  it('exports and glue without one known name: VFS calls as ever, no SQL layer, and the panel is told', async () => {
    const { answers, tally } = await published();
    const t = trace();
    const stripped = renameExports(sqlJsWasm(), (e) => `z_${e.name}`);
    const bytes = replaceText(stripped, 'extension-functions.c', 'zxtension-functions.c');
    const instantiate: Instantiate = async (imports) => {
      const { exports } = await fromBytes(bytes)(imports);
      return { exports: Object.fromEntries(Object.entries(exports).map(([name, value]) => [name.slice(2), value])) };
    };
    const glue = (source: string): string => source.replaceAll('sqlite3_', 'zqlite3_');
    expect(runSqlJs(await loadSqlJs({ glue, instantiate }))).toEqual(answers);
    expect(filesOnly(t)).toEqual(tally);
    expect(t.faultsOf(t.all())).toEqual([]);
    expect(t.engines).toEqual([
      expect.objectContaining({
        name: 'SQLite (unknown build)',
        sqliteVersion: '3.54.1',
        layers: { vfs: true, sql: false, counters: false },
        note: expect.stringContaining('SQL functions') as string,
      }),
    ]);
    expect(t.counters()).toEqual({ dropped: 0, faults: 0 });
  });

  it("SQLite's own names on the exports of an unknown build: all layers", async () => {
    type Init = (o: object) => Promise<{ oo1: { DB: new (name: string, flags: string) => { exec(sql: string): unknown; close(): void } } }>;
    const { default: init } = (await import('@sqlite.org/sqlite-wasm')) as unknown as { default: Init };
    const own = new Uint8Array(readFileSync(require.resolve('@sqlite.org/sqlite-wasm/sqlite3.wasm')));
    const bytes = renameExports(own, (e) => e.name.replace('_enum_json', '_fnum_json'));
    const t = trace();
    const instantiateWasm = (imports: WebAssembly.Imports, done: (i: object, m?: object) => void): object => {
      void WebAssembly.instantiate(bytes, imports).then(({ instance, module }) => {
        const exports = Object.fromEntries(Object.entries(instance.exports).map(([k, v]) => [k.replace('_fnum_json', '_enum_json'), v]));
        done({ exports }, module);
      });
      return {};
    };
    const sqlite3 = await init({ instantiateWasm });
    const db = new sqlite3.oo1.DB('/unknown.db', 'c');
    for (const sql of SCRIPT) db.exec(sql);
    db.close();
    expect(t.engines.map((e) => [e.name, e.layers])).toEqual([['SQLite (unknown build)', { vfs: true, sql: true, counters: true }]]);
    expect(t.faultsOf(t.all())).toEqual([]);
    expect(t.all().filter((r) => r.name === 'sqlite3_step' && t.sqlText(r.object)?.startsWith('INSERT')).length).toBeGreaterThan(300);
    expect(t.all().filter((r) => r.op < 64 && !r.parent)).toEqual([]);
  });
});

describe('a table that is neither exported nor imported', () => {
  const hidden = renameExports(sqlJsWasm(), (e) => (e.kind === 1 ? null : e.name));
  const names = exportsOf(hidden).map((e) => e.name);
  let shown: string[] = [];
  const seeing =
    (instantiate: Instantiate): Instantiate =>
    async (imports) => {
      const instance = await instantiate(imports);
      shown = Object.keys(instance.exports);
      return instance;
    };
  const ways: Record<string, Instantiate> = {
    'instantiate(bytes)': fromBytes(hidden),
    'instantiate(ArrayBuffer)': async (imports) => (await WebAssembly.instantiate(hidden.slice().buffer, imports)).instance,
    'new Module, new Instance': (imports) => Promise.resolve(new WebAssembly.Instance(new WebAssembly.Module(hidden), imports)),
    'compile, instantiate(module)': async (imports) => WebAssembly.instantiate(await WebAssembly.compile(hidden), imports),
  };

  it.each(Object.keys(ways))('%s: shown to us, not to the app', async (way) => {
    const { answers, tally } = await published();
    const t = trace();
    expect(runSqlJs(await loadSqlJs({ instantiate: seeing(ways[way]!) }))).toEqual(answers);
    expect(filesOnly(t)).toEqual(tally);
    expect(shown).toEqual(names);
    expect(t.engines.map((e) => [e.name, e.layers.vfs, e.note])).toEqual([['sql.js', true, null]]);
    expect(t.faultsOf(t.all())).toEqual([]);
  });

  it('streaming stays streaming: no VFS layer, and the note says why', async () => {
    const { answers } = await published();
    const t = trace();
    const instantiate: Instantiate = async (imports) => {
      const response = new Response(hidden, { headers: { 'Content-Type': 'application/wasm' } });
      return (await WebAssembly.instantiateStreaming(response, imports)).instance;
    };
    expect(runSqlJs(await loadSqlJs({ instantiate: seeing(instantiate) }))).toEqual(answers);
    expect(shown).toEqual(names);
    expect(t.engines.map((e) => e.layers)).toEqual([{ vfs: false, sql: true, counters: false }]);
    expect(t.engines[0]!.note).toContain('function table is private');
    expect(t.all().some((r) => r.name === 'sqlite3_exec' || r.name === 'sqlite3_step')).toBe(true);
    expect(t.counters().faults).toBe(0);
  });

  it('published builds and other modules are compiled from their own bytes', () => {
    expect(withTableExport(sqlJsWasm())).toBeNull();
    for (const name of [
      '@journeyapps/wa-sqlite/dist/wa-sqlite.wasm',
      '@journeyapps/wa-sqlite/dist/wa-sqlite-dynamic-main.wasm',
      'wa-sqlite/dist/wa-sqlite-async.wasm',
      '@sqlite.org/sqlite-wasm/sqlite3.wasm',
    ])
      expect(withTableExport(readFileSync(require.resolve(name)))).toBeNull();
    expect(withTableExport(moduleWith(['a']))).toBeNull();
    expect(withTableExport(new Uint8Array(0))).toBeNull();
    expect(withTableExport(new Uint8Array(1000).fill(255))).toBeNull();
    expect(withTableExport({})).toBeNull();
    const ours = withTableExport(hidden)!;
    expect(exportsOf(ours)).toEqual([...exportsOf(hidden), { name: TABLE_EXPORT, kind: 1, index: 0 }]);
    expect(WebAssembly.validate(ours)).toBe(true);
    for (let cut = 0; cut < hidden.length; cut += 9973) expect(() => withTableExport(hidden.subarray(0, cut))).not.toThrow();
  });

  it('an error in such bytes is told of the bytes that the app gave', async () => {
    const broken = hidden.slice();
    broken.fill(0xff, broken.length >> 1, (broken.length >> 1) + 64);
    expect(withTableExport(broken)).not.toBeNull();
    const native = [await WebAssembly.instantiate(broken, {}).catch(String), await WebAssembly.compile(broken).catch(String)];
    let sync = '';
    const compile = (): string => {
      try {
        return String(new WebAssembly.Module(broken));
      } catch (error) {
        return String(error);
      }
    };
    sync = compile();
    trace();
    expect(native[0]).toContain('CompileError');
    expect([await WebAssembly.instantiate(broken, {}).catch(String), await WebAssembly.compile(broken).catch(String)]).toEqual(native);
    expect(compile()).toBe(sync);
    // what is no fault of compiling is not tried twice
    const link = await WebAssembly.instantiate(hidden, {}).catch((e: unknown) => e);
    expect(link).toBeInstanceOf(TypeError);
  });
});

describe('ways to an instance', () => {
  it('a module compiled elsewhere that comes by postMessage', async () => {
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
    expect(t.engines.map((e) => [e.name, e.layers.vfs, e.layers.sql])).toEqual([['sql.js', true, true]]);
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
  it('two databases, and one attached to the other: told apart', async () => {
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
    const paths = new Set(rows.map((r) => `${t.file(r.object)!.fileKind} ${t.file(r.object)!.path.replace(/-mj.*/, '-mj')}`));
    for (const name of ['a.db', 'b.db', 'c.db'])
      expect([...paths]).toEqual(expect.arrayContaining([`main-db ${name}`, `journal ${name}-journal`]));
    expect([...paths].some((p) => p.includes('-mj'))).toBe(true); // the super-journal of both
    expect(t.faultsOf(t.all())).toEqual([]);
    await sqlite3.close(a);
    await sqlite3.close(b);
  });

  it('several statements in one sqlite3_exec: one event, its text folded, the statements counted', async () => {
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
    expect(t.all().filter((r) => r.op < 64 && r.parent === execs[0]!.seq).length).toBeGreaterThan(10);
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
    const other = await run(name === 'mc-wa-sqlite' ? `${name}${suffix}` : `wa-sqlite${suffix}-dynamic-main`);
    expect(other.answers).toEqual(plain.answers);
    expect(filesOnly(other.t)).toEqual(filesOnly(plain.t));
    const sql = (t: Traced): Record<string, number> =>
      t.all().reduce<Record<string, number>>((n, r) => (r.op >= 128 && r.op < 135 && (n[r.name] = (n[r.name] ?? 0) + 1), n), {});
    expect(sql(other.t)).toEqual(sql(plain.t));
    expect(other.t.engines.map((e) => [e.name, e.layers, e.note])).toEqual(plain.t.engines.map((e) => [e.name, e.layers, e.note]));
    expect(other.t.faultsOf(other.t.all())).toEqual([]);
    expect(other.t.counters()).toEqual({ dropped: 0, faults: 0 });
  });
});

describe('databases that are not SQLite C', () => {
  const packages = {
    '@tursodatabase/database-wasm': 'dist/turso.wasm32-wasi.wasm',
    '@electric-sql/pglite': 'dist/pglite.wasm',
    '@duckdb/duckdb-wasm': 'dist/duckdb-eh.wasm',
  };
  it.each(Object.entries(packages))('%s is known by its exports', (name, file) => {
    const names = exportsOf(readFileSync(`node_modules/${name}/${file}`)).map((e) => e.name);
    expect(otherDatabase(Object.fromEntries(names.map((n) => [n, () => 0])))).toBe(name);
  });
  it('is named, with the reason why storage calls are all there is', async () => {
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
    for (const own of ['@journeyapps/wa-sqlite/dist/wa-sqlite.wasm', 'sql.js/dist/sql-wasm.wasm', '@sqlite.org/sqlite-wasm/sqlite3.wasm'])
      expect(otherDatabase(Object.fromEntries(exportsOf(readFileSync(require.resolve(own))).map((e) => [e.name, () => 0])))).toBeNull();
  });
});
