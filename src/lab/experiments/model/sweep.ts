/**
 * How a number grows along a sweep: the swept setting or parameter, a curve for each step or each
 * other configuration, and its slope.
 */
import { placed } from './aggregate.ts';
import { headings, KNOBS } from './knobs.ts';
import type { Config, Run } from './types.ts';
import type { RunResult, SweepCurve, SweepPoint } from './result-types.ts';
import { UNKNOWN } from '../../../text/numbers.ts';

interface SweepAxis {
  readonly key: string;
  readonly title: string;
  readonly of: 'parameter' | 'setting';
}
interface Sweep {
  /** Sorted by the last value, the highest first. */
  readonly curves: readonly SweepCurve[];
  /** Both axes are logarithmic: x spans a factor of ten or more, and all values are above 0. */
  readonly logarithmic: boolean;
}

/** Fewer don't make a curve. */
const LEAST_POINTS = 3;
type Results = readonly (RunResult | null)[];

/** A setting that switches something off is a separate case, not a point on a curve. */
const isOff = ({ key }: SweepAxis, x: number): boolean => key === 'walAutocheckpoint' && x === 0;
const valueOf = ({ config, parameters }: Run, { key, of }: SweepAxis): unknown =>
  of === 'parameter' ? parameters[key] : config[key as keyof Config];

/** Numbers with three or more values in these runs, the one with the most values first. */
export function sweepAxes(results: Results): SweepAxis[] {
  const runs = results.flatMap((r) => (r ? [r.run] : []));
  const all: SweepAxis[] = [
    ...[...new Set(runs.flatMap(({ parameters }) => Object.keys(parameters)))].map((key) => ({
      key,
      title: key,
      of: 'parameter' as const,
    })),
    ...KNOBS.map(({ key, title }) => ({ key, title, of: 'setting' as const })),
  ];
  const values = (axis: SweepAxis): Set<unknown> => new Set(runs.map((run) => valueOf(run, axis)));
  return all
    .filter(
      (axis) =>
        [...values(axis)].every((v) => typeof v === 'number') && values(axis).size >= LEAST_POINTS,
    )
    .sort((a, b) => values(b).size - values(a).size);
}

/**
 * @param step for the curves where runs differ in more than the axis; otherwise each step has a
 * curve
 */
export function sweepOf(results: Results, axis: SweepAxis, step: string, counter: string): Sweep {
  const found = results.flatMap((r) => (r ? [r] : []));
  const groups = alike(found, axis);
  const curves =
    groups.length > 1
      ? named(
          groups.flatMap((mine) => {
            const curve = curveOf('', mine, axis, step, counter);
            return isDrawn(curve) ? [{ curve, run: neutral(mine[0]!.run, axis) }] : [];
          }),
        )
      : stepsOf(found).map((id) => curveOf(id, found, axis, id, counter));
  const drawn = curves.filter(isDrawn).sort((a, b) => b.points.at(-1)!.y - a.points.at(-1)!.y);
  const points = drawn.flatMap((curve) => curve.points);
  const xs = points.map(({ x }) => x);
  return {
    curves: drawn,
    logarithmic:
      points.length > 0 &&
      points.every(({ x, from }) => x > 0 && from > 0) &&
      Math.max(...xs) >= 10 * Math.min(...xs),
  };
}

/** The run without its value on the axis: only other differences remain. */
const neutral = (run: Run, { key, of }: SweepAxis): Run =>
  of === 'parameter'
    ? { ...run, parameters: { ...run.parameters, [key]: 0 } }
    : { ...run, config: { ...run.config, [key]: 0 } };

const isDrawn = ({ points }: SweepCurve): boolean => points.length > 1;

/** Results that differ in nothing but the axis, together. */
function alike(found: readonly RunResult[], axis: SweepAxis): RunResult[][] {
  const labels = headings(found.map(({ run }) => neutral(run, axis)));
  const groups = new Map<string, RunResult[]>();
  found.forEach((result, i) => {
    const key = `${result.run.workload}, ${labels[i]}`;
    groups.set(key, [...(groups.get(key) ?? []), result]);
  });
  return [...groups.values()];
}

/**
 * Names each curve by what distinguishes it from others of its workload, or with several workloads,
 * also by the workload.
 */
function named(all: readonly { curve: SweepCurve; run: Run }[]): SweepCurve[] {
  const several = new Set(all.map(({ run }) => run.workload)).size > 1;
  return all.map(({ curve, run }) => {
    const mine = all.filter((one) => one.run.workload === run.workload);
    const label = headings(mine.map((one) => one.run))[mine.findIndex((one) => one.run === run)]!;
    const parts = several ? [run.workload, ...(mine.length > 1 ? [label] : [])] : [label];
    return { ...curve, name: parts.join(', ') };
  });
}

/** By their ids: a title may hold the value that is swept over. */
const stepsOf = (results: readonly RunResult[]): string[] => [
  ...new Set(results.flatMap(({ steps }) => steps.map(({ id }) => id))),
];

function curveOf(
  name: string,
  results: readonly RunResult[],
  axis: SweepAxis,
  step: string,
  counter: string,
): SweepCurve {
  const points = results
    .flatMap((result): SweepPoint[] => {
      const at = placed(result, { step, counter });
      const x = Number(valueOf(result.run, axis));
      return at && !isOff(axis, x)
        ? [{ x, y: at.value, from: at.spread?.least ?? at.value, to: at.spread?.most ?? at.value }]
        : [];
    })
    .sort((a, b) => a.x - b.x);
  const flat = points.every(({ y }) => y === 0);
  return {
    name,
    points: flat ? [] : points,
    slope: slopeOf(points),
    lastSlope: slopeOf(points.slice(-2)),
  };
}

/**
 * @returns null where a number is 0, which has no logarithm, where fewer than two have an x above
 * 0, or all have the same x
 */
export function slopeOf(points: readonly Pick<SweepPoint, 'x' | 'y'>[]): number | null {
  if (points.some(({ y }) => y <= 0)) return null;
  const logs = points.flatMap(({ x, y }) => (x > 0 ? [[Math.log(x), Math.log(y)] as const] : []));
  if (logs.length < 2) return null;
  const mean = (i: 0 | 1): number => logs.reduce((sum, log) => sum + log[i], 0) / logs.length;
  const [mx, my] = [mean(0), mean(1)];
  const spread = logs.reduce((sum, [x]) => sum + (x - mx) ** 2, 0);
  return spread === 0 ? null : logs.reduce((sum, [x, y]) => sum + (x - mx) * (y - my), 0) / spread;
}

/** An exponent to two places. */
export const slopeText = (slope: number | null): string =>
  slope?.toFixed(2).replace(/^-(0\.00)$/, '$1') ?? UNKNOWN;

const LINEAR = 0.1;
/** The meaning of a slope. */
export function slopeWords(slope: number | null): string {
  if (slope === null) return UNKNOWN;
  if (Math.abs(slope) < LINEAR) return 'does not grow';
  if (slope < 0) return 'falls';
  return slope > 1 + LINEAR
    ? 'worse than linear'
    : slope < 1 - LINEAR
      ? 'better than linear'
      : 'linear';
}
