// What recording costs an app: the same workload in the same browser with DevTools and the panel open, recorded and not, interleaved.
import { compare, least, median, RecordedApps, type BenchedRun } from './recorded-app.ts';

const REPEATS = Number(process.env['REPEATS'] ?? 7);

/** Workloads of about half a second. The "memory" one does nothing but VFS calls and SQL: the worst case. */
const WORKLOADS: (BenchedRun & { name: string })[] = [
  {
    name: 'IndexedDB: @journeyapps IDBBatchAtomic, Asyncify',
    path: '/journeyapps-wa-sqlite/?vfs=IDBBatchAtomic',
    workload: 'standard',
    options: { n: 4000 },
  },
  {
    name: 'IndexedDB: @journeyapps IDBBatchAtomic, JSPI',
    path: '/journeyapps-wa-sqlite/?vfs=IDBBatchAtomic&build=jspi',
    workload: 'standard',
    options: { n: 4000 },
  },
  {
    name: 'OPFS: @journeyapps OPFSCoopSync',
    path: '/journeyapps-wa-sqlite/?vfs=OPFSCoopSync',
    workload: 'standard',
    options: { n: 8000 },
  },
  {
    name: 'OPFS: @sqlite.org opfs-sahpool',
    path: '/sqlite-org/?vfs=opfs-sahpool',
    workload: 'standard',
    options: { n: 20_000 },
  },
  {
    name: 'memory: @journeyapps MemoryVFS, 5000 autocommits',
    path: '/journeyapps-wa-sqlite/?vfs=Memory',
    workload: 'own-sql',
    options: { n: 5000 },
  },
];

export const title = 'An app, recorded and not (Chromium)';
export const about =
  `Milliseconds of the app's own clock for a workload of statements (4000 to 20,000 rows in one transaction, 20 autocommits, selects, an update, integrity check; or ` +
  `5000 autocommits), minimum and median of ${REPEATS} interleaved runs with DevTools and the panel open, and the ratio recorded / not recorded. "CPU" is the CPU time ` +
  `of the page's workers: it leaves out what else the machine does. What a thread pays once is mostly not in these times: parsing the hook and patching ` +
  `come before the app's first line; measuring the tracer's own cost, some milliseconds, comes 200 ms after an engine. Aim: 1.05 on IndexedDB, 1.15 on OPFS.`;

export async function run(): Promise<{ columns: string[]; rows: (string | number)[][] }> {
  const apps = await RecordedApps.open();
  const rows: (string | number)[][] = [];
  try {
    for (const w of WORKLOADS) {
      const { off, on, events } = await compare(apps, w, REPEATS);
      const [wallOff, wallOn] = [off.map((t) => t.ms), on.map((t) => t.ms)];
      const [cpuOff, cpuOn] = [least(off.map((t) => t.cpuMs)), least(on.map((t) => t.cpuMs))];
      rows.push([
        w.name,
        events,
        ...[least(wallOff), least(wallOn), median(wallOff), median(wallOn)].map((ms) =>
          ms.toFixed(0),
        ),
        (least(wallOn) / least(wallOff)).toFixed(2),
        (median(wallOn) / median(wallOff)).toFixed(2),
        ...(Number.isNaN(cpuOn)
          ? ['n/a', 'n/a']
          : [(cpuOn / cpuOff).toFixed(2), Math.round(((cpuOn - cpuOff) * 1e6) / events)]),
      ]);
    }
  } finally {
    await apps.close();
  }
  const columns = [
    'workload',
    'events',
    'off, min',
    'on, min',
    'off, median',
    'on, median',
    'ratio of minima',
    'ratio of medians',
  ];
  return { columns: [...columns, 'ratio of CPU, minima', 'ns of CPU per event'], rows };
}
