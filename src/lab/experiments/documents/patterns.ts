/** The patterns that findings name, each run both ways: as it was found, and as the advice says. Counts, so that a try is exact. */
import type { Config, Experiment } from '../model/types.ts';
import { at, expectThat } from './define.ts';
import { pattern, SINGLE, variant } from './define-pattern.ts';
import { STORAGE_PATTERNS } from './storage-patterns.ts';

const MODES = ['delete', 'truncate', 'persist', 'memory'] as const;
const SHARED: Partial<Config> = { vfs: 'OPFSCoopSync' };

export const PATTERNS: readonly Experiment[] = [
  pattern({
    id: 'autocommit-1000',
    title: '1,000 INSERTs: a transaction each, or one around all',
    question: 'What does a transaction around many statements save?',
    rules: 'F01, F19, F39',
    variants: [
      variant(
        'autocommit',
        'a transaction each',
        'sequential-write',
        {},
        { transactions: 1000, items: 1 },
      ),
      variant(
        'hundred',
        'ten transactions of 100',
        'sequential-write',
        {},
        { transactions: 10, items: 100 },
      ),
      variant('one', 'one transaction', 'sequential-write', {}, { transactions: 1, items: 1000 }),
    ],
    expectations: [
      expectThat(
        'One transaction syncs less than a hundredth as often',
        at('one', 'run', 'vfs.xSync', 100),
        '<',
        at('autocommit', 'run', 'vfs.xSync'),
      ),
      expectThat(
        '... writes less than a hundredth as often',
        at('one', 'run', 'vfs.xWrite', 100),
        '<',
        at('autocommit', 'run', 'vfs.xWrite'),
      ),
      expectThat(
        'Ten transactions cost ten times the syncs of one',
        at('one', 'run', 'vfs.xSync', 10),
        '=',
        at('hundred', 'run', 'vfs.xSync'),
      ),
    ],
    agreement:
      'Journal, syncs and locks are paid by transaction, not by row: group the rows that belong together.',
  }),
  pattern({
    id: 'polling',
    title: 'Small reads: a lock each, or none',
    question:
      'What do 2,000 SELECTs cost beside their reads, and what do one transaction or exclusive locking save?',
    rules: 'F02, F45',
    variants: [
      variant('normal', 'normal locking', 'read-poll', {}),
      variant('exclusive', 'exclusive locking', 'read-poll', { lockingMode: 'exclusive' }),
    ],
    expectations: [
      expectThat(
        'In one transaction the calls of all but one read are saved',
        at('normal', 'poll-in-one', 'vfs.calls', 1000),
        '<',
        at('normal', 'poll', 'vfs.calls'),
      ),
      expectThat(
        'Exclusive locking asks for no lock',
        at('exclusive', 'poll', 'vfs.xLock'),
        '=',
        0,
      ),
      expectThat(
        '... and does not look for another’s changes',
        at('exclusive', 'poll', 'vfs.xRead'),
        '<',
        at('normal', 'poll', 'vfs.xRead'),
      ),
    ],
    agreement:
      'Each read outside a transaction takes a lock, looks for a hot journal and reads the change counter: six calls for rows that are in the cache.',
  }),
  pattern({
    id: 'journal-modes',
    title: '200 small transactions by journal mode',
    question: 'Which calls does each way to commit make?',
    rules: 'F07, F08, F25, F44',
    variants: [
      ...MODES.map((mode) =>
        variant(mode, `journal_mode=${mode}`, 'sequential-write', { journalMode: mode }, SINGLE),
      ),
      variant(
        'wal',
        'journal_mode=wal',
        'sequential-write',
        { lockingMode: 'exclusive', journalMode: 'wal' },
        SINGLE,
      ),
    ],
    expectations: [
      expectThat(
        'The log syncs least',
        at('wal', 'run', 'vfs.xSync', 10),
        '<',
        at('delete', 'run', 'vfs.xSync'),
      ),
      expectThat(
        '... and writes less',
        at('wal', 'run', 'vfs.xWrite'),
        '<',
        at('delete', 'run', 'vfs.xWrite'),
      ),
      expectThat('Truncating deletes no file', at('truncate', 'run', 'vfs.xDelete'), '=', 0),
      expectThat(
        'A journal that persists is not deleted either',
        at('persist', 'run', 'vfs.xDelete'),
        '=',
        0,
      ),
      expectThat(
        'One in memory syncs the database only',
        at('memory', 'run', 'vfs.journal.xSync'),
        '=',
        0,
      ),
    ],
    agreement:
      'Where the VFS has no shared memory, a log needs exclusive locking: one connection. A journal in memory is lost with the tab.',
  }),
  pattern({
    id: 'cache-thrash',
    title: 'Random reads through a small and a large page cache',
    question: 'How many pages are read again because the cache could not keep them?',
    rules: 'F11',
    variants: [
      variant('small', 'cache of 20 pages', 'random-read', { cacheSize: 20 }),
      variant('middle', 'cache of 200 pages', 'random-read', { cacheSize: 200 }),
      variant('large', 'cache of 2,000 pages', 'random-read', { cacheSize: 2000 }),
    ],
    expectations: [
      expectThat(
        'A cache that holds the database reads a fraction',
        at('large', 'run', 'vfs.xReadBytes', 5),
        '<',
        at('small', 'run', 'vfs.xReadBytes'),
      ),
      expectThat(
        'More cache never reads more',
        at('middle', 'run', 'vfs.xReadBytes'),
        '<=',
        at('small', 'run', 'vfs.xReadBytes'),
      ),
    ],
    agreement: 'cache_size is by connection and forgotten when it closes: set it after each open.',
  }),
  pattern({
    id: 'page-size',
    title: 'The same rows by page size',
    question: 'How many calls does a larger page save, and what does it move more?',
    rules: 'F21',
    variants: [1024, 4096, 8192, 32768].map((pageSize) =>
      variant(
        `page-${pageSize}`,
        `pages of ${pageSize} bytes`,
        'kv-sweep',
        { pageSize },
        { items: 5000 },
      ),
    ),
    expectations: [
      expectThat(
        'Twice the page, about half the reads of a scan',
        at('page-8192', 'sum-1', 'vfs.xRead', 2),
        '<=',
        at('page-4096', 'sum-1', 'vfs.xRead', 1.2),
      ),
      expectThat(
        'Eight times the page, fewer still',
        at('page-32768', 'sum-1', 'vfs.xRead', 4),
        '<',
        at('page-4096', 'sum-1', 'vfs.xRead'),
      ),
      expectThat(
        'A small page needs more',
        at('page-1024', 'sum-1', 'vfs.xRead'),
        '>',
        at('page-4096', 'sum-1', 'vfs.xRead'),
      ),
    ],
    agreement:
      'Scans read by page: larger pages save calls. A single row is read and written as a whole page: larger pages move more bytes for it.',
  }),
  pattern({
    id: 'cold-starts',
    title: 'The first query by size of the schema and of the page',
    question: 'What is read before the first answer?',
    rules: 'F22',
    variants: [
      variant(
        'many',
        '200 tables, pages of 4,096 bytes',
        'cold-start',
        { pageSize: 4096 },
        { tables: 200 },
      ),
      variant('few', '20 tables', 'cold-start', { pageSize: 4096 }, { tables: 20 }),
      variant(
        'large-pages',
        '200 tables, pages of 32,768 bytes',
        'cold-start',
        { pageSize: 32768 },
        { tables: 200 },
      ),
    ],
    expectations: [
      expectThat(
        'Fewer tables, fewer reads',
        at('few', 'first', 'vfs.xRead'),
        '<',
        at('many', 'first', 'vfs.xRead'),
      ),
      expectThat(
        'Larger pages, fewer reads',
        at('large-pages', 'first', 'vfs.xRead'),
        '<',
        at('many', 'first', 'vfs.xRead'),
      ),
      expectThat(
        'The second query reads no schema',
        at('many', 'second', 'vfs.xRead', 5),
        '<',
        at('many', 'first', 'vfs.xRead'),
      ),
    ],
    agreement:
      'A new connection reads the whole schema before its first statement: keep connections open, and the schema small.',
  }),
  pattern({
    id: 'durability',
    title: 'The same transactions, more and less sure',
    question: 'Which syncs does each level of safety make?',
    rules: 'F14',
    variants: [
      variant('full', 'synchronous=full', 'sequential-write', { synchronous: 'full' }, SINGLE),
      variant(
        'normal',
        'synchronous=normal',
        'sequential-write',
        { synchronous: 'normal' },
        SINGLE,
      ),
      variant('off', 'synchronous=off', 'sequential-write', { synchronous: 'off' }, SINGLE),
    ],
    expectations: [
      expectThat(
        'normal syncs less than full',
        at('normal', 'run', 'vfs.xSync'),
        '<',
        at('full', 'run', 'vfs.xSync'),
      ),
      expectThat('off never', at('off', 'run', 'vfs.xSync'), '=', 0),
    ],
    agreement:
      'Counted are the syncs; what one of them costs is the disk’s: take times of the workload sequential-write with these settings on the machine that matters.',
  }),
  pattern({
    id: 'temp-store',
    title: 'A sort through temporary files, or in memory',
    question: 'What does PRAGMA temp_store=memory keep away from the VFS?',
    rules: 'F36',
    variants: [
      variant('file', 'temp_store=file', 'big-sort', {}, { tempStore: 1 }),
      variant('memory', 'temp_store=memory', 'big-sort', {}, { tempStore: 2 }),
    ],
    expectations: [
      expectThat('In files, the sort writes', at('file', 'sort', 'vfs.temp.xWrite'), '>', 0),
      expectThat('In memory, it does not', at('memory', 'sort', 'vfs.temp.xWrite'), '=', 0),
    ],
    agreement:
      'An index that gives the order saves the sort itself; temp_store=memory only its files.',
  }),
  pattern({
    id: 'vacuum',
    title: 'VACUUM, or a few free pages at a time',
    question: 'What does giving space back write?',
    rules: 'F40',
    variants: [
      variant('vacuum', 'VACUUM', 'give-back-space', {}, { incremental: 0 }),
      variant('incremental', 'incremental_vacuum(50)', 'give-back-space', {}, { incremental: 1 }),
    ],
    expectations: [
      expectThat(
        'VACUUM writes more',
        at('vacuum', 'give-back', 'vfs.xWrite'),
        '>',
        at('incremental', 'give-back', 'vfs.xWrite'),
      ),
      expectThat(
        'The rows that are left are the same',
        at('vacuum', 'count', 'rows'),
        '=',
        at('incremental', 'count', 'rows'),
      ),
    ],
    agreement:
      'VACUUM writes all that is left, twice. auto_vacuum has to be set before the first table, and costs a little with every delete.',
  }),
  pattern({
    id: 'writers-and-readers',
    title: 'One connection alone, and several at once',
    question: 'Are rows lost, how often is a connection refused, and who waits?',
    rules: 'F03, F05, F06, F17, F27, F38',
    variants: [
      variant('alone', 'one writer alone', 'contention', SHARED, {
        writers: 1,
        readers: 0,
        iterations: 50,
      }),
      variant('readers', 'one writer, two readers', 'contention', SHARED, {
        writers: 1,
        readers: 2,
        iterations: 50,
      }),
      variant('writers', 'two writers', 'contention', SHARED, {
        writers: 2,
        readers: 0,
        iterations: 50,
      }),
      variant(
        'idb',
        'two writers on IndexedDB',
        'contention',
        { vfs: 'IDBBatchAtomic' },
        { writers: 2, readers: 0, iterations: 50 },
      ),
      variant(
        'idb-readers',
        'one writer, two readers on IndexedDB',
        'contention',
        { vfs: 'IDBBatchAtomic' },
        { writers: 1, readers: 2, iterations: 50 },
      ),
    ],
    expectations: (['alone', 'readers', 'writers', 'idb', 'idb-readers'] as const).map((id) =>
      expectThat(`No increment is lost (${id})`, at(id, 'actors', 'rows.lost'), '=', 0),
    ),
    agreement: 'Counts of waits and refusals depend on the moment; that nothing is lost does not.',
  }),
  ...STORAGE_PATTERNS,
];
