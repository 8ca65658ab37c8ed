/** Questions and answers of the Findings view. */
import type { Badge, Finding } from '../../analysis/findings/index.ts';
import type { Account } from '../../analysis/findings/accounts.ts';
import type { Explained } from '../../analysis/findings/explanation.ts';

export interface Findings {
  /** The largest saving first. */
  findings: Finding[];
  badges: Badge[];
  explained: Explained | null;
  accounts: readonly Account[];
  /** Shown where there are no findings. */
  noFindings: string;
  /** End of the recording when they were computed, microseconds. */
  toUs: number;
}
