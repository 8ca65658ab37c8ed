/**
 * Traces every SQLite that this thread instantiates from then on, without the app's cooperation:
 * its VFS calls, its SQL calls, and its page-cache counters, into the thread's recorder. Errors
 * here are the tracer's own, and the app still gets its engine.
 */
import type { CaptureLevel } from '../event/capture.ts';
import { PromiseWatch } from '../record/promise-watch.ts';
import type { Recorder } from '../record/recorder.ts';
import {
  NativeMemory,
  NativeTable,
  type WasmFunction,
} from '../vfs-instrumented/interpose/natives.ts';
import type { OwnScript } from './call-stacks.ts';
import { Engine } from './engine.ts';
import type { SharedParts } from './sql-details.ts';
import { wrapEntryPoints } from './entry-points.ts';
import { fingerprint } from './fingerprint.ts';
import { importedValues } from './imports.ts';
import { LivingEngines } from './living-engines.ts';
import { announceOther, otherDatabase } from './other-databases.ts';
import { trapEmscriptenModules } from './sql-emscripten.ts';
import type { SqlLayer } from './sql-layer.ts';
import { SqlTexts } from './sql-texts.ts';
import { WasmLoads, type Load } from './wasm-loads.ts';

export interface EngineOptions {
  /** Trace VFS calls; default true. */
  vfs?: boolean;
  /** Trace SQL calls and counters; default true. */
  sql?: boolean;
  /** Read what the engine counts in each run of a statement; default true. */
  query?: boolean;
  /** Salt of the hashes of values, drawn once per thread; 0 = no hashes. */
  salt?: number;
  /** Which texts and values of SQL are kept (event/capture.ts); default 1, folded texts. */
  level?: CaptureLevel;
  /**
   * Record the JavaScript stack when each statement is first seen. `own`: our own script, whose
   * frames are left out, or null if it isn't known.
   */
  stacks?: { own: OwnScript | null };
  /** Counts instructions; installed before everything else. @returns restores it */
  meter?: ((recorder: Recorder) => () => string[]) | undefined;
  /** The realm's watch, if there is one already; it ends with the engines. */
  watch?: PromiseWatch;
}

export interface InstalledEngines {
  /**
   * Restores globals, prototypes, and table slots. Running engines continue untraced.
   * @returns names of what the app has frozen
   */
  restore(): string[];
  /**
   * Emit the definitions of engines that have done nothing yet, so that the panel can name them.
   * Call it at drains.
   * @param olderThanMs how long their glue must have had to reveal its SQL functions
   */
  announce(olderThanMs?: number): void;
  /** Engines seen so far. */
  readonly count: number;
}

/** Call before the app's first line. Engines that already exist can't be traced. */
export function installEngines(recorder: Recorder, options: EngineOptions = {}): InstalledEngines {
  const layers = { vfs: options.vfs ?? true, sql: options.sql ?? true };
  const { level = 1 } = options;
  const watch =
    options.watch ?? new PromiseWatch(globalThis instanceof EventTarget ? globalThis : null);
  // names of tables belong to the app, like its statements
  const structure = layers.sql && level > 0;
  const query = options.query ?? true;
  const texts = new SqlTexts(recorder, level, query && level > 0 ? (options.salt ?? 0) : 0);
  const shared: SharedParts = {
    texts,
    stacks: options.stacks ?? null,
    values: level === 3,
    binds: level === 3 || texts.salt !== 0,
    structure,
    query,
    watch,
  };
  const engines = new LivingEngines(recorder);
  const loads = new WasmLoads(recorder);
  const byModule = new WeakMap<object, Engine>();
  const undo: (() => string[])[] = [];

  const unmeter = options.meter?.(recorder);
  const guard = <T>(where: string, otherwise: T, run: () => T): T => {
    try {
      return run();
    } catch (error) {
      recorder.fault(where, error);
      return otherwise;
    }
  };

  /**
   * @param calling a call is running, so the engine exists: if nothing links the two, it is the
   * only one left
   */
  const engineOf = (module: object, fn: unknown, calling: boolean): Engine | null => {
    const known = byModule.get(module);
    if (known) return known;
    const free = engines.all().filter((e) => e.module === null);
    let found = free.find((e) => e.owns(module, fn) === true) ?? null;
    if (!found && calling) {
      const left = free.filter((e) => !e.hasNames && e.owns(module, fn) === null);
      if (left.length === 1) found = left[0]!;
    }
    if (!found) return null;
    found.module = module;
    byModule.set(module, found);
    return found;
  };
  const resolve = (module: object, fn: WasmFunction): SqlLayer | null =>
    guard('finding the engine of a Module', null, () => {
      const engine = engineOf(module, fn, true);
      return engine && !engine.hasNames ? engine.sql : null;
    });

  undo.push(
    wrapEntryPoints({
      loading: (op, source) =>
        guard('a module', null, () => (recorder.enabled ? loads.begin(op, source) : null)),
      loaded: (load, made) => guard('a module', undefined, () => load && loads.end(load, made)),
      watch: (promise, settled) => watch.watch(promise, settled),
      instance: (instance, imports, load) =>
        guard('a new WebAssembly instance', instance, () => {
          const engine = recognize(recorder, instance, imports, shared, layers, engines, load);
          if (engine) engines.add(engine);
          const { exports } = engine ?? instance;
          if (exports === instance.exports) return instance;
          // configurable, because an app may use a Proxy that returns other exports (emnapi does)
          return Object.create(instance, {
            exports: { value: exports, configurable: true },
          }) as WebAssembly.Instance;
        }),
      slotSet: (table, slot, fn) =>
        guard('a table slot', undefined, () =>
          engines.of(table)?.vfs?.slotSet(slot, typeof fn === 'function' ? fn : null),
        ),
      originalAt: (table, slot) => engines.of(table)?.originalAt(slot) ?? null,
    }),
  );
  if (layers.sql)
    guard('the accessors on Object.prototype', undefined, () => {
      undo.push(
        trapEmscriptenModules(
          resolve,
          (module, fn) => void guard('a Module', null, () => engineOf(module, fn, false)),
          shared.binds,
        ),
      );
    });

  if (unmeter) undo.push(unmeter);
  return {
    restore() {
      watch.restore();
      const left = undo.flatMap((put) => guard('restoring', [], put));
      for (const engine of engines.all()) guard('restoring', undefined, () => engine.restore());
      return left;
    },
    announce(olderThanMs = 0) {
      guard('requests of modules', undefined, () => loads.fetched());
      for (const e of engines.all())
        if (recorder.now() - e.createdAt >= olderThanMs) guard('announcing', 0, () => e.define());
    },
    get count() {
      return engines.count;
    },
  };
}

/** @returns null if it isn't SQLite */
function recognize(
  recorder: Recorder,
  instance: WebAssembly.Instance,
  imports: unknown,
  shared: SharedParts,
  layers: { vfs: boolean; sql: boolean },
  engines: LivingEngines,
  load: Load | null,
): Engine | null {
  const { exports } = instance;
  const other = otherDatabase(exports);
  if (other !== null) {
    announceOther(recorder, other);
    return null;
  }
  let table: WebAssembly.Table | null = null;
  let memory: WebAssembly.Memory | null = null;
  // by instanceof, because their names are minified in most builds
  const look = (value: unknown): void => {
    if (value instanceof NativeTable) table ??= value;
    else if (value instanceof NativeMemory) memory ??= value;
  };
  Object.values(exports).forEach(look);
  if (!table || !memory) importedValues(imports).forEach(look);
  if (!memory || engines.of(memory)) return null; // known: a side module linked into an engine
  const found = fingerprint(exports, memory, imports);
  return (
    found &&
    new Engine({
      recorder,
      exports,
      memory,
      table,
      fingerprint: found,
      shared,
      layers,
      load: load?.seq ?? 0,
    })
  );
}
