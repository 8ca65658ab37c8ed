/**
 * IndexedDB keys of the types that VFSs use: numbers, strings, and arrays of them, ordered as in
 * the specification.
 */

export type ValidKey = number | string | readonly ValidKey[];

/** Numbers come before strings, strings before arrays. */
const rank = (key: ValidKey): number =>
  typeof key === 'number' ? 0 : typeof key === 'string' ? 1 : 2;

/** @returns below 0 where `a` comes first */
export function compareKeys(a: ValidKey, b: ValidKey): number {
  if (typeof a === 'number' && typeof b === 'number') return a < b ? -1 : a > b ? 1 : 0;
  if (typeof a === 'string' && typeof b === 'string') return a < b ? -1 : a > b ? 1 : 0;
  if (typeof a === 'object' && typeof b === 'object') {
    for (let i = 0; i < Math.min(a.length, b.length); i++) {
      const order = compareKeys(a[i]!, b[i]!);
      if (order) return order;
    }
    return a.length - b.length;
  }
  return rank(a) - rank(b);
}

/** Replaces `IDBKeyRange` for VFSs. An absent bound is open. */
export class KeyRange {
  constructor(
    readonly lower: ValidKey | undefined,
    readonly upper: ValidKey | undefined,
    readonly lowerOpen = false,
    readonly upperOpen = false,
  ) {}
  static bound(
    lower: ValidKey,
    upper: ValidKey,
    lowerOpen?: boolean,
    upperOpen?: boolean,
  ): KeyRange {
    return new KeyRange(lower, upper, lowerOpen, upperOpen);
  }
  static only(key: ValidKey): KeyRange {
    return new KeyRange(key, key);
  }
  static lowerBound(lower: ValidKey, open?: boolean): KeyRange {
    return new KeyRange(lower, undefined, open);
  }
  static upperBound(upper: ValidKey, open?: boolean): KeyRange {
    return new KeyRange(undefined, upper, false, open);
  }
  /** The argument of a request: a range, a key, or nothing for all. */
  static of(query: KeyRange | ValidKey | null | undefined): KeyRange {
    if (query instanceof KeyRange) return query;
    return query === undefined || query === null
      ? new KeyRange(undefined, undefined)
      : KeyRange.only(query);
  }

  includes(key: ValidKey): boolean {
    const low = this.lower === undefined ? 1 : compareKeys(key, this.lower);
    const high = this.upper === undefined ? -1 : compareKeys(key, this.upper);
    return (
      (low > 0 || (low === 0 && !this.lowerOpen)) && (high < 0 || (high === 0 && !this.upperOpen))
    );
  }
}
