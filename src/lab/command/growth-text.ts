/**
 * Many runs of the Lab as text: a grid's table, the passes of each, and how counters grow along a
 * sweep.
 */
import { isTime, clockStepMs, placed, stepMsOf } from '../experiments/model/aggregate.ts';
import { verdictsOfEach } from '../experiments/grid-result.ts';
import { headings } from '../experiments/model/knobs.ts';
import { slopeText, slopeWords } from '../experiments/model/sweep.ts';
import type { NamedResult } from '../experiments/model/environment.ts';
import type { Config, Run } from '../experiments/model/types.ts';
import type { Growth, GridResult, RunResult } from '../experiments/model/result-types.ts';
import { workloadOf } from '../experiments/workloads/index.ts';
import {
  modeText,
  notCounted,
  passesText,
  settingsText,
  spreadText,
  environmentLines,
  titleOn,
  verdictText,
} from './run-text.ts';
import { countersShown } from '../results/columns.ts';
import { ratioText } from '../results/compare.ts';
import { milliseconds, number } from '../results/table.ts';
import { table } from '../../terminal/report-text.ts';
import { measureLines, nativeLines, twinLines } from './tables.ts';
import { plain } from '../../text/clean.ts';

/**
 * One line per run, with its sums, then growth, passes, and runs that didn't run.
 * @param grid with at least one run
 */
export function gridText({ workload, runs, skipped, verdicts, growth }: GridResult): string {
  const first = runs[0]!;
  const names = headings(runs.map(({ run }) => run));
  const named = runs.map((result, i): NamedResult => ({ name: `${i + 1}. ${names[i]}`, result }));
  const asked = workloadOf(workload, first.run.sql);
  const counters = countersShown(
    asked,
    runs.map(({ totals }) => totals),
  );
  return `${[
    `${titleOn(asked.title, runs)} (version ${first.version})`,
    `  ${modeText(first.run)}`,
    ...sharedLines(runs.map(({ run }) => run)),
    '',
    ...runsTable('run', named, counters, '1', () => first),
    ...Object.entries(skipped).map(([name, why]) => `  ${plain(name)}: not run, ${plain(why)}`),
    ...measureLines(named),
    ...twinLines(named),
    ...nativeLines(named),
    ...growthLines(growth, named),
    ...passesTable('run', named),
    ...named.flatMap(({ name, result }) =>
      result.notes.map((note) => `  ! ${plain(name)}: ${plain(note)}`),
    ),
    '',
    ...verdicts.map(verdictText),
    ...verdictsOfEach(named).map(verdictText),
    ...environmentLines(named),
  ].join('\n')}\n`;
}

const TOTAL_MS = { step: 'total', counter: 'ms' };

/**
 * One line per run: its time, also relative to another run, and its counters.
 * @param baseOf returns the run to compare with
 */
export function runsTable(
  head: string,
  runs: readonly NamedResult[],
  counters: readonly string[],
  baseName: string,
  baseOf: (name: string) => RunResult | undefined,
): string[] {
  const timed = runs.some(({ result }) => result.totalMs);
  const times = ({ name, result }: NamedResult): string[] => {
    const [time, base] = [result, baseOf(name)].map((r) => r && placed(r, TOTAL_MS));
    const stepMs = stepMsOf(result);
    return [
      milliseconds(time?.value, stepMs),
      spreadText(time?.spread, stepMs),
      time && base ? (baseOf(name) === result ? '=' : ratioText(time, base).replace('−', '-')) : '',
    ];
  };
  return table(
    [head, ...(timed ? ['time', 'from-to', `/ ${baseName}`] : []), ...counters],
    runs.map((run) => [
      plain(run.name),
      ...(timed ? times(run) : []),
      ...counters.map((counter) => number(placed(run.result, { step: 'total', counter })?.value)),
    ]),
  );
}

/** Settings and parameters that all runs share. */
function sharedLines(runs: readonly Run[]): string[] {
  const [first] = runs as [Run];
  const alike = (of: (run: Run) => unknown): boolean => runs.every((run) => of(run) === of(first));
  const config = Object.entries(first.config).filter(([key]) =>
    alike((run) => run.config[key as keyof Config]),
  );
  const parameters = Object.entries(first.parameters).filter(([key]) =>
    alike((run) => run.parameters[key]),
  );
  return [config, parameters].flatMap((of) => {
    const text = settingsText(of);
    return text ? [`  ${text}`] : [];
  });
}

/** One line per curve and counter: its ends, the fitted exponent, and its meaning. */
export function growthLines(growth: readonly Growth[], runs: readonly NamedResult[]): string[] {
  const stepMs = clockStepMs(runs);
  return [...new Set(growth.map(({ over }) => over))].flatMap((over) => {
    const mine = growth.filter((g) => g.over === over);
    const rows = mine.flatMap(({ counter, curves }) =>
      curves.map(({ name, points, slope, lastSlope }) => {
        const [a, b] = [points[0]!, points.at(-1)!];
        const worth = (y: number): string =>
          isTime(counter) ? milliseconds(y, stepMs) : number(y);
        const ends = [number(a.x), worth(a.y), number(b.x), worth(b.y)];
        return [
          plain(name),
          counter,
          ...ends,
          slopeText(slope),
          slopeText(lastSlope),
          slopeWords(slope),
        ];
      }),
    );
    return [
      '',
      `Growth over ${over} (slope = b of a * ${over}^b, by least squares of the logarithms: 1 = linear)`,
      ...table(
        ['curve', 'counter', over, 'value', over, 'value', 'slope', 'at the end', ''],
        rows,
        [0, 1, 8],
      ),
    ];
  });
}

/**
 * Each pass of timed runs, because a median can hide two groups of passes. Empty where there is one
 * pass.
 */
export function passesTable(head: string, runs: readonly NamedResult[]): string[] {
  if (!runs.some(({ result }) => passesText(result))) return [];
  const said = runs.flatMap(({ name, result }) =>
    notCounted(result).map((words) => (words.startsWith('pass') ? `${name}: ${words}` : words)),
  );
  return [
    '',
    'Passes',
    ...table(
      [head, 'each, in order'],
      runs.map(({ name, result }) => [plain(name), passesText(result)]),
      [0, 1],
    ),
    ...[...new Set(said)].map((words) => `  ${words}`),
  ];
}
