// The same events in other tools: trace_engine (of Chrome DevTools' Performance panel) and
// speedscope read them as Chrome JSON. Perfetto's trace processor (v20.1) reads its own protobuf
// and, like vfscope, answers SQL.
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Facts } from '../../src/analysis/core/graph.ts';
import { findings } from '../../src/analysis/findings/index.ts';
import { statementTable } from '../../src/analysis/statements/statement-table.ts';
import { summary } from '../../src/analysis/report/summary.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { saveTrace } from '../../src/trace/file/write.ts';
import { CallLanes } from '../../src/trace/lanes/frame.ts';
import { chromeJson } from '../../src/formats/chrome-json.ts';
import { perfetto } from '../../src/formats/perfetto.ts';
import { useWasm } from '../../src/viewer/session/queries/wasm-source.ts';
import { Session } from '../../src/viewer/session/session.ts';
import { TraceProcessor } from '../../tests/consumers/perfetto.ts';
import { speedscopeImport } from '../../tests/consumers/speedscope.ts';
import { syntheticStore } from '../../tests/traces/synthetic.ts';
import { inProcess } from './child.ts';

interface Load {
  ms: number;
  /** CPU time of all threads, including garbage collection. */
  cpuMs: number;
  rssMb: number;
  /** What the tool reports to have read. */
  found: string;
  /**
   * Calls and their time by operation, in SQL over the loaded trace; the minimum of three, ms of
   * CPU. For tools with SQL.
   */
  groupByMs?: number;
}

interface Began {
  at: number;
  cpu: NodeJS.CpuUsage;
}
const begin = (): Began => ({ at: performance.now(), cpu: process.cpuUsage() });
const cpuSince = (cpu: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(cpu);
  return (user + system) / 1000;
};
const loaded = ({ at, cpu }: Began, found: string): Load => ({
  ...{
    ms: performance.now() - at,
    cpuMs: cpuSince(cpu),
    rssMb: process.resourceUsage().maxRSS / 1024,
    found,
  },
});
const report = (load: Load): void => console.log(JSON.stringify(load));

/** @param query returns the number of calls that it counted */
async function groupBy(events: number, query: () => Promise<number> | number): Promise<number> {
  let least = Infinity;
  for (let i = 0; i < 3; i++) {
    const { cpu } = begin();
    const counted = await query();
    least = Math.min(least, cpuSince(cpu));
    if (counted !== events) throw new Error(`GROUP BY counted ${counted} of ${events} calls`);
  }
  return least;
}
const sumOf = (rows: readonly (readonly unknown[])[]): number =>
  rows.reduce((sum, row) => sum + Number(row[1]), 0);

/** vfscope: file, lanes, summary, statements, findings. */
export async function ours(file: string): Promise<void> {
  const bytes = readFileSync(file);
  const began = begin();
  const { store } = await readTrace(bytes);
  new CallLanes(store).update(store.extent()[1]);
  new Facts(store).known({ summary, statementTable, findings });
  const load = loaded(began, `${store.eventCount} events`);
  useWasm(readFileSync(createRequire(import.meta.url).resolve('wa-sqlite/dist/wa-sqlite.wasm')));
  const session = new Session(() => undefined);
  await session.open(new Blob([bytes]), 'peers.vfst');
  const sql = 'SELECT op, count(*), sum(dur) FROM events GROUP BY op';
  const groupByMs = await groupBy(store.eventCount, async () =>
    sumOf((await session.query('sqlRun', { id: 1, sql, maxMs: 60_000, stop: null })).rows),
  );
  report({ ...load, groupByMs });
  process.exit(0); // timers of the session
}

export async function traceProcessor(file: string, events: number): Promise<void> {
  const bytes = readFileSync(file);
  const processor = await TraceProcessor.create();
  const began = begin();
  processor.load(bytes);
  const slices = processor.query('SELECT count(*) FROM slice');
  const load = loaded(began, `${String(slices[0])} slices`);
  report({
    ...load,
    groupByMs: await groupBy(events, () =>
      sumOf(processor.query('SELECT name, count(*), sum(dur) FROM slice GROUP BY name')),
    ),
  });
}

/** What the engine expects from a page, which doesn't exist here. */
class Rect {}

export async function traceEngine(file: string): Promise<void> {
  Object.assign(globalThis, { DOMRect: Rect });
  const path = '@paulirish/trace_engine/models/trace/trace.js';
  const Trace = (await import(path)) as {
    TraceModel: {
      Model: {
        createWithAllHandlers(): {
          parse(events: object[], options: object): Promise<void>;
          parsedTrace(i: number): unknown;
        };
      };
    };
  };
  const text = readFileSync(file, 'utf8');
  const began = begin();
  const json = JSON.parse(text) as object[] | { traceEvents: object[] };
  const events = Array.isArray(json) ? json : json.traceEvents;
  const model = Trace.TraceModel.Model.createWithAllHandlers();
  await model.parse(events, {});
  if (!model.parsedTrace(0)) throw new Error('trace_engine made nothing of the events');
  report(loaded(began, `${events.length} events`));
}

export async function speedscope(file: string): Promise<void> {
  const text = readFileSync(file, 'utf8');
  const began = begin();
  const profiles = await speedscopeImport('trace.json', text);
  if (!profiles.length) throw new Error('speedscope made nothing of the events');
  report(loaded(began, `${profiles.length} profiles`));
}

function load(call: string): Load | string {
  try {
    return inProcess<Load>('peers', call);
  } catch (e) {
    return (e as Error).message; // the table shows it: some of them can't read as many
  }
}

export const title = 'The same trace in other tools (Node)';
export const about =
  'A synthetic trace, from bytes in memory to what the tool shows first; each in a process of its own, one after another. vfscope reads its own file and ' +
  "computes lanes, summary, statements and findings; trace_engine and speedscope parse Chrome JSON, Perfetto's trace processor (v20.1, WebAssembly, of 2021) its protobuf, " +
  'all exported by vfscope from the same store. "GROUP BY" is CPU time of SQL that counts the calls and sums their time by operation, least of three, where a tool has SQL.';

export async function run(): Promise<{ columns: string[]; rows: (string | number)[][] }> {
  const rows: (string | number)[][] = [];
  for (const events of [100_000, 1_000_000]) {
    const store = syntheticStore({ events });
    const at = (end: string): string => join(tmpdir(), `vfscope-peers-${process.pid}.${end}`);
    const [vfst, json, protobuf] = [at('vfst'), at('json'), at('pftrace')];
    writeFileSync(vfst, new Uint8Array(await (await saveTrace(store)).arrayBuffer()));
    writeFileSync(json, '');
    writeFileSync(protobuf, '');
    for await (const piece of chromeJson(store)) writeFileSync(json, piece, { flag: 'a' });
    for await (const piece of perfetto(store)) writeFileSync(protobuf, piece, { flag: 'a' });
    const own = load(`ours(${JSON.stringify(vfst)})`);
    const tools: [string, string, () => Load | string][] = [
      ['vfscope', vfst, () => own],
      [
        '@paulirish/trace_engine, all handlers',
        json,
        () => load(`traceEngine(${JSON.stringify(json)})`),
      ],
      [
        'Perfetto, trace processor',
        protobuf,
        () => load(`traceProcessor(${JSON.stringify(protobuf)}, ${store.eventCount})`),
      ],
    ];
    if (events <= 100_000)
      tools.push(['speedscope', json, () => load(`speedscope(${JSON.stringify(json)})`)]);
    for (const [name, file, work] of tools) {
      const result = work();
      const size = (statSync(file).size / 1e6).toFixed(1);
      if (typeof result === 'string')
        rows.push([name, events.toLocaleString('en-US'), size, result, '', '', '', '']);
      else {
        const ratio = typeof own === 'string' ? '' : (result.cpuMs / own.cpuMs).toFixed(1);
        rows.push([
          name,
          events.toLocaleString('en-US'),
          size,
          result.ms.toFixed(0),
          result.cpuMs.toFixed(0),
          result.rssMb.toFixed(0),
          ratio,
          result.groupByMs?.toFixed(0) ?? '',
        ]);
      }
    }
    for (const file of [vfst, json, protobuf]) rmSync(file);
  }
  return {
    columns: [
      'tool',
      'events',
      'file, MB',
      'ms',
      'CPU ms',
      'resident MB',
      'CPU, ratio to vfscope',
      'GROUP BY, ms',
    ],
    rows,
  };
}
