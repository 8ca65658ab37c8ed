/**
 * What *Try it* runs: a recording's own statements with its settings, once as recorded and once
 * with a finding's advice applied.
 */
import { findings } from '../../analysis/findings/index.ts';
import type { Facts } from '../../analysis/core/graph.ts';
import { checkpointChoices } from '../../analysis/what-if/checkpoint-choices.ts';
import { databaseName } from '../../event/file-names.ts';
import { countOf, formatCount } from '../../text/numbers.ts';
import { Copy } from '../advisor/copy.ts';
import type { Engines } from '../experiments/engine/open-engine.ts';
import type { Config, Experiment, VfsName } from '../experiments/model/types.ts';
import { changesOf, type Change } from './change.ts';
import { cacheFit } from './cache-fit.ts';
import { busiestConnection } from './executed.ts';
import { scriptOf, sqlOf } from './script.ts';
import { recordedSettings } from './settings.ts';

export interface AsRecorded {
  /** As recorded, without settings that no call shows. */
  readonly config: Partial<Config>;
  /** The parts of `config` that differ from the recording. Sentences. */
  readonly notes: readonly string[];
  /** Both ways; null: `why` has the reason why the app's statements can't be run this way. */
  readonly own: {
    /** For the workloads `own-sql` and `own-database`. */
    readonly sql: string;
    readonly changes: readonly Change[];
    /** Which parts are the app's own, and which are substitutes. Sentences. */
    readonly says: readonly string[];
  } | null;
  /** A sentence; '' where they can be run. */
  readonly why: string;
}
export interface Asked {
  readonly experiment: Experiment;
  /** The rule of the finding whose button was pressed; '' = not known. */
  readonly rule: string;
  /** The VFS for both ways; null: not known. */
  readonly vfs: VfsName | null;
  /** A copy of the app's database. */
  readonly database: { readonly name: string; readonly file: Blob } | null;
}

/** @throws SQLite's errors about the copy */
export async function asRecorded(
  engines: Engines,
  facts: Facts,
  { experiment, rule, vfs, database }: Asked,
): Promise<AsRecorded> {
  const recorded = busiestConnection(facts);
  if (!recorded)
    return {
      config: {},
      notes: [],
      own: null,
      why: 'The recording has no SQL text. Record again with SQL text captured.',
    };
  const { config, notes, folded } = recordedSettings(facts, recorded);
  const all = facts.get(findings).filter(({ tryInLab }) => tryInLab === experiment.id);
  const finding = all.find((one) => one.rule === rule) ?? all[0];
  const withVfs = vfs === null ? config : { ...config, vfs };
  const none = { config, notes, own: null };
  if (changesOf(experiment, finding?.sql, withVfs).length === 0)
    return { ...none, why: "This experiment changes what one connection alone can't show." };
  const open = async (): Promise<Copy> => {
    const copy = await Copy.open(engines, database?.file ?? new Blob([]));
    if (!database && config.pageSize) await copy.exec(`PRAGMA page_size=${config.pageSize}`);
    return copy;
  };
  const copy = await open();
  const script = await scriptOf(facts, recorded, copy, database?.name ?? null).finally(() =>
    copy.close(),
  );
  const { says } = script;
  if (script.statements === 0)
    return {
      ...none,
      why: `None of your app's ${formatCount(recorded.statements.length)} recorded statements runs here. ${says.filter((one) => one.startsWith('Left out')).join(' ')}`,
    };
  const fit =
    folded.has('cache_size') && recorded.pagesRead > 0
      ? await cacheFit(open, script, recorded.pagesRead)
      : null;
  const frames = folded.has('wal_autocheckpoint') ? distanceOf(facts, recorded.database) : null;
  const fitted: Partial<Config> = {
    ...(fit && { cacheSize: fit.cacheSize }),
    ...(frames !== null && { walAutocheckpoint: frames }),
  };
  return {
    config: { ...config, ...fitted },
    notes: [
      ...notes,
      ...[...folded].map((name) =>
        fit && name === 'cache_size'
          ? `The recording folded the value of PRAGMA cache_size. With ${fit.cacheSize} pages the statements read ${countOf(fit.reads, 'page')} of the database here, and ${formatCount(recorded.pagesRead)} in your app, so this stands in.`
          : frames !== null && name === 'wal_autocheckpoint'
            ? `The recording folded the value of PRAGMA wal_autocheckpoint. ${formatCount(frames)} explains its checkpoints, so this stands in.`
            : `The recording folded the value of PRAGMA ${name}, so this runs with the default.`,
      ),
    ],
    own: {
      sql: sqlOf(script),
      changes: changesOf(experiment, finding?.sql, { ...withVfs, ...fitted }),
      says,
    },
    why: '',
  };
}

/**
 * A wal_autocheckpoint value that explains the recorded checkpoints of a database; null = none
 * does.
 */
const distanceOf = (facts: Facts, database: string | null): number | null =>
  facts
    .get(checkpointChoices)
    .find(({ path }) => databaseName(path) === database)
    ?.choices.find(({ recorded }) => recorded)?.autocheckpoint ?? null;
