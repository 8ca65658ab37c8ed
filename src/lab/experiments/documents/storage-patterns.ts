/** Patterns whose cost lies below the VFS: blocks, atomic batches, durability and streams of the browser's storage. */
import type { Config, Experiment } from '../model/types.ts';
import { at, expectThat } from './define.ts';
import { pattern, SINGLE, variant } from './define-pattern.ts';

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
      'What do pages of a block’s own size save, and what do blocks that are stored at the sync?',
    rules: 'F09, F20',
    variants: [
      variant(
        'half',
        'pages of half a block, each write stored',
        'bulk-insert-dropped',
        blocks({ pageSize: 4096 }),
        ROWS,
      ),
      variant(
        'whole',
        'pages of a whole block, each write stored',
        'bulk-insert-dropped',
        blocks({ pageSize: 8192 }),
        ROWS,
      ),
      variant(
        'gathered',
        'pages of half a block, stored at the sync',
        'bulk-insert-dropped',
        blocks({ pageSize: 4096, writePolicy: 'lazy' }),
        ROWS,
      ),
      variant(
        'new-space',
        'pages of half a block, new space',
        'bulk-insert-empty',
        blocks({ pageSize: 4096 }),
        ROWS,
      ),
    ],
    expectations: [
      expectThat(
        'Half a block is read before it is written',
        at('half', 'insert', 'block.rmwMiss'),
        '>',
        0,
      ),
      expectThat(
        'A whole block is not, the journal’s apart',
        at('whole', 'insert', 'block.rmwMiss', 10),
        '<',
        at('half', 'insert', 'block.rmwMiss'),
      ),
      expectThat(
        '... and needs fewer puts',
        at('whole', 'insert', 'block.put', 1.5),
        '<',
        at('half', 'insert', 'block.put'),
      ),
      expectThat(
        'Gathered, half of them are put',
        at('gathered', 'insert', 'block.put', 2),
        '<',
        at('half', 'insert', 'block.put'),
      ),
      expectThat(
        'New space has nothing to read',
        at('new-space', 'insert', 'block.rmwMiss'),
        '=',
        0,
      ),
    ],
    agreement:
      'Set the page size to the block’s size before the first table, or VACUUM after it; what is gathered is not stored before the sync.',
  }),
  pattern({
    id: 'idb-transactions',
    title: 'Transactions of IndexedDB by journal mode and by VFS',
    question:
      'How many transactions of IndexedDB does one of SQLite need, and what makes them fewer?',
    rules: 'F10',
    variants: [
      variant(
        'delete',
        'blocks, journal_mode=delete',
        'sequential-write',
        { vfs: 'BlockIDB', journalMode: 'delete' },
        SINGLE,
      ),
      variant(
        'memory',
        'blocks, journal_mode=memory',
        'sequential-write',
        { vfs: 'BlockIDB', journalMode: 'memory' },
        SINGLE,
      ),
      variant(
        'batch',
        'atomic batches',
        'sequential-write',
        { vfs: 'IDBBatchAtomic', journalMode: 'delete' },
        SINGLE,
      ),
      variant(
        'grouped',
        'blocks, ten transactions of 20',
        'sequential-write',
        { vfs: 'BlockIDB', journalMode: 'delete' },
        { transactions: 10, items: 20 },
      ),
    ],
    expectations: [
      expectThat(
        'Without a journal file, fewer',
        at('memory', 'run', 'idb.transactions', 2),
        '<',
        at('delete', 'run', 'idb.transactions'),
      ),
      expectThat(
        'So does an atomic batch',
        at('batch', 'run', 'idb.transactions'),
        '<',
        at('delete', 'run', 'idb.transactions'),
      ),
      expectThat(
        'Ten instead of 200 need a tenth at most',
        at('grouped', 'run', 'idb.transactions', 10),
        '<',
        at('delete', 'run', 'idb.transactions'),
      ),
    ],
    agreement:
      'A file of its own for the journal costs transactions of its own; what SQLite does in one transaction, IndexedDB does in few.',
  }),
  pattern({
    id: 'spill',
    title: 'One large transaction through a small and a large page cache',
    question: 'What happens to a transaction that outgrows the page cache?',
    rules: 'F12',
    variants: [
      variant(
        'batch-small',
        'atomic batches, cache of 20 pages',
        'kv-sweep',
        { ...BATCH, cacheSize: 20 },
        FILL,
      ),
      variant(
        'batch-large',
        'atomic batches, cache of 2,000 pages',
        'kv-sweep',
        { ...BATCH, cacheSize: 2000 },
        FILL,
      ),
      variant(
        'small',
        'in memory, cache of 20 pages',
        'kv-sweep',
        { ...IN_MEMORY, cacheSize: 20 },
        FILL,
      ),
      variant(
        'large',
        'in memory, cache of 2,000 pages',
        'kv-sweep',
        { ...IN_MEMORY, cacheSize: 2000 },
        FILL,
      ),
    ],
    expectations: [
      expectThat('It spills from a small cache', at('small', 'insert', 'cache.spill'), '>', 0),
      expectThat(
        '... and not from one that holds it',
        at('large', 'insert', 'cache.spill'),
        '=',
        0,
      ),
      expectThat(
        'What spilled needs a journal, though the VFS stores in atomic batches',
        at('batch-small', 'insert', 'vfs.journal.xWrite'),
        '>',
        0,
      ),
      expectThat('What fits needs none', at('batch-large', 'insert', 'vfs.journal.xWrite'), '=', 0),
    ],
    agreement:
      'SQLite takes an atomic batch only for a transaction that it holds whole: raise cache_size for the large one, or split it.',
  }),
  pattern({
    id: 'idb-durability',
    title: 'Transactions of IndexedDB, strict and relaxed',
    question: 'What does waiting for the disk cost at each commit, on this machine?',
    rules: 'F15',
    mode: 'time',
    variants: [
      variant(
        'strict',
        'durability strict',
        'sequential-write',
        { vfs: 'BlockIDB', durability: 'strict' },
        SINGLE,
      ),
      variant(
        'relaxed',
        'durability relaxed',
        'sequential-write',
        { vfs: 'BlockIDB', durability: 'relaxed' },
        SINGLE,
      ),
    ],
    expectations: [
      expectThat(
        'Both store the same blocks',
        at('strict', 'run', 'block.put'),
        '=',
        at('relaxed', 'run', 'block.put'),
      ),
      expectThat(
        'Relaxed takes less time',
        at('relaxed', 'run', 'ms'),
        '<',
        at('strict', 'run', 'ms'),
      ),
    ],
    agreement:
      'Calls and bytes are the same: what differs is the wait for the disk, which a crash of the machine, not of the tab, makes worth it.',
  }),
  pattern({
    id: 'writable-streams',
    title: 'Commits through writable streams, or an access handle',
    question: 'What does a file cost that is copied whole to change a part of it?',
    rules: 'F43',
    variants: [
      variant(
        'stream',
        'OPFSAnyContext, createWritable',
        'sequential-write',
        { vfs: 'OPFSAnyContext' },
        SINGLE,
      ),
      variant(
        'handle',
        'AccessHandlePool, createSyncAccessHandle',
        'sequential-write',
        { vfs: 'AccessHandlePool' },
        SINGLE,
      ),
    ],
    expectations: [
      expectThat(
        'A stream at least for each commit',
        at('stream', 'run', 'opfs.writables'),
        '>=',
        200,
      ),
      expectThat('An access handle needs none', at('handle', 'run', 'opfs.writables'), '=', 0),
    ],
    agreement:
      'In a worker, take a VFS on access handles; where only streams can be had, larger transactions copy the file less often.',
  }),
];
