/** The answer of *Try it*: each way in milliseconds and counts, a sentence each. */
import { placed } from '../experiments/model/aggregate.ts';
import { counterText, counterValue } from '../experiments/model/counter-words.ts';
import type { RunResult } from '../experiments/model/result-types.ts';

const COUNTS = [
  'vfs.calls',
  'vfs.xRead',
  'vfs.xReadBytes',
  'vfs.xWrite',
  'vfs.xWriteBytes',
  'vfs.xSync',
] as const;
/** Of bytes, which have no noun of their own. */
const BYTES: Readonly<Record<string, string>> = {
  'vfs.xReadBytes': 'read',
  'vfs.xWriteBytes': 'written',
};

/** @param results those that are done, the first one as recorded @returns a line each; none where there is nothing to compare */
export function beforeAndAfter(
  results: readonly { readonly name: string; readonly result: RunResult }[],
): string[] {
  if (results.length < 2) return [];
  return results.map(({ name, result }, i) => {
    const ms = placed(result, { step: 'total', counter: 'ms' });
    const counts = COUNTS.flatMap((counter) => {
      const n = placed(result, { step: 'total', counter })?.value;
      if (n === undefined) return [];
      const text = counterText(n, counter);
      return [BYTES[counter] ? `${text} ${BYTES[counter]}` : text];
    });
    const time = ms
      ? [
          `${counterValue(ms.value, 'ms')} (${counterValue(ms.spread!.least, 'ms')} to ${counterValue(ms.spread!.most, 'ms')})`,
        ]
      : [];
    return `${i === 0 ? 'Before' : 'After'}, ${name}: ${[...time, ...counts].join(', ')}.`;
  });
}
