/**
 * The settings of each database of a trace, as far as its calls show them: page size, journal mode,
 * synchronous, cache size. vfscope never queries the app's connections, so a setting that no call
 * shows is null, with the cause. A PRAGMA applies to its connection, and the last one is valid.
 */
import { databasePath } from '../../event/file-names.ts';
import { isVfsOp } from '../../event/operations.ts';
import type { ThreadStore, TraceStore } from '../../trace/store.ts';
import { isInMemory } from '../../trace/in-memory.ts';
import { getOrMake } from '../core/maps.ts';
import { fact } from '../core/graph.ts';
import { pragmas } from '../core/pragmas.ts';
import { databaseFiles, type Unit } from '../core/database-files.ts';
import { databaseHeaders } from './database-headers.ts';
import { transactions, type CommitPoint } from '../transactions/transactions.ts';
import { formatBytes } from '../../text/numbers.ts';

export interface Setting<T> {
  value: T | null;
  /** Where it comes from, or why it isn't known. */
  how: string;
}

export interface DatabaseSettings {
  path: string;
  /** '' if none was seen. */
  vfs: string;
  /**
   * Bytes, from the lengths of calls. `asked`: the last PRAGMA page_size, null if there was none or
   * the recording folded its value. `header`: from the last database header, null if none was seen.
   */
  pageSize: Setting<number> & { asked: number | null; header: number | null };
  journalMode: Setting<string>;
  synchronous: Setting<string>;
  /** As in the PRAGMA: pages, or KiB if negative. */
  cacheSize: Setting<string>;
  lockingMode: Setting<string>;
}

const MODE_OF: Readonly<Record<CommitPoint, [mode: string, how: string]>> = {
  'journal deleted': ['delete', 'commits deleted the journal'],
  'journal truncated': ['truncate', 'commits truncated the journal'],
  'journal zeroed': ['persist', "commits zeroed the journal's header"],
  wal: ['wal', 'commits wrote a frame to the WAL'],
  'atomic write': [
    'batch-atomic',
    'the VFS wrote each commit in one atomic batch, without a journal file',
  ],
  'database write': ['off or memory', 'commits wrote the database without a journal file'],
};

const PRAGMAS = ['page_size', 'journal_mode', 'synchronous', 'cache_size', 'locking_mode'] as const;
type Pragma = (typeof PRAGMAS)[number];
/**
 * SQLite's own default (https://www.sqlite.org/pragma.html#pragma_cache_size); a build may have
 * another.
 */
export const DEFAULT_CACHE_SIZE = '-2000';
export const NO_CACHE_SIZE = `no PRAGMA cache_size was seen; SQLite's own default is ${DEFAULT_CACHE_SIZE} (2,000 KiB), builds may have another`;
const LEVELS = ['off', 'normal', 'full', 'extra'];

/** By database, in the order of `databaseFiles.list`. */
export const databaseSettings = fact(
  'databaseSettings',
  'database settings',
  { databaseFiles, databaseHeaders, transactions, pragmas },
  (store, known): DatabaseSettings[] => {
    const { list, parts } = known.databaseFiles;
    const said = list.map(() => new Map<Pragma, string>());
    const its = new Map<string, ReadonlySet<number>>();
    for (const { thread, context, name, value } of known.pragmas) {
      if (!PRAGMAS.includes(name as Pragma)) continue;
      const databases = getOrMake(its, `${thread} ${context}`, () =>
        databasesOf(store.threads[thread]!, context, parts[thread]!),
      );
      for (const database of databases) said[database]?.set(name as Pragma, value);
    }
    const points = new Map<number, CommitPoint>();
    const transactions = known.transactions.list;
    for (let i = 0; i < transactions.length; i++) {
      const commitPoint = transactions.commitPoint(i);
      const database =
        commitPoint && parts[transactions.thread[i]!]?.get(transactions.object[i]!)?.database;
      if (typeof database === 'number') points.set(database, commitPoint!);
    }
    const headers = known.databaseHeaders;
    return list.map(({ path, vfs, pageSize }, i) => {
      const asked = (pragma: Pragma, otherwise: string): Setting<string> =>
        fromPragma(pragma, said[i]!.get(pragma), otherwise);
      return {
        path,
        vfs,
        pageSize: withHeader(
          pageSizeSetting(pageSize, said[i]!.get('page_size')),
          headers[i]!.pageSize,
        ),
        journalMode: journalMode(
          points.get(i),
          said[i]!.get('journal_mode'),
          inMemory(store, path),
        ),
        synchronous: asked(
          'synchronous',
          "no PRAGMA synchronous was seen; SQLite's own default is full, builds may have another",
        ),
        cacheSize: asked('cache_size', NO_CACHE_SIZE),
        lockingMode: asked(
          'locking_mode',
          "no PRAGMA locking_mode was seen; SQLite's own default is normal",
        ),
      };
    });
  },
);

type Asked = Omit<DatabaseSettings['pageSize'], 'header'>;

/** The header decides if no call has the length of a page. If the two differ, both are reported. */
function withHeader(
  { value, how, asked }: Asked,
  header: number | null,
): DatabaseSettings['pageSize'] {
  if (header === null) return { value, how, asked, header };
  const says =
    header === value
      ? 'the database header has the same'
      : `the database header has ${formatBytes(header)}`;
  return { value: value ?? header, how: `${how}; ${says}`, asked, header };
}

/**
 * SQLite accepts a page size before the first table is created, or at the next VACUUM outside WAL
 * mode, and otherwise ignores it silently.
 */
function pageSizeSetting({ bytes, how, certain }: Unit, said: string | undefined): Asked {
  if (said === undefined) return { value: bytes, how, asked: null };
  if (!/^\d+$/.test(said))
    return {
      value: bytes,
      how: `${how}; PRAGMA page_size was set, and the recording folded its value`,
      asked: null,
    };
  const asked = Number(said);
  const refused = certain && bytes !== null && bytes !== asked;
  const outcome = refused
    ? ' changed nothing: it holds for a database without tables, and from the next VACUUM (not in WAL mode)'
    : '';
  return { value: bytes, how: `${how}; PRAGMA page_size=${said}${outcome}`, asked };
}

/** The last PRAGMA. @param otherwise why nothing is known without one */
export function fromPragma(
  pragma: Pragma,
  value: string | undefined,
  otherwise: string,
): Setting<string> {
  if (value === undefined) return { value: null, how: otherwise };
  if (value.includes('?'))
    return { value: null, how: `PRAGMA ${pragma} was set, and the recording folded its value` };
  const word = value.toLowerCase();
  return {
    value: pragma === 'synchronous' ? (LEVELS[Number(word)] ?? word) : word,
    how: `PRAGMA ${pragma}=${value}`,
  };
}

/** What commits did is preferred to the requested mode, which may have been refused. */
function journalMode(
  point: CommitPoint | undefined,
  asked: string | undefined,
  memory: boolean,
): Setting<string> {
  if (point === 'database write' && memory)
    return { value: 'memory', how: 'the journal was in memory' };
  if (point) return { value: MODE_OF[point][0], how: MODE_OF[point][1] };
  const pragma = fromPragma('journal_mode', asked, 'no commit was seen, nor a PRAGMA journal_mode');
  return pragma.value === null
    ? pragma
    : {
        value: pragma.value,
        how: `${pragma.how}; no commit was seen that would show whether it was accepted`,
      };
}

function inMemory(store: TraceStore, path: string): boolean {
  for (const { events, definitions } of store.threads)
    for (let row = 0; row < events.count; row++) {
      if (!isInMemory(events, row)) continue;
      const d = definitions.get(events.object[row]!);
      if (d?.kind !== 'file' || d.path === '' || databasePath(d.path) === path) return true;
    }
  return false;
}

/**
 * Databases that a connection's VFS calls went to, or those of the thread if its calls aren't
 * known.
 */
function databasesOf(
  { events }: ThreadStore,
  connection: number,
  parts: ReadonlyMap<number, { database: number }>,
): Set<number> {
  const its = new Set<number>();
  if (connection !== 0)
    for (let row = 0; row < events.count; row++) {
      if (events.context[row] !== connection || !isVfsOp(events.op[row]!)) continue;
      const part = parts.get(events.object[row]!);
      if (part) its.add(part.database);
    }
  return its.size ? its : new Set([...parts.values()].map(({ database }) => database));
}
