/** The selected row of a table of locks, and its form in the address. */
import type { Range } from '../../charts/viewport.ts';

export interface LockSelection {
  table: string;
  key: string;
  /** What the lanes highlight. */
  lanes: readonly string[];
  /** Microseconds. */
  range: Range;
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isTime = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value);

/** An address may contain anything: an invalid selection is ignored. */
export const LOCK_SELECTION = {
  parse(text: string): LockSelection | undefined {
    let said: unknown;
    try {
      said = JSON.parse(text);
    } catch {
      return undefined; // not written by us
    }
    if (!Array.isArray(said)) return undefined;
    const [table, key, from, to, ...lanes] = said as unknown[];
    if (
      !isText(table) ||
      !isText(key) ||
      !isTime(from) ||
      !isTime(to) ||
      to < from ||
      !lanes.every(isText)
    )
      return undefined;
    return { table, key, lanes, range: { from, to } };
  },
  format(marked: LockSelection | null): string {
    if (!marked) return '';
    const { table, key, lanes, range } = marked;
    return JSON.stringify([table, key, range.from, range.to, ...lanes]);
  },
};
