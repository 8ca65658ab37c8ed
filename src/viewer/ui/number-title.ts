import { isSum } from '../../text/numbers.ts';
import type { HeadlineNumber } from '../../analysis/numbers/headline-numbers.ts';

/** What a number means, why it isn't known if it isn't, and what it leaves out: shown on hover. */
export const numberTitle = ({
  definition,
  cause,
  unit,
  unseen,
}: Pick<HeadlineNumber, 'definition' | 'cause' | 'unit' | 'unseen'>): string =>
  [
    definition,
    cause && `n/a: ${cause}.`,
    unseen && `${isSum(unit) ? 'At least' : 'Partial'}: ${unseen}.`,
  ]
    .filter(Boolean)
    .join('\n\n');
