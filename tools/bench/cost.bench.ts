// What one event costs in the hook, per layer, beside two readings of the clock in the same run.
import { measureVfsCost } from '../../src/vfs-instrumented/interpose/self-cost.ts';
import { Recorder } from '../../src/trace/recorder.ts';
import { Header } from '../../src/trace/ring-layout.ts';
import { Op } from '../../src/trace/event.ts';
import { keptBytes, OverlayBench } from './overlay-cost.ts';

export const title = 'Cost per event (Node)';
export const about =
  'Nanoseconds that a call takes longer when it is recorded; minimum of 9 interleaved runs of 20,000 calls. "VFS" is a trampoline in a ' +
  'function-table slot, "JavaScript" is what a Web API probe or an SQL call writes (without the proxy in front of it). Aim: two clock readings + 100 ns. "Overlay" is a call ' +
  'of a VFS that `vfscope/vfs` records; aim: two clock readings + 50 ns. "Kept" is what a recording in memory takes of each event; aim: 32 to 48 bytes.';

const CALLS = 20_000;

function javaScriptEvent(): number {
  const recorder = new Recorder({ capacity: 1024, maxEngines: 0 });
  const words = new Uint32Array(recorder.memory.buffer);
  recorder.onPressure = () => void (words[Header.claimed >>> 2] = words[Header.released >>> 2] = words[Header.head >>> 2]!);
  const start = performance.now();
  for (let i = 0; i < CALLS; i++) recorder.end(recorder.begin(Op.idbPut, 1, i, 4096), 0);
  return ((performance.now() - start) * 1e6) / CALLS;
}

export async function run(): Promise<{ columns: string[]; rows: (string | number)[][] }> {
  const vfs: number[] = [];
  const clock: number[] = [];
  const script: number[] = [];
  const overlay = new OverlayBench();
  const over: Record<'xRead' | 'xWrite' | 'promise', number[]> = { xRead: [], xWrite: [], promise: [] };
  for (let i = 0; i < 9; i++) {
    const { nsPerVfsEvent, nsPerClockPair } = measureVfsCost(CALLS, 1);
    vfs.push(nsPerVfsEvent);
    clock.push(nsPerClockPair);
    script.push(javaScriptEvent());
    over.xRead.push(overlay.atOnce('xRead', CALLS));
    over.xWrite.push(overlay.atOnce('xWrite', CALLS));
    over.promise.push(await overlay.promised(CALLS));
  }
  const least = (values: number[]): number => Math.round(Math.min(...values));
  const median = (values: number[]): number => Math.round([...values].sort((a, b) => a - b)[values.length >> 1]!);
  const row = (name: string, values: number[]): (string | number)[] => [
    name,
    least(values),
    median(values),
    least(values) - least(clock),
    '',
  ];
  return {
    columns: ['what', 'minimum ns', 'median ns', 'minimum above two clock readings', 'kept, bytes an event'],
    rows: [
      row('two performance.now()', clock),
      row('VFS event', vfs),
      row('JavaScript event', script),
      row('Overlay, xRead of a page', over.xRead),
      row('Overlay, xWrite of a page', over.xWrite),
      row('Overlay, xRead that answers a promise', over.promise),
      ['Recording in memory', '', '', '', Math.round(keptBytes(1_000_000))],
    ],
  };
}
