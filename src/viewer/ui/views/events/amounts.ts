/**
 * Parses amounts: `5 ms`, `1.5s`, `200us`; `4096`, `64 KiB`, `1m`. Undefined = invalid, null =
 * empty.
 */

const TIME_UNITS: Readonly<Record<string, number>> = {
  ns: 1e-3,
  us: 1,
  µs: 1,
  μs: 1,
  ms: 1e3,
  '': 1e3,
  s: 1e6,
  min: 60e6,
};
const BYTE_UNITS: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  k: 1024,
  kb: 1024,
  kib: 1024,
  m: 1024 ** 2,
  mb: 1024 ** 2,
  mib: 1024 ** 2,
  g: 1024 ** 3,
  gb: 1024 ** 3,
  gib: 1024 ** 3,
};

function amountOf(
  text: string,
  units: Readonly<Record<string, number>>,
): number | null | undefined {
  const said = text.trim().toLowerCase();
  if (said === '') return null;
  const found = /^(\d+(?:[.,]\d+)?|[.,]\d+)\s*([a-zµμ]*)$/.exec(said);
  if (!found || !Object.hasOwn(units, found[2]!)) return undefined;
  return Number(found[1]!.replace(',', '.')) * units[found[2]!]!;
}

/** @returns microseconds; a number without a unit is in milliseconds */
export const durationOf = (text: string): number | null | undefined => amountOf(text, TIME_UNITS);
/** @returns bytes; units are of 1024 */
export const bytesOf = (text: string): number | null | undefined => amountOf(text, BYTE_UNITS);
/** @returns a page number, from 1 */
export function pageOf(text: string): number | null | undefined {
  const said = text.trim();
  if (said === '') return null;
  return /^[1-9]\d{0,9}$/.test(said) ? Number(said) : undefined;
}
