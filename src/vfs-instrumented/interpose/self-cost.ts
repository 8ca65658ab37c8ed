/**
 * The cost of one traced VFS call on this thread: calls through a function table, with and without
 * a trampoline in the slot, on a scratch recorder. Nearly all of the difference is the clock: two
 * readings a call.
 */
import { Recorder } from '../../record/recorder.ts';
import { Header } from '../../record/ring-layout.ts';
import {
  NativeInstance,
  NativeMemory,
  NativeModule,
  NativeTable,
  type WasmFunction,
} from './natives.ts';
import { VfsTracer } from './vfs-tracer.ts';
import * as w from './wasm-writer.ts';
import { OP } from './wasm-writer.ts';

/** A sqlite3_file and its io_methods in the scratch engine's memory. */
const FILE = 1024;
const METHODS = 2048;
const READ = 2;
const WRITE = 3;

/**
 * `run(n)`: n calls of the xRead in table slot 2; slots 1..6 hold functions of io_methods' types
 * that do nothing.
 */
function scratchEngine(): {
  memory: WebAssembly.Memory;
  table: WebAssembly.Table;
  run: (n: number) => void;
} {
  const types = ['i', 'iiij', 'ij', 'ii'].map((params) => w.functionType({ params, results: 'i' }));
  const runType = w.functionType({ params: 'i', results: '' });
  const [one, read, big, two, run] = [0, 1, 2, 3, 4] as const;
  // xClose xRead xWrite xTruncate xSync xFileSize, run
  const functions = [one, read, read, big, two, two, run];
  const nothing = w.functionBody([], w.i32(0));
  const call = [
    ...w.i32(FILE),
    ...w.i32(0),
    ...w.i32(4096),
    0x42,
    0,
    ...w.i32(READ),
    0x11,
    read,
    0,
    OP.drop,
  ]; // call_indirect
  const loop = [
    OP.loop,
    0x40,
    ...call,
    ...w.get(0),
    ...w.i32(1),
    OP.sub,
    ...w.tee(0),
    ...w.branchIf(0),
    OP.end,
  ];
  const table = new NativeTable({ element: 'anyfunc', initial: 8 });
  const memory = new NativeMemory({ initial: 1 });
  const module = new NativeModule(
    w.moduleBytes(
      w.section(1, w.vector([...types, runType])),
      w.section(2, w.vector([[...w.text('e'), ...w.text('t'), 1, 0x70, 0, 8]])),
      w.section(3, w.vector(functions.map((t) => w.leb(t)))),
      w.section(7, w.vector([w.exportFunction('run', 6)])),
      w.section(
        9,
        w.vector([[0, ...w.i32(1), OP.end, ...w.vector([0, 1, 2, 3, 4, 5].map((f) => w.leb(f)))]]),
      ),
      w.section(
        10,
        w.vector([...Array.from({ length: 6 }, () => nothing), w.functionBody([], loop)]),
      ),
    ),
  );
  const instance = new NativeInstance(module, { e: { t: table } });
  const words = new Uint32Array(memory.buffer);
  words[FILE >>> 2] = METHODS;
  words.set([1, 1, READ, WRITE, 4, 5, 6], METHODS >>> 2);
  return { memory, table, run: instance.exports.run as WasmFunction as (n: number) => void };
}

interface SelfCost {
  /** Cost of tracing one VFS call, nanoseconds. */
  nsPerVfsEvent: number;
  /** The clock's part of that: two readings, nanoseconds. */
  nsPerClockPair: number;
}

/**
 * Measures for some milliseconds. On a clock coarser than a batch it would be meaningless, so
 * batches are long. Returns the best of `rounds`.
 * @param calls per batch
 * @throws where wasm can't be compiled
 */
export function measureVfsCost(calls = 20_000, rounds = 3): SelfCost {
  const recorder = new Recorder({ capacity: 1024, maxEngines: 1 });
  const header = new Uint32Array(recorder.memory.buffer, 0, 64);
  recorder.onPressure = (): void => {
    // discarded
    header[Header.claimed >>> 2] = header[Header.released >>> 2] = header[Header.head >>> 2]!;
  };
  const { memory, table, run } = scratchEngine();
  const tracer = new VfsTracer(recorder, { memory, table, asyncify: false, engine: () => 0 });
  const best = (body: () => void): number => {
    let least = Infinity;
    for (let i = 0; i < rounds; i++) {
      const start = performance.now();
      body();
      least = Math.min(least, performance.now() - start);
    }
    return (least * 1e6) / calls;
  };
  run(calls); // compiled by now
  const plain = best(() => run(calls));
  tracer.install();
  run(calls);
  const traced = best(() => run(calls));
  tracer.restore();
  let sum = 0;
  const clock = best(() => {
    for (let i = 0; i < calls; i++) sum += performance.now() - performance.now();
  });
  if (Number.isNaN(sum)) throw new Error('performance.now() does not answer a number');
  return { nsPerVfsEvent: Math.max(0, traced - plain), nsPerClockPair: clock };
}
