/** Numbers in words for people: times, bytes, counts, shares. The unknown is "n/a", never 0. */

/** A duration with three significant digits: `12.3 µs`, `4.56 ms`, `1.23 s`. @param us microseconds */
export function formatDuration(us: number): string {
  const abs = Math.abs(us);
  if (abs === 0) return '0';
  if (abs < 1) return `${digits(us * 1e3)} ns`;
  if (abs < 999.5) return `${digits(us)} µs`;
  if (abs < 999_500) return `${digits(us / 1e3)} ms`;
  if (abs < 120e6) return `${digits(us / 1e6)} s`;
  const seconds = Math.round(abs / 1e6);
  return `${us < 0 ? '-' : ''}${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** A measured duration: one below the step of the clock reads `< 100 µs`, not 0. @param stepUs null or 0 = not known */
export function formatMeasured(us: number, stepUs: number | null): string {
  // times are floats: one step may be a hair less
  return stepUs !== null && stepUs > 0 && us < 0.999 * stepUs
    ? `< ${formatDuration(stepUs)}`
    : formatDuration(us);
}

/** A moment since the trace began, to the microsecond: `1.234567 s`. Always in seconds, so that a column of moments compares. */
export function formatMoment(us: number): string {
  return `${(us / 1e6).toFixed(6)} s`;
}

function digits(value: number): string {
  const abs = Math.abs(value);
  return abs >= 99.95 ? value.toFixed(0) : abs >= 9.995 ? value.toFixed(1) : value.toFixed(2);
}

/** Bytes in 1024s: `512 B`, `4.00 KiB`, `12.5 MiB`. A rate is no whole number: `0.25 B`, `853 B`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1023.5) return `${Number.isInteger(bytes) ? bytes : +digits(bytes)} B`;
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  let value = bytes / 1024;
  let unit = 0;
  while (value >= 1023.5 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${digits(value)} ${units[unit]}`;
}

/** A whole number with thin groups: `1,234,567`. */
export function formatCount(n: number): string {
  return Math.round(n).toLocaleString('en-US');
}

/** `1 read`, `1,234 reads`. @param one the noun; its plural is made with an s */
export const countOf = (n: number, one: string): string =>
  `${formatCount(n)} ${one}${n === 1 ? '' : 's'}`;
/** A count where room is short: `999`, `12.3k`, `4.56M`. */
export function formatShortCount(n: number): string {
  if (n < 9999.5) return formatCount(n);
  if (n < 999_500) return `${digits(n / 1e3)}k`;
  return `${digits(n / 1e6)}M`;
}

/** A share 0..1 as a percentage; a small one is not rounded to nothing. */
export function formatShare(share: number): string {
  const percent = share * 100;
  if (percent > 0 && percent < 0.1) return '<0.1 %';
  return `${percent >= 99.95 || percent === 0 ? percent.toFixed(0) : percent.toFixed(1)} %`;
}
