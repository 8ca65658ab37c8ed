/**
 * Count mode by function: the instructions that each function itself executed between two moments.
 * They sum to the exact total.
 */
import type { FunctionCount } from '../../meter/meter.ts';
import type { FunctionInstructions } from '../model/result-types.ts';

/** Functions in the list; the rest is one number. */
const MOST = 300;

/**
 * @returns the most expensive first; if there are more than listed, the last entry, '', has their
 * sum
 */
export function functionsBetween(
  before: readonly FunctionCount[],
  after: readonly FunctionCount[],
): FunctionInstructions[] {
  const earlier = new Map(before.map(({ index, instructions }) => [index, instructions]));
  const all = after
    .map(({ index, name, instructions }) => ({
      name: name ?? `#${index}`,
      instructions: Number(instructions - (earlier.get(index) ?? 0n)),
    }))
    .filter(({ instructions }) => instructions > 0)
    .sort((a, b) => b.instructions - a.instructions);
  if (all.length <= MOST) return all;
  const rest = all.slice(MOST).reduce((sum, { instructions }) => sum + instructions, 0);
  return [...all.slice(0, MOST), { name: '', instructions: rest }];
}
