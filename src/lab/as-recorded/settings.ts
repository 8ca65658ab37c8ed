/**
 * The settings of a recorded connection's database as a configuration of the Lab: which ones are
 * known, and which aren't.
 */
import { databaseName } from '../../event/file-names.ts';
import type { Facts } from '../../analysis/core/graph.ts';
import { pragmas } from '../../analysis/core/pragmas.ts';
import { databaseSettings } from '../../analysis/pages/database-settings.ts';
import { pragmasOf } from '../experiments/engine/apply-config.ts';
import { DEFAULT_CONFIG, type Config, type JournalMode } from '../experiments/model/types.ts';
import type { RecordedConnection } from './executed.ts';

/** PRAGMAs with a setting in a configuration. */
export const CONFIG_PRAGMAS: Readonly<Record<string, keyof Config>> = {
  page_size: 'pageSize',
  locking_mode: 'lockingMode',
  journal_mode: 'journalMode',
  synchronous: 'synchronous',
  cache_size: 'cacheSize',
  wal_autocheckpoint: 'walAutocheckpoint',
};
const LEVELS = ['off', 'normal', 'full', 'extra'];
const JOURNALS: readonly string[] = ['delete', 'truncate', 'persist', 'memory', 'wal', 'off'];

/** The value set by a PRAGMA, as a setting; null where it isn't one. */
export function settingOf(name: string, value: string): Partial<Config> | null {
  const key = CONFIG_PRAGMAS[name];
  const word = value.toLowerCase();
  if (!key) return null;
  if (key === 'journalMode')
    return JOURNALS.includes(word) ? { journalMode: word as JournalMode } : null;
  if (key === 'lockingMode')
    return word === 'normal' || word === 'exclusive' ? { lockingMode: word } : null;
  if (key === 'synchronous') {
    const level = LEVELS[Number(word)] ?? word;
    return LEVELS.includes(level) ? { synchronous: level as Config['synchronous'] } : null;
  }
  return /^-?\d+$/.test(word) ? { [key]: Number(word) } : null;
}

export interface RecordedSettings {
  readonly config: Partial<Config>;
  /** What differs from the recording. Sentences. */
  readonly notes: readonly string[];
  /** Names of PRAGMAs that were set, with values that the recording folded. */
  readonly folded: ReadonlySet<string>;
}

/**
 * Pragmas of a configuration as PRAGMA statements: `page_size=4096, journal_mode=wal`; '' = none.
 */
export const pragmaWords = (config: Partial<Config>): string =>
  pragmasOf({ ...DEFAULT_CONFIG, ...config })
    .map(([name, value]) => `${name}=${value}`)
    .join(', ');

/**
 * What commits and calls did takes precedence over what was requested. Settings that no call shows
 * have the build's default.
 */
export function recordedSettings(
  facts: Facts,
  { thread, context, database }: RecordedConnection,
): RecordedSettings {
  const config: Record<string, unknown> = {};
  const folded = new Set<string>();
  for (const { name, value, ...at } of facts.get(pragmas)) {
    if (at.thread !== thread || at.context !== context || !CONFIG_PRAGMAS[name]) continue;
    const setting = settingOf(name, value);
    if (setting) folded.delete(name);
    else folded.add(name);
    if (setting) Object.assign(config, setting);
  }
  const known = facts.get(databaseSettings).find(({ path }) => databaseName(path) === database);
  if (known?.pageSize.value) config['pageSize'] = known.pageSize.value;
  const journal = known?.journalMode.value;
  if (journal && JOURNALS.includes(journal)) config['journalMode'] = journal;
  // a batch, or the lack of a journal file, isn't a mode to request, but OFF and MEMORY are
  else if (journal === 'batch-atomic') delete config['journalMode'];
  const needsExclusive = config['journalMode'] === 'wal' && config['lockingMode'] !== 'exclusive';
  if (needsExclusive) config['lockingMode'] = 'exclusive';
  return {
    config: config as Partial<Config>,
    notes: needsExclusive ? ["In the Lab's VFSs, a WAL needs exclusive locking."] : [],
    folded,
  };
}
