/**
 * Rico Mariani's investigation of wa-sqlite on IndexedDB: one VFS setting at a time, and what the
 * odd runs had in common.
 */
import type { Assertion, Config, Experiment, Variant } from '../model/types.ts';
import { expectAll } from '../model/assertions.ts';

const KIB = 1024;
const BLOCKS = [8, 32] as const;
const POLICIES = ['through', 'queued', 'lazy'] as const;
const base = { vfs: 'BlockIDB', build: 'jspi', durability: 'relaxed' } satisfies Partial<Config>;

/**
 * A fifth of the workload's default. Even so, 24 variants on real storage take minutes, and the
 * counts differ as clearly.
 */
const ROWS = { rows: 10_000 };

/**
 * Rollback journal: a new database, and one whose table was dropped. WAL: a log that restarts over
 * old frames.
 */
const JOURNAL = { journalMode: 'delete', cacheBlocks: 64 } as const;
const WAL = { journalMode: 'wal', cacheBlocks: 8 } as const;
const STARTS = [
  ['empty', 'empty database', 'bulk-insert-empty', JOURNAL],
  ['dropped', 'dropped table', 'bulk-insert-dropped', JOURNAL],
  ['wal-empty', 'empty database, WAL', 'bulk-insert-empty', WAL],
  ['reused-wal', 'WAL that starts again', 'bulk-insert-reused-wal', WAL],
] as const;

const variants: Variant[] = STARTS.flatMap(([id, title, workload, config]) =>
  BLOCKS.flatMap((kib) =>
    POLICIES.map((writePolicy) => ({
      id: `${id}-${kib}k-${writePolicy}`,
      title: `${title}, ${kib} KiB blocks, ${writePolicy}`,
      workload,
      parameters: ROWS,
      config: { ...base, ...config, blockSize: kib * KIB, writePolicy },
    })),
  ),
);

const expectations: Assertion[] = [
  ...BLOCKS.flatMap((kib) => [
    ...expectAll({
      [`New space: no block is read to be written (${kib} KiB)`]: `empty-${kib}k-through total block.rmwMiss = 0`,
      [`Space of a dropped table: blocks are read to be written (${kib} KiB)`]: `dropped-${kib}k-through total block.rmwMiss > 0`,
      [`A log that starts again: blocks are read to be written (${kib} KiB)`]: `reused-wal-${kib}k-through total block.rmwMiss > 0`,
    }),
    ...STARTS.flatMap(([id, title]) =>
      expectAll({
        [`Lazy writes put fewer blocks (${title}, ${kib} KiB)`]: `${id}-${kib}k-lazy total block.put < ${id}-${kib}k-through total block.put`,
        [`Lazy writes take less time (${title}, ${kib} KiB)`]: `${id}-${kib}k-lazy total ms < ${id}-${kib}k-through total ms`,
      }),
    ),
  ]),
  ...expectAll({
    'Blocks of four times the size need less than a third of the reads before writes':
      'dropped-32k-through total block.rmwMiss * 3 < dropped-8k-through total block.rmwMiss',
    'Larger blocks save no puts while every write is put':
      'dropped-32k-through total block.put * 1.1 > dropped-8k-through total block.put',
    'Larger blocks take longer while every write is put':
      'dropped-32k-through total ms > dropped-8k-through total ms',
  }),
];

export const WRITE_POLICY: Experiment = {
  id: 'write-policy',
  title: 'Write policy, block size, and reused space',
  document: 'Rico Mariani, "WASM and SQLite Investigations Part 2", 2021',
  question: 'Which of the two knobs pays, and why were some runs far faster than others?',
  claims: [
    'S1.2',
    'S1.4',
    'S1.5',
    'S1.6',
    'S1.7',
    'S1.9',
    'S1.10',
    'S1.11',
    'S1.13',
    'S1.14',
    'S1.15',
  ],
  variants,
  baseline: 'dropped-8k-through',
  mode: 'time',
  expectations,
  conclusions: [
    {
      says: 'Used space explains the slow runs: a partial write must read its block first. New space needs no read.',
      rests: /^(?:New space|Space of a dropped table|A log that starts again)/,
    },
    {
      says: 'Lazy writes put fewer blocks from every start.',
      rests: /^Lazy writes put/,
    },
    {
      says: 'Lazy writes take less time from every start.',
      rests: /^Lazy writes take/,
    },
    {
      says: 'Larger blocks do not pay while every write is put at once.',
      rests: /^Larger blocks/,
    },
  ],
};
