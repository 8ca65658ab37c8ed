/**
 * Counts the instructions that SQLite executes for each call of its API and of its VFS. A module of SQLite is metered (lab/meter) on its
 * way into the engine; what the app fetched, checked, or hashed is never touched. The counter is an export that the app doesn't see.
 *
 *   app    instantiate(bytes)                             step( . . . . . . . . . . )
 *   here   bytes that count -> native; exports without    counter ^   xRead ^   ^   ^ counter: a record for each call
 *
 * A script of its own, called by the hook before it wraps anything (engines/install.ts); its text goes into workers as the hook's does.
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

/** From now on, for modules that are compiled from now on. @returns takes everything back, with names of what the app has frozen */
export type CountInstructions = (recorder: Recorder) => () => string[];

/** As far as SQLite's data lies in a memory. */
const SCAN_BYTES = 4 << 20;
const WORD = 2 ** 32;

const countInstructions: CountInstructions = (recorder) => {
  const { Module, Instance, Global, Memory, CompileError } = WebAssembly;
  const NativeResponse = Response;
  const patches = new Patches();
  const counters: WebAssembly.Global[] = [];
  /** What isn't part of the sum: executed for the tracer, or before an engine's counter was left out. */
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
  /** Calls under way, by seq: what was executed before. */
  const open = new Map<number, number>();
  const finish = (seq: number): void => {
    const first = open.get(seq);
    if (first === undefined) return;
    open.delete(seq);
    const own = executed() - first;
    // it is a row beside the call, not in it
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
  /** Of a VFS call: the first time it begins, the second it ends. */
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
  /** Memory that the tracer took would change where the app's lies, and so its counts. */
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
    recorder.note('engine', `Instructions of a SQLite can't be counted: ${why}.`);
  /** Modules that were seen here, metered or not. */
  const seen = new WeakSet<object>();
  const bytesOf = (source: unknown): Uint8Array | null => {
    try {
      if (ArrayBuffer.isView(source))
        return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
      return source instanceof ArrayBuffer ? new Uint8Array(source) : null;
    } catch {
      return null; // moved to another thread: the native function says so
    }
  };
  /** @returns bytes that count; null = leave the module as it is */
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

  /** What the app gets of an instance: all but the counter. */
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
    // a getter that can change, as natively: an app may lay a Proxy over the instance that answers with other exports (emnapi does)
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

  /** What to hand over in place of what the app does, and what where the browser refuses it; null = the app's own. */
  type Instead = [ours: unknown, theirs: unknown] | null;
  const plain = (source: unknown): Instead => {
    const bytes = bytesOf(source);
    const ours = metered(bytes);
    return ours && [ours, bytes!.slice()]; // the app may change its own meanwhile
  };
  const streamed = async (source: unknown): Promise<Instead> => {
    const response: unknown = await source;
    if (!(response instanceof NativeResponse) || !response.ok || response.bodyUsed) return null;
    // the native function refuses any other before it reads: an app then takes the bytes from the same response
    if (response.headers.get('content-type')?.trim().toLowerCase() !== 'application/wasm')
      return null;
    const theirs = new Uint8Array(await response.clone().arrayBuffer());
    const ours = metered(theirs);
    if (!ours) return null;
    void response.body?.cancel().catch(() => {}); // used up, as the native function leaves it
    const { status, statusText, headers } = response;
    const again = (bytes: Uint8Array<ArrayBuffer>): Response =>
      new NativeResponse(bytes, { status, statusText, headers });
    return [again(ours), again(theirs)];
  };
  type Make = (source: unknown) => Promise<unknown>;
  /** @param source of the app @param make the native function, whose errors are the app's */
  const made = async (source: unknown, streams: boolean, make: Make): Promise<unknown> => {
    if (!recorder.enabled || source instanceof Module) return make(source);
    const given = streams ? await streamed(source).catch(() => null) : plain(source);
    if (!given) return make(source); // at once: the native function copies the bytes
    try {
      return await make(given[0]);
    } catch (e) {
      if (!(e instanceof CompileError)) throw e; // of an import, or of the app's own code
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
  // of the native Module, which the hook lays a Proxy over
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
