/**
 * Patterns that cost time below the VFS: blocks, atomic batches, durability, and streams of the
 * browser's storage.
 */
import type { Config, Experiment } from '../model/types.ts';
import { expectAll } from '../model/assertions.ts';
import { pattern, SINGLE, variantsOf } from './define-pattern.ts';

const blocks = (config: Partial<Config>): Partial<Config> => ({
  vfs: 'BlockIDB',
  blockSize: 8192,
  writePolicy: 'through',
  cacheBlocks: 8,
  ...config,
});
const ROWS = { rows: 10_000 };
const BATCH: Partial<Config> = { vfs: 'IDBBatchAtomic', journalMode: 'delete' };
const IN_MEMORY: Partial<Config> = { vfs: 'MemoryVFS', journalMode: 'delete' };
const FILL = { items: 5000 };

export const STORAGE_PATTERNS: readonly Experiment[] = [
  pattern({
    id: 'block-writes',
    title: 'Blocks in IndexedDB: in parts, whole, or gathered',
    question:
      "What do pages of a block's own size save, and what do blocks that are stored at the sync?",
    rules: 'F09, F20',
    variants: [
      ...variantsOf('bulk-insert-dropped', ROWS, [
        ['half', 'pages of half a block, each write stored', blocks({ pageSize: 4096 })],
        ['whole', 'pages of a whole block, each write stored', blocks({ pageSize: 8192 })],
        [
          'gathered',
          'pages of half a block, stored at the sync',
          blocks({ pageSize: 4096, writePolicy: 'lazy' }),
        ],
      ]),
      ...variantsOf('bulk-insert-empty', ROWS, [
        ['new-space', 'pages of half a block, new space', blocks({ pageSize: 4096 })],
      ]),
    ],
    expectations: expectAll({
      'Half a block is read before it is written': 'half insert block.rmwMiss > 0',
      'A whole block is written without a read, except those of the journal':
        'whole insert block.rmwMiss * 10 < half insert block.rmwMiss',
      'Whole blocks need fewer puts': 'whole insert block.put * 1.5 < half insert block.put',
      'Gathered writes put less than half of the blocks':
        'gathered insert block.put * 2 < half insert block.put',
      'New space has nothing to read': 'new-space insert block.rmwMiss = 0',
    }),
    advice:
      "Set the page size to the block's size before the first table, or VACUUM after it; what is gathered is not stored before the sync.",
  }),
  pattern({
    id: 'idb-transactions',
    title: 'Transactions of IndexedDB by journal mode and by VFS',
    question:
      'How many transactions of IndexedDB does one of SQLite need, and what makes them fewer?',
    rules: 'F10',
    variants: variantsOf('sequential-write', SINGLE, [
      ['delete', 'blocks, journal_mode=delete', { vfs: 'BlockIDB', journalMode: 'delete' }],
      ['memory', 'blocks, journal_mode=memory', { vfs: 'BlockIDB', journalMode: 'memory' }],
      ['batch', 'atomic batches', { vfs: 'IDBBatchAtomic', journalMode: 'delete' }],
      [
        'grouped',
        'blocks, ten transactions of 20',
        { vfs: 'BlockIDB', journalMode: 'delete' },
        { transactions: 10, items: 20 },
      ],
    ]),
    expectations: expectAll({
      'Without a journal file, IndexedDB needs less than half of the transactions':
        'memory run idb.transactions * 2 < delete run idb.transactions',
      'Atomic batches need fewer transactions of IndexedDB':
        'batch run idb.transactions < delete run idb.transactions',
      'Ten transactions instead of 200 need less than a tenth of the transactions of IndexedDB':
        'grouped run idb.transactions * 10 < delete run idb.transactions',
    }),
    advice:
      'A separate journal file costs separate transactions. IndexedDB needs few transactions for one of SQLite.',
  }),
  pattern({
    id: 'spill',
    title: 'One large transaction through a small and a large page cache',
    question: 'What happens to a transaction that outgrows the page cache?',
    rules: 'F12',
    variants: variantsOf('kv-sweep', FILL, [
      ['batch-small', 'atomic batches, cache of 20 pages', { ...BATCH, cacheSize: 20 }],
      ['batch-large', 'atomic batches, cache of 2,000 pages', { ...BATCH, cacheSize: 2000 }],
      ['small', 'in memory, cache of 20 pages', { ...IN_MEMORY, cacheSize: 20 }],
      ['large', 'in memory, cache of 2,000 pages', { ...IN_MEMORY, cacheSize: 2000 }],
    ]),
    expectations: expectAll({
      'A large transaction spills from a small cache': 'small insert cache.spill > 0',
      'A cache that holds the transaction spills nothing': 'large insert cache.spill = 0',
      'A transaction that spilled needs a journal, even with atomic batches':
        'batch-small insert vfs.journal.xWrite > 0',
      'A transaction that fits needs no journal file': 'batch-large insert vfs.journal.xWrite = 0',
    }),
    advice:
      'SQLite takes an atomic batch only for a transaction that it holds whole: raise cache_size for the large one, or split it.',
  }),
  pattern({
    id: 'idb-durability',
    title: 'Transactions of IndexedDB, strict and relaxed',
    question: 'What does waiting for the disk cost at each commit, on this machine?',
    rules: 'F15',
    mode: 'time',
    variants: variantsOf('sequential-write', SINGLE, [
      ['strict', 'durability strict', { vfs: 'BlockIDB', durability: 'strict' }],
      ['relaxed', 'durability relaxed', { vfs: 'BlockIDB', durability: 'relaxed' }],
    ]),
    expectations: expectAll({
      'Strict and relaxed durability put the same blocks':
        'strict run block.put = relaxed run block.put',
      'Relaxed durability takes less time': 'relaxed run ms < strict run ms',
    }),
    advice:
      'Calls and bytes are the same. Strict durability waits for the disk: that protects from a crash of the machine, not of the tab.',
  }),
  pattern({
    id: 'writable-streams',
    title: 'Commits through writable streams, or an access handle',
    question: 'What does a file cost that is copied whole to change a part of it?',
    rules: 'F43',
    variants: variantsOf('sequential-write', SINGLE, [
      ['stream', 'OPFSAnyContext, createWritable', { vfs: 'OPFSAnyContext' }],
      ['handle', 'AccessHandlePool, createSyncAccessHandle', { vfs: 'AccessHandlePool' }],
    ]),
    expectations: expectAll({
      'A stream at least for each commit': 'stream run opfs.writables >= 200',
      'An access handle needs none': 'handle run opfs.writables = 0',
    }),
    advice:
      'In a worker, take a VFS on access handles; where only streams can be had, larger transactions copy the file less often.',
  }),
];
