/**
 * SQLite's C API for workloads, over the functions that any wasm build exports. The calls are the
 * same for all builds, so counts of two releases only differ because of the releases. Bundled
 * wa-sqlite has its own API, which makes other calls.
 */
import { Rc } from '../../../sqlite/constants.ts';
import type { SqliteApi } from './builds.ts';
import { HEAPS, rawAllocate, type Call, type RawEngine } from './raw-engine.ts';
import { registerVfs } from './register-vfs.ts';

/** SQLITE_INTEGER and so on. */
const Type = { integer: 1, float: 2, text: 3, blob: 4 } as const;
/** SQLITE_TRANSIENT: SQLite copies what is bound. */
const COPY = -1;

/** Required functions. The others have fallbacks. */
const NEEDED = [
  'sqlite3_prepare_v2',
  'sqlite3_step',
  'sqlite3_reset',
  'sqlite3_finalize',
  'sqlite3_errmsg',
  'sqlite3_column_type',
  'sqlite3_column_double',
  'sqlite3_column_text',
  'sqlite3_column_blob',
  'sqlite3_column_bytes',
  'sqlite3_column_name',
  'sqlite3_bind_double',
  'sqlite3_bind_text',
  'sqlite3_bind_blob',
] as const;
/** One of each pair is enough. */
const EITHER = [
  ['sqlite3_open_v2', 'sqlite3_open'],
  ['sqlite3_close_v2', 'sqlite3_close'],
  // the first of these exists in every release of sql.js, so the called function doesn't change
  // between releases
  ['sqlite3_data_count', 'sqlite3_column_count'],
] as const;
/** Functions that a build lacks; empty: it can run. */
export function lacking(find: RawEngine['find']): string[] {
  const has = (name: string): boolean => typeof find(name) === 'function';
  return [
    ...NEEDED.filter((name) => !has(name)),
    ...EITHER.flatMap(([one, other]) => (has(one) || has(other) ? [] : [`${one} or ${other}`])),
    ...(HEAPS.some((pair) => pair.every(has)) ? [] : ['malloc and free']),
  ];
}

/** Integers within these bounds are bound as 32 bits. */
const INT32 = 2 ** 31;
const READ_WRITE_CREATE = 0x6;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

class RawApi {
  private readonly known = new Map<string, Call>();
  /** Buffer for values that SQLite copies. It grows. */
  private scratch = 0;
  private scratchBytes = 0;
  /** Two words for output parameters. */
  private readonly answer: number;
  private readonly texts = new Map<number, () => string>();
  private readonly databases = new Map<number, number>();

  private readonly heapCalls: (typeof HEAPS)[number];

  constructor(private readonly engine: RawEngine) {
    this.heapCalls = HEAPS.find((pair) => pair.every((name) => this.maybe(name)))!;
    this.answer = this.allocate(8);
  }

  /** Undefined where the build doesn't export it. */
  private maybe(name: string): Call | undefined {
    const known = this.known.get(name);
    if (known) return known;
    const found = this.engine.find(name);
    if (typeof found !== 'function') return undefined;
    this.known.set(name, found as Call);
    return found as Call;
  }
  private call(name: string, ...args: (number | bigint)[]): number {
    return Number(this.maybe(name)!(...args));
  }
  private either(one: string, other: string, ...args: number[]): number {
    return this.call(this.maybe(one) ? one : other, ...args);
  }

  private allocate(bytes: number): number {
    return rawAllocate(this.engine, bytes);
  }
  private free(at: number): void {
    this.call(this.heapCalls[1], at);
  }
  private heap(): Uint8Array {
    return new Uint8Array(this.engine.memory.buffer);
  }
  private word(at: number): number {
    return new DataView(this.engine.memory.buffer).getUint32(at, true);
  }
  /** A NUL-terminated text. */
  private textAt(at: number): string {
    if (at === 0) return '';
    const heap = this.heap();
    return decoder.decode(heap.slice(at, heap.indexOf(0, at)));
  }
  private write(bytes: Uint8Array): number {
    const at = this.allocate(bytes.length + 1);
    const heap = this.heap();
    heap.set(bytes, at);
    heap[at + bytes.length] = 0;
    return at;
  }

  private check(rc: number, db: number, good: readonly number[] = [Rc.ok]): number {
    if (good.includes(rc)) return rc;
    const words = db ? this.textAt(this.call('sqlite3_errmsg', db) >>> 0) : '';
    throw Object.assign(new Error(words || `SQLite's result is ${rc}.`), { code: rc });
  }

  /**
   * The default VFS while no open database uses another one: the first word of a connection
   * (sqlite3 in sqliteInt.h).
   */
  defaultVfs(): number {
    const db = this.open(':memory:');
    try {
      return this.word(db);
    } finally {
      this.close(db);
    }
  }

  open(name: string): number {
    const file = this.write(encoder.encode(name));
    try {
      const rc = this.maybe('sqlite3_open_v2')
        ? this.call('sqlite3_open_v2', file, this.answer, READ_WRITE_CREATE, 0)
        : this.call('sqlite3_open', file, this.answer);
      const db = this.word(this.answer);
      this.check(rc, db);
      return db;
    } finally {
      this.free(file);
    }
  }
  close(db: number): number {
    return this.check(this.either('sqlite3_close_v2', 'sqlite3_close', db), db);
  }

  /** @returns the statement (0 = none left), and where the rest begins */
  private prepare(db: number, sql: number): [stmt: number, tail: number] {
    const { answer } = this;
    this.check(this.call('sqlite3_prepare_v2', db, sql, -1, answer, answer + 4), db);
    return [this.word(answer), this.word(answer + 4)];
  }
  /** @param finalize the API object's function, which others may override */
  async *statements(
    db: number,
    sql: string,
    finalize: (stmt: number) => unknown,
  ): AsyncGenerator<number, void> {
    const bytes = encoder.encode(sql);
    const begin = this.write(bytes);
    let open = 0;
    try {
      for (let at = begin; ;) {
        const [stmt, tail] = this.prepare(db, at);
        // a comment alone isn't a statement, but what follows it may be
        if (stmt === 0 && (tail <= at || tail - begin >= bytes.length)) return;
        if (stmt !== 0) {
          const [from, to] = [at - begin, tail - begin];
          this.texts.set(stmt, () => decoder.decode(bytes.subarray(from, to)));
          this.databases.set(stmt, db);
          open = stmt;
          yield stmt;
          open = 0;
          finalize(stmt);
        }
        at = tail;
      }
    } finally {
      if (open) finalize(open);
      this.free(begin);
    }
  }
  finalize(stmt: number): number {
    this.texts.delete(stmt);
    this.databases.delete(stmt);
    return this.call('sqlite3_finalize', stmt);
  }
  sql(stmt: number): string {
    return this.texts.get(stmt)?.() ?? '';
  }
  step(stmt: number): number {
    const rc = this.call('sqlite3_step', stmt);
    return this.check(rc, this.databases.get(stmt) ?? 0, [Rc.row, Rc.done]);
  }
  reset(stmt: number): number {
    return this.check(this.call('sqlite3_reset', stmt), this.databases.get(stmt) ?? 0);
  }

  /** For the current row. */
  private columns(stmt: number): number {
    return this.either('sqlite3_data_count', 'sqlite3_column_count', stmt);
  }
  names(stmt: number): string[] {
    return Array.from({ length: this.columns(stmt) }, (_, i) =>
      this.textAt(this.call('sqlite3_column_name', stmt, i) >>> 0),
    );
  }
  row(stmt: number): unknown[] {
    return Array.from({ length: this.columns(stmt) }, (_, i) => this.column(stmt, i));
  }
  private column(stmt: number, i: number): unknown {
    const type = this.call('sqlite3_column_type', stmt, i);
    if (type === Type.integer) return this.integer(stmt, i);
    if (type === Type.float) return this.call('sqlite3_column_double', stmt, i);
    if (type !== Type.text && type !== Type.blob) return null;
    const at = this.call(
      type === Type.text ? 'sqlite3_column_text' : 'sqlite3_column_blob',
      stmt,
      i,
    );
    const bytes = this.heap().slice(
      at >>> 0,
      (at >>> 0) + this.call('sqlite3_column_bytes', stmt, i),
    );
    return type === Type.text ? decoder.decode(bytes) : bytes;
  }
  /** Builds with BigInt return all 64 bits. Others split them, or have no such function. */
  private integer(stmt: number, i: number): number | bigint {
    const value = this.maybe('sqlite3_column_int64')?.(stmt, i);
    if (typeof value !== 'bigint') return this.call('sqlite3_column_double', stmt, i);
    const short = Number(value);
    return Number.isSafeInteger(short) ? short : value;
  }

  bind(stmt: number, i: number, value: unknown): number {
    return this.check(this.bound(stmt, i, value), this.databases.get(stmt) ?? 0);
  }
  private bound(stmt: number, i: number, value: unknown): number {
    if (typeof value === 'number') {
      const short = Number.isInteger(value) && value >= -INT32 && value < INT32;
      if (short && this.maybe('sqlite3_bind_int'))
        return this.call('sqlite3_bind_int', stmt, i, value);
      return this.call('sqlite3_bind_double', stmt, i, value);
    }
    if (typeof value === 'string')
      return this.copied('sqlite3_bind_text', stmt, i, encoder.encode(value));
    if (value instanceof Uint8Array) return this.copied('sqlite3_bind_blob', stmt, i, value);
    // bytes with a null pointer are NULL
    return this.call('sqlite3_bind_blob', stmt, i, 0, 0, COPY);
  }
  private copied(name: string, stmt: number, i: number, bytes: Uint8Array): number {
    if (bytes.length > this.scratchBytes || this.scratch === 0) {
      if (this.scratch) this.free(this.scratch);
      this.scratchBytes = Math.max(1024, bytes.length * 2);
      this.scratch = this.allocate(this.scratchBytes);
    }
    this.heap().set(bytes, this.scratch);
    return this.call(name, stmt, i, this.scratch, bytes.length, COPY);
  }

  /** The first value that a statement returns. */
  answerOf(db: number, sql: string): string {
    const text = this.write(encoder.encode(sql));
    try {
      const [stmt] = this.prepare(db, text);
      this.step(stmt);
      const [value] = this.row(stmt);
      this.finalize(stmt);
      return String(value);
    } finally {
      this.free(text);
    }
  }

  /** Not during a measurement, because the fallback runs statements. @param exec runs a script */
  async autocommit(db: number, exec: (sql: string) => Promise<unknown>): Promise<boolean> {
    if (this.maybe('sqlite3_get_autocommit')) return this.call('sqlite3_get_autocommit', db) !== 0;
    try {
      await exec('BEGIN');
    } catch (e) {
      if (e instanceof Error && e.message.includes('within a transaction')) return false;
      throw e;
    }
    await exec('COMMIT');
    return true;
  }
}

/** The API for workloads. @throws Error naming the exports that the build lacks */
export function rawApi(engine: RawEngine): SqliteApi {
  const missing = lacking(engine.find);
  if (missing.length) throw new Error(`it doesn't export ${missing.join(', ')}`);
  const raw = new RawApi(engine);
  const api: SqliteApi & {
    finalize(stmt: number): number;
    sql(stmt: number): string;
    isAutocommit(db: number): Promise<boolean>;
    vfs_register(vfs: Readonly<Record<string, unknown>>, asDefault: boolean): number;
  } = {
    libversion() {
      const db = raw.open(':memory:');
      try {
        return raw.answerOf(db, 'SELECT sqlite_version()');
      } finally {
        raw.close(db);
      }
    },
    open_v2: (name) => Promise.resolve(raw.open(name)),
    close: (db) => Promise.resolve(raw.close(db)),
    statements: (db, sql) => raw.statements(db, sql, (stmt) => api.finalize(stmt)),
    step: (stmt) => Promise.resolve(raw.step(stmt)),
    reset: (stmt) => Promise.resolve(raw.reset(stmt)),
    row: (stmt) => raw.row(stmt),
    column_names: (stmt) => raw.names(stmt),
    bind: (stmt, i, value) => raw.bind(stmt, i, value),
    finalize: (stmt) => raw.finalize(stmt),
    sql: (stmt) => raw.sql(stmt),
    vfs_register: (vfs, asDefault) => registerVfs(engine, vfs, asDefault, raw.defaultVfs()),
    isAutocommit: (db) => raw.autocommit(db, (sql) => api.exec(db, sql)),
    async exec(db, sql, row) {
      for await (const stmt of api.statements(db, sql)) {
        let names: string[] | null = null;
        while (raw.step(stmt) === Rc.row) if (row) row(raw.row(stmt), (names ??= raw.names(stmt)));
      }
      return Rc.ok;
    },
  };
  return api;
}
