/**
 * Applies a finding's advice to a recorded run: its own SQL where that is enough, else the changes
 * of its experiment's variants.
 */
import { pragmasIn } from '../../analysis/core/pragmas.ts';
import { statementsIn } from '../../sqlite/sql-text.ts';
import { labelOf } from '../experiments/model/knobs.ts';
import type { Config, Experiment, Variant } from '../experiments/model/types.ts';
import { workloadOf } from '../experiments/workloads/index.ts';
import { settingOf } from './settings.ts';

export interface Change {
  /** The change, as a column's heading. */
  readonly heading: string;
  readonly config: Partial<Config>;
  /** The statements run in one transaction. */
  readonly grouped: boolean;
  /** Runs before the statements. */
  readonly setup: string;
}

const MOST_CHANGES = 4;
const BLOCK_KNOBS = ['blockSize', 'writePolicy', 'cacheBlocks', 'durability'] as const;
const IN_MEMORY: readonly unknown[] = ['memory', 'MemoryVFS', 'MemoryAsyncVFS'];

/**
 * @param sql the finding's own, to copy
 * @param before the configuration as recorded, with its VFS
 * @returns none where the experiment changes something that a run of the user's statements can't
 * have
 */
export function changesOf(
  experiment: Experiment,
  sql: string | undefined,
  before: Partial<Config>,
): Change[] {
  const own = changeOf(sql === undefined ? {} : bySql(sql), before);
  if (own.length) return own;
  const base = experiment.variants.find(({ id }) => id === experiment.baseline);
  // several connections would be a different program
  if (!base || workloadOf(base.workload).actors) return [];
  const all = experiment.variants
    .filter((variant) => variant !== base && variant.workload === base.workload)
    .flatMap((variant) => changeOf(byVariant(variant, base), before));
  return [...new Map(all.map((change) => [change.heading, change])).values()].slice(
    0,
    MOST_CHANGES,
  );
}

type Asked = Partial<Omit<Change, 'heading'>>;

function bySql(sql: string): Asked {
  let config: Partial<Config> = {};
  for (const { name, value } of pragmasIn(sql))
    if (value !== null) config = { ...config, ...settingOf(name, value) };
  return { config, grouped: statementsIn(sql).some((statement) => /^begin$/i.test(statement)) };
}

function byVariant(variant: Variant, base: Variant): Asked {
  const config = Object.fromEntries(
    Object.entries(variant.config).filter(
      ([key, value]) => key !== 'build' && base.config[key as keyof Config] !== value,
    ),
  );
  if (IN_MEMORY.includes(config['vfs'])) return {};
  const [mine, its] = [variant.parameters ?? {}, base.parameters ?? {}];
  const changed = Object.keys(mine).filter((name) => mine[name] !== its[name]);
  const tempStore = changed.includes('tempStore') && mine['tempStore'] === 2;
  const grouped = (mine['transactions'] ?? 0) < (its['transactions'] ?? 0);
  // a parameter of the experiment's own program
  if (changed.length && !tempStore && !grouped) return {};
  return { config, grouped, setup: tempStore ? 'PRAGMA temp_store=memory;\n' : '' };
}

/** @returns none where it changes nothing */
function changeOf(asked: Asked, before: Partial<Config>): Change[] {
  const { grouped = false, setup = '' } = asked;
  const config = Object.fromEntries(
    Object.entries(asked.config ?? {}).filter(
      ([key, value]) => (before[key as keyof Config] ?? null) !== value,
    ),
  ) as Partial<Config>;
  const vfs = config.vfs ?? before.vfs;
  if (vfs !== 'BlockIDB' && BLOCK_KNOBS.some((key) => key in config)) return [];
  const words = [
    ...Object.entries(config).map(([key, value]) => labelOf(key as keyof Config, value)),
    ...(grouped ? ['one transaction'] : []),
    ...(setup ? ['temporary tables in memory'] : []),
  ];
  if (words.length === 0) return [];
  return [{ heading: words.join(', '), config, grouped, setup }];
}
