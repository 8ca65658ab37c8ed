/**
 * The SQL layer of one engine: records sqlite3_open ... sqlite3_close around the app's own calls,
 * and makes them the parents of the VFS calls below. Where the functions come from is
 * sql-exports.ts (named exports) and sql-emscripten.ts (Module._sqlite3_*). One sqlite3_exec is one
 * event, for any text: SQLite prepares and steps internally by calls that can't be seen, and no VFS
 * call marks the end of a statement (several may only read cached pages). The record has the number
 * of statements in the text.
 */
import { Flag, Op } from '../event/event.ts';
import { NOTHING, Recorder, type Token } from '../record/recorder.ts';
import { Header } from '../record/ring-layout.ts';
import { Rc } from '../sqlite/constants.ts';
import type { EngineMemory } from '../vfs-instrumented/interpose/io-methods.ts';
import type { WasmFunction } from '../vfs-instrumented/interpose/natives.ts';
import type { Asyncify } from './asyncify.ts';
import { CounterReader, type Reach } from './counters.ts';
import { forward, type Traced } from './sql-functions.ts';
import { SqlDetails, type SharedParts } from './sql-details.ts';
import { newCounts, StatusReader } from './statement-status.ts';
import { finished, hashOfValue, mix, UNKNOWN_VALUE } from './value-hash.ts';
import { literalOf, MOST_VALUES, type BindKeeper, type TracedBind } from './sql-binds.ts';

const NativePromise = Promise;
const CURRENT = Header.current >>> 2;
const CONTEXT = Header.context >>> 2;

interface Connection {
  readonly id: number;
  readonly db: number;
}
/** The target of a call. Calls on a connection have one without text and instance. */
interface Statement {
  readonly text: number;
  readonly instance: number;
  readonly connection: Connection | null;
  /** Stepped since the counters were last read. */
  stepped: boolean;
  /** The engine's counters for it when its run began; null = not counted. */
  readonly counts: number[] | null;
  /** For a query: hashes of its values, by parameter, and of its text at 0; null = not stored. */
  readonly hashes: number[] | null;
  /** Bound values, by parameter - 1; null = not stored. */
  values: string[] | null;
  /** The next step begins a run. */
  fresh: boolean;
}
/** A call that hasn't really returned yet. */
interface Suspended {
  readonly traced: Traced;
  readonly token: Token;
  readonly subject: Statement;
  readonly address: number;
}

/**
 * Parameters whose values count: SQLite's limit (SQLITE_MAX_VARIABLE_NUMBER), unless a build raises
 * it.
 */
const MOST_HASHED = 32_766;

/**
 * SQL calls on the JavaScript stack of this thread, over all engines: 0 = the app itself makes the
 * next call.
 */
let depth = 0;

export class SqlLayer implements BindKeeper {
  readonly counters: CounterReader;
  private readonly status: StatusReader | null;
  private readonly recorder: Recorder;
  private readonly memory: EngineMemory;
  private readonly shared: SharedParts;
  private readonly details: SqlDetails;
  private readonly reach: Reach;
  private readonly asyncify: Asyncify | null;
  private readonly header: Uint32Array;
  private readonly connections = new Map<number, Connection>();
  private readonly statements = new Map<number, Statement>();
  /** Calls suspended by Asyncify, outermost last. */
  private suspended: Suspended[] = [];

  private readonly announce: () => number;

  /** @param announce emits the engine's definition once, and returns its id */
  constructor(
    recorder: Recorder,
    memory: EngineMemory,
    shared: SharedParts,
    reach: Reach,
    asyncify: Asyncify | null,
    announce: () => number,
  ) {
    this.recorder = recorder;
    this.announce = announce;
    this.memory = memory;
    this.shared = shared;
    this.reach = reach;
    this.asyncify = asyncify;
    this.counters = new CounterReader(recorder, memory, reach, announce);
    this.status = shared.query ? new StatusReader(recorder, memory, reach) : null;
    this.details = new SqlDetails(recorder, shared);
    this.header = new Uint32Array(recorder.memory.buffer, 0, 64);
  }

  /**
   * Call `fn`, one of SQLite's functions, with `a` to `f`, and record it. Result, `this`, and
   * exceptions are the function's own.
   * @param more all arguments, if their number differs from that of SQLite's function; else null
   */
  call(
    traced: Traced,
    fn: WasmFunction,
    self: unknown,
    more: ArrayLike<unknown> | null,
    a: number,
    b: number,
    c: number,
    d: number,
    e: number,
    f: number,
  ): unknown {
    const { recorder, header, asyncify } = this;
    if (!recorder.enabled) return forward(traced.arity, fn, self, more, a, b, c, d, e, f);
    const outer = header[CURRENT]!;
    const outerContext = header[CONTEXT]!;
    const address =
      traced.subject === 'prepare'
        ? traced.arity === 6
          ? e
          : d
        : traced.subject === 'open'
          ? b
          : a;
    let subject: Statement | null = null;
    let token: Token = NOTHING;
    try {
      subject = this.subjectOf(traced, a, b, c);
      if (subject) {
        const context = subject.connection ? subject.connection.id : 0;
        // the app's own call has no parent, even while another engine's call is suspended
        if (depth === 0) header[CURRENT] = header[CONTEXT] = 0;
        if (subject.counts && !subject.stepped && traced.op === Op.sqlStep)
          this.status!.begin(a, subject.counts);
        const statements = traced.op === Op.sqlExec ? this.shared.texts.statements : 0;
        token = recorder.begin(
          traced.op,
          subject.text,
          NaN,
          0,
          subject.instance,
          context,
          statements,
        );
        recorder.enter(token, context);
        if (subject.fresh && traced.op === Op.sqlStep) this.details.sayValues(subject, token);
      }
    } catch (error) {
      recorder.fault(traced.name, error);
      subject = null;
    }
    if (!subject) return forward(traced.arity, fn, self, more, a, b, c, d, e, f);
    const unwinds = asyncify === null ? 0 : asyncify.unwinds;
    let result: unknown;
    depth++;
    try {
      result = forward(traced.arity, fn, self, more, a, b, c, d, e, f);
    } catch (error) {
      recorder.endBelow(token);
      recorder.end(token, -1, Flag.threw);
      recorder.leave(outer, outerContext);
      throw error;
    } finally {
      depth--;
    }
    if (asyncify !== null && asyncify.unwinds !== unwinds)
      this.suspended.push({ traced, token, subject, address });
    else if (result instanceof NativePromise)
      this.settleLater(result, { traced, token, subject, address });
    else {
      const rc = Number(result) | 0;
      recorder.end(token, rc);
      header[CURRENT] = outer;
      header[CONTEXT] = outerContext;
      this.finish(traced, subject, address, rc);
    }
    return result;
  }

  /**
   * JSPI: the call ends when its promise settles. The app may never look at it, so a rejection must
   * stay unhandled if it was.
   */
  private settleLater(result: Promise<unknown>, call: Suspended): void {
    try {
      this.shared.watch.watch(result, (ok, value) =>
        this.settle(call, ok ? Number(value) | 0 : -1, !ok),
      );
    } catch (error) {
      this.recorder.fault(call.traced.name, error);
    }
  }
  private settle({ traced, token, subject, address }: Suspended, rc: number, threw: boolean): void {
    if (threw) this.recorder.endBelow(token);
    this.recorder.end(token, rc, Flag.async | (threw ? Flag.threw : 0));
    if (depth === 0) this.recorder.leave(0, 0);
    if (!threw) this.finish(traced, subject, address, rc);
  }

  /** Asyncify: the suspended stack continues, from its outermost call. */
  resume = (): void => {
    const last = this.suspended.at(-1);
    if (last)
      this.recorder.leave(
        this.asyncify?.innermost || Recorder.seqOf(last.token),
        last.subject.connection?.id ?? 0,
      );
  };
  /** Asyncify: the suspended stack has finished. */
  settleSuspended = (rc: number, threw: boolean): void => {
    const all = this.suspended;
    this.suspended = [];
    for (const call of all) this.settle(call, rc, threw);
  };

  // ---- what each function means -----------------------------------------------------------------------------------------

  /** The call's target; null = the call isn't recorded. */
  private subjectOf(traced: Traced, a: number, b: number, c: number): Statement | null {
    switch (traced.subject) {
      case 'statement': {
        const statement = this.statement(a);
        if (traced.op === Op.sqlFinalize) {
          if (statement?.counts) this.readStatus(statement, a);
          this.statements.delete(a);
        }
        return statement;
      }
      case 'prepare': {
        const text = this.shared.texts.statementAt(this.memory, b, c | 0);
        const connection = this.connection(a);
        this.details.sayStack(text, connection.id);
        return this.statementOf(text, this.recorder.nextId(), connection);
      }
      case 'exec': {
        const connection = this.connection(a);
        const text = this.shared.texts.scriptAt(this.memory, b);
        this.details.sayStack(text, connection.id);
        return subjectWithoutRuns(text, connection);
      }
      case 'open': {
        this.announce();
        const connection = { id: this.recorder.nextId(), db: 0 };
        const text = this.recorder.define({ kind: 'name', text: this.memory.cString(a) ?? '' });
        return subjectWithoutRuns(text, connection);
      }
      case 'close':
        return subjectWithoutRuns(0, this.connections.get(a) ?? null);
    }
  }

  /**
   * The call has really returned.
   * @param address of what it wrote (ppDb, ppStmt), or its first argument
   */
  private finish(traced: Traced, subject: Statement, address: number, rc: number): void {
    try {
      const { op } = traced;
      if (op === Op.sqlStep) {
        subject.stepped = true;
        if (rc !== Rc.row) this.ended(subject, address);
      } else if (op === Op.sqlReset) this.ended(subject, address);
      else if (op === Op.sqlPrepare) {
        const stmt = rc === 0 && address ? this.memory.word(address) : 0;
        if (stmt) this.statements.set(stmt, subject);
      } else this.finishRare(op, subject, address, rc);
    } catch (error) {
      this.recorder.fault(traced.name, error);
    }
  }
  private finishRare(op: number, subject: Statement, address: number, rc: number): void {
    if (op === Op.sqlFinalize) this.readCounters(subject);
    else if (op === Op.sqlExec) {
      subject.stepped = true;
      this.readCounters(subject);
    } else if (op === Op.sqlOpen) {
      const db = this.memory.word(address);
      if (db) this.connections.set(db, { id: subject.connection!.id, db });
    } else if (op === Op.sqlClose && rc === 0) {
      // else SQLITE_BUSY: it is still open
      this.connections.delete(address);
      if (subject.connection) this.counters.forget(subject.connection.id);
    }
  }

  private connection(db: number): Connection {
    let known = this.connections.get(db);
    if (!known) {
      this.announce();
      this.connections.set(db, (known = { id: this.recorder.nextId(), db }));
    }
    return known;
  }

  private statement(stmt: number): Statement | null {
    if (!stmt) return null;
    const known = this.statements.get(stmt);
    if (known) return known;
    // prepared by a call that isn't traced: SQLite itself knows its text and connection
    const text = this.reach('sqlite3_sql')?.(stmt);
    const db = this.reach('sqlite3_db_handle')?.(stmt);
    const statement = this.statementOf(
      typeof text === 'number' ? this.shared.texts.statementAt(this.memory, text, -1) : 0,
      this.recorder.nextId(),
      typeof db === 'number' ? this.connection(db) : null,
    );
    this.statements.set(stmt, statement);
    return statement;
  }

  private statementOf(text: number, instance: number, connection: Connection | null): Statement {
    const { values, texts } = this.shared;
    return {
      text,
      instance,
      connection,
      stepped: false,
      counts: this.status && newCounts(),
      hashes: text && texts.hash ? [texts.hash] : null,
      values: values ? [] : null,
      fresh: values,
    };
  }

  private ended(s: Statement, stmt: number): void {
    s.fresh = s.values !== null;
    // checked here: if it's off, the compiler doesn't need to look into it
    if (s.counts) this.readStatus(s, stmt);
    this.readCounters(s);
  }

  // ---- optional details ---------------------------------------------------------------------------------------------------

  /** SQLite has accepted a value. */
  bound(traced: TracedBind, args: ArrayLike<unknown>): void {
    if (!this.recorder.enabled) return;
    try {
      const statement = this.statement(Number(args[0]));
      if (!statement) return;
      const { values, hashes } = statement;
      if (hashes) this.hashed(hashes, traced, args);
      if (!values) return;
      const parameter = Number(args[1]) - 1;
      if (traced.kind === 'clear') values.length = 0;
      else if (parameter >= 0 && parameter < MOST_VALUES) {
        while (values.length < parameter) values.push('NULL');
        values[parameter] = literalOf(traced.kind, this.memory, args);
      }
    } catch (error) {
      this.recorder.fault(traced.name, error);
    }
  }

  private hashed(hashes: number[], { kind }: TracedBind, args: ArrayLike<unknown>): void {
    if (kind === 'clear') hashes.length = 1;
    else {
      const parameter = Number(args[1]);
      if (!(parameter > 0 && parameter <= MOST_HASHED)) return;
      for (let i = hashes.length; i < parameter; i++) hashes[i] = 0;
      hashes[parameter] = hashOfValue(this.shared.texts.salt, kind, this.memory, args[2], args[3]);
    }
  }

  /** Call before `readCounters`, which marks the run as read. */
  private readStatus(s: Statement, stmt: number): void {
    if (this.isOver(s))
      this.status!.read(stmt, s.text, s.instance, s.connection!.id, s.counts!, hashOf(s.hashes));
  }
  private isOver(s: Statement): boolean {
    return s.stepped && s.connection !== null && !this.asyncify?.state;
  }
  private readCounters(s: Statement): void {
    if (!this.isOver(s)) return;
    s.stepped = false;
    const { db, id } = s.connection!;
    if (this.connections.get(db) !== s.connection) return;
    this.counters.read(db, id);
    if (this.status) this.counters.readMemory(db, id);
  }
}

/** All values of a run as one hash, never 0; 0 = not stored, or one of them isn't known. */
function hashOf(hashes: number[] | null): number {
  if (!hashes) return 0;
  let hash = 0;
  for (let i = 0; i < hashes.length; i++) {
    if (hashes[i] === UNKNOWN_VALUE) return 0;
    hash = mix(hash, hashes[i]!);
  }
  return finished(hash);
}

/** A call on a connection, or a whole script. */
const subjectWithoutRuns = (text: number, connection: Connection | null): Statement => ({
  text,
  instance: 0,
  connection,
  stepped: false,
  counts: null,
  hashes: null,
  values: null,
  fresh: false,
});
