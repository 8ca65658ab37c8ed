/**
 * The patterns that findings name, each run both as found and as advised. In count mode, so that
 * the results are exact.
 */
import type { Config, Experiment, Parameters } from '../model/types.ts';
import { expectAll } from '../model/assertions.ts';
import { pattern, SINGLE, variantsOf } from './define-pattern.ts';
import { STORAGE_PATTERNS } from './storage-patterns.ts';

const MODES = ['delete', 'truncate', 'persist', 'memory'] as const;
const SHARED: Partial<Config> = { vfs: 'OPFSCoopSync' };
const BATCHES: Partial<Config> = { vfs: 'IDBBatchAtomic' };
const actors = (writers: number, readers: number): Parameters => ({
  writers,
  readers,
  iterations: 50,
});

export const PATTERNS: readonly Experiment[] = [
  pattern({
    id: 'autocommit-1000',
    title: '1,000 INSERTs: a transaction each, or one around all',
    question: 'What does a transaction around many statements save?',
    rules: 'F01, F19, F39',
    variants: variantsOf('sequential-write', {}, [
      ['autocommit', 'a transaction each', {}, { transactions: 1000, items: 1 }],
      ['hundred', 'ten transactions of 100', {}, { transactions: 10, items: 100 }],
      ['one', 'one transaction', {}, { transactions: 1, items: 1000 }],
    ]),
    expectations: expectAll({
      'One transaction syncs less than a hundredth as often':
        'one run vfs.xSync * 100 < autocommit run vfs.xSync',
      'One transaction writes less than a hundredth as often':
        'one run vfs.xWrite * 100 < autocommit run vfs.xWrite',
      'Ten transactions cost ten times the syncs of one':
        'one run vfs.xSync * 10 = hundred run vfs.xSync',
    }),
    advice:
      'Journal, syncs, and locks are paid by transaction, not by row: group the rows that belong together.',
  }),
  pattern({
    id: 'polling',
    title: 'Small reads: a lock each, or none',
    question:
      'What do 2,000 SELECTs cost beside their reads, and what do one transaction or exclusive locking save?',
    rules: 'F02, F45',
    variants: variantsOf('read-poll', {}, [
      ['normal', 'normal locking', {}],
      ['exclusive', 'exclusive locking', { lockingMode: 'exclusive' }],
    ]),
    expectations: expectAll({
      'In one transaction the calls of all but one read are saved':
        'normal poll-in-one vfs.calls * 1000 < normal poll vfs.calls',
      'Exclusive locking asks for no lock': 'exclusive poll vfs.xLock = 0',
      "Exclusive locking does not look for another connection's changes":
        'exclusive poll vfs.xRead < normal poll vfs.xRead',
    }),
    advice:
      'Each read outside a transaction takes a lock, looks for a hot journal and reads the change counter: six calls for rows that are in the cache.',
  }),
  pattern({
    id: 'journal-modes',
    title: '200 small transactions by journal mode',
    question: 'Which calls does each way to commit make?',
    rules: 'F07, F08, F25, F44',
    variants: variantsOf('sequential-write', SINGLE, [
      ...MODES.map((mode) => [mode, `journal_mode=${mode}`, { journalMode: mode }] as const),
      ['wal', 'journal_mode=wal', { lockingMode: 'exclusive', journalMode: 'wal' }],
    ]),
    expectations: expectAll({
      'The log syncs least': 'wal run vfs.xSync * 10 < delete run vfs.xSync',
      'The log writes less': 'wal run vfs.xWrite < delete run vfs.xWrite',
      'A journal that is truncated is never deleted': 'truncate run vfs.xDelete = 0',
      'A journal that persists is never deleted': 'persist run vfs.xDelete = 0',
      'A journal in memory is never synced': 'memory run vfs.journal.xSync = 0',
    }),
    advice:
      'Where the VFS has no shared memory, a log needs exclusive locking: one connection. A journal in memory is lost with the tab.',
  }),
  pattern({
    id: 'cache-thrash',
    title: 'Random reads through a small and a large page cache',
    question: 'How many pages are read again because the cache could not keep them?',
    rules: 'F11',
    variants: variantsOf('random-read', {}, [
      ['small', 'cache of 20 pages', { cacheSize: 20 }],
      ['middle', 'cache of 200 pages', { cacheSize: 200 }],
      ['large', 'cache of 2,000 pages', { cacheSize: 2000 }],
    ]),
    expectations: expectAll({
      'A cache that holds the database reads a fraction':
        'large run vfs.xReadBytes * 5 < small run vfs.xReadBytes',
      'More cache never reads more': 'middle run vfs.xReadBytes <= small run vfs.xReadBytes',
    }),
    advice: 'cache_size is by connection and forgotten when it closes: set it after each open.',
  }),
  pattern({
    id: 'page-size',
    title: 'The same rows by page size',
    question: 'How many calls does a larger page save, and what does it move more?',
    rules: 'F21',
    variants: variantsOf(
      'kv-sweep',
      { items: 5000 },
      [1024, 4096, 8192, 32768].map((pageSize) => [
        `page-${pageSize}`,
        `pages of ${pageSize} bytes`,
        { pageSize },
      ]),
    ),
    expectations: expectAll({
      'A scan of pages of twice the size needs about half the reads':
        'page-8192 sum-1 vfs.xRead * 2 <= page-4096 sum-1 vfs.xRead * 1.2',
      'A scan of pages of eight times the size needs less than a quarter of the reads':
        'page-32768 sum-1 vfs.xRead * 4 < page-4096 sum-1 vfs.xRead',
      'A scan of pages of a quarter of the size needs more reads':
        'page-1024 sum-1 vfs.xRead > page-4096 sum-1 vfs.xRead',
    }),
    advice:
      'Scans read by page: larger pages save calls. A single row is read and written as a whole page: larger pages move more bytes for it.',
  }),
  pattern({
    id: 'cold-starts',
    title: 'The first query by size of the schema and of the page',
    question: 'What is read before the first answer?',
    rules: 'F22',
    variants: variantsOf('cold-start', { tables: 200 }, [
      ['many', '200 tables, pages of 4,096 bytes', { pageSize: 4096 }],
      ['few', '20 tables', { pageSize: 4096 }, { tables: 20 }],
      ['large-pages', '200 tables, pages of 32,768 bytes', { pageSize: 32768 }],
    ]),
    expectations: expectAll({
      'With fewer tables, the first query needs fewer reads':
        'few first vfs.xRead < many first vfs.xRead',
      'With larger pages, the first query needs fewer reads':
        'large-pages first vfs.xRead < many first vfs.xRead',
      'The second query reads no schema': 'many second vfs.xRead * 5 < many first vfs.xRead',
    }),
    advice:
      'A new connection reads the whole schema before its first statement: keep connections open, and the schema small.',
  }),
  pattern({
    id: 'durability',
    title: 'The same transactions by durability',
    question: 'Which syncs does each level of safety make?',
    rules: 'F14',
    variants: variantsOf('sequential-write', SINGLE, [
      ['full', 'synchronous=full', { synchronous: 'full' }],
      ['normal', 'synchronous=normal', { synchronous: 'normal' }],
      ['off', 'synchronous=off', { synchronous: 'off' }],
    ]),
    expectations: expectAll({
      'synchronous=normal syncs less than full': 'normal run vfs.xSync < full run vfs.xSync',
      'synchronous=off never syncs': 'off run vfs.xSync = 0',
    }),
    storage: ['AccessHandlePool', 'BlockIDB'],
    mode: 'time',
    advice: 'Each level saves syncs. On a VFS that stores, the times show what they cost.',
  }),
  pattern({
    id: 'temp-store',
    title: 'A sort through temporary files, or in memory',
    question: 'What does PRAGMA temp_store=memory keep away from the VFS?',
    rules: 'F36',
    variants: variantsOf('big-sort', {}, [
      ['file', 'temp_store=file', {}, { tempStore: 1 }],
      ['memory', 'temp_store=memory', {}, { tempStore: 2 }],
    ]),
    expectations: expectAll({
      'With temporary files, the sort writes': 'file sort vfs.temp.xWrite > 0',
      'In memory, the sort writes nothing': 'memory sort vfs.temp.xWrite = 0',
    }),
    advice:
      'An index that gives the order saves the sort itself; temp_store=memory only its files.',
  }),
  pattern({
    id: 'vacuum',
    title: 'VACUUM, or a few free pages at a time',
    question: 'What does giving space back write?',
    rules: 'F40',
    variants: variantsOf('give-back-space', {}, [
      ['vacuum', 'VACUUM', {}, { incremental: 0 }],
      ['incremental', 'incremental_vacuum(50)', {}, { incremental: 1 }],
    ]),
    expectations: expectAll({
      'VACUUM writes more': 'vacuum give-back vfs.xWrite > incremental give-back vfs.xWrite',
      'The rows that are left are the same': 'vacuum count rows = incremental count rows',
    }),
    advice:
      'VACUUM writes all that is left, twice. auto_vacuum has to be set before the first table, and costs a little with every delete.',
  }),
  pattern({
    id: 'writers-and-readers',
    title: 'One connection alone, and several at once',
    question: 'Are rows lost, how often is a connection refused, and who waits?',
    rules: 'F03, F05, F06, F17, F27, F38',
    variants: variantsOf('contention', {}, [
      ['alone', 'one writer alone', SHARED, actors(1, 0)],
      ['readers', 'one writer, two readers', SHARED, actors(1, 2)],
      ['writers', 'two writers', SHARED, actors(2, 0)],
      ['idb', 'two writers on IndexedDB', BATCHES, actors(2, 0)],
      ['idb-readers', 'one writer, two readers on IndexedDB', BATCHES, actors(1, 2)],
    ]),
    expectations: (['alone', 'readers', 'writers', 'idb', 'idb-readers'] as const).flatMap((id) =>
      expectAll({ [`No increment is lost (${id})`]: `${id} actors rows.lost = 0` }),
    ),
    advice: "Counts of waits and refusals depend on timing. That nothing is lost doesn't.",
  }),
  ...STORAGE_PATTERNS,
];
