// The cost of recording for each engine and VFS of the grid: ratio and nanoseconds per event, from
// interleaved runs.
import { ENGINE_APPS, type EngineApp } from '../../tests/oracle/catalog.ts';
import type { WorkloadOptions } from '../../tests/oracle/baseline.ts';
import { compare, eventsOf, least, RecordedApps } from './recorded-app.ts';

const REPEATS = Number(process.env['REPEATS'] ?? 3);
/**
 * A lower value means nothing: the engine runs on the page itself, or its workers ended meanwhile.
 */
const LEAST_CPU_MS = 20;
const LEAST_EVENTS = 1000;
/** Maximum time for a row. */
const ROW_MS = 240_000;

export const title = 'Recording, engine by engine (Chromium)';
export const about =
  `Every row of the engine grid with a larger workload, recorded and not: minima of ${REPEATS} interleaved runs with DevTools and the panel open. "CPU" is the ` +
  `CPU time of the page's workers, which leaves out what else the machine does (n/a where the engine runs on the page itself or ends its workers); "ns per event" is (on - off) / events, of the CPU time. Rows ` +
  'of engines that wait for the disk vary by more than recording costs. GRID=<part of an id> runs a part.';

/**
 * Long enough to measure. Engines that go through all of their storage for every statement keep the
 * grid's size.
 */
function larger({ run }: EngineApp): WorkloadOptions {
  const n = run.options.n ?? 0;
  if (run.workload === 'standard') return { ...run.options, n: 2000 };
  if (run.workload === 'attached') return { ...run.options, n: 100 };
  return n < 100 ? run.options : { ...run.options, n: 1000 };
}

function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done in ${ROW_MS / 1000} s`)), ROW_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

export async function run(): Promise<{ columns: string[]; rows: (string | number)[][] }> {
  const part = process.env['GRID'];
  const rows: (string | number)[][] = [];
  let apps = await RecordedApps.open();
  try {
    for (const app of ENGINE_APPS.filter(({ id }) => !part || id.includes(part))) {
      console.error(`... ${app.id}`);
      try {
        const of = { path: app.path, workload: app.run.workload, options: larger(app) };
        const { taken, recorded } = await inTime(
          compare(apps, of, REPEATS, ['off', 'full'] as const),
        );
        const events = eventsOf(recorded!);
        const { off, full: on } = taken;
        const [wallOff, wallOn] = [least(off.map((t) => t.ms)), least(on.map((t) => t.ms))];
        const [cpuOff, cpuOn] = [least(off.map((t) => t.cpuMs)), least(on.map((t) => t.cpuMs))];
        const hasCpu = cpuOff > LEAST_CPU_MS && cpuOn > LEAST_CPU_MS;
        const perEvent =
          hasCpu && events > LEAST_EVENTS ? Math.round(((cpuOn - cpuOff) * 1e6) / events) : 'n/a';
        const ms = [
          wallOff.toFixed(0),
          wallOn.toFixed(0),
          ...[cpuOff, cpuOn].map((t) => (hasCpu ? t.toFixed(0) : 'n/a')),
        ];
        rows.push([
          app.id,
          events,
          ...ms,
          (wallOn / wallOff).toFixed(2),
          hasCpu ? (cpuOn / cpuOff).toFixed(2) : 'n/a',
          perEvent,
        ]);
      } catch (error) {
        const cause = (error instanceof Error ? error.message : String(error))
          .split('\n')[0]!
          .replaceAll('|', '/')
          .slice(0, 120);
        rows.push([app.id, `skipped: ${cause}`, '', '', '', '', '', '', '']);
        await apps.close();
        apps = await RecordedApps.open(); // whatever state the page and the panel are in
      }
      console.error(`    ${rows.at(-1)!.slice(1).join(' | ')}`);
    }
  } finally {
    await apps.close();
  }
  const columns = [
    'engine',
    'events',
    'off ms',
    'on ms',
    'off CPU ms',
    'on CPU ms',
    'ratio',
    'ratio of CPU',
    'ns per event',
  ];
  return { columns, rows };
}
