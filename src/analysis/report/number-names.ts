/** What a number of a summary is called where people read it. Files and budgets use its path. */
import { API_NAMES, type Api } from '../../event/operations.ts';
import { PART_WORDS } from '../core/time-parts.ts';

/** Literals: the panel's main thread doesn't load the facts behind the headline numbers. */
const NAMES: Readonly<Record<string, string>> = {
  events: 'Events recorded',
  dropped: 'Events dropped',
  unknownTails: 'Threads that ended before their last records arrived',
  faults: "Errors inside vfscope's hooks",
  durationUs: 'Recorded',
  'statements.count': 'Statements',
  'statements.distinct': 'Distinct statements',
  'transactions.read': 'Read transactions',
  'transactions.write': 'Write transactions',
  'transactions.rolledBack': 'Rolled back',
  commits: 'Commits',
  syncs: 'Syncs',
  syncsPerCommit: 'Syncs per commit',
  instructions: 'Instructions',
  'time.cpuUs': PART_WORDS.cpu.title,
  'time.ioUs': 'Read, write, sync, IDB transaction',
  'time.lockUs': PART_WORDS.lock.title,
  'time.lockWaitUs': PART_WORDS.lockWait.title,
  'time.tracerUs': PART_WORDS.tracer.title,
  'time.otherUs': PART_WORDS.other.title,
  'time.idleUs': PART_WORDS.idle.title,
  'time.outsideUs': PART_WORDS.outside.title,
  'time.tracerOutsideUs': `${PART_WORDS.tracer.title} while no SQL ran`,
  'pageCache.hits': 'Page cache hits',
  'pageCache.misses': 'Page cache misses',
  'pageCache.writes': 'Page cache writes',
  'pageCache.spills': 'Page cache spills',
  'pageCache.hitRate': 'Page cache hit rate',
};

/** `readBytes` -> `bytes read`, `xWriteBytes` -> `xWrite bytes` */
const countName = (key: string): string =>
  key === 'readBytes'
    ? 'bytes read'
    : key === 'writeBytes'
      ? 'bytes written'
      : key.replace(/Bytes$/, ' bytes').replace(/^readwriteT/, 'readwrite t');

/** @param path one of `numbersOf`; unchanged if it has no name */
export function numberName(path: string): string {
  const name = Object.hasOwn(NAMES, path) ? NAMES[path] : undefined;
  if (name !== undefined) return name;
  const api = /^web\.(\w+)\.(\w+)$/.exec(path);
  if (api) return `${API_NAMES[api[1] as Api] ?? api[1]!} ${countName(api[2]!)}`;
  const file = /^files\[kind=[^,\]]*(?:,path=([^]*))?\]\.(?:vfs|web)\.(\w+)$/.exec(path);
  if (file) return `${file[1] ?? '(no path)'}: ${countName(file[2]!)}`;
  const thread = /^threads\[kind=([^,\]]*)(?:,([^]*))?\]\.(\w+)$/.exec(path);
  if (!thread) return path;
  const [, kind, keys = '', key] = thread;
  const what = key === 'events' ? 'events' : key === 'unknownTailUs' ? 'time not recorded' : key!;
  return `${kind} ${keys.replace(/(^|,)(?:name|url)=/g, '$1')}: ${what}`;
}
