/**
 * The random cases of property tests: the same in every run, so that unrelated changes don't fail.
 * `SEED=<n>` runs others (any number, or the one that a failure printed); tests/fuzz draws new ones
 * each time.
 */
import fc from 'fast-check';

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env['SEED'] ?? 20260101) });
