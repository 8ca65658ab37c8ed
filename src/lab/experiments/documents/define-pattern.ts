/** How a pattern that findings name becomes an experiment. */
import type { Config, Experiment, Parameters, Variant } from '../model/types.ts';

/** A variant of a pattern: its id, its title, what runs, on what, with which parameters. */
export const variant = (
  id: string,
  title: string,
  workload: string,
  config: Partial<Config>,
  parameters?: Parameters,
): Variant => ({
  id,
  title,
  workload,
  config,
  ...(parameters ? { parameters } : {}),
});
type Given = Pick<
  Experiment,
  'id' | 'title' | 'question' | 'variants' | 'expectations' | 'agreement'
> & {
  /** The findings that name it. */
  readonly rules: string;
  /** Count mode, unless told. */
  readonly mode?: Experiment['mode'];
};
/** The first variant is the pattern as it was found: what the others are compared with. */
export const pattern = ({ rules, mode = 'count', ...given }: Given): Experiment => ({
  ...given,
  document: `The findings' own advice (${rules})`,
  claims: [],
  baseline: given.variants[0]!.id,
  mode,
});

/** Many small transactions: what commits cost. */
export const SINGLE: Parameters = { transactions: 200, items: 1 };
