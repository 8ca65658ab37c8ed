import { test } from 'vitest';
import { FULL } from '../full.ts';

/** A test of the long run alone: another one of its file stands for it. */
export const longTest = test.runIf(FULL);
