/**
 * The additional cost of a VFS call when the library `vfscope/vfs` records it: nanoseconds, and
 * retained bytes.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { instrument } from '../../src/vfs-instrumented/library/overlay.ts';
import { startRecording } from '../../src/vfs-instrumented/library/recording.ts';
import { sink } from './sink.ts';

const PAGE = 4096;
const MAIN_DB = 0x106;

type Call = (pFile: number, pData: number, amount: number, low: number, high: number) => unknown;
interface Fake {
  xOpen: (pVfs: number, zName: number, pFile: number, flags: number, pOut: number) => number;
  xRead: Call;
  xWrite: Call;
}
/** A 2.x VFS that does nothing, so that only the overlay's time is measured. */
function fake(
  answer: unknown,
): Fake & { name: string; _module: object; hasAsyncMethod: () => boolean } {
  return {
    name: 'nothing',
    _module: { HEAPU8: new Uint8Array(1 << 16), UTF8ToString: () => 'bench.db' },
    hasAsyncMethod: () => answer instanceof Promise,
    xOpen: () => 0,
    xRead: () => answer,
    xWrite: () => answer,
  };
}

function opened(vfs: Fake): Fake {
  vfs.xOpen(0, 8, 64, MAIN_DB, 0);
  return vfs;
}
/** The minimum cost of learning when a promise settles: another promise, and two functions. */
function withThen(vfs: Fake): Fake {
  const inner = vfs.xRead;
  vfs.xRead = (...args) => {
    const [asked] = args;
    return (inner(...args) as Promise<number>).then(
      (rc) => (asked < 0 ? asked : rc),
      (error: unknown) => {
        throw error;
      },
    );
  };
  return vfs;
}
/** @returns nanoseconds per call */
function time(vfs: Fake, method: 'xRead' | 'xWrite', calls: number): number {
  const start = performance.now();
  for (let i = 0; i < calls; i++) vfs[method](64, 4096, PAGE, i * PAGE, 0);
  return ((performance.now() - start) * 1e6) / calls;
}
/** @returns nanoseconds per call; each is awaited before the next, as SQLite does */
async function timeAwaited(vfs: Fake, calls: number): Promise<number> {
  const start = performance.now();
  for (let i = 0; i < calls; i++) await vfs.xRead(64, 4096, PAGE, i * PAGE, 0);
  return ((performance.now() - start) * 1e6) / calls;
}

/**
 * The VFSs to call: one that answers synchronously, one that returns a promise, and the latter with
 * just a `then` around it.
 */
export type Called = 'xRead' | 'xWrite' | 'promise' | 'then';

/**
 * Each VFS without and with the overlay: compiled once, measured repeatedly. Nanoseconds per call.
 */
export class OverlayBench {
  private readonly plain = opened(fake(0));
  private readonly traced = opened(instrument(fake(0), sink({ capacity: 1024, maxEngines: 0 })));
  private readonly slowPlain = opened(fake(Promise.resolve(0)));
  private readonly slow = opened(
    instrument(fake(Promise.resolve(0)), sink({ capacity: 1024, maxEngines: 0 })),
  );
  private readonly then = opened(withThen(fake(Promise.resolve(0))));

  async without(called: Called, calls: number): Promise<number> {
    return called === 'xRead' || called === 'xWrite'
      ? time(this.plain, called, calls)
      : timeAwaited(this.slowPlain, calls);
  }
  async with(called: Called, calls: number): Promise<number> {
    if (called === 'then') return timeAwaited(this.then, calls);
    return called === 'promise' ? timeAwaited(this.slow, calls) : time(this.traced, called, calls);
  }
}

/** Bytes per event that a recording retains, from many events like a page-sized read. */
export function keptBytes(calls: number): number {
  const recording = startRecording({ keep: { kind: 'everything' } });
  const vfs = opened(instrument(fake(0), recording));
  recording.store();
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  const before = process.memoryUsage().arrayBuffers;
  for (let i = 0; i < calls; i++) vfs.xRead(64, 4096, PAGE, i * PAGE, 0);
  recording.store();
  collect(); // outgrown columns aren't retained
  return (process.memoryUsage().arrayBuffers - before) / calls;
}
