// The cost of one event in the hook by layer, compared with two clock readings in the same run.
import countInstructions from '../../src/hooks/instructions.ts';
import { measureVfsCost } from '../../src/vfs-instrumented/interpose/self-cost.ts';
import { Op } from '../../src/event/event.ts';
import { keptBytes, OverlayBench, type Called } from './overlay-cost.ts';
import { sink } from './sink.ts';

export const title = 'Cost per event (Node)';
export const about =
  'Nanoseconds that a call takes longer when it is recorded; minimum of 15 interleaved runs of 20,000 calls, the code as it is shipped. "VFS" is a trampoline in a ' +
  'function-table slot, "JavaScript" is what a Web API probe or an SQL call writes (without the proxy in front of it); the row below it is the same call where instructions are counted, in the same run. Aim: two clock readings + 100 ns. "Overlay" is a call ' +
  'of a VFS that `vfscope/vfs` records, its least time less the least without; aim: two clock readings + 50 ns. Of a promise, to learn when it is settled costs a second promise first: the row above says how much. "Kept" is what a recording in memory takes of each event; aim: 32 to 48 bytes.';

const CALLS = 20_000;

/** @param counts run with the script that counts instructions; for a storage call it counts none */
function javaScriptEvent(counts: boolean): number {
  const recorder = sink({ capacity: 1024, maxEngines: 0 });
  const undo = counts ? countInstructions(recorder) : null;
  const start = performance.now();
  for (let i = 0; i < CALLS; i++) recorder.end(recorder.begin(Op.idbPut, 1, i, 4096), 0);
  const ns = ((performance.now() - start) * 1e6) / CALLS;
  undo?.();
  return ns;
}

export async function run(): Promise<{ columns: string[]; rows: (string | number)[][] }> {
  const vfs: number[] = [];
  const clock: number[] = [];
  const script: number[] = [];
  const counting: number[] = [];
  const overlay = new OverlayBench();
  const over = new Map<Called, { without: number[]; with: number[] }>();
  for (const called of ['xRead', 'xWrite', 'then', 'promise'] as const)
    over.set(called, { without: [], with: [] });
  for (let i = 0; i < 15; i++) {
    const { nsPerVfsEvent, nsPerClockPair } = measureVfsCost(CALLS, 1);
    vfs.push(nsPerVfsEvent);
    clock.push(nsPerClockPair);
    script.push(javaScriptEvent(false));
    counting.push(javaScriptEvent(true));
    for (const [called, times] of over) {
      times.without.push(await overlay.without(called, CALLS));
      times.with.push(await overlay.with(called, CALLS));
    }
  }
  const least = (values: readonly number[]): number => Math.min(...values);
  const median = (values: readonly number[]): number =>
    [...values].sort((a, b) => a - b)[values.length >> 1]!;
  type Row = (string | number)[];
  const row = (name: string, leastNs: number, medianNs: number): Row => [
    name,
    Math.round(leastNs),
    Math.round(medianNs),
    Math.round(leastNs - least(clock)),
    '',
  ];
  const rowOf = (name: string, values: readonly number[]): Row =>
    row(name, least(values), median(values));
  const longer = (name: string, called: Called): Row => {
    const times = over.get(called)!;
    return row(
      name,
      least(times.with) - least(times.without),
      median(times.with) - median(times.without),
    );
  };
  return {
    columns: [
      'what',
      'minimum ns',
      'median ns',
      'minimum above two clock readings',
      'kept, bytes an event',
    ],
    rows: [
      rowOf('two performance.now()', clock),
      rowOf('VFS event', vfs),
      rowOf('JavaScript event', script),
      rowOf('JavaScript event, instructions counted', counting),
      longer('Overlay, xRead of a page', 'xRead'),
      longer('Overlay, xWrite of a page', 'xWrite'),
      longer('`then` of a promise, nothing recorded', 'then'),
      longer('Overlay, xRead that answers a promise', 'promise'),
      ['Recording in memory', '', '', '', Math.round(keptBytes(1_000_000))],
    ],
  };
}
