// The same events in other tools: trace_engine (of Chrome DevTools' Performance panel) and speedscope read them as Chrome JSON.
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findingsOf } from '../../src/trace/analysis/findings/index.ts';
import { statementTable } from '../../src/trace/analysis/statement-table.ts';
import { summaryOf } from '../../src/trace/analysis/summary.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { saveTrace } from '../../src/trace/file/write.ts';
import { TracePyramid } from '../../src/trace/pyramid.ts';
import { chromeJson } from '../../src/formats/chrome-json.ts';
import { speedscopeImport } from '../../tests/consumers/speedscope.ts';
import { syntheticStore } from '../../tests/traces/synthetic.ts';
import { inProcess } from './child.ts';

interface Load {
  ms: number;
  /** Of all threads, collecting garbage included. */
  cpuMs: number;
  rssMb: number;
  /** What the tool says it has. */
  found: string;
}

interface Began {
  at: number;
  cpu: NodeJS.CpuUsage;
}
const begin = (): Began => ({ at: performance.now(), cpu: process.cpuUsage() });
function report({ at, cpu }: Began, found: string): void {
  const { user, system } = process.cpuUsage(cpu);
  const load: Load = { ms: performance.now() - at, cpuMs: (user + system) / 1000, rssMb: process.resourceUsage().maxRSS / 1024, found };
  console.log(JSON.stringify(load));
}

/** Ours: file, lanes, summary, statements, findings. */
export async function ours(file: string): Promise<void> {
  const bytes = readFileSync(file);
  const began = begin();
  const { store } = await readTrace(bytes);
  new TracePyramid(store).update(store.extent()[1]);
  summaryOf(store);
  statementTable(store);
  findingsOf(store);
  report(began, `${store.eventCount} events`);
}

/** What the engine expects of a page that is not there. */
class Rect {}

export async function traceEngine(file: string): Promise<void> {
  Object.assign(globalThis, { DOMRect: Rect });
  const path = '@paulirish/trace_engine/models/trace/trace.js';
  const Trace = (await import(path)) as {
    TraceModel: {
      Model: { createWithAllHandlers(): { parse(events: object[], options: object): Promise<void>; parsedTrace(i: number): unknown } };
    };
  };
  const text = readFileSync(file, 'utf8');
  const began = begin();
  const json = JSON.parse(text) as object[] | { traceEvents: object[] };
  const events = Array.isArray(json) ? json : json.traceEvents;
  const model = Trace.TraceModel.Model.createWithAllHandlers();
  await model.parse(events, {});
  if (!model.parsedTrace(0)) throw new Error('trace_engine made nothing of the events');
  report(began, `${events.length} events`);
}

export async function speedscope(file: string): Promise<void> {
  const text = readFileSync(file, 'utf8');
  const began = begin();
  const profiles = await speedscopeImport('trace.json', text);
  if (!profiles.length) throw new Error('speedscope made nothing of the events');
  report(began, `${profiles.length} profiles`);
}

function load(call: string): Load | string {
  try {
    return inProcess<Load>('peers', call);
  } catch (e) {
    return (e as Error).message; // the table says so: some of them cannot read so much
  }
}

export const title = 'The same trace in other tools (Node)';
export const about =
  'A synthetic trace, from bytes in memory to what the tool shows first; each in a process of its own, one after another. vfscope reads its own file and ' +
  'computes lanes, summary, statements and findings; the others parse Chrome JSON that vfscope exported from the same store.';

export async function run(): Promise<{ columns: string[]; rows: (string | number)[][] }> {
  const rows: (string | number)[][] = [];
  for (const events of [100_000, 1_000_000]) {
    const store = syntheticStore({ events });
    const [vfst, json] = ['vfst', 'json'].map((end) => join(tmpdir(), `vfscope-peers-${process.pid}.${end}`)) as [string, string];
    writeFileSync(vfst, new Uint8Array(await (await saveTrace(store)).arrayBuffer()));
    writeFileSync(json, '');
    for await (const piece of chromeJson(store)) writeFileSync(json, piece, { flag: 'a' });
    const own = load(`ours(${JSON.stringify(vfst)})`);
    const tools: [string, string, () => Load | string][] = [
      ['vfscope', vfst, () => own],
      ['@paulirish/trace_engine, all handlers', json, () => load(`traceEngine(${JSON.stringify(json)})`)],
    ];
    if (events <= 100_000) tools.push(['speedscope', json, () => load(`speedscope(${JSON.stringify(json)})`)]);
    for (const [name, file, work] of tools) {
      const result = work();
      const size = (statSync(file).size / 1e6).toFixed(1);
      if (typeof result === 'string') rows.push([name, events.toLocaleString('en-US'), size, result, '', '', '']);
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
        ]);
      }
    }
    rmSync(vfst);
    rmSync(json);
  }
  return { columns: ['tool', 'events', 'file, MB', 'ms', 'CPU ms', 'resident MB', 'CPU, ratio to vfscope'], rows };
}
