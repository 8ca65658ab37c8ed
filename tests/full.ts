/** `npm test` runs one representative of each set that `npm run test:long` runs completely. */
export const FULL = Boolean(process.env['FULL']);

/** The first cases of a list represent all of them. */
export const some = <T>(cases: readonly T[], count = 1): T[] =>
  FULL ? [...cases] : cases.slice(0, count);

/**
 * Number of random cases of a test, or size of its synthetic trace: a quarter in `npm test`, all in
 * `npm run test:long`.
 */
export const part = (all: number): number => (FULL ? all : Math.ceil(all / 4));
