/**
 * One SQLite engine of the thread: its layers, and its definition, which is emitted once, before
 * the first record that needs it.
 */
import { dataProperty } from '../record/reflect.ts';
import type { EngineInfo } from '../event/definitions.ts';
import { Op } from '../event/event.ts';
import type { Recorder } from '../record/recorder.ts';
import { EngineMemory } from '../vfs-instrumented/interpose/io-methods.ts';
import type { WasmFunction } from '../vfs-instrumented/interpose/natives.ts';
import { VfsTracer } from '../vfs-instrumented/interpose/vfs-tracer.ts';
import { peekInto } from '../vfs-instrumented/interpose/peek.ts';
import { Asyncify } from './asyncify.ts';
import type { Fingerprint } from './fingerprint.ts';
import type { SharedParts } from './sql-details.ts';
import { wrapNamedExports } from './sql-exports.ts';
import { SqlLayer } from './sql-layer.ts';

interface EngineParts {
  readonly recorder: Recorder;
  readonly exports: WebAssembly.Exports;
  readonly memory: WebAssembly.Memory;
  readonly table: WebAssembly.Table | null;
  readonly fingerprint: Fingerprint;
  readonly shared: SharedParts;
  readonly layers: { vfs: boolean; sql: boolean };
  /** seq of the wasmInstantiate that made it; 0 = not recorded. */
  readonly load: number;
}

export class Engine {
  readonly memory: WebAssembly.Memory;
  readonly table: WebAssembly.Table | null;
  readonly vfs: VfsTracer | null;
  readonly sql: SqlLayer | null;
  readonly hasNames: boolean;
  readonly createdAt: number;
  /**
   * What the app gets as `instance.exports`: the engine's own object if nothing had to be wrapped.
   */
  readonly exports: WebAssembly.Exports;
  /** The Emscripten Module object, once its glue has revealed it. */
  module: object | null = null;
  private readonly functions = new Set<unknown>();
  private readonly parts: EngineParts;
  private vfsNote: string | null = null;
  private readonly is64Bit: boolean;
  private id = 0;
  /** Whether the emitted definition reports SQL calls as visible. */
  private saidSql = false;
  private active = true;

  constructor(parts: EngineParts) {
    const { recorder, exports, memory, table, fingerprint } = parts;
    this.parts = parts;
    this.memory = memory;
    this.table = table;
    this.createdAt = recorder.now();
    this.is64Bit = peekInto(memory) === null;
    this.hasNames = fingerprint.namedExports;
    this.vfs = this.traceVfs();
    const asyncify = fingerprint.asyncify
      ? new Asyncify(recorder, parts.shared.query ? memory : null, this.vfs?.block ?? 0)
      : null;
    const reader = this.vfs?.memory ?? new EngineMemory(memory);
    this.sql =
      parts.layers.sql && !this.is64Bit
        ? new SqlLayer(recorder, reader, parts.shared, this.reach, asyncify, () => this.define())
        : null;
    const wrapsExports = asyncify !== null || (this.sql !== null && this.hasNames);
    const copy: Record<string, unknown> = wrapsExports
      ? Object.assign(Object.create(null) as object, exports)
      : exports;
    if (asyncify)
      asyncify.wrapExports(
        copy,
        fingerprint.asyncify!,
        this.sql?.resume ?? ((): void => {}),
        this.sql?.settleSuspended ?? ((): void => {}),
      );
    if (this.sql && this.hasNames)
      wrapNamedExports(copy, this.sql, () => this.active, parts.shared.binds);
    this.exports = copy as WebAssembly.Exports;
    for (const source of [exports, copy])
      for (const value of Object.values(source))
        if (typeof value === 'function') this.functions.add(value);
  }

  private traceVfs(): VfsTracer | null {
    const { recorder, table, memory, fingerprint, layers } = this.parts;
    if (this.is64Bit) this.vfsNote = 'A 64-bit build (memory64) cannot be traced.';
    if (!layers.vfs || this.is64Bit) return null;
    if (!table) {
      this.vfsNote = 'Its function table is private: its VFS calls cannot be seen.';
      return null;
    }
    try {
      const { structure, query } = this.parts.shared;
      const asyncify = fingerprint.asyncify !== null;
      const tracer = new VfsTracer(recorder, {
        memory,
        table,
        asyncify,
        structure,
        engine: () => this.define(),
        // SQLite is running the call, so the app or its VFS made the memory grow while the call
        // held its buffer
        grew:
          query && fingerprint.suspension === 'jspi'
            ? (call, before) => {
                const { byteLength } = memory.buffer;
                if (call && byteLength > before >>> 0)
                  recorder.instant(Op.sqlMemoryGrew, 0, byteLength, before, call);
                return byteLength;
              }
            : undefined,
      });
      if (tracer.install().transfers >= 2) return tracer;
      this.vfsNote = 'No VFS methods were found in the function table of this build.';
    } catch (error) {
      recorder.fault('installing the VFS layer', error);
      this.vfsNote = `The VFS layer could not be installed: ${error instanceof Error ? error.message : String(error)}`;
    }
    return null;
  }

  /** One of the engine's functions by SQLite's name. */
  private reach = (name: string): ((...args: number[]) => unknown) | null => {
    const found = this.hasNames
      ? this.parts.exports[name]
      : this.module && dataProperty(this.module, `_${name}`);
    return typeof found === 'function'
      ? this.parts.recorder.lent(name, found as (...args: number[]) => unknown)
      : null;
  };

  /** Is this Emscripten Module object the glue of this engine? null = it isn't known. */
  owns(module: object, fn: unknown): boolean | null {
    if (this.functions.has(fn)) return true;
    for (const heap of ['HEAPU8', 'HEAP8', 'HEAP32'].map((key) => dataProperty(module, key)))
      if (ArrayBuffer.isView(heap)) return heap.buffer === this.memory.buffer;
    const memory = dataProperty(module, 'wasmMemory');
    if (memory !== undefined) return memory === this.memory;
    const asm = dataProperty(module, 'asm') ?? dataProperty(module, 'wasmExports');
    return asm === undefined ? null : asm === this.exports || asm === this.parts.exports;
  }

  get sqlSeen(): boolean {
    return this.sql !== null && (this.hasNames || this.module !== null);
  }

  /**
   * Id of the engine's definition. It is emitted at the first call, and again if its SQL functions
   * appear only later: on a busy machine, time passes between loading SQLite and using it.
   */
  define(): number {
    if (this.id && this.saidSql === this.sqlSeen) return this.id;
    const { recorder, fingerprint } = this.parts;
    this.id ||= recorder.nextId();
    this.saidSql = this.sqlSeen;
    const notes = [this.vfsNote];
    if (this.sql && !this.sqlSeen) notes.push('The SQL functions of this build were not found.');
    const info: EngineInfo = {
      name: this.name(),
      sqliteVersion: fingerprint.sqliteVersion,
      sourceId: fingerprint.sourceId,
      suspension: fingerprint.suspension,
      layers: {
        vfs: this.vfs !== null,
        sql: this.sqlSeen,
        counters: this.sqlSeen && this.sql!.counters.available,
        query:
          this.sqlSeen && this.parts.shared.query && this.reach('sqlite3_stmt_status') !== null,
      },
      note: notes.filter((n) => n !== null).join(' ') || null,
    };
    if (this.parts.load) info.load = this.parts.load;
    recorder.emit({ kind: 'engine', id: this.id, ...info });
    return this.id;
  }

  private name(): string {
    const { name } = this.parts.fingerprint;
    // absurd-sql is a fork of sql.js that adds this one entry point to the glue
    return name === 'sql.js' && this.module && 'register_for_idb' in this.module
      ? 'absurd-sql'
      : name;
  }

  originalAt(slot: number): WasmFunction | null {
    return this.vfs?.originalAt(slot) ?? null;
  }

  restore(): void {
    this.active = false;
    this.vfs?.restore();
  }
}
