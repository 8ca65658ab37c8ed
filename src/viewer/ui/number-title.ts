import type { HeadlineNumber } from '../../analysis/report/headline-numbers.ts';

/** What a number means, and why it is not known where it is not: shown on hover. */
export const numberTitle = ({
  definition,
  cause,
  atLeast,
}: Pick<HeadlineNumber, 'definition' | 'cause' | 'atLeast'>): string =>
  [definition, cause && `n/a: ${cause}.`, atLeast && `At least: ${atLeast}.`]
    .filter(Boolean)
    .join('\n\n');
