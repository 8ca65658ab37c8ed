// Where the cost of a recording is: CPU time by process while an app runs, recorded and not, and a
// profile of the traced worker.
import { cpuByPart, PARTS, WORKER_PARTS } from './cpu-by-part.ts';
import { compare, least, PLACES, RecordedApps, WORKLOADS } from './recorded-app.ts';

const REPEATS = Number(process.env['REPEATS'] ?? 5);

/** One of each kind of storage. */
const KINDS = ['IndexedDB', 'OPFS', 'memory'].map(
  (kind) => [kind, WORKLOADS.find(({ name }) => name.startsWith(`${kind}:`))!] as const,
);

export const title = 'Where the cost of a recording goes (Chromium)';
export const about =
  `What a recording adds to the CPU time of each part while an app runs, ms: minima of ${REPEATS} interleaved runs recorded, less those not recorded in the same place, from Linux' ` +
  `/proc; the panel shows the timeline. "Profile" is one more run, recorded, with the traced worker profiled by the browser every 0.2 ms, which makes it slower: its shares count, not its sum. ` +
  `"Hook" has what the hook does itself, "clock" its readings of performance.now, "messages" its postMessage with cloning.`;

export async function run(): Promise<{ columns: string[]; rows: (string | number)[][] }> {
  if (!cpuByPart(process.pid))
    throw new Error('CPU time by thread is read from /proc, which this system does not have.');
  const columns: string[] = [];
  const added = new Map<string, string[]>(PARTS.map((part) => [part, []]));
  const shares = new Map<string, string[]>(WORKER_PARTS.map((part) => [part, []]));
  for (const place of PLACES) {
    const apps = await RecordedApps.open(place);
    try {
      for (const [kind, w] of KINDS) {
        columns.push(`${kind}, ${place}`);
        const { taken } = await compare(apps, w, REPEATS, ['off', 'full'] as const);
        for (const part of PARTS) {
          const ms = (mode: 'off' | 'full'): number =>
            least(taken[mode].map(({ cpu }) => cpu![part]));
          added
            .get(part)!
            .push(`${(ms('full') - ms('off')).toFixed(0)} (of ${ms('full').toFixed(0)})`);
        }
        const { worker } = await apps.run(w, 'full', true);
        const all = WORKER_PARTS.reduce((sum, part) => sum + worker![part], 0);
        for (const part of WORKER_PARTS)
          shares.get(part)!.push(`${((100 * worker![part]) / all).toFixed(0)} %`);
      }
    } finally {
      await apps.close();
    }
  }
  return {
    columns: ['part', ...columns],
    rows: [
      ...Array.from(added, ([part, cells]) => [part, ...cells]),
      ...Array.from(shares, ([part, cells]) => [`profile: ${part}`, ...cells]),
    ],
  };
}
