// The cost of the viewer's store worker on a trace of 1,000,000 events (also 10,000,000 with
// HUGE=1): from the file to the first frame, every table and finding, frames, areas, and SQL. Runs
// the session itself in Node, and measures CPU time because the machine may be shared.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readOverview } from '../../src/trace/file/overview.ts';
import { saveTrace } from '../../src/trace/file/write.ts';
import { SummaryLanes } from '../../src/timeline/summary-lanes.ts';
import { useWasm } from '../../src/viewer/session/queries/wasm-source.ts';
import { Session } from '../../src/viewer/session/session.ts';
import { syntheticStore } from '../../tests/traces/synthetic.ts';
import { inProcess } from './child.ts';

const MILLION = 1_000_000;
const WIDTH = 1600;
const FRAMES = 60;
/** Frames requested during a long query wait at most as long as its longest step. */
const QUESTIONS = [
  'threadPartitions',
  'overview',
  'statements',
  'transactions',
  'findings',
  'fileLines',
  'wal',
  'errors',
] as const;

interface Measured {
  events: number;
  /** Name, and milliseconds of CPU. */
  ms: [string, number][];
  rssMb: number;
  /** Array buffers once the file is open, after garbage collection: columns and lanes. */
  arraysMb: number;
}

const at = (values: number[], share: number): number =>
  values.sort((a, b) => a - b)[Math.floor((values.length - 1) * share)]!;

/** Array buffers in use. Collected ones are released a little later. */
async function settledArraysMb(): Promise<number> {
  for (let i = 0; i < 3; i++) {
    globalThis.gc?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return process.memoryUsage().arrayBuffers / 2 ** 20;
}

/** Runs in a separate process. @param file a .vfst */
export async function child(file: string): Promise<void> {
  const ms: Measured['ms'] = [];
  const cpu = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const began = process.cpuUsage();
    const result = await work();
    const { user, system } = process.cpuUsage(began);
    ms.push([name, (user + system) / 1000]);
    return result;
  };
  const session = new Session(() => undefined);
  const blob = new Blob([readFileSync(file)]);
  await cpu('first frame, from the summaries of the chunks', async () => {
    const summary = new SummaryLanes((await readOverview(blob))!);
    const keys = summary.store.threads.flatMap((thread) =>
      summary.rowsOf(thread).map(({ key }) => key),
    );
    summary.frames(keys, ...summary.extent, WIDTH);
  });
  const { events } = await cpu('open the file', () => session.open(blob, 'bench.vfst'));
  const arraysMb = await settledArraysMb();
  const { extent } = await cpu('lanes', () => session.extents());
  const [from, to] = extent;
  await cpu('first frame', () => session.timeline({ from, to, width: WIDTH, lanes: null }));
  const waited: number[] = [];
  let asking = true;
  const drawing = (async () => {
    while (asking) {
      const before = process.cpuUsage();
      await new Promise((resolve) => setImmediate(resolve));
      await session.timeline({ from, to, width: WIDTH, lanes: null });
      const spent = process.cpuUsage(before);
      waited.push((spent.user + spent.system) / 1000);
    }
  })();
  const began = process.cpuUsage();
  for (const question of QUESTIONS) await session.query(question, {});
  asking = false;
  const { user, system } = process.cpuUsage(began);
  await drawing;
  ms.push([
    `all tables and findings, with ${waited.length} frames drawn between`,
    (user + system) / 1000,
  ]);
  ms.push(
    ['from asking for such a frame to having it, p95', at(waited, 0.95)],
    ['the same, longest', at(waited, 1)],
  );
  const lanes = (await session.threads()).flatMap((thread) => thread.lanes.map(({ key }) => key));
  const frames: number[] = [];
  for (let i = 0; i < FRAMES; i++) {
    const width = (to - from) * 10 ** (-i / 15);
    const before = process.cpuUsage();
    await session.timeline({
      from: from + (to - from - width) / 2,
      to: from + (to - from + width) / 2,
      width: WIDTH,
      lanes,
    });
    const spent = process.cpuUsage(before);
    frames.push((spent.user + spent.system) / 1000);
  }
  ms.push(
    [`frame of ${lanes.length} lanes, median`, at(frames, 0.5)],
    [`frame of ${lanes.length} lanes, p95`, at(frames, 0.95)],
  );
  const area = {
    fromUs: from,
    toUs: to,
    by: 'operation',
    threadsOff: [],
    layers: ['sql', 'vfs', 'web', 'host'],
  } as const;
  for (const name of ['area of the whole trace, first', 'area of the whole trace, again'])
    await cpu(name, () =>
      session.query('timelineArea', { ...area, threadsOff: [], layers: [...area.layers] }),
    );
  useWasm(readFileSync(createRequire(import.meta.url).resolve('wa-sqlite/dist/wa-sqlite.wasm')));
  const sql = 'SELECT op, count(*), sum(dur) FROM events GROUP BY op';
  for (const name of [
    'SQL: GROUP BY operation over all events, first',
    'SQL: GROUP BY operation over all events, again',
  ])
    await cpu(name, () => session.query('sqlRun', { id: 1, sql, maxMs: 120_000, stop: null }));
  const measured: Measured = { events, ms, rssMb: process.resourceUsage().maxRSS / 1024, arraysMb };
  console.log(JSON.stringify(measured));
  process.exit(0); // timers of the session
}

export const title = "Viewer: the store's worker (Node)";
export const about =
  'A synthetic trace on 4 threads at a clock of 5 µs, its file in memory; milliseconds of CPU time (of all threads, so unpacking beside the worker counts), one run. ' +
  'While the tables are asked for, frames of the timeline are asked for too. HUGE=1 adds 10,000,000 events.';

export async function run(): Promise<{ columns: string[]; rows: (string | number)[][] }> {
  const rows: (string | number)[][] = [];
  for (const events of process.env['HUGE'] ? [MILLION, 10 * MILLION] : [MILLION]) {
    const file = join(tmpdir(), `vfscope-viewer-worker-${process.pid}.vfst`);
    writeFileSync(
      file,
      new Uint8Array(
        await (await saveTrace(syntheticStore({ events, clockStepUs: 5 }))).arrayBuffer(),
      ),
    );
    try {
      const {
        ms,
        rssMb,
        arraysMb,
        events: read,
      } = inProcess<Measured>('viewer-worker', `child(${JSON.stringify(file)})`);
      const of = read.toLocaleString('en-US');
      for (const [name, value] of ms) rows.push([of, name, value.toFixed(value < 100 ? 1 : 0)]);
      rows.push([
        of,
        'columns and lanes once the file is open, its bytes included, MB',
        arraysMb.toFixed(0),
      ]);
      rows.push([of, 'resident at most, after all of these, MB', rssMb.toFixed(0)]);
    } finally {
      rmSync(file);
    }
  }
  return { columns: ['events', 'what', 'ms'], rows };
}
