/** The settings that a grid varies, with suggested values, and the names of a run's settings. */
import { BUNDLED, SQLITE_ORG } from './engine-names.ts';
import { VFS_NAMES, type Config, type Run } from './types.ts';
import { ownEngineOf } from './vfs-facts.ts';
import { countOf, formatBytes, formatCount, formatExact } from '../../../text/numbers.ts';

/** A setting that the grid varies. */
export interface Knob {
  readonly key: keyof Config;
  readonly title: string;
  readonly help: string;
  readonly values: readonly (string | number | null)[];
}
export const KNOBS: readonly Knob[] = [
  {
    key: 'vfs',
    title: 'VFS',
    help: "Where the database lies; memory is SQLite's own :memory:",
    values: VFS_NAMES.filter((vfs) => vfs !== 'MemoryAsyncVFS'),
  },
  {
    key: 'engine',
    title: 'SQLite',
    help: 'The build of SQLite',
    values: [...BUNDLED, SQLITE_ORG],
  },
  {
    key: 'build',
    title: 'Build',
    help: 'How it waits for promises; not chosen: what the VFS needs. An asynchronous VFS has no sync build, this browser perhaps no JSPI',
    values: ['sync', 'asyncify', 'jspi'],
  },
  {
    key: 'pageSize',
    title: 'Page size',
    help: 'PRAGMA page_size, bytes',
    values: [null, 1024, 4096, 8192, 32768, 65536],
  },
  {
    key: 'cacheSize',
    title: 'Cache size',
    help: 'PRAGMA cache_size: pages, or KiB where negative',
    values: [null, 0, 20, 500, 2000, -2000, -16000],
  },
  {
    key: 'journalMode',
    title: 'Journal',
    help: 'PRAGMA journal_mode',
    values: [null, 'delete', 'truncate', 'persist', 'memory', 'wal', 'off'],
  },
  {
    key: 'synchronous',
    title: 'Synchronous',
    help: 'PRAGMA synchronous',
    values: [null, 'off', 'normal', 'full', 'extra'],
  },
  {
    key: 'lockingMode',
    title: 'Locking',
    help: 'PRAGMA locking_mode; WAL needs exclusive here',
    values: [null, 'normal', 'exclusive'],
  },
  {
    key: 'walAutocheckpoint',
    title: 'Checkpoint',
    help: 'PRAGMA wal_autocheckpoint: frames in the log; 0 = never automatically',
    values: [null, 0, 100, 1000, 10_000],
  },
  {
    key: 'blockSize',
    title: 'Block size',
    help: 'Of BlockIDB, bytes',
    values: [null, 4096, 8192, 32768, 65536],
  },
  {
    key: 'writePolicy',
    title: 'Writes',
    help: 'Of BlockIDB: when a block is stored',
    values: [null, 'through', 'queued', 'lazy'],
  },
  {
    key: 'cacheBlocks',
    title: 'Block cache',
    help: 'Of BlockIDB: blocks cached in memory',
    values: [null, 4, 64, 512],
  },
  {
    key: 'durability',
    title: 'Durability',
    help: 'Of BlockIDB: what IndexedDB is asked for at a commit',
    values: [null, 'relaxed', 'strict'],
  },
  {
    key: 'slowFlush',
    title: 'Slow flush',
    help: 'Fault profile: each flush takes this much longer',
    values: [null, 5, 20, 100],
  },
  {
    key: 'refusedHandle',
    title: 'Refuse',
    help: 'Fault profile: the browser refuses this access handle of the run, once',
    values: [null, 1, 2, 4],
  },
  {
    key: 'quota',
    title: 'Quota',
    help: 'Fault profile: a write that needs more bytes fails with QuotaExceededError',
    values: [null, 65_536, 1_048_576, 10_485_760],
  },
];

const OF_BUILD: readonly Knob['key'][] = ['engine', 'build'];

/**
 * The settings and parameters in which runs differ, as a column's heading. Shared ones are left
 * out.
 */
export function headings(runs: readonly Run[]): string[] {
  // a VFS that only one build has implies the build
  const saidByVfs = ({ vfs, engine }: Config): boolean => ownEngineOf(vfs) === engine;
  const keys = KNOBS.map(({ key }) => key).filter((key) => {
    const of = OF_BUILD.includes(key) ? runs.filter(({ config }) => !saidByVfs(config)) : runs;
    return new Set(of.map((r) => r.config[key] ?? null)).size > 1;
  });
  const names = [...new Set(runs.flatMap(({ parameters }) => Object.keys(parameters)))].filter(
    (name) => new Set(runs.map((r) => r.parameters[name])).size > 1,
  );
  return runs.map(({ config, parameters }) => {
    const parts = [
      ...keys.flatMap((key) =>
        (config[key] ?? null) === null || (OF_BUILD.includes(key) && saidByVfs(config))
          ? []
          : [labelOf(key, config[key]!)],
      ),
      ...names.flatMap((name) =>
        parameters[name] === undefined
          ? [] // runs of an experiment need not name the same
          : [parameterLabel(name, parameters[name])],
      ),
    ];
    return parts.join(', ') || labelOf('vfs', config.vfs);
  });
}

/** `20 items`; of one that counts nothing, its name and value: `mode 0`. */
const parameterLabel = (name: string, n: number): string =>
  name.endsWith('s') ? countOf(n, name.slice(0, -1), name) : `${name} ${formatExact(n)}`;

/** A value as one reads it: `8 KiB pages`, `wal`. */
export function labelOf(key: Knob['key'], value: string | number | null): string {
  if (value === null) return 'default';
  if (key === 'pageSize') return `${sizeText(Number(value))} pages`;
  if (key === 'blockSize') return `${sizeText(Number(value))} blocks`;
  if (key === 'cacheBlocks') return `${value} blocks kept`;
  if (key === 'walAutocheckpoint')
    return value === 0 ? 'no checkpoint' : `checkpoint at ${formatCount(Number(value))} frames`;
  if (key === 'durability') return `durability ${value}`;
  if (key === 'slowFlush') return `flush +${value} ms`;
  if (key === 'refusedHandle') return `handle ${value} refused`;
  if (key === 'quota') return `quota ${sizeText(Number(value))}`;
  if (key === 'cacheSize')
    return Number(value) < 0 ? `cache ${sizeText(-1024 * Number(value))}` : `cache ${value} pages`;
  return key === 'synchronous'
    ? `sync ${value}`
    : key === 'lockingMode'
      ? `${value} locking`
      : String(value);
}
/** For a setting, so exact: `2,000 KiB` isn't 1.95 MiB. */
const sizeText = (bytes: number): string =>
  bytes < 1024 || bytes % 2 ** 20 === 0 ? formatBytes(bytes) : `${formatExact(bytes / 1024)} KiB`;

/** A value beside its setting's title, which names the setting: `8 KiB`, `2,000`. */
export function valueLabel(key: Knob['key'], value: string | number | null): string {
  if (typeof value !== 'number') return value ?? 'default';
  if (key === 'pageSize' || key === 'blockSize' || key === 'quota') return sizeText(value);
  if (key === 'slowFlush') return `+${value} ms`;
  if (key === 'refusedHandle') return `handle ${value}`;
  return key === 'cacheSize' && value < 0 ? sizeText(-1024 * value) : formatCount(value);
}
