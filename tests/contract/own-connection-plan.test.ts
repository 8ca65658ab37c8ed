/**
 * Why plans are made on a copy of the schema, and never on the app's own connection: shows what
 * SQLite changes in a connection when it explains a statement, on the builds that apps use. If
 * SQLite stops changing anything, this could become an option.
 */
import { expect, it } from 'vitest';
import { loadWaSqlite } from './helpers/wa-sqlite.ts';

type C = (...args: number[]) => number;
interface Engine {
  /** A C function by its name. */
  c(name: string): C;
  heap(): Uint8Array;
  open(name: string): Promise<number>;
  /** sqlite3_set_authorizer */
  authorize(db: number, answer: () => number): void;
  /**
   * sqlite3_trace_v2 of statements and their times. null = this build's table has no room for a
   * callback.
   */
  trace: ((db: number, called: () => void) => void) | null;
}

async function journey(): Promise<Engine & { reads(): number }> {
  const { sqlite3, module, vfs } = await loadWaSqlite('journey-sync');
  let reads = 0;
  const read = vfs['jRead'] as (...args: unknown[]) => unknown;
  vfs['jRead'] = (...args: unknown[]) => {
    reads++;
    return read.apply(vfs, args);
  };
  const { set_authorizer: authorize } = sqlite3 as unknown as {
    set_authorizer(db: number, answer: unknown, data: null): void;
  };
  return {
    c: (name) => module[`_${name}`] as C,
    heap: () => module['HEAPU8'] as Uint8Array,
    open: (name) => sqlite3.open_v2(name),
    authorize: (db, answer) => authorize.call(sqlite3, db, answer, null),
    trace: null,
    reads: () => reads,
  };
}

async function sqliteOrg(): Promise<Engine> {
  const { default: init } = (await import('@sqlite.org/sqlite-wasm')) as unknown as {
    default: () => Promise<{
      wasm: {
        exports: Record<string, C>;
        heap8u(): Uint8Array;
        installFunction(fn: unknown, types: string): number;
      };
      oo1: { DB: new (name: string) => { pointer: number } };
    }>;
  };
  const { wasm, oo1 } = await init();
  const c = (name: string): C => wasm.exports[name]!;
  return {
    c: (name) => c(name === 'malloc' || name === 'free' ? `sqlite3_${name}` : name),
    heap: () => wasm.heap8u(),
    open: (name) => Promise.resolve(Number(new oo1.DB(`/${name}`).pointer)),
    authorize: (db, answer) =>
      c('sqlite3_set_authorizer')(db, wasm.installFunction(answer, 'i(iiiiii)'), 0),
    trace(db, called) {
      const [STMT, PROFILE] = [1, 2];
      const callback = wasm.installFunction(() => {
        called();
        return 0;
      }, 'i(iiii)');
      expect(c('sqlite3_trace_v2')(db, STMT | PROFILE, callback, 0)).toBe(0);
    },
  };
}

class Connection {
  constructor(
    private readonly engine: Engine,
    readonly db: number,
  ) {}

  get error(): [code: number, message: string] {
    const { engine, db } = this;
    const at = engine.c('sqlite3_errmsg')(db);
    const heap = engine.heap();
    return [
      engine.c('sqlite3_errcode')(db),
      new TextDecoder().decode(heap.slice(at, heap.indexOf(0, at))),
    ];
  }
  /** SQLITE_DBSTATUS_STMT_USED */
  get statementBytes(): number {
    const { engine, db } = this;
    const at = engine.c('malloc')(8);
    expect(engine.c('sqlite3_db_status')(db, 3, at, at + 4, 0)).toBe(0);
    const bytes = this.word(at);
    engine.c('free')(at);
    return bytes;
  }
  private word(at: number): number {
    const { buffer, byteOffset } = this.engine.heap();
    return new DataView(buffer, byteOffset).getUint32(at, true);
  }

  /**
   * sqlite3_prepare_v2, all steps, and sqlite3_finalize.
   * @param inside called before the first step
   * @returns the result of prepare
   */
  run(sql: string, inside = (_stmt: number): void => {}): number {
    const { engine, db } = this;
    const bytes = new TextEncoder().encode(`${sql}\0`);
    const at = engine.c('malloc')(bytes.length + 8);
    engine.heap().set(bytes, at + 8);
    const rc = engine.c('sqlite3_prepare_v2')(db, at + 8, -1, at, at + 4);
    if (rc === 0) {
      const stmt = this.word(at);
      inside(stmt);
      while (engine.c('sqlite3_step')(stmt) === 100);
      engine.c('sqlite3_finalize')(stmt);
    }
    engine.c('free')(at);
    return rc;
  }
}
const SCHEMA = 'CREATE TABLE notes(id INTEGER PRIMARY KEY, body)';
const PLAN = 'EXPLAIN QUERY PLAN SELECT id FROM notes WHERE body = ?';

const ENGINES = { 'wa-sqlite': journey, '@sqlite.org/sqlite-wasm': sqliteOrg };

it.each(Object.keys(ENGINES) as (keyof typeof ENGINES)[])(
  '%s: an explained statement changes what the app sees of its connection',
  async (name) => {
    const engine = await ENGINES[name]();
    const app = new Connection(engine, await engine.open('plan.db'));
    expect(app.run(SCHEMA)).toBe(0);

    // the app's last error is gone
    expect(app.run('SELECT * FROM nowhere')).not.toBe(0);
    const [failed, message] = app.error;
    expect([failed, message]).toEqual([1, 'no such table: nowhere']);
    expect(app.run(PLAN)).toBe(0);
    expect(app.error).toEqual([0, 'not an error']);

    // the app's authorizer is called for it, and can refuse it
    let asked = 0;
    const answering = (answer: number) => (): number => {
      asked++;
      return answer;
    };
    engine.authorize(app.db, answering(0));
    expect(app.run(PLAN)).toBe(0);
    expect(asked).toBeGreaterThan(0);
    engine.authorize(app.db, answering(1));
    expect(app.run(PLAN)).toBe(23); // SQLITE_AUTH
    engine.authorize(app.db, answering(0));

    // while it exists, the app finds it among its own statements, and its memory in theirs
    const next = engine.c('sqlite3_next_stmt');
    const before = app.statementBytes;
    let during = 0;
    expect(next(app.db, 0)).toBe(0);
    app.run(PLAN, (stmt) => {
      expect(next(app.db, 0)).toBe(stmt);
      during = app.statementBytes;
    });
    expect(next(app.db, 0)).toBe(0);
    expect([during > before, app.statementBytes]).toEqual([true, before]);

    // the app's trace callback gets a statement that the app never ran
    let traced = 0;
    engine.trace?.(app.db, () => void traced++);
    app.run(PLAN);
    expect(traced > 0).toBe(engine.trace !== null);
  },
);

it('a connection that has not read its schema reads it then, which on an asynchronous VFS suspends the module', async () => {
  const engine = await journey();
  const first = new Connection(engine, await engine.open('late.db'));
  expect(first.run(SCHEMA)).toBe(0);
  const late = new Connection(engine, await engine.open('late.db'));
  const before = engine.reads();
  expect(late.run(PLAN)).toBe(0);
  expect(engine.reads()).toBeGreaterThan(before);

  const { sqlite3, vfs } = await loadWaSqlite('journey-async');
  await sqlite3.exec(await sqlite3.open_v2('async.db'), SCHEMA);
  const other = await sqlite3.open_v2('async.db');
  let suspended = 0;
  const read = vfs['jRead'] as (...args: unknown[]) => Promise<unknown>;
  vfs['jRead'] = async (...args: unknown[]) => {
    suspended++;
    return read.apply(vfs, args);
  };
  for await (const stmt of sqlite3.statements(other, PLAN)) if (stmt) break;
  expect(suspended).toBeGreaterThan(0);
});
