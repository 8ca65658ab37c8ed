/** Index advice that can be stored: no value of the user's database or recording is in it. */
import type { Advice, AdvisedIndex } from './advice.ts';

/** SQLite's messages can quote values, for example those of a trigger's RAISE(). */
const withoutMessage = (why: string): string => why.split(': ')[0]!;
const folded = <T extends { readonly fingerprint: string }>(one: T): T => ({
  ...one,
  sql: one.fingerprint,
});
const indexWithout = ({ insert, effects, ...index }: AdvisedIndex): AdvisedIndex => ({
  ...index,
  insert: 'why' in insert ? { why: withoutMessage(insert.why) } : insert,
  effects: effects.map(folded),
});

/** The same answer, with the recorded fingerprints in place of the statements as run. */
export const withoutValues = (advice: Advice): Advice => ({
  ...advice,
  statements: advice.statements.map(folded),
  leftOut: advice.leftOut.map((left) => ({ ...left, why: withoutMessage(left.why) })),
  indexes: advice.indexes.map(indexWithout),
});
