/**
 * Counts the instructions that SQLite executes for each call of its API and of its VFS. A module of
 * SQLite is metered (lab/meter) on its way into the engine. What the app fetches, checks, or hashes
 * isn't changed. The counter is an export that the app doesn't see.
 *
 *   app    instantiate(bytes)                             step( . . . . . . . . . . )
 *   here   bytes that count -> native; exports without    counter ^   xRead ^   ^   ^ counter: a record for each call
 *
 * A separate script, called by the hook before it wraps anything (engines/install.ts). Its text
 * goes into workers as the hook's does.
 */
import { findHeader } from '../engines/fingerprint.ts';
import { importedValues } from '../engines/imports.ts';
import { Op } from '../event/event.ts';
import { isSqlOp } from '../event/operations.ts';
import { COUNTER, meterModule } from '../lab/meter/meter.ts';
import { Patches, type Callable } from '../record/patches.ts';
import { apply } from '../record/reflect.ts';
import { Recorder, type Token } from '../record/recorder.ts';
import { Header } from '../record/ring-layout.ts';

/**
 * From now on, for modules compiled later.
 * @returns a function that restores everything and returns the names of properties that the app has
 * frozen
 */
export type CountInstructions = (recorder: Recorder) => () => string[];

/** Limit of SQLite's data in a memory. */
const SCAN_BYTES = 4 << 20;
const WORD = 2 ** 32;

const countInstructions: CountInstructions = (recorder) => {
  const { Module, Instance, Global, Memory, CompileError } = WebAssembly;
  const NativeResponse = Response;
  const patches = new Patches();
  const counters: WebAssembly.Global[] = [];
  /**
   * Instructions that don't belong to the sum: executed for the tracer, or before an engine's
   * counter was excluded.
   */
  let hidden = 0n;
  const executed = (): number => {
    let sum = -hidden;
    for (const counter of counters) sum += counter.value as bigint;
    return Number(sum);
  };

  // ---- a record for each call: both ends of it read the counter
  const { begin, end, now, lent } = recorder;
  const words = new Uint32Array(recorder.memory.buffer, 0, 64);
  const clock = new Float64Array(recorder.memory.buffer, Header.lastClock, 1);
  /** Pending calls, by seq: the count at their begin. */
  const open = new Map<number, number>();
  const finish = (seq: number): void => {
    const first = open.get(seq);
    if (first === undefined) return;
    open.delete(seq);
    const own = executed() - first;
    // it is a row beside the call, not inside it
    const parent = words[Header.current >>> 2]!;
    words[Header.current >>> 2] = 0;
    recorder.instant(
      Op.sqlInstructions,
      0,
      first,
      own % WORD,
      seq,
      0,
      Math.floor(own / WORD),
      false,
    );
    words[Header.current >>> 2] = parent;
  };
  recorder.begin = (...args): Token => {
    const token = apply(begin, recorder, args) as Token;
    const seq = Recorder.seqOf(token);
    if (seq && isSqlOp(args[0])) open.set(seq, executed());
    return token;
  };
  recorder.end = (...args) => {
    apply(end, recorder, args);
    finish(Recorder.seqOf(args[0]));
  };
  /** For a VFS call: the first call is its begin, the second its end. */
  recorder.now = (said) => {
    const ms = now();
    if (said !== undefined) {
      const seq = said >>> 0;
      if (open.has(seq)) {
        clock[0] = ms;
        finish(seq);
      } else open.set(seq, executed());
    }
    return ms;
  };
  /** Memory allocated by the tracer would move the app's allocations and so change its counts. */
  recorder.lent = (name, fn) =>
    name === 'malloc'
      ? null
      : (...args) => {
          const before = executed();
          try {
            return fn(...args);
          } finally {
            hidden += BigInt(executed() - before);
          }
        };

  // ---- modules on their way into the engine
  const refuse = (why: string): void =>
    recorder.note('engine', `SQLite's instructions can't be counted: ${why}.`);
  /** Modules already seen here, metered or not. */
  const seen = new WeakSet<object>();
  const bytesOf = (source: unknown): Uint8Array | null => {
    try {
      if (ArrayBuffer.isView(source))
        return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
      return source instanceof ArrayBuffer ? new Uint8Array(source) : null;
    } catch {
      return null; // moved to another thread: the native function reports it
    }
  };
  /** @returns bytes that count; null = leave the module unchanged */
  const metered = (bytes: Uint8Array | null): Uint8Array<ArrayBuffer> | null => {
    if (!recorder.enabled || !bytes || findHeader(bytes) < 0) return null;
    const token = apply(begin, recorder, [Op.tracer, 0, NaN, bytes.length]) as Token;
    try {
      return meterModule(bytes).bytes;
    } catch (e) {
      refuse((e as Error).message);
      return null;
    } finally {
      apply(end, recorder, [token, 0]);
    }
  };
  const browserRefused = (error: unknown): void =>
    refuse(`the browser refused the metered module (${String(error)})`);

  /** The exports that the app gets: all except the counter. */
  const adopt = (instance: WebAssembly.Instance, module: unknown, imports: unknown): object => {
    try {
      return adoptedOf(instance, module, imports);
    } catch (e) {
      recorder.fault('an instance that counts', e);
      return instance;
    }
  };
  const adoptedOf = (instance: WebAssembly.Instance, module: unknown, imports: unknown): object => {
    const { exports } = instance;
    const counter = exports[COUNTER];
    if (!(counter instanceof Global)) {
      if (!seen.has(module as object)) missed(exports, imports);
      return instance;
    }
    counters.push(counter);
    // no more engines are recorded in one thread
    if (counters.length > recorder.layout.maxEngines) hidden -= counters.shift()!.value as bigint;
    const shown = Object.assign(Object.create(null) as Record<string, unknown>, exports);
    delete shown[COUNTER];
    Object.freeze(shown);
    // a configurable getter, as natively: an app may put a Proxy over the instance that returns
    // other exports (emnapi does)
    return Object.defineProperty(instance, 'exports', { get: () => shown, configurable: true });
  };
  const missed = (exports: WebAssembly.Exports, imports: unknown): void => {
    const memory = [...Object.values(exports), ...importedValues(imports)].find(
      (value): value is WebAssembly.Memory => value instanceof Memory,
    );
    if (memory && findHeader(new Uint8Array(memory.buffer).subarray(0, SCAN_BYTES)) >= 0)
      refuse("vfscope didn't see it compile: another thread posted it, or an import loaded it");
  };
  const adopted = (made: unknown, module: unknown, imports: unknown): unknown => {
    if (made instanceof Instance) return adopt(made, module, imports);
    const pair = made as WebAssembly.WebAssemblyInstantiatedSource;
    seen.add(pair.module);
    pair.instance = adopt(pair.instance, pair.module, imports) as WebAssembly.Instance;
    return made;
  };

  /**
   * What to pass on instead of the app's argument, and what to use if the browser refuses it; null
   * = the app's own argument.
   */
  type Instead = [ours: unknown, theirs: unknown] | null;
  const plain = (source: unknown): Instead => {
    const bytes = bytesOf(source);
    const ours = metered(bytes);
    return ours && [ours, bytes!.slice()]; // the app may change its array in the meantime
  };
  const streamed = async (source: unknown): Promise<Instead> => {
    const response: unknown = await source;
    if (!(response instanceof NativeResponse) || !response.ok || response.bodyUsed) return null;
    // the native function refuses other responses before it reads them, and the app then takes the
    // bytes from the same response
    if (response.headers.get('content-type')?.trim().toLowerCase() !== 'application/wasm')
      return null;
    const theirs = new Uint8Array(await response.clone().arrayBuffer());
    const ours = metered(theirs);
    if (!ours) return null;
    void response.body?.cancel().catch(() => {}); // used up, as after the native function
    const { status, statusText, headers } = response;
    const again = (bytes: Uint8Array<ArrayBuffer>): Response =>
      new NativeResponse(bytes, { status, statusText, headers });
    return [again(ours), again(theirs)];
  };
  type Make = (source: unknown) => Promise<unknown>;
  /** @param source from the app @param make the native function, whose errors go to the app */
  const made = async (source: unknown, streams: boolean, make: Make): Promise<unknown> => {
    if (!recorder.enabled || source instanceof Module) return make(source);
    const given = streams ? await streamed(source).catch(() => null) : plain(source);
    if (!given) return make(source); // synchronously: the native function copies the bytes
    try {
      return await make(given[0]);
    } catch (e) {
      if (!(e instanceof CompileError)) throw e; // an error of an import or of the app's own code
      browserRefused(e);
      return make(given[1]);
    }
  };
  const wrap = (name: string, then: (made: unknown, args: unknown[]) => unknown): void =>
    void patches.method(WebAssembly, name, async (native: Callable, self, args) => {
      const [source, ...more] = args;
      const make: Make = (given) => apply(native, self, [given, ...more]) as Promise<unknown>;
      return then(await made(source, name.endsWith('Streaming'), make), args);
    });
  for (const name of ['instantiate', 'instantiateStreaming'])
    wrap(name, (answer, [source, imports]) => adopted(answer, source, imports));
  for (const name of ['compile', 'compileStreaming'])
    wrap(name, (answer) => {
      seen.add(answer as object);
      return answer;
    });
  // on the native Module, which the hook covers with a Proxy
  patches.method(Module, 'exports', (native, self, args) =>
    (apply(native, self, args) as WebAssembly.ModuleExportDescriptor[]).filter(
      ({ name }) => name !== COUNTER,
    ),
  );
  patches.construction(WebAssembly, 'Module', (make, args) => {
    const ours = metered(bytesOf(args[0]));
    let module: object | null = null;
    if (ours)
      try {
        module = make([ours, ...args.slice(1)]);
      } catch (e) {
        browserRefused(e);
      }
    module ??= make(args);
    seen.add(module);
    return module;
  });
  patches.construction(WebAssembly, 'Instance', (make, args) =>
    adopt(make(args) as WebAssembly.Instance, args[0], args[1]),
  );

  return () => {
    Object.assign(recorder, { now, lent });
    Reflect.deleteProperty(recorder, 'begin');
    Reflect.deleteProperty(recorder, 'end');
    return patches.restore();
  };
};
export default countInstructions;
