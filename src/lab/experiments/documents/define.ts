/** Short ways to write an expectation down. */
import type { Assertion, Place } from '../model/types.ts';

/** `variant step counter`, in that order. */
export const at = (variant: string, step: string, counter: string, times?: number): Place => ({
  variant,
  step,
  counter,
  ...(times === undefined ? {} : { times }),
});
export const expectThat = (
  text: string,
  left: Place,
  is: Assertion['is'],
  right: number | Place,
): Assertion => ({ text, left, is, right });
