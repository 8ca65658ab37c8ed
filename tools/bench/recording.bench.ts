// The cost of recording for an app: the same workload in the same browser with the panel open on
// the timeline, in DevTools and in a separate window; not recorded, recorded, recorded with fewer
// details, and recorded by Chrome itself, interleaved.
import {
  compare,
  eventsOf,
  least,
  median,
  RecordedApps,
  PLACES,
  WORKLOADS,
  type Mode,
} from './recorded-app.ts';

const REPEATS = Number(process.env['REPEATS'] ?? 9);

const MODES = ['off', 'full', 'light', 'chrome'] as const satisfies readonly Mode[];

export const title = 'An app, recorded and not (Chromium)';
export const about =
  `Milliseconds of the app's own clock for a workload of statements (4000 to 20,000 rows in one transaction, 20 autocommits, selects, an update, integrity check; or ` +
  `5000 autocommits), ${REPEATS} interleaved runs of each way, the panel open on the timeline, in DevTools or in its own window. Ratios are minimum / minimum without ` +
  `recording in the same place; behind each the ratio of medians. "Light" has VFS calls and commits only. "Chrome" is Chrome's own tracing with the categories of its Performance panel, whose ` +
  `drawing is not in it. "ns of CPU" is what recording adds to the CPU time of the page's workers, per event: it leaves out what else the machine does. What a thread pays once is mostly not in ` +
  `these times: parsing the hook and patching come before the app's first line; measuring the tracer's own cost, some milliseconds, comes 200 ms after an engine. Aims of recorded: ` +
  `1.08 on IndexedDB, 1.10 on OPFS, 1.15 on sahpool, 1.20 in memory, half of what Chrome adds; light 1.03 on IndexedDB and OPFS.`;

export async function run(): Promise<{ columns: string[]; rows: (string | number)[][] }> {
  const rows: (string | number)[][] = [];
  for (const place of PLACES) {
    const apps = await RecordedApps.open(place);
    try {
      for (const w of WORKLOADS) {
        const { taken, recorded } = await compare(apps, w, REPEATS, MODES);
        const events = eventsOf(recorded!);
        const ms = (mode: (typeof MODES)[number]): number[] => taken[mode].map((t) => t.ms);
        const ratio = (mode: (typeof MODES)[number]): string =>
          `${(least(ms(mode)) / least(ms('off'))).toFixed(2)} (${(median(ms(mode)) / median(ms('off'))).toFixed(2)})`;
        const cpu = (mode: (typeof MODES)[number]): number =>
          least(taken[mode].map((t) => t.cpuMs));
        const added = ((cpu('full') - cpu('off')) * 1e6) / events;
        rows.push([
          ...[w.name, place, events, least(ms('off')).toFixed(0)],
          ...MODES.slice(1).map(ratio),
          Number.isNaN(added) ? 'n/a' : Math.round(added),
        ]);
      }
    } finally {
      await apps.close();
    }
  }
  const columns = ['workload', 'panel in', 'events', 'off, min', 'recorded', 'light', 'Chrome'];
  return { columns: [...columns, 'ns of CPU per event'], rows };
}
