/** Counters as readable text: `3 syncs`, `12.5 ms`, `4 KiB read`. */
import { formatBytes, formatExact, formatMeasured } from '../../../text/numbers.ts';
import { isTime } from './aggregate.ts';

/** By the end of a counter's name: singular and plural. */
const NOUNS: Readonly<Record<string, readonly [one: string, many?: string]>> = {
  'vfs.calls': ['VFS call'],
  xOpen: ['open'],
  xClose: ['close'],
  xRead: ['read'],
  xWrite: ['write'],
  xSync: ['sync'],
  xTruncate: ['truncation'],
  xLock: ['lock'],
  xUnlock: ['unlock'],
  xDelete: ['file deletion'],
  xAccess: ['file check'],
  instructions: ['instruction'],
  'memory.loads': ['load'],
  'memory.stores': ['store'],
  statements: ['statement'],
  rows: ['row'],
  'rows.lost': ['lost row'],
  'cache.hit': ['cache hit'],
  'cache.miss': ['cache miss', 'cache misses'],
  'cache.spill': ['cache spill'],
  'cache.write': ['page written by the cache', 'pages written by the cache'],
  'checkpoint.count': ['checkpoint'],
  'checkpoint.walReads': ['log read'],
  'checkpoint.dbWrites': ['page write'],
  'checkpoint.runs': ['run of pages', 'runs of pages'],
  'block.get': ['block get'],
  'block.put': ['block put'],
  'block.rmw': ['partial block write'],
  'block.rmwMiss': ['block read before a write', 'block reads before writes'],
  'block.tx': ['IndexedDB transaction'],
  'idb.transactions': ['IndexedDB transaction'],
  'idb.put': ['IndexedDB put'],
  'idb.get': ['IndexedDB get'],
  'opfs.writables': ['writable stream'],
  'opfs.flushes': ['flush', 'flushes'],
};
/** By kind of file, before the noun. The database is implied. */
const KINDS: Readonly<Record<string, string>> = {
  journal: 'journal',
  wal: 'log',
  temp: 'temporary file',
};
const PARTS: Readonly<Record<string, string>> = {
  begin: 'in begins',
  body: 'in the work',
  commit: 'in commits',
};

/** A counter's noun for a number of them; null where it has none. */
function nounOf(counter: string, n: number): string | null {
  const [, part, rest = counter] = /^(begin|body|commit)\.(.*)$/.exec(counter) ?? [];
  const [, kind, method] = /^vfs\.(?:([a-z-]+)\.)?(x\w+)$/.exec(rest) ?? [];
  const noun = NOUNS[method ?? rest];
  if (!noun) return null;
  const [one, many = `${one}s`] = noun;
  const words = [
    ...(kind && KINDS[kind] ? [KINDS[kind]] : []),
    n === 1 ? one : many,
    ...(part ? [PARTS[part]!] : []),
  ];
  return words.join(' ');
}

/** A value without its noun. @param stepMs the clock's resolution: shorter times read `< 1 ms` */
export const counterValue = (n: number, counter: string, stepMs = 0): string =>
  isTime(counter)
    ? formatMeasured(n * 1000, stepMs * 1000)
    : /Bytes$/.test(counter)
      ? formatBytes(n)
      : formatExact(n);

/** A counter's value with its noun: `1 sync`, `2 syncs in commits`, `5 cache.newOne`. */
export function counterText(n: number, counter: string, stepMs = 0): string {
  if (isTime(counter) || /Bytes$/.test(counter)) return counterValue(n, counter, stepMs);
  return `${formatExact(n)} ${nounOf(counter, n) ?? counter}`;
}
