/** Times beside those of a native SQLite, as one table, for the command and reports. */
import { stepMsOf } from '../experiments/model/aggregate.ts';
import type { NamedResult } from '../experiments/model/environment.ts';
import type { NativeReference, RunResult, Spread } from '../experiments/model/result-types.ts';
import { UNKNOWN } from '../../text/numbers.ts';
import { milliseconds, type ResultTable } from './table.ts';

/**
 * The clock of the sqlite3 shell has a resolution of one millisecond: below this a ratio is
 * meaningless.
 */
const LEAST_MS = 10;

/** The ratio to native; null where either isn't known, or native is too short for its clock. */
export function timesNative(time: Spread | null, native: Spread | undefined): number | null {
  if (!time || !native || native.median < LEAST_MS) return null;
  return time.median / native.median;
}
const timesText = (times: number | null): string =>
  times === null ? UNKNOWN : `×${times.toPrecision(times >= 10 ? 3 : 2)}`;

/** Whole milliseconds by the shell's clock: 0 is less than one. */
const nativeText = (native: Spread | undefined): string =>
  native?.median === 0 ? '< 1 ms' : milliseconds(native?.median) || UNKNOWN;

const programText = ({ program, sqlite }: NativeReference): string =>
  `${program}, SQLite ${sqlite}`;

/** The sum over the steps that native also ran. */
const rowsOf = (result: RunResult): [name: string, time: Spread | null, native?: Spread][] => {
  const { native, steps, totalMs } = result;
  const all = steps.every(({ id, twin }) => twin || native?.steps[id] !== undefined);
  return [
    ...(steps.length > 1
      ? steps.map(({ id, ms }) => [id, ms, native?.steps[id]] as [string, Spread | null, Spread?])
      : []),
    ['total', totalMs, all ? native?.totalMs : undefined],
  ];
};

/**
 * A row for each step and the total; for several runs only the totals. Null where no run has a
 * reference.
 */
export function nativeTable(runs: readonly NamedResult[]): ResultTable | null {
  const found = runs.flatMap(({ name, result }) =>
    result.native ? [{ name, result, native: result.native, stepMs: stepMsOf(result) }] : [],
  );
  const [first] = found;
  if (!first) return null;
  const rows = found.flatMap(({ name, result, stepMs }) =>
    (found.length > 1 ? rowsOf(result).slice(-1) : rowsOf(result)).map(([step, time, native]) => [
      found.length > 1 ? name : step,
      milliseconds(time?.median, stepMs) || UNKNOWN,
      nativeText(native),
      timesText(timesNative(time, native)),
    ]),
  );
  return {
    id: 'native',
    title: `Times native (${programText(first.native)})`,
    help: 'The same SQL in memory, bound values written into it on both sides. Medians. Native steps below 10 ms are too short for its clock.',
    head: [found.length > 1 ? 'run' : 'step', 'time', 'native', '× native'],
    rows,
    more: 0,
  };
}
