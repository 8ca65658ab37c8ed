/**
 * The questions on the Lab's first page, as experiments on real storage. The workloads are small,
 * so an answer takes a minute or two.
 */
import { expectAll } from '../model/assertions.ts';
import type { Config, Experiment, Parameters, VfsName, Variant } from '../model/types.ts';
import { variantsOf } from './define-pattern.ts';

type Given = Pick<Experiment, 'id' | 'title' | 'question' | 'variants' | 'expectations'> &
  Partial<Pick<Experiment, 'storage' | 'conclusions'>>;
const question = (given: Given): Experiment => ({
  conclusions: [],
  ...given,
  document: 'A question on the page of the Lab',
  claims: [],
  baseline: given.variants[0]!.id,
  mode: 'time',
});

/** Transactions of one variant. Each waits for the disk. */
const TRANSACTIONS = 50;
const small = (items: number): Parameters => ({ transactions: TRANSACTIONS, items });
const FEW_ROWS = small(10);
/** WAL without shared memory needs it on every VFS of the Lab. */
const EXCLUSIVE: Partial<Config> = { lockingMode: 'exclusive' };

/** Every VFS that stores, including those for a single connection. */
const STORING: readonly VfsName[] = [
  'AccessHandlePool',
  'OPFSCoopSync',
  'OPFSWriteAhead',
  'OPFSAdaptive',
  'OPFSAnyContext',
  'OPFSPermuted',
  'IDBBatchAtomic',
  'IDBMirror',
  'BlockIDB',
];

export const WHICH_VFS: Experiment = question({
  id: 'which-vfs',
  title: 'Small transactions, written and read, by VFS',
  question: 'Which VFS commits and reads fastest here, and which ones can several tabs share?',
  variants: STORING.flatMap((vfs): Variant[] => [
    ...variantsOf('sequential-write', FEW_ROWS, [[`${vfs}-write`, `${vfs}, writes`, { vfs }]]),
    {
      ...variantsOf('random-read', FEW_ROWS, [[`${vfs}-read`, `${vfs}, reads`, { vfs }]])[0]!,
      against: `${STORING[0]!}-read`,
    },
  ]),
  expectations: STORING.flatMap((vfs) =>
    expectAll({ [`Reading writes nothing (${vfs})`]: `${vfs}-read run vfs.xWrite = 0` }),
  ),
});

export const COMMIT_COST: Experiment = question({
  id: 'commit-cost',
  title: 'A transaction of one row, and of 100 rows',
  question: 'What does a commit cost, and what does one transaction around many rows save?',
  variants: variantsOf('sequential-write', {}, [
    ['one', 'a transaction per row', {}, small(1)],
    ['hundred', '100 rows per transaction', {}, small(100)],
  ]),
  expectations: expectAll({
    'A transaction of 100 rows syncs as often as one of a single row':
      'hundred run vfs.xSync = one run vfs.xSync',
    'Every sync belongs to a commit': 'one run commit.vfs.xSync = one run vfs.xSync',
  }),
  storage: ['AccessHandlePool', 'OPFSCoopSync', 'IDBBatchAtomic', 'BlockIDB'],
  conclusions: [
    {
      says: 'You pay for syncs per transaction, not per row. Put rows that belong together in one transaction.',
      rests: /^A transaction of 100 rows/,
      ofStorage: true,
    },
  ],
});

/** The kinds of commits: what is written, and what is read. */
const WAYS: readonly (readonly [id: string, title: string, config: Partial<Config>])[] = [
  ['journal', 'rollback journal', { journalMode: 'delete' }],
  ['exclusive', 'rollback journal, exclusive locking', { ...EXCLUSIVE, journalMode: 'delete' }],
  ['wal', 'WAL, exclusive locking', { ...EXCLUSIVE, journalMode: 'wal' }],
];

export const WAL_WORTH: Experiment = question({
  id: 'wal-worth',
  title: 'Rollback journal and WAL, written and read',
  question: 'Is WAL worth it, and how much of its gain is exclusive locking alone?',
  variants: [
    ...variantsOf(
      'sequential-write',
      FEW_ROWS,
      WAYS.map(([id, title, config]) => [`${id}-write`, `writes, ${title}`, config]),
    ),
    ...variantsOf(
      'random-read',
      FEW_ROWS,
      WAYS.map(([id, title, config]) => [`${id}-read`, `reads, ${title}`, config]),
    ).map((variant) => ({ ...variant, against: 'journal-read' })),
  ],
  expectations: expectAll({
    'WAL syncs less often': 'wal-write run vfs.xSync < journal-write run vfs.xSync',
    'WAL syncs less often than exclusive locking alone':
      'wal-write run vfs.xSync < exclusive-write run vfs.xSync',
    'Exclusive locking asks for no lock': 'exclusive-write run vfs.xLock = 0',
  }),
  storage: ['AccessHandlePool', 'BlockIDB'],
  conclusions: [
    { says: 'WAL saves most syncs of a commit.', rests: /^WAL syncs less often/, ofStorage: true },
  ],
});

export const QUESTION_EXPERIMENTS: readonly Experiment[] = [WHICH_VFS, COMMIT_COST, WAL_WORTH];
