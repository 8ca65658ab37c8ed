/** Sentences whose numbers lead to what they count. */
import type { Part } from '../core/time-parts.ts';
import type { Transaction } from '../transactions/transaction-table.ts';

/** The views that list what numbers count. */
export type NumberList =
  'timeline' | 'statements' | 'transactions' | 'files' | 'locks' | 'cache' | 'wal' | 'events';

/**
 * What of a list a number is about. Calls of an operation in Events; statements by a column, by a
 * part of their time (null = all of it), or by parts that have a list each; a statement by its
 * fingerprint (null = unknown); what a thread ran; transactions by how they ended.
 */
export type ListPart =
  | { calls: string }
  | { column: string }
  | { part: Part | null }
  | { parts: readonly { part: Part; us: number }[] }
  | { statement: string | null }
  | { thread: number }
  | { outcome: Transaction['outcome'] };

/** A number in a sentence. */
export interface SaidNumber {
  /** With its unit or its noun. */
  text: string;
  /** What it means and how it is counted. */
  definition: string;
  /** The view that lists what it counts or sums; null = none does. */
  list: NumberList | null;
  /** null = all of the list, as it is shown. */
  about: ListPart | null;
}

/** Parts of time that have a list each; null if there are none. */
export const partsListed = (times: readonly { part: Part; us: number }[]): ListPart | null => {
  const [first, ...others] = times;
  if (!first) return null;
  return others.length ? { parts: times } : { part: first.part };
};

export type Said = readonly (string | SaidNumber)[];

/** say`SQLite ran for ${number}` */
export const say = (
  { raw: words }: TemplateStringsArray,
  ...values: (string | SaidNumber | Said)[]
): Said => words.flatMap((text, i) => [text, values[i] ?? []].flat()).filter((one) => one !== '');

/** All of it as text. */
export const saidText = (said: Said): string =>
  said.map((one) => (typeof one === 'string' ? one : one.text)).join('');

/** Several one after the other, those that say nothing left out. */
export const saidList = (all: readonly Said[], between = ', '): Said =>
  all.filter(({ length }) => length).flatMap((said, i) => (i ? [between, ...said] : said));
