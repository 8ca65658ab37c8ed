/** Turns a pattern that findings name into an experiment. */
import type { Config, Experiment, Parameters, Variant } from '../model/types.ts';

/**
 * Variants of one workload, each with an id, a title, a configuration, and parameters if they
 * differ from `usual`.
 */
export const variantsOf = (
  workload: string,
  usual: Parameters,
  rows: readonly (readonly [
    id: string,
    title: string,
    config: Partial<Config>,
    parameters?: Parameters,
  ])[],
): Variant[] =>
  rows.map(([id, title, config, parameters = usual]) => ({
    id,
    title,
    workload,
    config,
    ...(Object.keys(parameters).length ? { parameters } : {}),
  }));
type Given = Pick<
  Experiment,
  'id' | 'title' | 'question' | 'variants' | 'expectations' | 'storage'
> & {
  /** The conclusion if all expectations hold: the advice. */
  readonly advice: string;
  /** The findings that name it. */
  readonly rules: string;
  /** Count mode by default. */
  readonly mode?: Experiment['mode'];
};
/** The first variant is the pattern as found, the baseline for the others. */
export const pattern = ({ rules, advice, mode = 'count', ...given }: Given): Experiment => ({
  ...given,
  conclusions: [{ says: advice }],
  document: `The findings' own advice (${rules})`,
  claims: [],
  baseline: given.variants[0]!.id,
  mode,
});

/** Many small transactions: what commits cost. */
export const SINGLE: Parameters = { transactions: 200, items: 1 };
