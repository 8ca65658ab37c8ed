// Compares the model of the cost of recording (src/analysis/files/call-cost.ts) with measurements:
// CPU time of the page's workers, recorded and not.
import { costNs, countCost, type CostCounts } from '../../src/analysis/files/call-cost.ts';
import { compare, median, RecordedApps, WORKLOADS, type RecordedRun } from './recorded-app.ts';

const REPEATS = Number(process.env['REPEATS'] ?? 7);
/** In addition to those that recording is measured with. */
const MORE: typeof WORKLOADS = [
  {
    name: 'OPFS: wa-sqlite AccessHandlePool',
    path: '/wa-sqlite/?vfs=AccessHandlePool',
    workload: 'standard',
    options: { n: 8000 },
  },
  {
    name: 'memory: @sqlite.org, 5000 autocommits',
    path: '/sqlite-org/?vfs=memory',
    workload: 'own-sql',
    options: { n: 5000 },
  },
  {
    name: 'OPFS: @journeyapps OPFSAdaptive',
    path: '/journeyapps-wa-sqlite/?vfs=OPFSAdaptive',
    workload: 'standard',
    options: { n: 6000 },
  },
];

export const title = 'What recording costs, by the model and as measured (Chromium)';
export const about =
  `CPU time of the page's workers over a workload, in a window without DevTools: medians of ${REPEATS} interleaved runs recorded, less those not recorded, beside what the panel's model ` +
  `says of one recorded run. The panel shows it as "Recording cost your app about ...". Aim: within 20 %.`;

/** The workload's events: those between its marks. */
function modeledMs({ store, fromUs, toUs }: RecordedRun): number {
  return store.threads.reduce((sum, { events, cost, engines }) => {
    if (!cost) return sum;
    const counts: CostCounts = [0, 0, 0];
    for (let row = 0; row < events.count; row++)
      if (events.t0[row]! > fromUs && events.t0[row]! < toUs) countCost(counts, events, row);
    const callNs = Math.min(cost.nsPerJsEvent, cost.nsPerVfsEvent ?? Infinity);
    const { calls, start } = costNs(counts, callNs, engines.length > 0, false);
    return sum + (calls + start) / 1e6;
  }, 0);
}

export async function run(): Promise<{ columns: string[]; rows: (string | number)[][] }> {
  const rows: (string | number)[][] = [];
  const apps = await RecordedApps.open('window');
  try {
    for (const w of [...WORKLOADS, ...MORE]) {
      const { taken, recorded } = await compare(apps, w, REPEATS, ['off', 'full'] as const);
      const [off, full] = [taken.off, taken.full].map((runs) => median(runs.map((t) => t.cpuMs)));
      const [measured, modeled] = [full! - off!, modeledMs(recorded!)];
      rows.push([
        w.name,
        ...[off!, measured, modeled].map((ms) => ms.toFixed(0)),
        `${((100 * modeled) / measured - 100).toFixed(0)} %`,
      ]);
    }
  } finally {
    await apps.close();
  }
  return {
    columns: ['workload', 'not recorded, ms', 'recording adds, ms', 'by the model, ms', 'off by'],
    rows,
  };
}
