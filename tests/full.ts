/** `npm test` runs one representative of what `npm run test:long` runs in full. */
export const FULL = Boolean(process.env['FULL']);

/** The first ones of a list of cases stand for all of them. */
export const some = <T>(cases: readonly T[], count = 1): T[] =>
  FULL ? [...cases] : cases.slice(0, count);

/** How many random cases a test tries, or how large its made-up trace is: a quarter in `npm test`, all in `npm run test:long`. */
export const part = (all: number): number => (FULL ? all : Math.ceil(all / 4));
