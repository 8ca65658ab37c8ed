/**
 * Shared by the rules about statements: a cache by text, and how many statements one rule names.
 */
import type { ThreadStore } from '../../trace/store.ts';
import { ById } from '../core/by-id.ts';
import { fingerprintsOf } from '../core/fingerprints.ts';

/**
 * Computes `of` once for each text of a thread, by its id, because a text may have a hundred
 * thousand runs.
 * @param of the fingerprint; '' = not known
 */
export function byText<T extends NonNullable<unknown> | null>(
  thread: ThreadStore,
  of: (print: string) => T,
): (text: number) => T {
  const printOf = fingerprintsOf(thread);
  const known = new ById<T>();
  return (text) => {
    const found = known.get(text);
    return found === undefined ? known.set(text, of(printOf(text) ?? '')) : found;
  };
}

/** Statements that read, by their fingerprints. */
export const READS = /^(?:select|with)\b/;

/** How many statements one rule names: those that took longest. */
export const MOST = 5;
