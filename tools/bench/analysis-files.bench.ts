// Bytes per event of .vfst files of real recordings (tests/traces/golden/scenarios.ts, LARGE),
// recorded again with the built extension.
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { summaryOf } from '../../src/analysis/report/summary.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { recordAll } from '../../tests/traces/golden/record.ts';
import { LARGE, MOST_BYTES_AN_EVENT } from '../../tests/traces/golden/scenarios.ts';

export const title = 'Files of real recordings (Chromium)';
export const about =
  'Recordings of 100,000 events and more, saved by the panel: bytes of the gzipped file for each event. Aim: 7 at a clock of nanoseconds, 3.5 at 5 us, 2.5 at 100 us.';

export async function run(): Promise<{ columns: string[]; rows: (string | number)[][] }> {
  const folder = await mkdtemp(join(tmpdir(), 'vfscope-files-'));
  try {
    const scenarios = LARGE.map((s, i) => ({ ...s, name: String(i) }));
    await recordAll({
      scenarios,
      extension: join(process.env['VFSCOPE_DIST'] ?? 'dist', 'chrome'),
      folder,
      say: () => undefined,
    });
    const rows: (string | number)[][] = [];
    for (const [i, { name, shows }] of LARGE.entries()) {
      const file = join(folder, `${i}.vfst`);
      const { size } = await stat(file);
      const summary = summaryOf((await readTrace(await readFile(file))).store);
      const clock = summary.environment.clockStepUs;
      const most = clock === null ? 0 : (MOST_BYTES_AN_EVENT[clock] ?? 0);
      if (size / summary.events > most)
        throw new Error(
          `${name}: ${size} bytes for ${summary.events} events, more than ${most} each`,
        );
      rows.push([
        name,
        shows,
        clock ?? 'differs',
        summary.events.toLocaleString('en-US'),
        size.toLocaleString('en-US'),
        (size / summary.events).toFixed(2),
      ]);
    }
    return {
      columns: ['recording', 'what it holds', 'clock, us', 'events', 'bytes', 'bytes/event'],
      rows,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
