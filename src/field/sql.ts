/**
 * SQL calls of this thread's engines, for histograms and the ring. It hooks engines as the recorder
 * does (engines/) but collects less: no VFS calls, counters, or values.
 */
import { Asyncify } from '../engines/asyncify.ts';
import { wrapEntryPoints } from '../engines/entry-points.ts';
import { fingerprint } from '../engines/fingerprint.ts';
import { importedValues } from '../engines/imports.ts';
import type { SqlCaller } from '../engines/sql-calls.ts';
import { trapEmscriptenModules } from '../engines/sql-emscripten.ts';
import { wrapNamedExports } from '../engines/sql-exports.ts';
import { forward, type Traced } from '../engines/sql-functions.ts';
import { SqlShapes } from '../engines/sql-shapes.ts';
import { SqlTemplates } from '../engines/sql-templates.ts';
import { isEngineRetry, isRepeat, retriesCalls, type SqlCall } from '../event/engine-retry.ts';
import { Flag, Op } from '../event/event.ts';
import { EngineMemory } from '../vfs-instrumented/interpose/io-methods.ts';
import type { PromiseWatch } from '../record/promise-watch.ts';
import { dataProperty } from '../record/reflect.ts';
import { isBusy, Rc } from '../sqlite/constants.ts';
import {
  NativeMemory,
  NativeTable,
  type WasmFunction,
} from '../vfs-instrumented/interpose/natives.ts';
import { clock, type Ring } from './ring.ts';
import type { StatementTally, Tally } from './tally.ts';

/** Receives what is seen. */
export interface Sink {
  readonly ring: Ring;
  tally: Tally;
  /** Longer calls trigger a trace. Lock requests that take longer are hangs. Milliseconds. */
  readonly hangMs: number;
  readonly watch: PromiseWatch;
}

/** Longer texts are cut. */
const MOST_BYTES = 8192;
/** How many folded texts are cached, fewer than SqlShapes can hold. */
const MOST_TEXTS = 2000;

/** A prepared statement, or the text of an exec. */
interface Prepared {
  text: string;
  /** The page life of its last run. */
  tally: StatementTally | null;
  of: Tally | null;
  instance: number;
  db: number;
  /** Of its current run, ms: the steps that have ended. */
  ms: number;
  running: boolean;
}
/** A call under way. */
class Call {
  traced!: Traced;
  prepared: Prepared | null = null;
  address = 0;
  /** Its id in the ring. */
  token = 0;
  seq = 0;
  at = 0;
  /** A retry of a refused call. */
  repeats = false;
}

/** A call that answered SQLITE_BUSY. */
interface Refused {
  call: SqlCall;
  name: string;
  /** A retry of the previous call. */
  repeats: boolean;
  tally: Tally;
  statement: StatementTally | null;
}

/**
 * A call, as far as it is known at its begin. Calls made by other calls aren't distinguished here.
 */
const sqlCall = (
  op: number,
  prepared: Prepared | null,
  fromMs: number,
): Omit<SqlCall, 'toMs' | 'result'> => ({
  ...{ op, fromMs, parent: 0 },
  statement: prepared?.text ?? '',
});

/** SQL calls of one engine. */
export class EngineSql implements SqlCaller {
  private readonly statements = new Map<number, Prepared>();
  /** The last call of each connection, until the next one begins. */
  private readonly refused = new Map<number, Refused>();
  /** By id, from 1 on, literals folded. */
  private texts = [''];
  private shapes = new SqlShapes();
  private templates = new SqlTemplates();
  private readonly utf8 = new TextDecoder();
  private readonly heap: EngineMemory;
  private suspended: Call[] = [];
  private depth = 0;
  /** By depth, reused, so that ended calls leave no garbage. */
  private readonly calls: Call[] = [];

  constructor(
    private readonly sink: Sink,
    readonly memory: WebAssembly.Memory,
    private readonly asyncify: Asyncify | null,
    /** Its name. */
    private readonly name: string,
  ) {
    this.heap = new EngineMemory(memory);
  }

  bound(): void {} // values aren't read

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
    const { asyncify, sink } = this;
    const { ring } = sink;
    let call: Call | null = null;
    const outer = ring.current;
    try {
      const address = traced.subject === 'prepare' ? (traced.arity === 6 ? e : d) : a;
      const prepared = this.preparedOf(traced, a, b, c);
      const tally = prepared && this.tallyOf(prepared);
      const at = clock.now();
      const repeats =
        this.refused.size > 0 && this.depth === 0 && this.again(traced.op, prepared, at);
      if (this.depth === 0) ring.current = 0;
      const token = ring.begin(
        traced.op,
        tally?.id ?? 0,
        at,
        prepared?.db ?? 0,
        prepared?.instance,
      );
      call = this.calls[this.depth] ??= new Call();
      call.traced = traced;
      call.prepared = prepared;
      call.address = address;
      call.token = token;
      call.seq = ring.current = ring.seq;
      call.at = at;
      call.repeats = repeats;
    } catch {
      sink.tally.faults++;
    }
    const unwinds = asyncify?.unwinds;
    let result: unknown;
    this.depth++;
    try {
      result = forward(traced.arity, fn, self, more, a, b, c, d, e, f);
    } catch (error) {
      if (call) this.ended(call, -1, Flag.threw);
      ring.current = outer;
      throw error;
    } finally {
      this.depth--;
    }
    ring.current = outer;
    if (!call) return result;
    if (asyncify && asyncify.unwinds !== unwinds) this.suspended.push(this.held(call));
    else if (result instanceof Promise) this.settleLater(result, this.held(call));
    else this.ended(call, Number(result) | 0, 0);
    return result;
  }

  /** It continues when other calls begin at its depth. */
  private held(call: Call): Call {
    this.calls[this.depth] = new Call();
    return call;
  }

  private settleLater(result: Promise<unknown>, call: Call): void {
    this.sink.watch.watch(result, (ok, value) =>
      this.ended(call, ok ? Number(value) | 0 : -1, ok ? Flag.async : Flag.async | Flag.threw),
    );
  }
  /** Asyncify: the suspended stack has resumed, and has finished. */
  resume = (): void => {
    this.sink.ring.current = this.suspended.at(-1)?.seq ?? 0;
  };
  settleSuspended = (rc: number, threw: boolean): void => {
    const all = this.suspended;
    this.suspended = [];
    for (const call of all) this.ended(call, rc, threw ? Flag.async | Flag.threw : Flag.async);
    this.sink.ring.current = 0;
  };

  private preparedOf(traced: Traced, a: number, b: number, c: number): Prepared | null {
    const { subject, op } = traced;
    if (subject === 'statement') {
      const prepared = this.statements.get(a) ?? null;
      if (op === Op.sqlFinalize) this.statements.delete(a);
      return prepared;
    }
    if (subject !== 'prepare' && subject !== 'exec') return null;
    const text = subject === 'prepare' ? this.textAt(b, c | 0, true) : this.textAt(b, -1, false);
    const instance = subject === 'prepare' ? this.sink.ring.nextId() : 0;
    return { text, tally: null, of: null, instance, db: a, ms: 0, running: false };
  }

  private tallyOf(prepared: Prepared): StatementTally {
    const { tally, ring } = this.sink;
    if (prepared.of !== tally) {
      const { text } = prepared;
      prepared.of = tally;
      prepared.tally = tally.statement(text, () => ring.define({ kind: 'sql', text }));
    }
    return prepared.tally!;
  }

  /**
   * The app doesn't see the engine's own retries.
   * @returns whether this call is a retry of a refused one
   */
  private again(op: number, prepared: Prepared | null, at: number): boolean {
    const db = prepared?.db ?? 0;
    const before = this.refused.get(db);
    this.refused.delete(db);
    // an attempt to open: the thread's next call shows whether it is retried
    this.refused.delete(0);
    if (!before) return false;
    const next = { ...sqlCall(op, prepared, at), toMs: at, result: 0 };
    if (
      retriesCalls(this.name) &&
      before.tally === this.sink.tally &&
      isEngineRetry(before.call, next, before.repeats)
    ) {
      before.tally.handled(before.name);
      if (before.statement) before.statement.failed--;
    }
    return isRepeat(before.call, next);
  }

  private ended(
    { traced, prepared, address, token, at, repeats }: Call,
    rc: number,
    flags: number,
  ): void {
    const { ring, tally, hangMs } = this.sink;
    try {
      const now = clock.now();
      const { op, name } = traced;
      ring.end(token, now, rc, flags);
      if (now - at > hangMs) tally.tookLong(name);
      if (rc === Rc.row && prepared) {
        // most calls of an app: the run isn't finished
        prepared.running = true;
        prepared.ms += now - at;
        return;
      }
      const failed = flags & Flag.threw ? tally.answer(1, name) : tally.answer(rc, name);
      const statement = prepared && this.tallyOf(prepared);
      const isRun = op === Op.sqlStep || op === Op.sqlExec;
      const refused = isBusy(rc);
      if (refused)
        this.refused.set(prepared?.db ?? 0, {
          ...{ name, repeats, tally, statement: isRun ? statement : null },
          call: { ...sqlCall(op, prepared, at), toMs: now, result: rc },
        });
      if (!prepared || !statement) return;
      if (op === Op.sqlPrepare) {
        statement.prepares++;
        const stmt = rc === 0 && address ? this.heap.word(address) : 0;
        if (stmt) this.statements.set(stmt, prepared);
      } else if (isRun) {
        prepared.running = true;
        prepared.ms += now - at;
        if (failed) statement.failed++;
        // a refused step may be retried
        if (!(refused && op === Op.sqlStep)) this.ran(prepared);
      } else this.ran(prepared);
    } catch {
      this.sink.tally.faults++;
    }
  }
  private ran(prepared: Prepared): void {
    if (prepared.running) this.sink.tally.run(this.tallyOf(prepared), prepared.ms * 1000);
    prepared.running = false;
    prepared.ms = 0;
  }

  /**
   * A statement's text with literals folded, or that of all statements of a script, decoded once.
   * engines/sql-texts.ts adds capture levels and hashes of queries, which don't fit into a script
   * of 15 KB.
   * @param bytes its length; negative = up to the NUL
   */
  private textAt(address: number, bytes: number, first: boolean): string {
    if (!address) return '';
    const heap = this.heap.bytes();
    const last = Math.min(heap.length, bytes < 0 ? heap.length : address + bytes);
    const cut = Math.min(last, address + MOST_BYTES);
    if (this.texts.length > MOST_TEXTS) this.forgetTexts();
    const { shapes, templates } = this;
    const { folder } = shapes;
    const fitting = first ? templates.find(heap, address, cut, cut < last) : -1;
    if (fitting > 0) return this.texts[fitting]!;
    const end = folder.fold(heap, address, cut, first);
    const known = shapes.find(folder.length, false);
    if (known > 0) {
      if (first && !folder.kept) templates.learn(heap, address, end, cut, known);
      return this.texts[known]!;
    }
    const text = this.utf8.decode(folder.out.subarray(0, folder.length)).trim();
    shapes.add(folder.length, false, this.texts.push(text) - 1);
    return text;
  }
  private forgetTexts(): void {
    this.texts = [''];
    this.shapes = new SqlShapes();
    this.templates = new SqlTemplates();
  }
}

/** Hook every SQLite that this thread creates from now on. @returns restores everything */
export function hookSql(sink: Sink): () => void {
  const engines = new Map<ArrayBufferLike | WebAssembly.Memory, EngineSql>();
  let newest: EngineSql | null = null;
  let active = true;
  const adopt = (instance: WebAssembly.Instance, imports: unknown): WebAssembly.Instance => {
    let memory: WebAssembly.Memory | null = null;
    let table: WebAssembly.Table | null = null;
    for (const value of [...Object.values(instance.exports), ...importedValues(imports)]) {
      if (value instanceof NativeMemory) memory ??= value;
      if (value instanceof NativeTable) table ??= value;
    }
    if (!memory || !table || engines.has(memory)) return instance;
    const found = fingerprint(instance.exports, memory, imports);
    if (!found) return instance;
    sink.tally.engine = found.name;
    sink.tally.sqlite = found.sqliteVersion;
    const asyncify = found.asyncify
      ? new Asyncify({ instant: () => {}, memory: null! }, null, 0)
      : null;
    const engine = new EngineSql(sink, memory, asyncify, found.name);
    engines.set(memory, engine);
    newest = engine;
    if (!asyncify && !found.namedExports) return instance;
    const copy = Object.assign(Object.create(null) as object, instance.exports) as Record<
      string,
      unknown
    >;
    asyncify?.wrapExports(copy, found.asyncify!, engine.resume, engine.settleSuspended);
    if (found.namedExports) wrapNamedExports(copy, engine, () => active, false);
    return Object.create(instance, {
      exports: { value: copy, enumerable: true },
    }) as WebAssembly.Instance;
  };
  const engineOf = (module: object): EngineSql | null => {
    const heap = dataProperty(module, 'HEAPU8');
    if (ArrayBuffer.isView(heap))
      for (const engine of engines.values())
        if (engine.memory.buffer === heap.buffer) return engine;
    return engines.size === 1 ? newest : null;
  };
  const guarded = <T>(otherwise: T, run: () => T): T => {
    try {
      return run();
    } catch {
      sink.tally.faults++;
      return otherwise;
    }
  };
  const unwrap = wrapEntryPoints({
    loading: () => null,
    loaded: () => {},
    watch: (promise, settled) => sink.watch.watch(promise, settled),
    instance: (instance, imports) => guarded(instance, () => adopt(instance, imports)),
    slotSet: () => {},
    originalAt: () => null,
  });
  const untrap = guarded(
    () => [],
    () =>
      trapEmscriptenModules(
        (module) => guarded(null, () => engineOf(module)),
        () => {},
      ),
  );
  return () => {
    active = false;
    unwrap();
    untrap();
  };
}
