/** The answer of *Try it*: both ways in milliseconds and counts, one sentence each. */
import { placed } from '../experiments/model/aggregate.ts';
import { counterText } from '../experiments/model/counter-words.ts';
import type { Placed, RunResult } from '../experiments/model/result-types.ts';
import { isNoiseBetween } from './compare.ts';
import { fromToText, milliseconds } from './table.ts';

const COUNTS = [
  'vfs.calls',
  'vfs.xRead',
  'vfs.xReadBytes',
  'vfs.xWrite',
  'vfs.xWriteBytes',
  'vfs.xSync',
] as const;
/** For bytes, which have no noun. */
const BYTES: Readonly<Record<string, string>> = {
  'vfs.xReadBytes': 'read',
  'vfs.xWriteBytes': 'written',
};

/**
 * @param ways the first one as recorded; null: it has no result
 * @returns one line each; none where there is nothing to compare
 */
export function beforeAndAfter(
  ways: readonly { readonly name: string; readonly result: RunResult | null }[],
): string[] {
  if (ways.filter(({ result }) => result).length === 0) return [];
  const before = timeOf(ways[0]!.result);
  return ways.map(({ name, result }, i) => {
    const way = `${i === 0 ? 'Before' : 'After'}, ${name}`;
    if (!result) return `${way}: no result.`;
    const ms = timeOf(result);
    const counts = COUNTS.flatMap((counter) => {
      const n = placed(result, { step: 'total', counter })?.value;
      if (n === undefined) return [];
      const text = counterText(n, counter);
      return [BYTES[counter] ? `${text} ${BYTES[counter]}` : text];
    });
    const time = ms
      ? [`${milliseconds(ms.value, ms.stepMs)} (${fromToText(ms.spread!, ms.stepMs)})`]
      : [];
    const isUndecided = i > 0 && before && ms && isNoiseBetween(ms, before);
    return `${way}: ${[...time, ...counts].join(', ')}.${isUndecided ? ' The times differ by less than the noise.' : ''}`;
  });
}
const timeOf = (result: RunResult | null): Placed | undefined =>
  result ? placed(result, { step: 'total', counter: 'ms' }) : undefined;
