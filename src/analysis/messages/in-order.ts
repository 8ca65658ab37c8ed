/** Guesses which of two series of moments belong together if only their order is known. */

/**
 *   asked      1  2      3        4
 *   answered      a        b         c      1-a 3-b 4-c, or, first come, first served: 1-a 2-b 3-c
 *
 * Each question gets at most one answer, at its own moment or later, and answers keep the order of
 * the questions. The first question gets the first answer, unless a question without an answer
 * would delay all that follow: if their total wait would be more than twice as long, the answer
 * goes to the latest possible question.
 * @param asked ascending @param answered ascending
 * @returns for each question its index in `answered`; -1 = none
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
