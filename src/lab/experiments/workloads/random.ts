/**
 * Repeatable randomness: every workload has its own generator, so the same parameters give the same
 * bytes.
 */

/** 32-bit generator (mulberry32). @returns a function that draws a whole number from 0 to n-1 */
export function seeded(seed: number): (n: number) => number {
  let state = seed >>> 0;
  return (n) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * n);
  };
}

const SMALL =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  );
const TENS = 'ten twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');

/**
 * Numbers in English words, as in the benchmarks: 19147 is "nineteen thousand one hundred
 * forty-seven". Up to 999,999,999.
 */
export function numberWords(n: number): string {
  if (n >= 1_000_000) return joined(n, 1_000_000, 'million');
  if (n >= 1000) return joined(n, 1000, 'thousand');
  if (n >= 100) return joined(n, 100, 'hundred');
  if (n < 20) return SMALL[n]!;
  const tens = TENS[Math.floor(n / 10) - 1]!;
  return n % 10 ? `${tens}-${SMALL[n % 10]!}` : tens;
}
function joined(n: number, unit: number, name: string): string {
  const head = `${numberWords(Math.floor(n / unit))} ${name}`;
  return n % unit ? `${head} ${numberWords(n % unit)}` : head;
}
