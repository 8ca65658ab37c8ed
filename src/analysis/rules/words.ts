/** Numbers as the findings' sentences say them. */

/** 1234567 -> "1,234,567" */
export const count = (n: number): string => Math.round(n).toLocaleString('en-US');

/** "one", "1,000": with its noun, in the singular where it is one. */
export const some = (n: number, noun: string, plural = `${noun}s`): string =>
  `${count(n)} ${n === 1 ? noun : plural}`;

/** 4096 -> "4.0 KiB"; below 1 KiB in bytes. */
export function size(bytes: number): string {
  if (bytes < 1024) return `${count(bytes)} bytes`;
  if (bytes < 1024 * 1024) return `${trim(bytes / 1024)} KiB`;
  if (bytes < 1024 ** 3) return `${trim(bytes / 1024 ** 2)} MiB`;
  return `${trim(bytes / 1024 ** 3)} GiB`;
}

/** Microseconds -> "12 µs", "3.4 ms", "1.2 s". */
export function time(us: number): string {
  if (us < 1000) return `${us < 10 ? trim(us) : count(us)} µs`;
  return us < 1e6 ? `${trim(us / 1000)} ms` : `${trim(us / 1e6)} s`;
}

/** 0.123 -> "12 %" */
export const percent = (share: number): string =>
  `${share > 0 && share < 0.01 ? 'under 1' : Math.round(share * 100)} %`;

const trim = (n: number): string => (n >= 100 ? count(n) : String(Number(n.toFixed(1))));
