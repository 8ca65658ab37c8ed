/**
 * James Long's absurd-sql: SQLite over IndexedDB compared with plain IndexedDB, and its first two
 * settings, cache and page size.
 */
import type { Config, Experiment, Variant } from '../model/types.ts';
import { expectAll } from '../model/assertions.ts';

const PAGES = [4096, 8192, 32768] as const;
const inMemory: Partial<Config> = { vfs: 'MemoryVFS', cacheSize: 500 };
const overBlocks: Partial<Config> = {
  vfs: 'BlockIDB',
  build: 'jspi',
  writePolicy: 'lazy',
  cacheBlocks: 4,
  durability: 'relaxed',
  cacheSize: 500,
};

const variant = (id: string, title: string, config: Partial<Config>): Variant => ({
  id,
  title,
  workload: 'kv-sweep',
  config,
});
const sized = (pageSize: (typeof PAGES)[number]): Variant[] => [
  variant(`memory-${pageSize}`, `in memory, page ${pageSize}`, { ...inMemory, pageSize }),
  variant(`blocks-${pageSize}`, `blocks in IndexedDB, page ${pageSize}`, {
    ...overBlocks,
    pageSize,
    blockSize: pageSize,
  }),
];

const family = (name: 'memory' | 'blocks') =>
  expectAll({
    [`Twice the page size halves the misses (${name})`]: `${name}-8192 sum-1 cache.miss * 1.9 < ${name}-4096 sum-1 cache.miss`,
    [`Eight times the page size leaves an eighth (${name})`]: `${name}-32768 sum-1 cache.miss * 7 < ${name}-4096 sum-1 cache.miss`,
    [`A cache that holds the table misses nothing the second time (${name})`]: `${name}-4096 sum-2 cache.miss = 0`,
    [`A cache smaller than the table misses all of it again (${name})`]: `${name}-small-cache sum-2 cache.miss >= ${name}-small-cache sum-1 cache.miss`,
  });

export const SQL_OVER_STORAGE: Experiment = {
  id: 'sql-over-storage',
  title: 'SQL over IndexedDB against IndexedDB itself',
  document: 'James Long, "A future for SQL on the web", 2021',
  question:
    'Why can SQLite over IndexedDB be faster than IndexedDB, and what do page cache and page size save?',
  claims: ['S3.3', 'S3.4', 'S3.10', 'S3.11', 'S3.12', 'S3.14', 'S3.35'],
  variants: [
    ...PAGES.flatMap(sized),
    variant('memory-small-cache', 'in memory, cache of 20 pages', {
      ...inMemory,
      pageSize: 4096,
      cacheSize: 20,
    }),
    variant('blocks-small-cache', 'blocks in IndexedDB, cache of 20 pages', {
      ...overBlocks,
      pageSize: 4096,
      blockSize: 4096,
      cacheSize: 20,
    }),
    variant('batch-atomic', 'IDBBatchAtomic', {
      vfs: 'IDBBatchAtomic',
      build: 'jspi',
      pageSize: 4096,
      cacheSize: 500,
    }),
    variant('opfs', 'AccessHandlePool on OPFS', {
      vfs: 'AccessHandlePool',
      pageSize: 4096,
      cacheSize: 500,
    }),
  ],
  baseline: 'blocks-4096',
  mode: 'time',
  expectations: [
    ...family('memory'),
    ...family('blocks'),
    ...PAGES.flatMap((page) =>
      expectAll({
        [`Summing by SQL takes less time than by a cursor (page ${page})`]: `blocks-${page} sum-1 ms < blocks-${page} raw-cursor ms`,
      }),
    ),
    ...expectAll({
      'Inserting by SQL takes less time than putting rows':
        'blocks-4096 insert ms < blocks-4096 raw-put ms',
      'OPFS sums in less time than IndexedDB': 'opfs sum-1 ms < blocks-4096 sum-1 ms',
    }),
  ],
  conclusions: [
    {
      says: 'SQL over IndexedDB takes less time than IndexedDB itself.',
      rests: /by SQL takes less time/,
    },
    {
      says: 'Larger pages save cache misses in proportion.',
      rests: /the page size/,
    },
    {
      says: 'A page cache that holds the table saves every read of the second sum.',
      rests: /^A cache that holds/,
    },
  ],
};
