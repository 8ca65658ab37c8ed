/**
 * Formats numbers in every view, finding, report, and command: three significant digits without
 * trailing zeros, integers in groups of three. Unknown values read "n/a", never 0.
 */

/** How an unknown value reads. Its cause is shown next to it. */
export const UNKNOWN = 'n/a';

type Known = number | null | undefined;
const isUnknown = (n: Known): n is null | undefined => n === null || n === undefined;

const WHOLE = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const EXACT = new Intl.NumberFormat('en-US', { maximumFractionDigits: 3 });

/** Three significant digits, but all integer digits of larger numbers: `1.25`, `12.5`, `1,023`. */
function digits(value: number): string {
  const abs = Math.abs(value);
  return abs >= 99.95 ? WHOLE.format(value) : String(+value.toFixed(abs >= 9.995 ? 1 : 2));
}

/** A duration: `12.3 µs`, `4.5 ms`, `1.23 s`, `2 min 5 s`. @param us microseconds */
export function formatDuration(us: Known): string {
  if (isUnknown(us)) return UNKNOWN;
  const abs = Math.abs(us);
  if (abs === 0) return '0';
  if (abs < 1) return `${digits(us * 1e3)} ns`;
  if (abs < 999.5) return `${digits(us)} µs`;
  if (abs < 999_500) return `${digits(us / 1e3)} ms`;
  if (abs < 120e6) return `${digits(us / 1e6)} s`;
  const seconds = Math.round(abs / 1e6);
  return `${us < 0 ? '-' : ''}${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/**
 * A measured duration: below the clock's step, it reads `< 100 µs`, not 0. @param stepUs null or 0
 * = not known
 */
export function formatMeasured(us: Known, stepUs: number | null): string {
  // times are floats: one step may be a hair less
  return stepUs !== null && stepUs > 0 && !isUnknown(us) && us < 0.999 * stepUs
    ? `< ${formatDuration(stepUs)}`
    : formatDuration(us);
}

/**
 * Time since the trace started, to the microsecond: `1.234567 s`. Always in seconds, so that a
 * column is comparable.
 */
export function formatMoment(us: Known): string {
  return isUnknown(us) ? UNKNOWN : `${(us / 1e6).toFixed(6)} s`;
}

/**
 * Two moments with a precision that fits their distance, from milliseconds to microseconds: `1.703
 * s to 2.134 s`.
 */
export function formatSpan(fromUs: number, toUs: number): string {
  const places = Math.ceil(2 - Math.log10((toUs - fromUs) / 1e6));
  const text = (us: number): string => (us / 1e6).toFixed(Math.min(6, Math.max(3, places)));
  return `${text(fromUs)} s to ${text(toUs)} s`;
}

/** Bytes in 1024s: `512 B`, `4 KiB`, `12.5 MiB`. A rate isn't a whole number: `0.25 B`, `853 B`. */
export function formatBytes(bytes: Known): string {
  if (isUnknown(bytes)) return UNKNOWN;
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1023.5 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${digits(value)} ${units[unit]}`;
}

/** A whole number: `1,234,567`. */
export function formatCount(n: Known): string {
  return isUnknown(n) ? UNKNOWN : WHOLE.format(n);
}

/** A mean, a rate, or another number that may be fractional: `2.25`, `1,234`, `0.0123`. */
export function formatNumber(n: Known): string {
  if (isUnknown(n)) return UNKNOWN;
  const abs = Math.abs(n);
  return abs >= 99.95 || Number.isInteger(n) ? WHOLE.format(n) : String(+n.toPrecision(3));
}

/** A number for comparison with another: up to three decimals, regardless of size. */
export function formatExact(n: Known): string {
  return isUnknown(n) ? UNKNOWN : EXACT.format(n);
}

/** A difference with its sign: `+5`, `-1.5 ms`, `0`. */
export const formatSigned = (n: Known, format: (n: number) => string): string =>
  isUnknown(n) ? UNKNOWN : `${n < 0 ? '-' : n > 0 ? '+' : ''}${format(Math.abs(n))}`;

/** `1 read`, `1,234 reads`: a count with its noun. */
export const countOf = (n: number | null, one: string, many = `${one}s`): string =>
  `${formatCount(n)} ${n === 1 ? one : many}`;

/** A count for narrow spaces: `999`, `12.3k`, `4.56M`. */
export function formatShortCount(n: number): string {
  if (n < 9999.5) return formatCount(n);
  if (n < 999_500) return `${digits(n / 1e3)}k`;
  return `${digits(n / 1e6)}M`;
}

/** A share 0..1 as a percentage. A small one isn't rounded to 0. */
export function formatShare(share: Known): string {
  if (isUnknown(share)) return UNKNOWN;
  const percent = share * 100;
  return percent > 0 && percent < 0.1 ? '<0.1 %' : `${+percent.toFixed(1)} %`;
}

/** A number's unit, which determines its format. */
const UNITS = {
  /** Time since the trace started, and a duration; microseconds. */
  moment: formatMoment,
  us: formatDuration,
  bytes: formatBytes,
  count: formatCount,
  /** May be fractional. */
  number: formatNumber,
  /** 0..1 */
  share: formatShare,
  nsPerEvent: (ns: number) => `${formatCount(ns)} ns/event`,
  /** A number used as a name, and a small one: a code, a flag, the index of a thread. */
  id: String,
  int: String,
};
export type Unit = keyof typeof UNITS;

/** A number in its unit. @param short for narrow spaces */
export function formatAs(value: Known, unit: Unit, short = false): string {
  if (isUnknown(value)) return UNKNOWN;
  return short && unit === 'count' ? formatShortCount(value) : UNITS[unit](value);
}

/**
 * Units that grow with what they count: more threads have more. The others are shares and ratios.
 */
export const isSum = (unit: Unit): boolean => unit === 'count' || unit === 'bytes' || unit === 'us';

/**
 * The same for a number that may miss something. @param unseen what is missing; null = nothing. A
 * sum is then a lower bound; a share or ratio describes only a part.
 */
export function formatBound(
  { value, unit, unseen }: { value: Known; unit: Unit; unseen: string | null },
  short = false,
): string {
  const text = formatAs(value, unit, short);
  if (unseen === null) return text;
  return isSum(unit) ? `≥ ${text}` : `${text} (partial)`;
}
