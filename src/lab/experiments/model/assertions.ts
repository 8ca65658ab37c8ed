/**
 * Formats assertions and decides them: counts exactly, times only relative to times and only beyond
 * their spread.
 */
import type { Assertion, Place } from './types.ts';
import type { Placed, Verdict } from './result-types.ts';

const PLACE = String.raw`(?:(\S+) )?(\S+) (\S+)(?: \* (\S+))?`;
const COMPARISON = new RegExp(`^${PLACE} (=|<=?|>=?) (?:(\\d+)|${PLACE})$`);

/**
 * @param compared the expectation as text, and the comparison that decides it: `variant step
 * counter * times < variant step counter`.
 * `* times` is left out where it is 1, and the variant in a workload's own assertions. The right
 * side may be a number.
 */
export const expectAll = (compared: Readonly<Record<string, string>>): Assertion[] =>
  Object.entries(compared).map(([text, comparison]) => {
    const found = COMPARISON.exec(comparison);
    if (!found) throw new Error(`"${comparison}" compares no two places`);
    const is = found[5] as Assertion['is'];
    const right = found[6] === undefined ? placeOf(found.slice(7)) : Number(found[6]);
    return { text, left: placeOf(found.slice(1)), is, right };
  });

const placeOf = ([variant, step, counter, times]: (string | undefined)[]): Place => ({
  ...(variant === undefined ? {} : { variant }),
  step: step!,
  counter: counter!,
  ...(times === undefined ? {} : { times: Number(times) }),
});

type Found = Placed | undefined;

const HOLDS: Record<Assertion['is'], (a: number, b: number) => boolean> = {
  '=': (a, b) => a === b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
};
const words = ({ variant, step, counter }: Place): string =>
  `${variant ? `${variant}: ` : ''}${step} ${counter}`;

const factor = (place: Place | number): number =>
  typeof place === 'number' ? 1 : (place.times ?? 1);

/** Without looking at numbers. */
export const undecided = ({ text }: Assertion, why: string): Verdict => ({
  text,
  holds: null,
  left: null,
  right: null,
  why,
});

/**
 * @param find returns the number for a reference, undefined where it isn't known; `times` is
 * applied here
 */
export function decide(
  { text, left, is, right }: Assertion,
  find: (place: Place) => Found,
): Verdict {
  const a = find(left);
  const b: Found =
    typeof right === 'number' ? { value: right, spread: null, stepMs: 0 } : find(right);
  const times = [factor(left), factor(right)] as const;
  const verdict = {
    text,
    left: a?.value ?? null,
    right: b?.value ?? null,
    compared: {
      left: left.counter,
      right: typeof right === 'number' ? null : right.counter,
      is,
      times,
      ...(a?.spread || b?.spread ? { stepMs: Math.max(a?.stepMs ?? 0, b?.stepMs ?? 0) } : {}),
    },
  };
  if (!a || !b)
    return {
      ...verdict,
      holds: null,
      why: `not known here: ${words(a ? (right as Place) : left)}`,
    };
  const [x, y] = [a.value * times[0], b.value * times[1]];
  // its spread would be 0, so every difference would exceed it
  if (a.spread && b.spread && Math.min(a.spread.n, b.spread.n) < 2)
    return { ...verdict, holds: null, why: 'a single pass shows no noise: run several' };
  if (a.spread && b.spread && isNoise(x - y, [uncertainty(a), uncertainty(b)]))
    return { ...verdict, holds: null, why: 'the difference is within the noise' };
  return { ...verdict, holds: HOLDS[is](x, y) };
}

/**
 * The uncertainty of a time: twice the median deviation of its passes, and at least its clock's
 * resolution.
 */
export const uncertainty = ({ spread, stepMs }: Placed): number =>
  Math.max(2 * (spread?.mad ?? 0), stepMs);
/** Times closer than the uncertainty of either decide nothing. */
export const isNoise = (difference: number, uncertainties: readonly number[]): boolean =>
  Math.abs(difference) <= Math.max(...uncertainties);
