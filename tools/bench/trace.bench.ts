// The cost of traces: bytes per event on disk, time to write and read, time per frame, on synthetic
// traces.
import { CallLanes } from '../../src/trace/lanes/frame.ts';
import { saveTrace } from '../../src/trace/file/write.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { summaryOf } from '../../src/analysis/report/summary.ts';
import { syntheticStore } from '../../tests/traces/synthetic.ts';

export interface TraceBenchRow {
  name: string;
  value: number;
  unit: string;
}

const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1]!;

/** @param events of the file measurements @param frameEvents of the frame measurements */
export async function benchTrace(
  events = 1_000_000,
  frameEvents = 10_000_000,
): Promise<TraceBenchRow[]> {
  const rows: TraceBenchRow[] = [];
  for (const [clock, clockStepUs] of [
    ['1 ns', 0],
    ['5 us', 5],
    ['100 us', 100],
  ] as const) {
    const store = syntheticStore({ events, clockStepUs });
    let began = performance.now();
    const file = await saveTrace(store);
    const writeMs = performance.now() - began;
    began = performance.now();
    const read = await readTrace(file);
    const readMs = performance.now() - began;
    if (read.store.eventCount !== store.eventCount || read.warnings.length)
      throw new Error(`the file does not hold the trace: ${read.warnings.join(' ')}`);
    rows.push(
      { name: `.vfst, clock ${clock}`, value: file.size / store.eventCount, unit: 'bytes/event' },
      { name: `.vfst write, clock ${clock}`, value: writeMs, unit: 'ms' },
      { name: `.vfst read, clock ${clock}`, value: readMs, unit: 'ms' },
    );
    began = performance.now();
    summaryOf(store);
    rows.push({ name: `summary, clock ${clock}`, value: performance.now() - began, unit: 'ms' });
  }
  const store = syntheticStore({ events: frameEvents });
  const callLanes = new CallLanes(store);
  const [from, to] = store.extent();
  let began = performance.now();
  callLanes.update(to);
  rows.push({
    name: `lanes of ${frameEvents} events`,
    value: performance.now() - began,
    unit: 'ms',
  });
  for (const share of [1, 0.3, 0.01, 0.0001]) {
    const times: number[] = [];
    for (let i = 0; i < 15; i++) {
      const width = (to - from) * share;
      const left = from + (to - from - width) * (i / 14);
      began = performance.now();
      callLanes.frames(null, left, left + width, 1600);
      times.push(performance.now() - began);
    }
    rows.push({
      name: `frame of ${callLanes.lanes.length} lanes, 1600 px, ${share * 100} % of ${frameEvents} events`,
      value: median(times),
      unit: 'ms',
    });
  }
  return rows;
}

export const title = 'A trace: file, summary, frames (Node)';
export const about =
  'Synthetic trace of 1,000,000 events on 4 threads at three clock steps: size of the gzipped file, time to write, read and sum it up; then frames of a ' +
  '10,000,000-event trace, 1600 px wide, median of 15 positions.';

export async function run(): Promise<{ columns: string[]; rows: (string | number)[][] }> {
  const rows = await benchTrace();
  return {
    columns: ['what', 'value', 'unit'],
    rows: rows.map(({ name, value, unit }) => [name, value.toFixed(value < 100 ? 2 : 0), unit]),
  };
}
