/** Which of two rows of moments belong together where nothing but their order shows it: a guess. */

/**
 *   asked      1  2      3        4
 *   answered      a        b         c      1-a 3-b 4-c, or, first come, first served: 1-a 2-b 3-c
 *
 * Each gets at most one that comes at its own moment or later, and none passes another. What is asked first is answered first, unless
 * something without an answer would make all that follow wait: where they would wait more than twice as long in all, the latest that it can be is asked.
 * @param asked ascending @param answered ascending
 * @returns for each that is asked its place in `answered`; -1 = none
 */
export function matchInOrder(asked: readonly number[], answered: readonly number[]): Int32Array {
  const first = new Int32Array(asked.length).fill(-1);
  const used: number[] = [];
  let firstSum = 0;
  for (let i = 0, next = 0; i < asked.length; i++) {
    while (next < answered.length && answered[next]! < asked[i]!) next++;
    if (next === answered.length) break;
    used.push(next);
    firstSum += answered[next]! - asked[i]!;
    first[i] = next++;
  }
  const latest = new Int32Array(asked.length).fill(-1);
  let latestSum = 0;
  for (let i = asked.length - 1, k = used.length - 1; k >= 0; i--, k--) {
    const at = answered[used[k]!]!;
    while (asked[i]! > at) i--;
    latestSum += at - asked[i]!;
    latest[i] = used[k]!;
  }
  return firstSum > 2 * latestSum ? latest : first;
}
