import type { HeadlineNumber } from '../../analysis/report/headline-numbers.ts';

/** What a number means, and why it is not known where it is not: shown on hover. */
export const numberTitle = ({
  definition,
  cause,
}: Pick<HeadlineNumber, 'definition' | 'cause'>): string =>
  cause ? `${definition}\n\nn/a: ${cause}.` : definition;
