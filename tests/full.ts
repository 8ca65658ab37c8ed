/** `npm test` runs one representative of what `npm run test:long` runs in full. */
export const FULL = Boolean(process.env['FULL']);

/** The first ones of a list of cases stand for all of them. */
export const some = <T>(cases: readonly T[], count = 1): T[] =>
  FULL ? [...cases] : cases.slice(0, count);
