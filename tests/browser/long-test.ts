import { test } from 'vitest';
import { FULL } from '../full.ts';

/** A test for the long run only: another test of its file represents it. */
export const longTest = test.runIf(FULL);
