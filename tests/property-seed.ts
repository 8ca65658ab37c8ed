/**
 * The random cases of property tests: the same in every run, so that a change that breaks nothing fails nothing.
 * `SEED=<n>` runs others (n of one's own, or the one that a failure printed); tests/fuzz draws new ones each time.
 */
import fc from 'fast-check';

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env['SEED'] ?? 20260101) });
