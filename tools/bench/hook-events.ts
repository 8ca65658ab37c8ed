/**
 * The cost of an event in the hook with all options off, by kind. options.bench.ts builds this file
 * with the current src and with that of an earlier commit, and runs each in separate threads. Each
 * message requests one round.
 */
import { parentPort } from 'node:worker_threads';
import { installEngines } from '../../src/engines/install.ts';
import { installProbes } from '../../src/probes/install.ts';
import { PromiseWatch } from '../../src/record/promise-watch.ts';
import { Header } from '../../src/record/ring-layout.ts';
import { measureVfsCost } from '../../src/vfs-instrumented/interpose/self-cost.ts';
import { sink } from './sink.ts';
import { fill, load, WORKLOADS, type Engine } from './sql.bench.ts';

/** Nanoseconds per event, by kind: of the same work without the hook, and with it. */
export type Round = Record<string, { without: number; recorded: number }>;

/** Few enough that other processes rarely interrupt them. */
const CALLS = 1000;
/** By index in WORKLOADS. */
const TIMES = [0, 300, 10];

/** Fakes of a page's storage APIs that do nothing, so that only the hook's time is measured. */
function fakeStorage(): typeof fake {
  class Storage {
    getItem(_key: string): string {
      return 'a value';
    }
  }
  class FileSystemSyncAccessHandle {
    write(data: Uint8Array, _options: { at: number }): number {
      return data.byteLength;
    }
  }
  class IDBObjectStore {
    readonly name = 'blocks';
    readonly keyPath = null;
    readonly transaction = { db: { name: 'app' } };
    put(_value: Uint8Array, _key: number): EventTarget {
      return new EventTarget();
    }
  }
  class LockManager {
    query(): Promise<object> {
      return Promise.resolve({});
    }
  }
  const localStorage = new Storage();
  const fake = {
    Storage,
    FileSystemSyncAccessHandle,
    IDBObjectStore,
    LockManager,
    get localStorage() {
      return localStorage;
    },
  };
  return fake;
}

const PAGE = new Uint8Array(4096);
type Fake = ReturnType<typeof fakeStorage>;
/** Each makes `CALLS` calls of one kind. */
const STORAGE: Record<string, (of: Fake) => void | Promise<void>> = {
  'OPFS, write of an access handle': (of) => {
    const handle = new of.FileSystemSyncAccessHandle();
    for (let i = 0; i < CALLS; i++) handle.write(PAGE, { at: i * 4096 });
  },
  'localStorage.getItem': ({ localStorage }) => {
    for (let i = 0; i < CALLS; i++) localStorage.getItem('key');
  },
  'IndexedDB put, to its success event': (of) => {
    const store = new of.IDBObjectStore();
    for (let i = 0; i < CALLS; i++) store.put(PAGE, i).dispatchEvent(new Event('success'));
  },
  'locks.query, to its promise': async (of) => {
    const locks = new of.LockManager();
    for (let i = 0; i < CALLS; i++) await locks.query();
  },
};

const timed = async (run: () => void | Promise<void>): Promise<number> => {
  const start = performance.now();
  await run();
  return (performance.now() - start) * 1e6;
};

/** Two copies of each API, without the hook and with it. @returns a round of all kinds */
async function prepared(): Promise<(round: number) => Promise<Round>> {
  const recorder = sink({ capacity: 16384 });
  const builds = ['wa-sqlite', 'wa-sqlite-async'];
  const loaded = async (copy: string): Promise<Engine[]> => {
    const engines: Engine[] = [];
    for (const file of builds) engines.push(await load(file, copy));
    return engines;
  };
  const plain = await loaded('plain');
  installEngines(recorder, { query: false });
  const traced = await loaded('traced');
  [...plain, ...traced].forEach(fill);
  const [bare, recorded] = [fakeStorage(), fakeStorage()];
  installProbes(recorder, recorded as unknown as typeof globalThis, new PromiseWatch(null));

  const words = new Uint32Array(recorder.memory.buffer);
  const begun = (): number => words[Header.head >>> 2]!; // an earlier recorder doesn't report it

  return async (round) => {
    const all: Round = {
      'VFS call': { without: 0, recorded: measureVfsCost(2000, 8).nsPerVfsEvent },
    };
    for (const [k, file] of builds.entries())
      for (const [i, { name, execute }] of WORKLOADS.entries()) {
        const times = TIMES[i]!;
        if (times === 0) continue;
        const ns = await timed(() => execute(plain[k]!, round, times));
        const before = begun();
        const withHook = await timed(() => execute(traced[k]!, round, times));
        const events = (begun() - before) >>> 0;
        all[`${file}, ${name}`] = { without: ns / events, recorded: withHook / events };
      }
    for (const [name, run] of Object.entries(STORAGE))
      all[name] = {
        without: (await timed(() => run(bare))) / CALLS,
        recorded: (await timed(() => run(recorded))) / CALLS,
      };
    if (recorder.faults > 0) throw new Error(`${recorder.faults} faults in the hook`);
    return all;
  };
}

const round = prepared();
parentPort?.on('message', (n: number) => {
  // errors thrown here reach the other thread as error events
  void round.then(async (run) => parentPort!.postMessage(await run(n)));
});
