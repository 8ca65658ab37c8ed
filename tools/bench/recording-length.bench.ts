// How much of what recording costs an app is paid once, and how much by every event: the same
// workloads, and four times as long.
import {
  compare,
  eventsOf,
  least,
  RecordedApps,
  WORKLOADS,
  type BenchedRun,
  type Taken,
} from './recorded-app.ts';

const REPEATS = Number(process.env['REPEATS'] ?? 5);
/** Indexes in WORKLOADS, separated by commas. Default: all. */
const ROWS = process.env['ROWS']?.split(',').map(Number);
/** Times as many statements. */
const LONGER = 4;
const MODES = ['off', 'full', 'chrome'] as const;
type LengthMode = (typeof MODES)[number];

export const title = 'What recording costs once, and by the event (Chromium)';
export const about =
  `The workloads of "An app, recorded and not" as they are (x1) and with ${LONGER} times the statements (x${LONGER}), the panel in a window: minima of ${REPEATS} interleaved runs of each way, as ratios to ` +
  'the same length without recording. "After that" is the ratio of what a longer run takes more than a shorter one, so without what is paid once, such as compiling the hook as its code gets ' +
  `warm. "Once" is what recording adds beyond that, by the app's own clock. "CPU once" and "ns of CPU per event" divide the CPU time of the page's workers and their helpers (compiling, garbage) ` +
  'in the same way. CPU time leaves out what else the machine does.';

/**
 * What a way costs at both lengths: a part that is paid once, and one that grows with the length.
 */
function split(short: number, long: number): { once: number; lasting: number } {
  const lasting = (long - short) / (LONGER - 1);
  return { once: short - lasting, lasting };
}

const longer = (run: BenchedRun): BenchedRun => ({
  ...run,
  options: { ...run.options, n: run.options.n! * LONGER },
});

const ms = ({ ms }: Taken): number => ms;
const cpuMs = ({ cpu }: Taken): number =>
  cpu ? cpu['traced workers'] + cpu["the page's helpers (garbage, compiling)"] : NaN;

export async function run(): Promise<{ columns: string[]; rows: (string | number)[][] }> {
  const rows: (string | number)[][] = [];
  const apps = await RecordedApps.open('window');
  try {
    for (const w of WORKLOADS.filter((_, i) => ROWS?.includes(i) ?? true)) {
      const short = await compare(apps, w, REPEATS, MODES);
      const long = await compare(apps, longer(w), REPEATS, MODES);
      const moreEvents = eventsOf(long.recorded!) - eventsOf(short.recorded!);
      const of = (mode: LengthMode, what: (taken: Taken) => number): [number, number] => [
        least(short.taken[mode].map(what)),
        least(long.taken[mode].map(what)),
      ];
      const off = of('off', ms);
      const ratios = (mode: LengthMode): string[] => {
        const [one, more] = of(mode, ms);
        return [one / off[0], more / off[1], (more - one) / (off[1] - off[0])].map((ratio) =>
          ratio.toFixed(2),
        );
      };
      const added = (what: (taken: Taken) => number): ReturnType<typeof split> => {
        const [full, none] = [split(...of('full', what)), split(...of('off', what))];
        return { once: full.once - none.once, lasting: full.lasting - none.lasting };
      };
      const cpu = added(cpuMs);
      const perEvent = (cpu.lasting * (LONGER - 1) * 1e6) / moreEvents;
      const whole = (value: number): string | number =>
        Number.isNaN(value) ? 'n/a' : Math.round(value);
      rows.push([
        w.name,
        off.map((value) => value.toFixed(0)).join(', '),
        ...ratios('full'),
        whole(added(ms).once),
        ...ratios('chrome'),
        ...[whole(cpu.once), whole(perEvent)],
      ]);
    }
  } finally {
    await apps.close();
  }
  const columns = ['workload', `off, min, x1 and x${LONGER}`];
  for (const who of ['recorded', 'Chrome'])
    columns.push(
      ...['x1', `x${LONGER}`, 'after that'].map((what) => `${who}, ${what}`),
      ...(who === 'recorded' ? ['once, ms'] : []),
    );
  return { columns: [...columns, 'CPU once, ms', 'ns of CPU per event'], rows };
}
